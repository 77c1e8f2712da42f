/** The screens: where each is, which keys may see it, and how its code is loaded when it is first shown. */
import type { ComponentType } from 'preact';
import { hrefOf, type Place } from '../router/place.js';
import type { ScreenProps } from '../screens/screen.js';
import type { Session } from '../session/session.js';
import { NAVIGATION, type ScreenName } from './screen-names.js';
import { text } from './text.js';

export const SCREENS: Readonly<
  Record<ScreenName, () => Promise<{ readonly Screen: ComponentType<ScreenProps> }>>
> = {
  overview: () => import('../screens/overview/overview-screen.js'),
  instances: () => import('../screens/instances/instances-screen.js'),
  instance: () => import('../screens/instance/instance-screen.js'),
  wall: () => import('../screens/wall/wall-screen.js'),
  configurations: () => import('../screens/configurations/configurations-screen.js'),
  nodes: () => import('../screens/nodes/nodes-screen.js'),
  templates: () => import('../screens/templates/templates-screen.js'),
  access: () => import('../screens/access/access-screen.js'),
};

export interface Found extends ScreenProps {
  readonly name: ScreenName;
}

/** The screen at a place; undefined: no screen has this address. */
export function screenAt({ path: [first = 'overview', ...path] }: Place): Found | undefined {
  if (first === 'instances' && path.length > 0) return { name: 'instance', path };
  const name = NAVIGATION.find((one) => one === first);
  return name === undefined ? undefined : { name, path };
}

/**
 * The scope or right that the key lacks for the screen, in the operator's words; null: the key may see it. The server
 * decides each call; the page only hides what the server would refuse.
 */
export function mayShow(session: Session, name: ScreenName): string | null {
  if (!session.can('READ')) return text.needsScope('READ');
  return name === 'templates' && !session.isUnrestricted ? text.needsAll : null;
}

/** The screens of the navigation that a key may see. */
export function screensFor(session: Session) {
  return NAVIGATION.filter((name) => mayShow(session, name) === null).map((name) => ({
    name,
    label: text.screens[name],
    href: hrefOf(name === 'overview' ? [] : [name]),
  }));
}
