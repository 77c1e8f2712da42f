/**
 * The content of a configuration for those who change it: as its file says it, and what another content would change.
 * The routes use it.
 */

import { z } from 'zod';
import {
  judgeConfigurationText,
  type ParsedConfiguration,
  validateConfiguration,
} from '../configuration-files/parse.js';
import { configurationWarningSchema } from '../model/configuration.js';
import { differencesOf, fieldDifferenceSchema } from '../model/field-differences.js';
import { unknownConfiguration } from '../model/unknown.js';
import { fileStateSchema, inspectConfiguration } from './configuration-diff.js';
import type { Reads } from './reads.js';
import { withoutSecrets } from './shown-differences.js';

export const configurationContentSchema = z.object({
  name: z.string(),
  revision: z.string().describe('of what is in force: the value for `If-Match`, in quotes'),
  file: z.string(),
  fileState: fileStateSchema,
  content: z
    .record(z.string(), z.unknown())
    .describe(
      'what the file says, with fields that are not known and without defaults; where it is not in force, what is',
    ),
});
export type ConfigurationContent = z.output<typeof configurationContentSchema>;

export const configurationChangeSchema = z.object({
  name: z.string(),
  change: z
    .enum(['created', 'changed', 'unchanged'])
    .describe('unchanged: this content is in force, and the file says it'),
  revision: z.string().nullable().describe('of what is in force; null: there is none'),
  fileState: fileStateSchema.nullable().describe('null: there is no such configuration'),
  differences: z.array(fieldDifferenceSchema).describe('from what is in force to the new content'),
  warnings: z.array(configurationWarningSchema).describe('what the new content says without effect'),
});
export type ConfigurationChange = z.output<typeof configurationChangeSchema>;

const judgedPart = z.array(configurationWarningSchema);

export const judgedTextSchema = z.object({
  problems: judgedPart.describe(
    'why it cannot be saved, in the order of the text; none: it can; `field` is empty for JSON',
  ),
  warnings: judgedPart.describe('what it says without effect'),
});

/** More do not help somebody who types. */
const MOST_JUDGED = 100;

/** Judges a text that is being typed. The first 100 of each are answered. */
export function judgeText(name: string, text: string): z.output<typeof judgedTextSchema> {
  const { problems, warnings } = judgeConfigurationText(name, text);
  return { problems: problems.slice(0, MOST_JUDGED), warnings: warnings.slice(0, MOST_JUDGED) };
}

/** Reads the file of a configuration. Throws DRV_CONFIGURATION_UNKNOWN. */
export async function contentOf(needs: Reads, name: string): Promise<ConfigurationContent> {
  const inspected = await inspectConfiguration(needs, name);
  if (inspected === undefined) throw unknownConfiguration(name);
  const { record, file, fileState } = inspected;
  const isInForce = fileState === 'same' && file?.kind === 'valid';
  return {
    name,
    revision: record.hash,
    file: record.sourceFile,
    fileState,
    content: { ...(isInForce ? file.parsed.content : record.configuration) },
  };
}

export interface ContentQuestion {
  readonly name: string;
  readonly input: unknown;
  /** Also those that may be secrets. */
  readonly showValues: boolean;
}

/** What a PUT of `input` would do now. Throws DRV_CONFIGURATION_INVALID. */
export async function planChange(
  needs: Reads,
  { name, input, showValues }: ContentQuestion,
): Promise<ConfigurationChange> {
  const change = await changeOf(needs, name, validateConfiguration(name, input));
  return showValues ? change : { ...change, differences: withoutSecrets(change.differences) };
}

/** What a PUT of a valid content would do now. */
export async function changeOf(
  needs: Reads,
  name: string,
  { configuration, hash, warnings }: ParsedConfiguration,
): Promise<ConfigurationChange> {
  const inspected = await inspectConfiguration(needs, name);
  const all = { name, warnings: [...warnings] };
  if (inspected === undefined)
    return { ...all, change: 'created', revision: null, fileState: null, differences: [] };
  const { record, fileState } = inspected;
  return {
    ...all,
    change: record.hash === hash && fileState === 'same' ? 'unchanged' : 'changed',
    revision: record.hash,
    fileState,
    differences: differencesOf(record.configuration, configuration),
  };
}
