/**
 * The plan of a change: what whole contents would change in configurations and instances, before anything is written.
 * `POST /api/plan`, `drover plan` and the dashboard show it. It writes nothing.
 */

import { createHash } from 'node:crypto';
import { z } from 'zod';
import { type ParsedConfiguration, validateConfiguration } from '../../configuration-files/parse.js';
import { type ConfigurationRecord, canonicalJson } from '../../model/configuration.js';
import { DroverError } from '../../model/errors.js';
import { changedFieldSchema, changedFields } from '../../model/field-class.js';
import { nameSchema } from '../../model/names.js';
import { mayBeSecret } from '../../model/plain/may-be-secret.js';
import { countText, quoteText } from '../../model/words.js';
import { HIDDEN } from '../../telemetry/secret-fields.js';
import { type ConfigurationChange, changeOf } from '../configuration-content.js';
import { fileStateSchema } from '../configuration-diff.js';
import type { Reads } from '../reads.js';
import type { Writes } from '../writes.js';
import type { ServiceForecast } from './forecast.js';
import { whyOf } from './why.js';

/** Raised when readers must read the answer differently. New fields do not raise it. */
const PLAN_FORMAT = 1;
/** How many files are read at once. */
const AT_ONCE = 16;

/** The contents to plan, and what the caller may see of the plan. */
interface ChangePlanOrder {
  /** The whole contents, each with its name. */
  readonly configurations: readonly object[];
  /** True: all other configurations that `sees` allows are to be removed. */
  readonly prune: boolean;
  /** True: values that may be secrets are shown. */
  readonly showValues: boolean;
  /** True for a configuration that the caller may see. */
  readonly sees: (name: string) => boolean;
}

const count = z.int().min(0);

const planEffectsSchema = z.object({
  create: count.describe('new instances that replace no other instance'),
  replace: count.describe('instances that a new instance replaces'),
  restart: count.describe('instances that are restarted in place'),
  stop: count.describe('instances that are stopped or removed without a replacement'),
  keep: count.describe('instances that are left alone'),
  waitForPlayers: count.describe(
    'how many of the replaced, restarted or stopped instances first wait for their players to leave',
  ),
});

const plannedConfigurationSchema = z.object({
  name: z.string(),
  action: z.enum(['create', 'change', 'delete', 'unchanged']),
  revision: z.string().nullable().describe('the revision in force, for `If-Match`; null: there is none'),
  fileState: fileStateSchema.nullable().describe('null: there is no such configuration'),
  fields: z
    .array(changedFieldSchema)
    .describe('the fields that differ from the content in force; none for a new configuration'),
  effects: planEffectsSchema,
  why: z.string().describe('the effects in words, for a person'),
});
export type PlannedConfiguration = z.output<typeof plannedConfigurationSchema>;

export const changePlanSchema = z.object({
  formatVersion: z.literal(PLAN_FORMAT),
  fingerprint: z
    .string()
    .describe(
      'a hash of the writes and their effects; another hash shows that the state or the contents have changed',
    ),
  configurations: z
    .array(plannedConfigurationSchema)
    .describe('in the order of the request; configurations that are removed come last'),
  shortages: z.array(
    z.object({
      configurationName: z.string(),
      wanted: z.int().describe('new instances that need a place'),
      missing: z.int().describe('how many of them fit on no node'),
      message: z.string().describe('the reason from placement'),
    }),
  ),
  warnings: z.array(
    z.object({
      configurationName: z
        .string()
        .nullable()
        .describe('the configuration; null: the note is about the whole plan'),
      field: z.string().nullable(),
      message: z.string(),
    }),
  ),
});
export type ChangePlan = z.output<typeof changePlanSchema>;

interface Content {
  readonly name: string;
  readonly parsed: ParsedConfiguration;
}

/**
 * Makes a plan on the present state. Throws DRV_CONFIGURATION_INVALID for the first content that a write would refuse,
 * and DRV_REQUEST_INVALID for two contents of one name.
 */
export async function planChanges(
  needs: Reads & Pick<Writes, 'led'>,
  order: ChangePlanOrder,
): Promise<ChangePlan> {
  const contents = judgeAll(order.configurations);
  const changes = await compareAll(needs, contents);
  // There is no await from here on, so that all contents are judged on one state.
  const { configurations: records } = needs;
  const removed = order.prune ? namesToRemove(needs, order, contents) : [];
  const all = [...contents, ...removed.map((name) => ({ name, parsed: null }))];
  const forecast = needs.led().forecaster.forecast(all.map(({ name, parsed }) => ({ name, to: parsed })));
  const configurations = all.map(({ name, parsed }, index) =>
    planned({
      name,
      parsed,
      record: records.get(name)?.value,
      change: changes[index],
      service: forecast.services.get(name) ?? NOTHING,
    }),
  );
  const { shortages, unjudged } = forecast;
  return {
    formatVersion: PLAN_FORMAT,
    fingerprint: fingerprintOf(configurations, contents, shortages),
    configurations: order.showValues ? configurations : configurations.map(withoutValues),
    shortages: [...shortages],
    warnings: [...warningsOf(changes), ...unjudgedWarning(unjudged)],
  };
}

/**
 * Makes the plan again on the present state. Throws DRV_PLAN_CHANGED when its fingerprint is not the expected
 * one.
 */
