/**
 * `/configuration-files`: which files are broken, what is odd in others, and reading all files again. `configuration-routes.ts` serves
 * what they say.
 */
import { z } from 'zod';
import { configurationFileErrorSchema, configurationFileWarningSchema } from '../../model/configuration.js';
import {
  type ConfigurationReloadNeeds,
  configurationReloadSchema,
  reloadConfigurations,
} from '../../operations/configuration-reload.js';
import { seesConfiguration } from '../access/auth.js';
import { defineRoute, nothing, type Route } from '../http/route.js';

export function configurationFileRoutes(dependencies: ConfigurationReloadNeeds): readonly Route[] {
  const errorsRoute = defineRoute({
    method: 'GET',
    path: '/configuration-files/errors',
    scope: 'READ',
    reach: 'filtered',
    summary: 'Configuration files that are not in force as they stand, and why.',
    params: nothing,
    query: nothing,
    body: nothing,
    answers: { 200: { description: 'faults', schema: z.array(configurationFileErrorSchema) } },
    handle: ({ request }) =>
      dependencies.configurationFiles
        .errors()
        // The fault of a file without a name may belong to any configuration.
        .filter(({ name }) => seesConfiguration(request, name ?? '')),
  });
  const warningsRoute = defineRoute({
    method: 'GET',
    path: '/configuration-files/warnings',
    scope: 'READ',
    reach: 'filtered',
    summary: 'What valid configuration files say without effect, such as fields that are not known.',
    params: nothing,
    query: nothing,
    body: nothing,
    answers: { 200: { description: 'warnings', schema: z.array(configurationFileWarningSchema) } },
    handle: ({ request }) =>
      dependencies.configurationFiles.warnings().filter(({ name }) => seesConfiguration(request, name)),
  });
  const reloadRoute = defineRoute({
    method: 'POST',
    path: '/configuration-files/reload',
    scope: 'ALL',
    summary: 'Reads all configuration files again now, and says what changed.',
    errors: ['DRV_STORE_WRITE_FAILED'],
    params: nothing,
    query: nothing,
    body: nothing,
    answers: { 200: { description: 'what changed is in force', schema: configurationReloadSchema } },
    handle: () => reloadConfigurations(dependencies),
  });
  return [errorsRoute, warningsRoute, reloadRoute];
}
