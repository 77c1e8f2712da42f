/** The places that the palette leads to: screens, instances, configurations and nodes, by name. Pure. */
import type { InstanceInfo } from '../../../model/instance.js';
import { hrefOf } from '../../router/place.js';
import { text } from './text.js';

export interface ScreenChoice {
  readonly label: string;
  readonly href: string;
}

export interface PlaceChoice extends ScreenChoice {
  /** The kind of the place. */
  readonly about: string;
}

interface Places {
  readonly screens: readonly ScreenChoice[];
  readonly instances: Iterable<InstanceInfo>;
  readonly configurations: Iterable<string>;
  readonly nodes: Iterable<string>;
}

/** The most places of each kind; more typing finds the others. */
const MOST = 5;

/**
 * Returns the places with `typed` in their names, in capital or small letters. When nothing is typed: the screens.
 */
export function placesFor(typed: string, places: Places): PlaceChoice[] {
  const word = typed.trim().toLowerCase();
  const fits = (name: string): boolean => name.toLowerCase().includes(word);
  const screens = places.screens
    .filter(({ label }) => fits(label))
    .map(({ label, href }) => ({ label, href, about: text.kinds.screen }));
  if (word === '') return screens;
  const named = (names: Iterable<string>, screen: string, about: string): PlaceChoice[] =>
    first(names, fits).map((name) => ({ label: name, href: hrefOf([screen, name]), about }));
  const nameOf = ({ id, configurationName }: InstanceInfo): string => `${id} ${configurationName}`;
  return [
    ...screens,
    ...named(places.configurations, 'configurations', text.kinds.configuration),
    ...named(places.nodes, 'nodes', text.kinds.node),
    ...first(places.instances, (one) => fits(nameOf(one))).map((one) => ({
      label: nameOf(one),
      href: hrefOf(['instances', one.id]),
      about: text.kinds.instance,
    })),
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
