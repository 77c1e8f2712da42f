/** The names of the screens, and the order of those in the navigation. */

export type ScreenName =
  | 'overview'
  | 'instances'
  | 'instance'
  | 'configurations'
  | 'nodes'
  | 'templates'
  | 'access';

/** The screens of the navigation, in its order. */
export const NAVIGATION: readonly ScreenName[] = [
  'overview',
  'instances',
  'configurations',
  'nodes',
  'templates',
  'access',
];
