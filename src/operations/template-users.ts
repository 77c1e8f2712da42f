/** Finds the configurations that may install a template, for `template list` and the template's route. */
import type { ConfigurationRecord } from '../model/configuration.js';
import type { MirrorReader } from '../store/mirror.js';
import type { TemplateName } from '../templates/sync/pattern.js';

/** Returns the names of the configurations, in order. */
export function templateUsers(
  { configurations }: { readonly configurations: Pick<MirrorReader<ConfigurationRecord>, 'entries'> },
  { group, name }: TemplateName,
): string[] {
  const users: string[] = [];
  for (const [user, { value }] of configurations.entries()) {
    const { allOf, oneOf, allInGroups, oneInGroups } = value.configuration.templateInstallationConfig;
    const isNamed = [...allOf, ...oneOf].some((entry) => entry.group === group && entry.name === name);
    if (isNamed || [...allInGroups, ...oneInGroups].includes(group)) users.push(user);
  }
  return users.sort();
}
