/** The addresses and window sizes for tests that look at all screens of the dashboard, and for their pictures. */
import { NAVIGATION } from '../../../src/dashboard/app/screen-names.js';

/** True while pictures are taken for a person, who also looks at what costs much and shows a test little. */
export const IS_FOR_PERSON = process.env.DROVER_SCREENSHOTS !== undefined;

export const SIZES: readonly { readonly size: string; readonly width: number; readonly height: number }[] = [
  { size: 'desk', width: 1440, height: 900 },
  // The narrowest phones have 360; most people hold one of 390.
  { size: 'phone', width: IS_FOR_PERSON ? 390 : 360, height: IS_FOR_PERSON ? 844 : 740 },
  ...(IS_FOR_PERSON ? [{ size: 'wide', width: 1920, height: 1080 }] : []),
];
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
