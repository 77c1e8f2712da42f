/**
 * `/configuration-files`: the state of every file, the broken files, the warnings about others, and a new reading of
 * all. `configuration-routes.ts` serves the contents.
 */

import { z } from 'zod';
import { configurationJsonSchema } from '../../configuration-files/json-schema.js';
import {
  type ConfigurationRecord,
  configurationFileErrorSchema,
  configurationFileWarningSchema,
} from '../../model/configuration.js';
import { commitProgress, commitProgressSchema } from '../../operations/commit-progress.js';
import {
  configurationDirectorySchema,
  describeDirectory,
  listConfigurationFiles,
  listedFileSchema,
} from '../../operations/configuration-file-list.js';
import { seesConfiguration } from '../gate/auth.js';
import { defineRoute, flag, jsonAnswer, type Route } from '../http/route.js';

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

export const configurationFileRoutes: readonly Route[] = [
  defineRoute('GET', '/schemas/configuration.json', {
    scope: 'READ',
    reach: 'filtered',
    summary: 'The JSON Schema of a configuration file, for editors.',
    answers: jsonAnswer('the schema', z.record(z.string(), z.unknown())),
    handle: () => configurationJsonSchema(),
  }),
  defineRoute('GET', '/configuration-files', {
    scope: 'READ',
    reach: 'filtered',
    summary:
      'Every configuration file, with its state, its commit, and the number of instances with its content.',
    answers: jsonAnswer('files, by name', z.array(listedFileSchema)),
    handle: async ({ request }, needs) =>
      (await listConfigurationFiles(needs)).filter(({ name }) => seesConfiguration(request, name ?? '')),
  }),
  defineRoute('GET', '/configuration-files/directory', {
    scope: 'READ',
    reach: 'filtered',
    summary: 'The configurations directory of the master that answers, and how it stands in git.',
    answers: jsonAnswer('the directory', configurationDirectorySchema),
    handle: async ({ request }, needs) => {
      const directory = await describeDirectory(needs);
      const files = directory.files.filter(({ name }) => seesConfiguration(request, name ?? ''));
      return { ...directory, files };
    },
  }),
  defineRoute('GET', '/configuration-files/commits/:commit', {
    scope: 'READ',
    reach: 'filtered',
    summary: 'Whether all files of a commit of the directory are in force, or rolled out.',
    params: z.object({
      commit: z
        .string()
        .regex(/^[0-9a-f]{4,64}$/i, 'must be a hash of a commit, or at least its first 4 digits')
        .describe('a hash, in full or its first digits; a later commit stands for it, too'),
    }),
    answers: jsonAnswer('how far the commit has come', commitProgressSchema),
    handle: async ({ params, request }, needs) => {
      const progress = await commitProgress(needs, params.commit);
      const files = progress.files.filter(({ name }) => seesConfiguration(request, name ?? ''));
      return { ...progress, files };
    },
  }),
  defineRoute('GET', '/configuration-files/errors', {
    scope: 'READ',
    reach: 'filtered',
    summary: 'Configuration files whose present content is not in force, with the reasons.',
    answers: jsonAnswer('faults', z.array(configurationFileErrorSchema)),
    handle: ({ request }, { configurationFiles }) =>
      configurationFiles
        .errors()
        // A fault without a configuration name may belong to any configuration, so a key for some names does not see
        // it.
        .filter(({ name }) => seesConfiguration(request, name ?? '')),
  }),
  defineRoute('GET', '/configuration-files/warnings', {
    scope: 'READ',
    reach: 'filtered',
    summary: 'Parts of valid configuration files that have no effect, such as unknown fields.',
    answers: jsonAnswer('warnings', z.array(configurationFileWarningSchema)),
    handle: ({ request }, { configurationFiles }) =>
      configurationFiles.warnings().filter(({ name }) => seesConfiguration(request, name)),
  }),
  defineRoute('POST', '/configuration-files/reload', {
    scope: 'CONFIGURE',
    summary: 'Reads all configuration files again, and tells what changed.',
    errors: ['DRV_STORE_WRITE_FAILED'],
    query: z.object({
      confirm: flag.describe('remove configurations that have lost their file, even if they are most of all'),
    }),
    answers: jsonAnswer('the changes, which are in force', configurationReloadSchema),
    handle: async ({ query }, { configurations, configurationFiles }): Promise<ConfigurationReload> => {
      const before = hashesOf(configurations.entries());
      await configurationFiles.reload(query.confirm === 'true');
      const after = hashesOf(configurations.entries());
      const names = [...after.keys()].sort();
      return {
        added: names.filter((name) => !before.has(name)),
        changed: names.filter((name) => before.has(name) && before.get(name) !== after.get(name)),
        removed: [...before.keys()].filter((name) => !after.has(name)).sort(),
        waiting: [...configurationFiles.waiting()].sort(),
        brokenFiles: [...configurationFiles.errors()],
        warnings: [...configurationFiles.warnings()],
        configurations: after.size,
      };
    },
  }),
];

function hashesOf(entries: Iterable<[string, { readonly value: ConfigurationRecord }]>): Map<string, string> {
  return new Map([...entries].map(([name, { value }]) => [name, value.hash]));
}
