/**
 * The content of a configuration for a caller who changes it: the text of its file, and what another content would
 * change. The routes use it.
 */

import { z } from 'zod';
import { type ParsedConfiguration, validateConfiguration } from '../configuration-files/parse.js';
import { configurationWarningSchema } from '../model/configuration.js';
import { differencesOf, fieldDifferenceSchema } from '../model/field-differences.js';
import { unknownConfiguration } from '../model/unknown.js';
import { fileStateSchema, inspectConfiguration } from './configuration-diff.js';
import type { Reads } from './reads.js';
import { withoutSecrets } from './shown-differences.js';

export const configurationContentSchema = z.object({
  name: z.string(),
  revision: z.string().describe('the revision in force: in quotes, the value for `If-Match`'),
  file: z.string(),
  fileState: fileStateSchema,
  gitNote: z
    .string()
    .nullable()
    .describe('the consequence of a file that is not as its git work tree has it; null: there is none'),
  content: z
    .record(z.string(), z.unknown())
    .describe(
      'the content of the file, with unknown fields and without defaults; if the file is not in force, the content in force',
    ),
});
export type ConfigurationContent = z.output<typeof configurationContentSchema>;

export const configurationChangeSchema = z.object({
  name: z.string(),
  change: z
    .enum(['created', 'changed', 'unchanged'])
    .describe('unchanged: this content is in force, and the file has it'),
  revision: z.string().nullable().describe('the revision in force; null: there is none'),
  fileState: fileStateSchema.nullable().describe('null: there is no such configuration'),
  differences: z
    .array(fieldDifferenceSchema)
    .describe('the differences from the content in force to the new content'),
  warnings: z.array(configurationWarningSchema).describe('the parts of the new content without effect'),
});
export type ConfigurationChange = z.output<typeof configurationChangeSchema>;

const judgedPart = z.array(configurationWarningSchema);

export const judgedTextSchema = z.object({
  problems: judgedPart.describe(
    'the faults that prevent saving, in the order of the text; `field` is empty for a fault of the JSON',
  ),
  warnings: judgedPart.describe('the parts of the text without effect'),
});
export type JudgedText = z.output<typeof judgedTextSchema>;

/** Reads the file of a configuration. Throws DRV_CONFIGURATION_UNKNOWN. */
export async function contentOf(needs: Reads, name: string): Promise<ConfigurationContent> {
  const inspected = await inspectConfiguration(needs, name);
  if (inspected === undefined) throw unknownConfiguration(name);
  const { record, file, fileState } = inspected;
  const isInForce = fileState === 'same' && file?.kind === 'valid' && file.parsed.hash === record.hash;
  return {
    name,
    revision: record.hash,
    file: record.sourceFile,
    fileState,
    gitNote: gitNoteOf(needs, name),
    content: { ...(isInForce ? file.parsed.content : record.configuration) },
  };
}

/** The word to the writer of a configuration whose file is not as its git work tree has it; null: none is needed. */
export function gitNoteOf(
  { configurations, configurationFiles }: Pick<Reads, 'configurations' | 'configurationFiles'>,
  name: string,
): string | null {
  const file = configurations.get(name)?.value.sourceFile;
  if (file === undefined || !configurationFiles.isOffCommit(file)) return null;
  return `${file} is changed and not in git: commit it, or the next pull that brings it fails`;
}

interface ContentQuestion {
  readonly name: string;
  readonly input: unknown;
  /** True: values that may be secrets are shown too. */
  readonly showValues: boolean;
}

/** The outcome of a PUT of `input` now. Throws DRV_CONFIGURATION_INVALID. */
export async function planChange(
  needs: Reads,
  { name, input, showValues }: ContentQuestion,
): Promise<ConfigurationChange> {
  const change = await changeOf(needs, name, validateConfiguration(name, input));
  return showValues ? change : { ...change, differences: withoutSecrets(change.differences) };
}

/** The outcome of a PUT of a valid content now. */
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
