/**
 * The changes that callers made to a configuration whose file Drover does not write: the override of each field, or of
 * the whole. The record has the merged content; this decides it from the file, the overrides and a write. Pure.
 *
 *   the file changes a field         the file wins, and the override of that field ends
 *   the file changes another field   the override stays
 *   the field is in `managed`        the value in force stays, whatever the file says
 *   a caller writes a content        an override of each field that differs from the file; none: all overrides end
 *   a caller removes it              it is absent, until the file changes or goes
 */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import {
  type Configuration,
  type ConfigurationRecord,
  configurationRecordSchema,
  configurationSchema,
  hashConfiguration,
} from './configuration.js';

/** Who made an override, when and why. */
const markSchema = z.object({
  by: z.string().nullable().describe('the key, as in the audit trail; null: `managed` keeps the value'),
  at: z.number().describe('Unix milliseconds'),
  reason: z.string().nullable(),
});
type OverrideMark = z.output<typeof markSchema>;

const fieldOverrideSchema = markSchema.extend({
  /** Absent: the configuration does not have the field, though the file may. */
  value: z.unknown().optional(),
});
type FieldOverride = z.output<typeof fieldOverrideSchema>;
type FieldOverrides = Readonly<Record<string, FieldOverride>>;

/** The store value of `overrides/<name>`. There is none where the record has the content of the file. */
export const configurationOverridesSchema = z.discriminatedUnion('is', [
  z.object({
    is: z.literal('fields'),
    /** The content of the file, as it was last taken. */
    file: configurationRecordSchema,
    fields: z.record(z.string(), fieldOverrideSchema),
  }),
  /** A caller removed the configuration, and its file is still there. */
  z.object({ is: z.literal('absent'), file: configurationRecordSchema, mark: markSchema }),
  /** A caller made the configuration, and it has no file. */
  z.object({ is: z.literal('made'), mark: markSchema }),
]);
export type ConfigurationOverrides = z.output<typeof configurationOverridesSchema>;

/** The records that the store has of a configuration. */
export interface OverriddenState {
  readonly record: ConfigurationRecord | undefined;
  readonly overrides: ConfigurationOverrides | undefined;
}

/** An override that the file, or the removal of the file, has ended. */
interface EndedOverride {
  /** Null: the override of the whole configuration. */
  readonly field: string | null;
  readonly mark: OverrideMark;
}

/** The records that the store has next. `record` undefined: the configuration is not in force. */
export interface NextState extends OverriddenState {
  readonly ended: readonly EndedOverride[];
}

const FIELDS = Object.keys(configurationSchema.shape).filter(
  (field) => field !== 'name' && field !== 'managed',
);

/** The content of the file as it was last taken; undefined: the configuration has no file. */
export function fileOf({ record, overrides }: OverriddenState): ConfigurationRecord | undefined {
  if (overrides === undefined) return record;
  return overrides.is === 'made' ? undefined : overrides.file;
}

/** The state after the file says `file`. A file that says the same as before changes nothing. */
export function withFile(file: ConfigurationRecord, state: OverriddenState, at: number): NextState {
  const { record, overrides } = state;
  if (overrides?.is === 'absent' && overrides.file.hash === file.hash)
    return { record: undefined, overrides: { ...overrides, file }, ended: [] };
  if (overrides?.is === 'absent') return { record: file, overrides: undefined, ended: endedBy(overrides) };
  const made = overrides?.is === 'fields' ? overrides.fields : {};
  const before = fileOf(state)?.configuration;
  const now = file.configuration;
  const managed: readonly string[] = now.managed ?? [];
  const kept: Record<string, FieldOverride> = {};
  for (const field of FIELDS) {
    const isManaged = managed.includes(field);
    const inForce = record !== undefined && isManaged ? saidOf(record.configuration, field) : undefined;
    const override = made[field] ?? (inForce && { ...inForce, by: null, at, reason: null });
    if (override === undefined || isDeepStrictEqual(override.value, saidOf(now, field).value)) continue;
    const isUnchanged = before !== undefined && isDeepStrictEqual(saidOf(before, field), saidOf(now, field));
    if (isManaged || isUnchanged) kept[field] = override;
  }
  const [configuration, fields] = validOf(now, kept);
  const ended = endedBy(overrides).filter(
    // An override that says what the file says now has lost nothing.
    ({ field }) =>
      field === null || !(field in fields || isDeepStrictEqual(made[field]?.value, saidOf(now, field).value)),
  );
  return { ...stateOf(file, configuration, fields), ended };
}

