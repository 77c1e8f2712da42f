/** Finds the configurations that may install a template, for `template list` and the template's route. */
import type { ConfigurationRecord } from '../model/configuration.js';
import { mayInstall } from '../model/plain/may-install.js';
import type { MirrorReader } from '../store/mirror.js';
import type { TemplateName } from '../templates/sync/pattern.js';

/** The names of the configurations, in order. */
export function templateUsers(
  { configurations }: { readonly configurations: Pick<MirrorReader<ConfigurationRecord>, 'entries'> },
  template: TemplateName,
): string[] {
  const users: string[] = [];
  for (const [user, { value }] of configurations.entries())
    if (mayInstall(value.configuration.templateInstallationConfig, template)) users.push(user);
  return users.sort();
}
