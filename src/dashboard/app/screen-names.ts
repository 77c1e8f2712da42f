/** The screens of the navigation, in its order. */
export const NAVIGATION = [
  'overview',
  'instances',
  'wall',
  'configurations',
  'nodes',
  'templates',
  'access',
] as const;

export type ScreenName = (typeof NAVIGATION)[number] | 'instance';