/** The state after a caller has written a whole content. `made`: the record, where the configuration has no file. */
export function withWrite(made: ConfigurationRecord, state: OverriddenState, mark: OverrideMark): NextState {
  const file = fileOf(state);
  const { overrides } = state;
  if (file === undefined) return { record: made, overrides: overrides ?? { is: 'made', mark }, ended: [] };
  const before = overrides?.is === 'fields' ? overrides.fields : {};
  const fields: Record<string, FieldOverride> = {};
  for (const field of FIELDS) {
    const wanted = saidOf(made.configuration, field);
    if (isDeepStrictEqual(wanted, saidOf(file.configuration, field))) continue;
    const known = before[field];
    const isKnown = known !== undefined && isDeepStrictEqual(known.value, wanted.value);
    fields[field] = isKnown ? known : { ...wanted, ...mark };
  }
  const content = merged(file.configuration, fields) ?? made.configuration;
  return { ...stateOf(file, content, fields), ended: [] };
}

/** The state after a caller has removed the configuration. */
export function withRemoval(state: OverriddenState, mark: OverrideMark): NextState {
  const file = fileOf(state);
  return { record: undefined, overrides: file && { is: 'absent', file, mark }, ended: [] };
}

/** The overrides that end when a file, or its removal, replaces the whole configuration. */
export function endedBy(overrides: ConfigurationOverrides | undefined): EndedOverride[] {
  if (overrides?.is === 'fields')
    return Object.entries(overrides.fields).map(([field, mark]) => ({ field, mark }));
  return overrides === undefined ? [] : [{ field: null, mark: overrides.mark }];
}

/** The content without the override of one field, or without any. Undefined: there is no such override, or no file. */
export function withoutOverride(
  { record, overrides }: OverriddenState,
  field: string | undefined,
): Configuration | undefined {
  if (overrides === undefined || overrides.is === 'made') return undefined;
  if (field === undefined) return overrides.file.configuration;
  if (overrides.is === 'absent' || record === undefined || !(field in overrides.fields)) return undefined;
  const { [field]: _ended, ...rest } = overrides.fields;
  return validOf(overrides.file.configuration, rest)[0];
}

/** The override of one field, or of the whole configuration, for a person. */
export const shownOverrideSchema = markSchema.extend({
  configurationName: z.string(),
  field: z
    .string()
    .nullable()
    .describe('null: the whole configuration was made or removed by a caller, see `is`'),
  is: z
    .enum(['changed', 'absent', 'made'])
    .describe('changed: the field; absent: removed, though the file is there; made: it has no file'),
  file: z.string().nullable().describe('the file that says otherwise; null: there is none'),
  fileValue: z.string().nullable().describe('the value of the file, as JSON; null: it has none'),
  value: z.string().nullable().describe('the value in force, as JSON; null: there is none'),
  isManaged: z.boolean().describe('true: the file leaves the field to callers, by `managed`'),
});
export type ShownOverride = z.output<typeof shownOverrideSchema>;

/** The overrides of a configuration, in the order of the fields. */
export function shownOverrides(name: string, overrides: ConfigurationOverrides): ShownOverride[] {
  if (overrides.is !== 'fields') {
    const file = overrides.is === 'made' ? null : overrides.file.sourceFile;
    const rest = { field: null, fileValue: null, value: null, isManaged: false };
    return [{ configurationName: name, is: overrides.is, file, ...rest, ...overrides.mark }];
  }
  const { configuration, sourceFile } = overrides.file;
  const managed: readonly string[] = configuration.managed ?? [];
  return Object.entries(overrides.fields).map(([field, { value, by, at, reason }]) => ({
    ...{ configurationName: name, is: 'changed', field, file: sourceFile, by, at, reason },
    fileValue: JSON.stringify(saidOf(configuration, field).value) ?? null,
    value: JSON.stringify(value) ?? null,
    isManaged: managed.includes(field),
  }));
}

function stateOf(
  file: ConfigurationRecord,
  configuration: Configuration,
  fields: FieldOverrides,
): OverriddenState {
  if (Object.keys(fields).length === 0) return { record: file, overrides: undefined };
  return {
    record: { ...file, configuration, hash: hashConfiguration(configuration) },
    overrides: { is: 'fields', file, fields },
  };
}

/**
 * The valid content with the most overrides. An override ends where the file does not allow it any more, such as a
 * minimum above the file's new maximum; all end where that does not help.
 */
function validOf(file: Configuration, fields: FieldOverrides): [Configuration, FieldOverrides] {
  const without = Object.keys(fields).map((left) =>
    Object.fromEntries(Object.entries(fields).filter(([field]) => field !== left)),
  );
  for (const some of [fields, ...without]) {
    const content = merged(file, some);
    if (content !== undefined) return [content, some];
  }
  return [file, {}];
}

/** Undefined: the content is not valid. */
function merged(file: Configuration, fields: FieldOverrides): Configuration | undefined {
  const values: Record<string, unknown> = { ...file };
  for (const [field, { value }] of Object.entries(fields)) values[field] = value;
  return configurationSchema.safeParse(values).data;
}

function saidOf(configuration: Configuration, field: string): { readonly value?: unknown } {
  const value: unknown = Reflect.get(configuration, field);
  return value === undefined ? {} : { value };
}
