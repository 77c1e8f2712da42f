/** Whether a key may see a screen. The server decides each call; the page only hides what the server would refuse. */
import { hrefOf } from '../router/place.js';
import type { Session } from '../session/session.js';
import { NAVIGATION, type ScreenName } from './screen-names.js';
import { SCREENS } from './screens.js';
import { text } from './text.js';

/** The scope or right that the key lacks for the screen, in the operator's words; null: the key may see it. */
export function mayShow(session: Session, name: ScreenName): string | null {
  const { needs, isUnrestrictedOnly } = SCREENS[name];
  if (!session.can(needs)) return text.needsScope(needs);
  return isUnrestrictedOnly && !session.isUnrestricted ? text.needsAll : null;
}

/** The screens of the navigation that a key may see. */
export function screensFor(
  session: Session,
): { readonly name: ScreenName; readonly label: string; readonly href: string }[] {
  return NAVIGATION.filter((name) => mayShow(session, name) === null).map((name) => ({
    name,
    label: text.screens[name],
    href: hrefOf(name === 'overview' ? [] : [name]),
  }));
}
