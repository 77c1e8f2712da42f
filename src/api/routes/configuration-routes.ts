/**
 * `/configurations`: the contents that instances are made from. Writes go to the JSON files, and the records follow the
 * files.
 */

import { z } from 'zod';
import { judgeConfigurationText, validateConfiguration } from '../../configuration-files/parse.js';
import type { Precondition } from '../../configuration-files/precondition.js';
import { Pace } from '../../loop/pace.js';
import { brokenTextSchema, type Configuration, configurationSchema } from '../../model/configuration.js';
import type { ErrorCode } from '../../model/errors.js';
import { differencesOf } from '../../model/field-differences.js';
import { isObject } from '../../model/json-object.js';
import { nameSchema } from '../../model/names.js';
import { unknownConfiguration } from '../../model/unknown.js';
import {
  configurationContentSchema,
  contentOf,
  gitNoteOf,
  judgedTextSchema,
  keepingManaged,
  keepManagedSchema,
} from '../../operations/configuration-content.js';
import { configurationDiffSchema, diffOf } from '../../operations/configuration-diff.js';
import { callerOf, requireSecrets, requireSight, seesConfiguration } from '../gate/auth.js';
import { shownTo, valuesQuery } from '../gate/shown-values.js';
import { answerOf } from '../http/error-reply.js';
import { sendNoContent } from '../http/json-reply.js';
import { preconditionHeaders, preconditionOf, setTag } from '../http/preconditions.js';
import { defineRoute, jsonAnswer, type Route } from '../http/route.js';
import { addWarnings } from '../http/warning-headers.js';
import { reasonQuery } from './configuration-override-routes.js';
import { ofConfiguration } from './subjects.js';

/** The errors of every write into the file of a configuration. */
export const WRITE_ERRORS: readonly ErrorCode[] = [
  'DRV_CONFIGURATION_CHANGED',
  'DRV_CONFIGURATION_FROZEN',
  'DRV_CONFIGURATION_OWNED',
  'DRV_CONFIGURATION_NOT_WRITABLE',
  'DRV_DISK_WRITE_FAILED',
  'DRV_STORE_WRITE_FAILED',
];

const writableName = z.object({ name: nameSchema.describe('name of the configuration') });

/**
 * The configuration's schema describes the body, which is passed on unchanged. The writer checks the body, and names
 * unknown fields.
 */
export const rawConfiguration = z.custom<Record<string, unknown>>(
  isObject,
  'must be a JSON object: the full configuration',
);

/** The most changes and values of one batch. */
const MOST_CHANGES = 1000;
const MOST_VALUES = 70_000;

function batchOf<Content extends z.ZodType>(content: Content) {
  const change = z.object({
    do: z.enum(['put', 'remove']).describe('what PUT or DELETE of the configuration would do'),
    name: nameSchema,
    content: content.optional().describe('the full configuration that is put'),
    ifMatch: z.string().optional().describe('change only what still has this revision'),
    ifNoneMatch: z.literal('*').optional().describe('put only if there is no such configuration'),
  });
  return z.object({
    keepManaged: keepManagedSchema,
    changes: z.array(change).max(MOST_CHANGES).describe('made in order, each for itself'),
  });
}

const batchOutcomeSchema = z.object({
  name: z.string(),
  status: z.int().describe('204, or the status with which PUT or DELETE would have refused the change'),
  error: z.string().nullable().describe('why the change is refused; null: it is made'),
  code: z.string().nullable().describe('the code of the refusal; null: the change is made'),
});

export type BatchOutcome = z.output<typeof batchOutcomeSchema>;

