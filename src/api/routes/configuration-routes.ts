/**
 * `/configurations`: the contents that instances are made from. Writes go to the JSON files, and the records follow the
 * files.
 */

import { z } from 'zod';
import { judgeConfigurationText } from '../../configuration-files/parse.js';
import { type Configuration, configurationSchema } from '../../model/configuration.js';
import { nameSchema } from '../../model/names.js';
import { unknownConfiguration } from '../../model/unknown.js';
import {
  configurationChangeSchema,
  configurationContentSchema,
  contentOf,
  gitNoteOf,
  judgedTextSchema,
  planChange,
} from '../../operations/configuration-content.js';
import { configurationDiffSchema, diffOf } from '../../operations/configuration-diff.js';
import { callerOf, seesConfiguration } from '../gate/auth.js';
import { showsValues, valuesQuery } from '../gate/shown-values.js';
import { sendNoContent } from '../http/json-reply.js';
import { preconditionHeaders, preconditionOf, setTag } from '../http/preconditions.js';
import { defineRoute, type Route } from '../http/route.js';
import { addWarnings } from '../http/warning-headers.js';

const nameParams = z.object({ name: z.string().describe('name of the configuration') });
const writableName = z.object({ name: nameSchema.describe('name of the configuration') });

/**
 * The configuration's schema describes the body, which is passed on unchanged. The writer checks the body, and names
 * unknown fields.
 */
export const rawConfiguration = z.custom<Record<string, unknown>>(
  isObject,
  'must be a JSON object: the full configuration',
);

export const configurationRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/configurations',
    scope: 'READ',
    reach: 'filtered',
    summary: 'All configurations, by name.',
    answers: { 200: { description: 'configurations', schema: z.array(configurationSchema) } },
    handle: ({ request }, { configurations }): Configuration[] =>
      [...configurations.entries()]
        .filter(([name]) => seesConfiguration(request, name))
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([, { value }]) => value.configuration),
  }),
  defineRoute({
    method: 'GET',
    path: '/configurations/:name',
    scope: 'READ',
    reach: 'configuration',
    summary: 'One configuration.',
    errors: ['DRV_CONFIGURATION_UNKNOWN'],
    params: nameParams,
    answers: {
      200: { description: 'the configuration; `ETag` is its revision', schema: configurationSchema },
    },
    handle: ({ params }, { configurations }, reply): Configuration => {
      const record = configurations.get(params.name);
      if (record === undefined) throw unknownConfiguration(params.name);
      setTag(reply, record.value.hash);
      return record.value.configuration;
    },
  }),
  defineRoute({
    method: 'PUT',
    path: '/configurations/:name',
    scope: 'ALL',
    reach: 'new-configuration',
    summary: 'Creates or replaces a configuration; Warning headers name the fields without effect.',
    errors: [
      'DRV_CONFIGURATION_CHANGED',
      'DRV_CONFIGURATION_NOT_WRITABLE',
      'DRV_DISK_WRITE_FAILED',
      'DRV_STORE_WRITE_FAILED',
    ],
    headers: preconditionHeaders,
    params: writableName,
    body: rawConfiguration,
    documentedBody: configurationSchema,
    answers: { 204: { description: 'written' } },
    handle: async ({ params, body, request }, needs, reply) => {
      const options = { precondition: preconditionOf(request), by: { key: callerOf(request) } };
      const { warnings } = await needs.configurationFiles.put(params.name, body, options);
      const note = gitNoteOf(needs, params.name);
      addWarnings(reply, [
        ...(note === null ? [] : [note]),
        ...warnings.map(({ field, message }) => `${field}: ${message}`),
      ]);
      sendNoContent(reply);
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: '/configurations/:name',
    scope: 'ALL',
    reach: 'configuration',
    summary: 'Removes a configuration; its instances stay as they are.',
    errors: [
      'DRV_CONFIGURATION_UNKNOWN',
      'DRV_CONFIGURATION_CHANGED',
      'DRV_CONFIGURATION_NOT_WRITABLE',
      'DRV_DISK_WRITE_FAILED',
      'DRV_STORE_WRITE_FAILED',
    ],
    headers: preconditionHeaders.pick({ 'If-Match': true }),
    params: nameParams,
    answers: { 204: { description: 'removed' } },
    handle: async ({ params, request }, { configurationFiles }, reply) => {
      if (!nameSchema.safeParse(params.name).success) throw unknownConfiguration(params.name);
      await configurationFiles.remove(params.name, preconditionOf(request));
      sendNoContent(reply);
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/configurations/:name/diff',
    scope: 'READ',
    reach: 'configuration',
    summary: 'Compares the content in force with the present file, and with the contents of the instances.',
    errors: ['DRV_CONFIGURATION_UNKNOWN'],
    params: nameParams,
    query: valuesQuery,
    answers: { 200: { description: 'the differences', schema: configurationDiffSchema } },
    handle: ({ params, query, request }, needs) => diffOf(needs, params.name, showsValues(request, query)),
  }),
  defineRoute({
    method: 'GET',
    path: '/configurations/:name/file',
    scope: 'READ',
    reach: 'configuration',
    summary: 'The content of a configuration as in its file, to be edited and written back.',
    errors: ['DRV_CONFIGURATION_UNKNOWN'],
    params: nameParams,
    answers: {
      200: { description: 'the content; `ETag` is its revision', schema: configurationContentSchema },
    },
    handle: async ({ params }, needs, reply) => {
      const content = await contentOf(needs, params.name);
      setTag(reply, content.revision);
      return content;
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/configurations/:name/diff',
    scope: 'PLAN',
    reach: 'new-configuration',
    summary: 'Checks a content as PUT does, and tells what the PUT would change. Writes nothing.',
    errors: ['DRV_CONFIGURATION_INVALID'],
    params: writableName,
    query: valuesQuery,
    body: rawConfiguration,
    documentedBody: configurationSchema,
    answers: {
      200: { description: 'the changes that a PUT would make', schema: configurationChangeSchema },
    },
    handle: ({ params, query, body, request }, needs) => {
      // The request writes nothing, so the audit trail needs no entry.
      request.isRoutine = true;
      const showValues = showsValues(request, query);
      return planChange(needs, { name: params.name, input: body, showValues });
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/configurations/:name/check',
    scope: 'PLAN',
    reach: 'new-configuration',
    summary: 'Judges a text that is being typed, with line and column of each fault. Writes nothing.',
    params: writableName,
    body: z.object({ text: z.string().describe('the JSON text of the file') }),
    answers: { 200: { description: 'the problems and warnings', schema: judgedTextSchema } },
    handle: ({ params, body, request }) => {
      // The request writes nothing, so the audit trail needs no entry.
      request.isRoutine = true;
      return judgeConfigurationText(params.name, body.text);
    },
  }),
];

function isObject(value: unknown): boolean {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
