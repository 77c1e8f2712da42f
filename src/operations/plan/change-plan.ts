/**
 * The plan of a change: what whole contents would make of the configurations and of their instances, before anything is
 * written. `POST /api/plan`, `drover plan` and the dashboard show it. It writes nothing.
 */

import { z } from 'zod';
import { type ParsedConfiguration, validateConfiguration } from '../../configuration-files/parse.js';
import type { ConfigurationRecord } from '../../model/configuration.js';
import { DroverError } from '../../model/errors.js';
import { changedFieldSchema, changedFields } from '../../model/field-class.js';
import { nameSchema } from '../../model/names.js';
import { mayBeSecret } from '../../model/plain/may-be-secret.js';
import { countText, quoteText } from '../../model/words.js';
import { HIDDEN } from '../../telemetry/secret-fields.js';
import { type ConfigurationChange, changeOf } from '../configuration-content.js';
import { fileStateSchema } from '../configuration-diff.js';
import type { Reads } from '../reads.js';
import { fingerprintOf } from './fingerprint.js';
import type { ServiceForecast } from './forecast.js';
import { whyOf } from './why.js';

/** Raised when a reader of the answer must read it in another way. New fields raise nothing. */
const PLAN_FORMAT = 1;
/** Files that are read at once. */
const AT_ONCE = 16;

/** What is planned, for whom. */
export interface ChangePlanOrder {
  /** Whole contents, each with its name. */
  readonly configurations: readonly object[];
  /** All others that `sees` answers to go. */
  readonly prune: boolean;
  /** Values that may be secrets are shown. */
  readonly showValues: boolean;
  /** Which configurations the caller may see. */
  readonly sees: (name: string) => boolean;
}

const count = z.int().min(0);

const planEffectsSchema = z.object({
  create: count.describe('new instances, beside those that replace others'),
  replace: count.describe('instances whose place a new one takes'),
  restart: count.describe('instances that are restarted in place'),
  stop: count.describe('instances that are stopped or removed, and nothing takes their place'),
  keep: count.describe('instances that are left alone'),
  waitForPlayers: count.describe(
    'of those that are replaced, restarted or stopped: they have players, who are waited for',
  ),
});

const plannedConfigurationSchema = z.object({
  name: z.string(),
  action: z.enum(['create', 'change', 'delete', 'unchanged']),
  revision: z.string().nullable().describe('of what is in force, for `If-Match`; null: there is none'),
  fileState: fileStateSchema.nullable().describe('null: there is no such configuration'),
  fields: z.array(changedFieldSchema).describe('what differs from what is in force; none for a new one'),
  effects: planEffectsSchema,
  why: z.string().describe('what happens, for a person'),
});
export type PlannedConfiguration = z.output<typeof plannedConfigurationSchema>;

export const changePlanSchema = z.object({
  formatVersion: z.literal(PLAN_FORMAT),
  fingerprint: z
    .string()
    .describe(
      'of what would be written and what would happen; another one: the world or the contents have changed',
    ),
  configurations: z.array(plannedConfigurationSchema).describe('as they were given; those that go come last'),
  shortages: z.array(
    z.object({
      configurationName: z.string(),
      wanted: z.int().describe('new instances that need a place'),
      missing: z.int().describe('of these: no node has room for them'),
      message: z.string().describe("why, in placement's words"),
    }),
  ),
  warnings: z.array(
    z.object({
      configurationName: z.string().nullable().describe('null: it concerns the whole plan'),
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
 * Plans on the state as it is. Throws DRV_CONFIGURATION_INVALID for the first content that a write would refuse, and
 * DRV_REQUEST_INVALID for two of one name.
 */
export async function planChanges(needs: Reads, order: ChangePlanOrder): Promise<ChangePlan> {
  const contents = judgeAll(order.configurations);
  const changes = await compareAll(needs, contents);
  // From here on there is no gap: all is judged on one state.
  const { forecaster, configurations: records } = needs;
  const removed = order.prune ? namesToRemove(needs, order, contents) : [];
  const forecast = forecaster.forecast([
    ...contents.map(({ name, parsed }) => ({ name, to: parsed })),
    ...removed.map((name) => ({ name, to: null })),
  ]);
  const serviceOf = (name: string): ServiceForecast => forecast.services.get(name) ?? NOTHING;
  const configurations = [
    ...contents.map((content, index) =>
      planned(content, records.get(content.name)?.value, changes[index], serviceOf(content.name)),
    ),
    ...removed.map((name) => plannedRemoval(name, records.get(name)?.value, serviceOf(name))),
  ];
  const { shortages, unjudged } = forecast;
  return {
    formatVersion: PLAN_FORMAT,
    fingerprint: fingerprintOf(configurations, contents, shortages),
    configurations: order.showValues ? configurations : configurations.map(withoutValues),
    shortages: [...shortages],
    warnings: [...warningsOf(changes), ...unjudgedWarning(unjudged)],
  };
}

/** Plans again, and throws DRV_PLAN_CHANGED unless the outcome is the plan with this fingerprint. */
export async function planAsBefore(
  needs: Reads,
  order: ChangePlanOrder,
  fingerprint: string,
): Promise<ChangePlan> {
  const plan = await planChanges(needs, order);
  if (plan.fingerprint === fingerprint) return plan;
  throw new DroverError(
    'DRV_PLAN_CHANGED',
    `the plan is another one than ${quoteText(fingerprint)}: the instances, what is in force, the contents or "prune" are not as they were; plan again, and look at what it says now`,
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
  isHeldBack: false,
};

function planned(
  { name, parsed }: Content,
  record: ConfigurationRecord | undefined,
  change: ConfigurationChange | undefined,
  service: ServiceForecast,
): PlannedConfiguration {
  const fields = record === undefined ? [] : changedFields(record.configuration, parsed.configuration);
  const fileState = record === undefined ? null : (change?.fileState ?? 'same');
  const action = actionOf(record, parsed, fileState);
  const effects = effectsOf(service);
  const why = whyOf({ name, action, fields, fileState, service });
  return { name, action, revision: record?.hash ?? null, fileState, fields, effects, why };
}

function actionOf(
  record: ConfigurationRecord | undefined,
  { hash }: ParsedConfiguration,
  fileState: PlannedConfiguration['fileState'],
): PlannedConfiguration['action'] {
  if (record === undefined) return 'create';
  // A file that says something else is written anew.
  return record.hash === hash && fileState === 'same' ? 'unchanged' : 'change';
}

function plannedRemoval(
  name: string,
  record: ConfigurationRecord | undefined,
  service: ServiceForecast,
): PlannedConfiguration {
  const effects = effectsOf(service);
  const about = { action: 'delete', fields: [], fileState: null } as const;
  return {
    name,
    ...about,
    fields: [],
    revision: record?.hash ?? null,
    effects,
    why: whyOf({ name, ...about, service }),
  };
}

function effectsOf({
  older: _older,
  onPromotion: _promotion,
  isHeldBack: _held,
  ...effects
}: ServiceForecast) {
  return effects;
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
