/** The addresses and window sizes for tests that look at all screens of the dashboard. */
import { NAVIGATION } from '../../../src/dashboard/app/screen-names.js';

export const SIZES = [
  { size: 'desk', width: 1440, height: 900 },
  { size: 'phone', width: 360, height: 740 },
] as const;
export const THEMES = ['light', 'dark'] as const;

/**
 * The addresses of the whole navigation, and of the screens below it: one instance, configuration, node and template,
 * and tabs.
 */
export function everyScreen(names: {
  readonly instance: string;
  readonly configuration: string;
  readonly node: string;
  readonly template: string;
}): readonly string[] {
  return [
    ...NAVIGATION,
    `instances/${names.instance}`,
    `configurations/${names.configuration}`,
    `configurations/${names.configuration}/edit`,
    `nodes/${names.node}`,
    'nodes?tab=tokens',
    `templates/${names.template}`,
    'access/sessions',
    'access/audit',
    'wall?view=one',
  ];
}
