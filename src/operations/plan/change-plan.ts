/**
 * The plan of a change: what whole contents would change in configurations and instances, before anything is written.
 * `POST /api/plan`, `drover plan` and the dashboard show it. It writes nothing.
 */

import { createHash } from 'node:crypto';
import { z } from 'zod';
import { type ParsedConfiguration, validateConfiguration } from '../../configuration-files/parse.js';
import { eachBounded } from '../../loop/each-bounded.js';
import { Pace } from '../../loop/pace.js';
import type { Configuration, ConfigurationRecord } from '../../model/configuration.js';
import { DroverError, invalidRequest } from '../../model/errors.js';
import { changedFieldSchema, changedFields, newFields } from '../../model/field-class.js';
import { unknownSecrets } from '../../model/fields/secret.js';
import { unknownWaits } from '../../model/fields/waits-for.js';
import { nameSchema } from '../../model/names.js';
import type { ShownValues } from '../../model/plain/may-be-secret.js';
import { freezeText } from '../../model/plain/schedule-text.js';
import { circleFault } from '../../model/plain/waits-circle.js';
import { countText, quoteText } from '../../model/words.js';
import { keepingManaged } from '../configuration-content.js';
import { fileStateSchema, inspectConfiguration } from '../configuration-diff.js';
import type { Reads } from '../reads.js';
import { shownValue } from '../shown-differences.js';
import type { Writes } from '../writes.js';
import type { ServiceForecast } from './forecast.js';
import { whyOf } from './why.js';

/** Raised when readers must read the answer differently. New fields do not raise it. */
const PLAN_FORMAT = 1;
/** The most warnings in an answer. */
const MOST_WARNINGS = 1000;
/** How many files are read at once. */
const AT_ONCE = 16;

/** The contents to plan, and what the caller may see of the plan. */
interface ChangePlanOrder {
  /** The whole contents, each with its name. */
  readonly configurations: readonly object[];
  /** True: the contents are those of files, whose `managed` fields keep the value in force. */
  readonly keepManaged: boolean;
  /** True: all other configurations that `sees` allows are to be removed. */
  readonly prune: boolean;
  readonly shown: ShownValues;
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
    .describe(
      'the fields that differ from the content in force; for a new configuration, its command, its minimum, and all that is not the default',
    ),
  effects: planEffectsSchema,
  heldBack: z
    .string()
    .nullable()
    .describe(
      'why a rollout holds this content back, so that no instance is made from it; null: it does not',
    ),
  why: z.string().describe('the effects in words, for a person'),
});
export type PlannedConfiguration = z.output<typeof plannedConfigurationSchema>;

