/** The places that the palette leads to: screens, instances, configurations and nodes, by name. Pure. */
import type { InstanceInfo } from '../../../model/instance.js';
import { hrefOf } from '../../router/place.js';
import { text } from './text.js';

export interface PlaceChoice {
  readonly href: string;
  readonly label: string;
  /** The kind of the place. */
  readonly about: string;
}

export interface ScreenChoice {
  readonly label: string;
  readonly href: string;
}

interface Places {
  readonly screens: readonly ScreenChoice[];
  readonly instances: Iterable<InstanceInfo>;
  readonly configurations: Iterable<string>;
  readonly nodes: Iterable<string>;
}

/** The most places of each kind; more typing finds the others. */
const MOST = 5;

/** The places with `typed` in their names, in any case. When nothing is typed: the screens. */
export function placesFor(typed: string, places: Places): PlaceChoice[] {
  const word = typed.trim().toLowerCase();
  const fits = (name: string): boolean => name.toLowerCase().includes(word);
  const screens = places.screens
    .filter(({ label }) => fits(label))
    .map(({ label, href }) => ({ label, href, about: text.kinds.screen }));
  if (word === '') return screens;
  return [
    ...screens,
    ...first(places.configurations, fits).map((name) => ({
      label: name,
      href: hrefOf(['configurations', name]),
      about: text.kinds.configuration,
    })),
    ...first(places.nodes, fits).map((name) => ({
      label: name,
      href: hrefOf(['nodes', name]),
      about: text.kinds.node,
    })),
    ...first(places.instances, ({ id, configurationName }) => fits(`${id} ${configurationName}`)).map(
      ({ id, configurationName }) => ({
        label: `${id} ${configurationName}`,
        href: hrefOf(['instances', id]),
        about: text.kinds.instance,
      }),
    ),
  ];
}

function first<T>(all: Iterable<T>, fits: (one: T) => boolean): T[] {
  const found: T[] = [];
  for (const one of all) {
    if (!fits(one)) continue;
    found.push(one);
    if (found.length === MOST) break;
  }
  return found;
}
