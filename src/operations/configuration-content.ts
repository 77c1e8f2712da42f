/**
 * The content of a configuration for a caller who changes it: the text of its file, and what a file's content becomes. The routes use it.
 */

import { z } from 'zod';
import type { ParsedConfiguration } from '../configuration-files/parse.js';
import { configurationWarningSchema } from '../model/configuration.js';
import { withFile } from '../model/configuration-overrides.js';
import { unknownConfiguration } from '../model/unknown.js';
import { fileStateSchema, inspectConfiguration } from './configuration-diff.js';
import type { Reads } from './reads.js';

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
export function gitNoteOf({ configurations, configurationFiles }: Reads, name: string): string | null {
  const file = configurations.get(name)?.value.sourceFile;
  if (file === undefined || !configurationFiles.isOffCommit(file)) return null;
  return `${file} is changed and not in git: commit it, or the next pull that brings it fails`;
}

/** The field of a request whose contents are those of files. */
export const keepManagedSchema = z
  .boolean()
  .default(false)
  .describe(
    'true: the contents are those of files, so that the fields in their `managed` keep the value in force',
  );

/** The content of a file as it is applied: the fields that it leaves to callers (`managed`) keep the value in force. */
export function keepingManaged(
  { configurations }: Reads,
  name: string,
  file: ParsedConfiguration,
): ParsedConfiguration {
  const record = configurations.get(name)?.value;
  if (record === undefined) return file;
  const { configuration, hash } = file;
  const next = withFile({ ...record, configuration, hash }, { record, overrides: undefined }, 0);
  if (next.record === undefined || next.overrides?.is !== 'fields') return file;
  const kept = Object.entries(next.overrides.fields).map(([field, { value }]) => [field, value]);
  return { ...file, ...next.record, content: { ...file.content, ...Object.fromEntries(kept) } };
}