export async function planAsBefore(
  needs: Reads & Pick<Writes, 'led'>,
  order: ChangePlanOrder,
  fingerprint: string,
): Promise<ChangePlan> {
  const plan = await planChanges(needs, order);
  if (plan.fingerprint === fingerprint) return plan;
  throw new DroverError(
    'DRV_PLAN_CHANGED',
    `the plan has changed since ${quoteText(fingerprint)}: the instances, the contents in force, the contents of the request or "prune" are different now; plan again, and read the new plan`,
  );
}

function judgeAll(inputs: readonly object[]): Content[] {
  const names = new Set<string>();
  return inputs.map((input, index) => {
    const { data: name } = nameSchema.safeParse('name' in input ? input.name : undefined);
    const place = `configurations.${index}`;
    if (name === undefined)
      throw new DroverError(
        'DRV_CONFIGURATION_INVALID',
        `${place}: name: must be the name of a configuration`,
      );
    if (names.has(name))
      throw new DroverError('DRV_REQUEST_INVALID', `${place}: ${quoteText(name)} is there twice`);
    names.add(name);
    try {
      return { name, parsed: validateConfiguration(name, input) };
    } catch (error) {
      if (!DroverError.is(error, 'DRV_CONFIGURATION_INVALID')) throw error;
      throw new DroverError(error.code, `${name}: ${error.message}`, { cause: error });
    }
  });
}

async function compareAll(needs: Reads, contents: readonly Content[]): Promise<ConfigurationChange[]> {
  const changes: ConfigurationChange[] = [];
  for (let from = 0; from < contents.length; from += AT_ONCE)
    changes.push(
      ...(await Promise.all(
        contents.slice(from, from + AT_ONCE).map(({ name, parsed }) => changeOf(needs, name, parsed)),
      )),
    );
  return changes;
}

function namesToRemove(
  { configurations }: Reads,
  { sees }: ChangePlanOrder,
  contents: readonly Content[],
): string[] {
  const stay = new Set(contents.map(({ name }) => name));
  return [...configurations.entries()]
    .map(([name]) => name)
    .filter((name) => !stay.has(name) && sees(name))
    .sort();
}

const NOTHING: ServiceForecast = {
  create: 0,
  replace: 0,
  restart: 0,
  stop: 0,
  keep: 0,
  waitForPlayers: 0,
  onPromotion: 0,
  older: 0,
  heldBack: null,
};

interface ToPlan {
  readonly name: string;
  /** The content that is to come into force; null: the configuration is removed. */
  readonly parsed: ParsedConfiguration | null;
  /** The record in force; undefined: there is none. */
  readonly record: ConfigurationRecord | undefined;
  readonly change: ConfigurationChange | undefined;
  readonly service: ServiceForecast;
}

function planned({ name, parsed, record, change, service }: ToPlan): PlannedConfiguration {
  const isChange = record !== undefined && parsed !== null;
  const fields = isChange ? changedFields(record.configuration, parsed.configuration) : [];
  const fileState = isChange ? (change?.fileState ?? 'same') : null;
  const action = parsed === null ? 'delete' : actionOf(record, parsed, fileState);
  const { older: _older, onPromotion: _promotion, heldBack: _held, ...effects } = service;
  const why = whyOf({ name, action, fields, fileState, service });
  return { name, action, revision: record?.hash ?? null, fileState, fields, effects, why };
}

function actionOf(
  record: ConfigurationRecord | undefined,
  { hash }: ParsedConfiguration,
  fileState: PlannedConfiguration['fileState'],
): PlannedConfiguration['action'] {
  if (record === undefined) return 'create';
  // Not `unchanged` when only the file has another content: then the file is written again.
  return record.hash === hash && fileState === 'same' ? 'unchanged' : 'change';
}

function withoutValues(planned: PlannedConfiguration): PlannedConfiguration {
  const hide = (value: string | null): string | null => (value === null ? null : HIDDEN);
  const fields = planned.fields.map((field) =>
    mayBeSecret(field.path) ? { ...field, from: hide(field.from), to: hide(field.to) } : field,
  );
  return { ...planned, fields };
}

function warningsOf(changes: readonly ConfigurationChange[]): ChangePlan['warnings'] {
  return changes.flatMap(({ name, warnings }) =>
    warnings.map(({ field, message }) => ({ configurationName: name, field, message })),
  );
}

function unjudgedWarning(unjudged: number): ChangePlan['warnings'] {
  if (unjudged === 0) return [];
  const message = `${countText(unjudged, 'more new instance')}: whether they fit was not looked at`;
  return [{ configurationName: null, field: null, message }];
}

/**
 * The fingerprint of a plan. Two plans have the same fingerprint when they replace the same contents by the
 * same contents, with the same outcome. Players, free capacity and untouched instances do not count, because
 * they change all the time and no caller decides by them.
 */
function fingerprintOf(
  configurations: readonly PlannedConfiguration[],
  contents: readonly Content[],
  shortages: readonly ChangePlan['shortages'][number][],
): string {
  const hashes = new Map(contents.map(({ name, parsed }) => [name, parsed.hash]));
  const decided = configurations.map(({ name, action, revision, fileState, effects }) => {
    const { keep: _keep, waitForPlayers: _waitForPlayers, ...counts } = effects;
    return { name, action, revision, fileState, to: hashes.get(name) ?? null, counts };
  });
  const missing = shortages.map(({ configurationName, missing: count }) => [configurationName, count]);
  const text = canonicalJson({ decided: decided.toSorted((a, b) => (a.name < b.name ? -1 : 1)), missing });
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