export const configurationRoutes: readonly Route[] = [
  defineRoute('GET', '/configurations', {
    scope: 'READ',
    reach: 'filtered',
    summary: 'All configurations, by name.',
    answers: jsonAnswer('configurations', z.array(configurationSchema)),
    handle: ({ request }, { configurations }): Configuration[] =>
      [...configurations.entries()]
        .filter(([name]) => seesConfiguration(request, name))
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([, { value }]) => value.configuration),
  }),
  defineRoute('GET', '/configurations/:name', {
    scope: 'READ',
    ...ofConfiguration,
    summary: 'One configuration.',
    answers: jsonAnswer('the configuration; `ETag` is its revision', configurationSchema),
    handle: ({ params }, { configurations }, reply): Configuration => {
      const record = configurations.get(params.name);
      if (record === undefined) throw unknownConfiguration(params.name);
      setTag(reply, record.value.hash);
      return record.value.configuration;
    },
  }),
  defineRoute('PUT', '/configurations/:name', {
    scope: 'CONFIGURE',
    reach: 'new-configuration',
    summary: 'Creates or replaces a configuration; Warning headers name the fields without effect.',
    errors: WRITE_ERRORS,
    headers: preconditionHeaders,
    params: writableName,
    query: reasonQuery,
    body: rawConfiguration,
    documentedBody: configurationSchema,
    answers: { 204: { description: 'written' } },
    handle: async ({ params, query: { reason }, body, request }, needs, reply) => {
      const options = { precondition: preconditionOf(request), by: { key: callerOf(request), reason } };
      const before = needs.configurations.get(params.name)?.value.configuration;
      requireSecrets(request, before, () => validateConfiguration(params.name, body));
      const { configuration, warnings } = await needs.configurationFiles.put(params.name, body, options);
      const changed = before === undefined ? [] : differencesOf(before, configuration);
      const fields = changed.map(({ field }) => field).join(', ');
      if (fields !== '') request.subject = `${params.name}: ${fields}`;
      const note = gitNoteOf(needs, params.name);
      addWarnings(reply, [
        ...(note === null ? [] : [note]),
        ...warnings.map(({ field, message }) => `${field}: ${message}`),
      ]);
      sendNoContent(reply);
    },
  }),
  defineRoute('POST', '/configurations/batch', {
    scope: 'CONFIGURE',
    reach: 'filtered',
    summary: 'Writes and removes several configurations, each for itself, as PUT and DELETE do.',
    errors: ['DRV_CONFIGURATION_INVALID', 'DRV_CONFIGURATION_REFUSED'],
    body: batchOf(rawConfiguration),
    documentedBody: batchOf(configurationSchema),
    mostValues: MOST_VALUES,
    answers: jsonAnswer('the outcome of each change, in order', z.array(batchOutcomeSchema)),
    handle: async ({ body: { keepManaged, changes }, request }, needs) => {
      const { configurationFiles } = needs;
      const by = { key: callerOf(request) };
      const pace = new Pace();
      const writes: (() => Promise<unknown>)[] = [];
      // Refuse the whole before the first write where a single content would be refused.
      for (const change of changes) {
        if (pace.isOver) await pace.rest();
        const { name } = change;
        requireSight(request, name);
        const options = { precondition: batchPrecondition(change.ifMatch, change.ifNoneMatch), by };
        if (change.do === 'remove') writes.push(() => configurationFiles.remove(name, options));
        else {
          const parsed = validateConfiguration(name, change.content);
          requireSecrets(request, needs.configurations.get(name)?.value.configuration, () => parsed);
          writes.push(() =>
            configurationFiles.write(
              name,
              keepManaged ? keepingManaged(needs, name, parsed) : parsed,
              options,
            ),
          );
        }
      }
      const outcomes = await Promise.allSettled(writes.map((write) => write()));
      return outcomes.map((outcome, index) => {
        const name = changes[index]?.name ?? '';
        if (outcome.status === 'fulfilled') return { name, status: 204, error: null, code: null };
        const { status, code, text } = answerOf(outcome.reason);
        return { name, status, error: text, code };
      });
    },
  }),
  defineRoute('DELETE', '/configurations/:name', {
    scope: 'CONFIGURE',
    ...ofConfiguration,
    summary: 'Removes a configuration; its instances stay as they are.',
    errors: [...WRITE_ERRORS],
    headers: preconditionHeaders.pick({ 'If-Match': true }),
    query: reasonQuery,
    answers: { 204: { description: 'removed' } },
    handle: async ({ params, query: { reason }, request }, { configurationFiles }, reply) => {
      if (!nameSchema.safeParse(params.name).success) throw unknownConfiguration(params.name);
      await configurationFiles.remove(params.name, {
        precondition: preconditionOf(request),
        by: { key: callerOf(request), reason },
      });
      sendNoContent(reply);
    },
  }),
  defineRoute('GET', '/configurations/:name/diff', {
    scope: 'READ',
    ...ofConfiguration,
    summary: 'Compares the content in force with the present file, and with the contents of the instances.',
    query: valuesQuery,
    answers: jsonAnswer('the differences', configurationDiffSchema),
    handle: ({ params, query, request }, needs) =>
      diffOf(needs, params.name, shownTo(request, query.values === 'true')),
  }),
  defineRoute('GET', '/configurations/:name/file', {
    scope: 'READ',
    ...ofConfiguration,
    summary: 'The content of a configuration as in its file, to be edited and written back.',
    answers: jsonAnswer('the content; `ETag` is its revision', configurationContentSchema),
    handle: async ({ params }, needs, reply) => {
      const content = await contentOf(needs, params.name);
      setTag(reply, content.revision);
      return content;
    },
  }),
  defineRoute('GET', '/configurations/:name/broken-file', {
    scope: 'READ',
    ...ofConfiguration,
    summary: 'The text of a broken file of a configuration as it stands, to be mended and written back.',
    answers: jsonAnswer('the text; `ETag` is its revision', brokenTextSchema),
    handle: async ({ params: { name } }, { configurationFiles }, reply) => {
      const broken = await configurationFiles.textOfBroken(name);
      if (broken === undefined) throw unknownConfiguration(name);
      setTag(reply, broken.revision);
      return broken;
    },
  }),
  defineRoute('POST', '/configurations/:name/check', {
    scope: 'PLAN',
    reach: 'new-configuration',
    summary: 'Judges a text that is being typed, with line and column of each fault. Writes nothing.',
    params: writableName,
    body: z.object({ text: z.string().describe('the JSON text of the file') }),
    answers: jsonAnswer('the problems and warnings', judgedTextSchema),
    handle: ({ params, body, request }) => {
      // The request writes nothing, so the audit trail needs no entry.
      request.isRoutine = true;
      return judgeConfigurationText(params.name, body.text);
    },
  }),
];

function batchPrecondition(ifMatch: string | undefined, ifNoneMatch: unknown): Precondition | undefined {
  if (ifNoneMatch !== undefined) return { is: 'absent' };
  return ifMatch === undefined ? undefined : { is: 'existing', revisions: [ifMatch] };
}
