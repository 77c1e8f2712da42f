/** The icons, and the mark of Drover. A word always stands beside an icon, so screen readers skip it. */

import { ICON_PATHS, type IconName } from './icons.js';

export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={ICON_PATHS[name]} />
    </svg>
  );
}

/** The mark: a crook and its herd. */
export function Mark() {
  return <img class="mark" src={new URL('../styles/mark.svg', import.meta.url).href} alt="" />;
}
