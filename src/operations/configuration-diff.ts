/**
 * Compares the content in force of a configuration with its file, and with the contents of its instances: `config diff`
 * and its route.
 */

import { z } from 'zod';
import type { ConfigurationFiles } from '../configuration-files/configuration-files.js';
import {
  type Configuration,
  type ConfigurationRecord,
  configurationFileErrorSchema,
} from '../model/configuration.js';
import { type ConfigurationOverrides, fileOf } from '../model/configuration-overrides.js';
import { differencesOf, fieldDifferenceSchema } from '../model/field-differences.js';
import type { InstanceRecord } from '../model/instance.js';
import { shownInstanceId } from '../model/names.js';
import type { ShownValues } from '../model/plain/may-be-secret.js';
import { isHeldBack } from '../model/rollout.js';
import { unknownConfiguration } from '../model/unknown.js';
import { visibleInstances } from '../state/instance-writes.js';
import type { Reads } from './reads.js';
import { shownDifferences } from './shown-differences.js';

export const fileStateSchema = z
  .enum(['same', 'different', 'broken', 'gone'])
  .describe(
    'same: the file is in force, with the overrides of callers; any other: the file is not in force, or not yet',
  );

const olderInstancesSchema = z.object({
  revision: z.string(),
  instanceIds: z.array(shownInstanceId),
  differences: z
    .array(fieldDifferenceSchema)
    .nullable()
    .describe(
      'the differences from their content to the content in force; null: their content is not kept any more',
    ),
});

export const configurationDiffSchema = z.object({
  configurationName: z.string(),
  revision: z.string().describe('the revision of the last valid content of the file'),
  file: z.string(),
  hasFile: z.boolean().describe('false: a caller made the configuration, and no file has it'),
  fileState: fileStateSchema,
  fileError: configurationFileErrorSchema.nullable(),
  fileDifferences: z
    .array(fieldDifferenceSchema)
    .describe('the differences from the content in force to the file'),
  heldBack: z
    .object({
      revision: z.string().describe('the revision that is in force instead: new instances are made from it'),
      message: z.string().nullable().describe('the reason'),
    })
    .nullable()
    .describe('the content that is held back; null: none is'),
  olderInstances: z
    .array(olderInstancesSchema)
    .describe('the instances with other contents than the content in force, the oldest content first'),
  currentInstances: z.int().describe('how many instances have the content in force'),
});
export type ConfigurationDiff = z.output<typeof configurationDiffSchema>;

type FileContent = Awaited<ReturnType<ConfigurationFiles['inspect']>>;

/** The record of a configuration, and the present content of its file. */
interface InspectedConfiguration {
  readonly record: ConfigurationRecord;
  readonly file: FileContent;
  readonly fileState: z.output<typeof fileStateSchema>;
}

/** Reads the file anew. Undefined: there is no such configuration. */
export async function inspectConfiguration(
  { configurations, configurationFiles, overrides }: Reads,
  name: string,
): Promise<InspectedConfiguration | undefined> {
  const before = configurations.get(name)?.value;
  if (before === undefined) return undefined;
  const file = await configurationFiles.inspect(before.sourceFile);
  // Read the record after the file, because the record may have changed while the file was read.
  const record = configurations.get(name)?.value;
  const override = configurationFiles.place().writes === 'file' ? undefined : overrides.get(name)?.value;
  return record && { record, file, fileState: stateOf(file, record, override) };
}

/** Compares one configuration. Throws DRV_CONFIGURATION_UNKNOWN. */
export async function diffOf(needs: Reads, name: string, shown: ShownValues): Promise<ConfigurationDiff> {
  const diff = await wholeDiffOf(needs, name);
  return {
    ...diff,
    fileDifferences: shownDifferences(diff.fileDifferences, shown),
    olderInstances: diff.olderInstances.map((older) => ({
      ...older,
      differences: older.differences && shownDifferences(older.differences, shown),
    })),
  };
}

async function wholeDiffOf(needs: Reads, name: string): Promise<ConfigurationDiff> {
  const inspected = await inspectConfiguration(needs, name);
  if (inspected === undefined) throw unknownConfiguration(name);
  const { file: content, fileState } = inspected;
  const { configuration, hash, sourceFile } = inspected.record;
  const heldBack = heldBackOf(needs, inspected.record);
  const inForce = heldBack?.revision ?? hash;
  const own = [...visibleInstances(needs)].filter((record) => record.configurationName === name);
  return {
    configurationName: name,
    revision: hash,
    file: sourceFile,
    hasFile: fileState !== 'same' || content !== undefined,
    fileState,
    fileError: content?.kind === 'broken' ? content.error : null,
    fileDifferences:
      content?.kind === 'valid' ? differencesOf(configuration, content.parsed.configuration) : [],
    heldBack,
    olderInstances: olderInstances(
      needs,
      needs.revisions.get(inForce)?.value ?? configuration,
      own.filter(({ revision }) => revision !== inForce),
    ),
    currentInstances: own.filter(({ revision }) => revision === inForce).length,
  };
}

/** The held content of a configuration. A changed file ends the hold, even before its rollout has taken it up. */
function heldBackOf(
  { rollouts }: Reads,
  { configuration, hash }: ConfigurationRecord,
): ConfigurationDiff['heldBack'] {
  const rollout = rollouts.get(configuration.name)?.value;
  if (rollout === undefined || rollout.to !== hash || !isHeldBack(rollout)) return null;
  return { revision: rollout.from ?? hash, message: rollout.message };
}

function stateOf(
  content: FileContent,
  record: ConfigurationRecord,
  overrides: ConfigurationOverrides | undefined,
): InspectedConfiguration['fileState'] {
  if (content === undefined) return overrides?.is === 'made' ? 'same' : 'gone';
  if (content.kind === 'broken') return 'broken';
  return content.parsed.hash === fileOf({ record, overrides })?.hash ? 'same' : 'different';
}

function olderInstances(
  { revisions }: Reads,
  inForce: Configuration,
  records: readonly InstanceRecord[],
): ConfigurationDiff['olderInstances'] {
  const groups = new Map<string, string[]>();
  for (const { id, revision } of records.toSorted((a, b) => a.createdAt - b.createdAt))
    groups.set(revision, [...(groups.get(revision) ?? []), id]);
  return [...groups].map(([revision, instanceIds]) => {
    const content = revisions.get(revision)?.value;
    return {
      revision,
      instanceIds,
      differences: content === undefined ? null : differencesOf(content, inForce),
    };
  });
}
