/**
 * The list of screens: where each screen is, what a key needs to see it, and how its code is loaded when it is first
 * shown.
 */
import type { ComponentType } from 'preact';
import type { Place } from '../router/place.js';
import type { ScreenProps } from '../screens/screen.js';
import type { Scope } from '../session/scopes.js';
import { NAVIGATION, type ScreenName } from './screen-names.js';

interface ScreenRoute {
  readonly needs: Scope;
  /** True when a key that is restricted to some configurations does not see the screen. */
  readonly isUnrestrictedOnly: boolean;
  readonly load: () => Promise<{ readonly Screen: ComponentType<ScreenProps> }>;
}

export const SCREENS: Readonly<Record<ScreenName, ScreenRoute>> = {
  overview: {
    needs: 'READ',
    isUnrestrictedOnly: false,
    load: () => import('../screens/overview/overview-screen.js'),
  },
  instances: {
    needs: 'READ',
    isUnrestrictedOnly: false,
    load: () => import('../screens/instances/instances-screen.js'),
  },
  instance: {
    needs: 'READ',
    isUnrestrictedOnly: false,
    load: () => import('../screens/instance/instance-screen.js'),
  },
  configurations: {
    needs: 'READ',
    isUnrestrictedOnly: false,
    load: () => import('../screens/configurations/configurations-screen.js'),
  },
  nodes: {
    needs: 'READ',
    isUnrestrictedOnly: false,
    load: () => import('../screens/nodes/nodes-screen.js'),
  },
  templates: {
    needs: 'READ',
    isUnrestrictedOnly: true,
    load: () => import('../screens/templates/templates-screen.js'),
  },
  access: {
    needs: 'READ',
    isUnrestrictedOnly: false,
    load: () => import('../screens/access/access-screen.js'),
  },
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
