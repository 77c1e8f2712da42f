/** `/configurations`: what instances are made from. Writes go to the JSON files, which are the truth. */
import { z } from 'zod';
import { type Configuration, configurationSchema } from '../../model/configuration.js';
import { DroverError } from '../../model/errors.js';
import { nameSchema } from '../../model/names.js';
import type { ApiDependencies } from '../http/dependencies.js';
import { sendNoContent } from '../http/json-reply.js';
import { defineRoute, nothing, type Route } from '../http/route.js';

const nameParams = z.object({ name: z.string().describe('name of the configuration') });
const writableName = z.object({ name: nameSchema.describe('name of the configuration') });

/** Described by the configuration's schema, but handed on as it came: the writer checks it and says what it did not know. */
const rawConfiguration = z.unknown().refine(isObject, {
  error: 'must be a JSON object: the full configuration',
});

export function configurationRoutes(dependencies: ApiDependencies): readonly Route[] {
  return [listRoute(dependencies), getRoute(dependencies), putRoute(dependencies), removeRoute(dependencies)];
}

function listRoute({ configurations }: ApiDependencies): Route {
  return defineRoute({
    method: 'GET',
    path: '/configurations',
    scope: 'ALL',
    summary: 'All configurations, by name.',
    params: nothing,
    query: nothing,
    body: nothing,
    answers: { 200: { description: 'configurations', schema: z.array(configurationSchema) } },
    handle: (): Configuration[] =>
      [...configurations.entries()]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([, { value }]) => value.configuration),
  });
}

function getRoute({ configurations }: ApiDependencies): Route {
  return defineRoute({
    method: 'GET',
    path: '/configurations/:name',
    scope: 'ALL',
    summary: 'One configuration.',
    errors: ['DRV_CONFIGURATION_UNKNOWN'],
    params: nameParams,
    query: nothing,
    body: nothing,
    answers: { 200: { description: 'the configuration', schema: configurationSchema } },
    handle: ({ params }): Configuration => {
      const record = configurations.get(params.name);
      if (record === undefined) throw unknownConfiguration(params.name);
      return record.value.configuration;
    },
  });
}

function putRoute({ configurationWrites, logger }: ApiDependencies): Route {
  return defineRoute({
    method: 'PUT',
    path: '/configurations/:name',
    scope: 'ALL',
    summary: 'Creates or replaces a configuration.',
    errors: ['DRV_CONFIGURATION_NOT_WRITABLE', 'DRV_DISK_WRITE_FAILED', 'DRV_STORE_WRITE_FAILED'],
    params: writableName,
    query: nothing,
    body: rawConfiguration,
    documentedBody: configurationSchema,
    answers: { 204: { description: 'written' } },
    handle: async ({ params, body }, reply) => {
      const { unknownFields } = await configurationWrites.put(params.name, body);
      if (unknownFields.length > 0) {
        const names = JSON.stringify(unknownFields);
        const text = `configuration ${params.name}: the fields ${names} are not known and have no effect`;
        logger.warn({ configuration: params.name, unknownFields }, text);
      }
      sendNoContent(reply);
    },
  });
}

function removeRoute({ configurationWrites }: ApiDependencies): Route {
  return defineRoute({
    method: 'DELETE',
    path: '/configurations/:name',
    scope: 'ALL',
    summary: 'Removes a configuration; instances made from it are left alone.',
    errors: [
      'DRV_CONFIGURATION_UNKNOWN',
      'DRV_CONFIGURATION_NOT_WRITABLE',
      'DRV_DISK_WRITE_FAILED',
      'DRV_STORE_WRITE_FAILED',
    ],
    params: nameParams,
    query: nothing,
    body: nothing,
    answers: { 204: { description: 'removed' } },
    handle: async ({ params }, reply) => {
      if (!nameSchema.safeParse(params.name).success) throw unknownConfiguration(params.name);
      await configurationWrites.remove(params.name);
      sendNoContent(reply);
    },
  });
}

/** Only a well-formed name is repeated to the client. */
export function unknownConfiguration(name: string): DroverError {
  const isName = nameSchema.safeParse(name).success;
  const message = isName
    ? `there is no configuration "${name}": GET /api/configurations lists them`
    : 'there is no such configuration: GET /api/configurations lists them';
  return new DroverError('DRV_CONFIGURATION_UNKNOWN', message);
}

function isObject(value: unknown): boolean {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
