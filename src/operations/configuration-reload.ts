/** Reads the configuration files again, and tells what changed: `config reload` and its route. */

import { z } from 'zod';
import {
  type ConfigurationRecord,
  configurationFileErrorSchema,
  configurationFileWarningSchema,
} from '../model/configuration.js';
import type { Reads } from './reads.js';
import type { Writes } from './writes.js';

const names = z.array(z.string()).describe('names of configurations, in order');

export const configurationReloadSchema = z.object({
  added: names,
  changed: names,
  removed: names,
  waiting: names.describe(
    'configurations that have lost their file but stay in force, because the removal of so many must be confirmed',
  ),
  brokenFiles: z.array(configurationFileErrorSchema),
  warnings: z.array(configurationFileWarningSchema),
  configurations: z.int().describe('how many configurations are in force now'),
});
export type ConfigurationReload = z.output<typeof configurationReloadSchema>;

/**
 * Resolves when the changes are in force. Repeatable. Throws the errors of the store. `isConfirmed`: removes
 * configurations that have lost their file, however many there are.
 */
export async function reloadConfigurations(
  needs: Reads & Writes,
  isConfirmed: boolean,
): Promise<ConfigurationReload> {
  const { configurations, configurationFiles } = needs;
  const before = hashesOf(configurations.entries());
  await configurationFiles.reload(isConfirmed);
  const after = hashesOf(configurations.entries());
  return {
    added: [...after.keys()].filter((name) => !before.has(name)).sort(),
    changed: [...after.keys()]
      .filter((name) => before.has(name) && before.get(name) !== after.get(name))
      .sort(),
    removed: [...before.keys()].filter((name) => !after.has(name)).sort(),
    waiting: [...configurationFiles.waiting()].sort(),
    brokenFiles: [...configurationFiles.errors()],
    warnings: [...configurationFiles.warnings()],
    configurations: after.size,
  };
}

function hashesOf(entries: Iterable<[string, { readonly value: ConfigurationRecord }]>): Map<string, string> {
  const hashes = new Map<string, string>();
  for (const [name, { value }] of entries) hashes.set(name, value.hash);
  return hashes;
}