export const changePlanSchema = z.object({
  formatVersion: z.literal(PLAN_FORMAT),
  fingerprint: z
    .string()
    .describe(
      'a hash of the writes and their effects, such as the instances that are replaced; another hash shows that one of these has changed',
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
  others: z
    .array(z.string())
    .describe('configurations that the key sees, that none of the contents is, and that stay as they are'),
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

/** How the file of a configuration is now, and what of the new content has no effect. */
interface Compared extends Pick<PlannedConfiguration, 'name' | 'fileState'> {
  readonly warnings: ParsedConfiguration['warnings'];
}

/**
 * Makes a plan on the present state. Throws DRV_CONFIGURATION_INVALID for the first content that a write would refuse,
 * and DRV_REQUEST_INVALID for two contents of one name.
 */
export async function planChanges(
  needs: Reads & Pick<Writes, 'led'>,
  order: ChangePlanOrder,
): Promise<ChangePlan> {
  const pace = new Pace();
  const contents = await judgeAll(needs, order, pace);
  const others = namesOfOthers(needs, order, contents);
  const removed = order.prune ? others : [];
  const all = [...contents, ...removed.map((name) => ({ name, parsed: null }))];
  const next = new Map(all.map(({ name, parsed }) => [name, parsed?.configuration]));
  const contentOf = (name: string): Configuration | undefined =>
    next.has(name) ? next.get(name) : needs.configurations.get(name)?.value.configuration;
  for (const { name, parsed } of contents) {
    const fault = circleFault(parsed.configuration, contentOf);
    if (fault !== undefined) throw new DroverError('DRV_CONFIGURATION_INVALID', `${name}: ${fault}`);
  }
  const isKnown = (name: string): boolean => contentOf(name) !== undefined;
  const unknown = contents.flatMap(({ parsed: { configuration } }) => [
    ...unknownWaits(configuration, isKnown),
    ...unknownSecrets(configuration, (name) => needs.programSecrets.get(name) !== undefined),
  ]);
  const changes = await compareAll(needs, contents, pace);
  // Note the contents in force first: a write with the `revision` of the plan then fails if they change meanwhile.
  const records = all.map(({ name }) => needs.configurations.get(name)?.value);
  const { services, shortages, unjudged } = await needs
    .led()
    .forecaster.forecast(all.map(({ name, parsed }) => ({ name, to: parsed })));
  const configurations: PlannedConfiguration[] = [];
  for (const [index, { name, parsed }] of all.entries()) {
    if (pace.isOver) await pace.rest();
    const service = services.get(name) ?? NOTHING;
    configurations.push(planned({ name, parsed, record: records[index], change: changes[index], service }));
  }
  const fingerprint = await fingerprintOf(configurations, contents, pace);
  // The answer may be megabytes of JSON: it is made in a turn of its own.
  await pace.rest();
  return {
    formatVersion: PLAN_FORMAT,
    fingerprint,
    configurations: configurations.map((one) => withoutValues(one, order.shown)),
    shortages: [...shortages],
    others: order.prune ? [] : others,
    warnings: [
      ...warningsOf(changes),
      ...unknown,
      ...frozenWarnings(needs, configurations),
      ...unjudgedWarning(unjudged),
    ],
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

async function judgeAll(
  needs: Reads,
  { configurations: inputs, keepManaged }: ChangePlanOrder,
  pace: Pace,
): Promise<Content[]> {
  const names = new Set<string>();
  const contents: Content[] = [];
  for (const [index, input] of inputs.entries()) {
    if (pace.isOver) await pace.rest();
    const { data: name } = nameSchema.safeParse('name' in input ? input.name : undefined);
    const place = `configurations.${index}`;
    if (name === undefined)
      throw new DroverError(
        'DRV_CONFIGURATION_INVALID',
        `${place}: name: must be the name of a configuration`,
      );
    if (names.has(name)) throw invalidRequest(`${place}: ${quoteText(name)} is there twice`);
    names.add(name);
    const parsed = judged(name, input);
    contents.push({ name, parsed: keepManaged ? keepingManaged(needs, name, parsed) : parsed });
  }
  return contents;
}

function judged(name: string, input: object): ParsedConfiguration {
  try {
    return validateConfiguration(name, input);
  } catch (error) {
    if (!DroverError.is(error, 'DRV_CONFIGURATION_INVALID')) throw error;
    throw new DroverError(error.code, `${name}: ${error.message}`, { cause: error });
  }
}

async function compareAll(needs: Reads, contents: readonly Content[], pace: Pace): Promise<Compared[]> {
  const changes: Compared[] = [];
  await eachBounded(contents.entries(), AT_ONCE, undefined, async ([index, { name, parsed }]) => {
    // No file is read for a new configuration, so that nothing else would end this turn.
    if (pace.isOver) await pace.rest();
    const { fileState = null } = (await inspectConfiguration(needs, name)) ?? {};
    changes[index] = { name, fileState, warnings: parsed.warnings };
  });
  return changes;
}

function namesOfOthers(
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

const NO_EFFECTS = { create: 0, replace: 0, restart: 0, stop: 0, keep: 0, waitForPlayers: 0 };
const NOTHING: ServiceForecast = { ...NO_EFFECTS, onPromotion: 0, older: 0, heldBack: null };

interface ToPlan {
  readonly name: string;
  /** The content that is to come into force; null: the configuration is removed. */
  readonly parsed: ParsedConfiguration | null;
  /** The record in force; undefined: there is none. */
  readonly record: ConfigurationRecord | undefined;
  readonly change: Compared | undefined;
  readonly service: ServiceForecast;
}

function planned({ name, parsed, record, change, service }: ToPlan): PlannedConfiguration {
  const isChange = record !== undefined && parsed !== null;
  const fields = parsed === null ? [] : fieldsOf(record, parsed);
  const fileState = isChange ? (change?.fileState ?? 'same') : null;
  const action = parsed === null ? 'delete' : actionOf(record, parsed, fileState);
  const { older: _older, onPromotion: _promotion, heldBack, ...effects } = service;
  const why = whyOf({ name, action, fields, fileState, service });
  return {
    name,
    action,
    revision: record?.hash ?? null,
    fileState,
    fields,
    effects,
    heldBack: parsed === null ? null : heldBack,
    why,
  };
}

function fieldsOf(
  record: ConfigurationRecord | undefined,
  { configuration }: ParsedConfiguration,
): PlannedConfiguration['fields'] {
  return record === undefined ? newFields(configuration) : changedFields(record.configuration, configuration);
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

function withoutValues(planned: PlannedConfiguration, shown: ShownValues): PlannedConfiguration {
  const fields = planned.fields.map((field) => {
    const { path, from, to } = field;
    return { ...field, from: shownValue(path, from, shown), to: shownValue(path, to, shown) };
  });
  return { ...planned, fields };
}

function warningsOf(changes: readonly Compared[]): ChangePlan['warnings'] {
  const all = changes.flatMap(({ name, warnings }) =>
    warnings.map(({ field, message }) => ({ configurationName: name, field, message })),
  );
  const more = all.length - MOST_WARNINGS;
  if (more <= 0) return all;
  const message = `${countText(more, 'more warning')} of other fields: plan fewer configurations at once`;
  return [...all.slice(0, MOST_WARNINGS), { configurationName: null, field: null, message }];
}

function frozenWarnings(
  { timetableRecords }: Pick<Reads, 'timetableRecords'>,
  configurations: readonly PlannedConfiguration[],
): ChangePlan['warnings'] {
  return configurations.flatMap(({ name, action }) => {
    const frozen = timetableRecords.mirror.get(name)?.value.frozen;
    if (frozen === undefined || action === 'unchanged') return [];
    const message = `it is ${freezeText(frozen)}; a change of it is refused until then ("config unfreeze ${name}" ends that)`;
    return [{ configurationName: name, field: null, message }];
  });
}

function unjudgedWarning(unjudged: number): ChangePlan['warnings'] {
  if (unjudged === 0) return [];
  const message = `${countText(unjudged, 'more new instance')}: whether they fit was not looked at`;
  return [{ configurationName: null, field: null, message }];
}

/**
 * The fingerprint of a plan. Two plans have the same fingerprint when they replace the same contents by the
 * same contents, with the same outcome. Configurations that stay unchanged, players, free capacity (with the shortages)
 * and untouched instances do not count: they change with the work of others, and no caller decides by them.
 */
async function fingerprintOf(
  configurations: ChangePlan['configurations'],
  contents: readonly Content[],
  pace: Pace,
): Promise<string> {
  const hashes = new Map(contents.map(({ name, parsed }) => [name, parsed.hash]));
  const hash = createHash('sha256');
  const touched = configurations.filter(({ action }) => action !== 'unchanged');
  for (const planned of touched.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    if (pace.isOver) await pace.rest();
    const { name, action, revision, fileState, effects } = planned;
    const { create, replace, restart, stop } = effects;
    const to = hashes.get(name) ?? null;
    hash.update(JSON.stringify([name, action, revision, fileState, to, create, replace, restart, stop]));
  }
  return hash.digest('hex').slice(0, 32);
}
