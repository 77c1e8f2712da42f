/**
 * `/configuration-files`: the state of every file, the broken files, the warnings about others, and a new reading of
 * all. `configuration-routes.ts` serves the contents.
 */

import { z } from 'zod';
import { configurationJsonSchema } from '../../configuration-files/json-schema.js';
import { configurationFileErrorSchema, configurationFileWarningSchema } from '../../model/configuration.js';
import { listConfigurationFiles, listedFileSchema } from '../../operations/configuration-file-list.js';
import { configurationReloadSchema, reloadConfigurations } from '../../operations/configuration-reload.js';
import { seesConfiguration } from '../gate/auth.js';
import { defineRoute, type Route } from '../http/route.js';

export const configurationFileRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/schemas/configuration.json',
    scope: 'READ',
    reach: 'filtered',
    summary: 'The JSON Schema of a configuration file, for editors.',
    answers: { 200: { description: 'the schema', schema: z.record(z.string(), z.unknown()) } },
    handle: () => configurationJsonSchema(),
  }),
  defineRoute({
    method: 'GET',
    path: '/configuration-files',
    scope: 'READ',
    reach: 'filtered',
    summary:
      'Every configuration file, with its state, its commit, and the number of instances with its content.',
    answers: { 200: { description: 'files, by name', schema: z.array(listedFileSchema) } },
    handle: async ({ request }, needs) =>
      (await listConfigurationFiles(needs)).filter(({ name }) => seesConfiguration(request, name ?? '')),
  }),
  defineRoute({
    method: 'GET',
    path: '/configuration-files/errors',
    scope: 'READ',
    reach: 'filtered',
    summary: 'Configuration files whose present content is not in force, with the reasons.',
    answers: { 200: { description: 'faults', schema: z.array(configurationFileErrorSchema) } },
    handle: ({ request }, { configurationFiles }) =>
      configurationFiles
        .errors()
        // A fault without a configuration name may belong to any configuration.
        .filter(({ name }) => seesConfiguration(request, name ?? '')),
  }),
  defineRoute({
    method: 'GET',
    path: '/configuration-files/warnings',
    scope: 'READ',
    reach: 'filtered',
    summary: 'Parts of valid configuration files that have no effect, such as unknown fields.',
    answers: { 200: { description: 'warnings', schema: z.array(configurationFileWarningSchema) } },
    handle: ({ request }, { configurationFiles }) =>
      configurationFiles.warnings().filter(({ name }) => seesConfiguration(request, name)),
  }),
  defineRoute({
    method: 'POST',
    path: '/configuration-files/reload',
    scope: 'ALL',
    summary: 'Reads all configuration files again, and tells what changed.',
    errors: ['DRV_STORE_WRITE_FAILED'],
    query: z.object({
      confirm: z
        .enum(['true', 'false'], { error: 'must be true or false' })
        .default('false')
        .describe('remove configurations that have lost their file, even if they are most of all'),
    }),
    answers: { 200: { description: 'the changes, which are in force', schema: configurationReloadSchema } },
    handle: ({ query }, needs) => reloadConfigurations(needs, query.confirm === 'true'),
  }),
];
