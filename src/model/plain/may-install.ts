/** Whether a configuration may install a template. */
import type { TemplateInstallation } from '../template.js';

/** True when the configuration names the template, or its group. */
export function mayInstall(
  { allOf, oneOf, allInGroups, oneInGroups }: TemplateInstallation,
  { group, name }: { readonly group: string; readonly name: string },
): boolean {
  const isNamed = [...allOf, ...oneOf].some((entry) => entry.group === group && entry.name === name);
  return isNamed || [...allInGroups, ...oneInGroups].includes(group);
}
