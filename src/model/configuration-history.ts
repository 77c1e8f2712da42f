/**
 * The latest contents of a configuration: each with its origin and its end. The controller `configurations` writes them
 * with the record; `config history`, `config diff` and `config rollback` read them.
 */
import { z } from 'zod';
import type { ConfigurationRecord } from './configuration.js';
import { phaseOf, type RolloutRecord } from './rollout.js';

/** How many contents are kept. An older content is forgotten, and its revision is deleted once no instance has it. */
export const MAX_CONTENTS = 10;

/** The origin of a content. */
export const contentOriginSchema = z.object({
  file: z.string().describe('under `configurations/` of its node'),
  node: z.string().nullable().describe('the node of the file; null: not known'),
  key: z
    .string()
    .nullable()
    .describe(
      'who wrote the file through the API or a command, as in the audit trail; null: an edit of the file',
    ),
  commit: z
    .string()
    .nullable()
    .describe('of git, where the directory is a work tree; null: it is none, or not known'),
  isDirty: z
    .boolean()
    .nullable()
    .describe('the file was not as that commit has it; null: there is no commit, or that cannot be known'),
});
export type ContentOrigin = z.output<typeof contentOriginSchema>;

/** The end of a content that the file no longer has. */
export const contentEndSchema = z.object({
  outcome: z
    .enum(['rolled-out', 'failed', 'rolled-back', 'replaced'])
    .describe('replaced: another content came before anything else is known of it'),
  reason: z.string().nullable().describe('in words, of a failure or a rollback'),
  at: z.number().describe('Unix milliseconds'),
});
type ContentEnd = z.output<typeof contentEndSchema>;

export const keptContentSchema = contentOriginSchema.extend({
  number: z.int().min(1).describe('counts up with each content of the configuration'),
  revision: z.string(),
  at: z
    .number()
    .nullable()
    .describe('when it came into force, Unix milliseconds; null: before a history was kept'),
  end: contentEndSchema.optional().describe('absent: the file says it'),
});
export type KeptContent = z.output<typeof keptContentSchema>;

/** The store value of `history/<name>`. */
export const configurationHistorySchema = z.object({
  /** The oldest first; the last one is the content of the file. */
  contents: z.array(keptContentSchema).readonly(),
});
export type ConfigurationHistory = z.output<typeof configurationHistorySchema>;

/**
 * The contents of a configuration, the oldest first. When there is no history, the content of the record is the only
 * one.
 */
export function contentsOf(
  history: ConfigurationHistory | undefined,
  record: ConfigurationRecord | undefined,
): readonly KeptContent[] {
  const kept = history?.contents ?? [];
  if (record === undefined || kept.at(-1)?.revision === record.hash) return kept;
  const { hash: revision, sourceFile: file, sourceNode: node } = record;
  const number = (kept.at(-1)?.number ?? 0) + 1;
  return [...kept, { number, revision, at: null, file, node, key: null, commit: null, isDirty: null }];
}

/** The end of a content that another content replaces now, judged by the rollout of its configuration. */
export function endOf(rollout: RolloutRecord | undefined, revision: string): Omit<ContentEnd, 'at'> {
  if (rollout?.to !== revision) return REPLACED;
  const { reason, message } = rollout;
  switch (phaseOf(rollout)) {
    case 'rolling':
    case 'awaiting-promotion':
      return REPLACED;
    case 'complete':
      return { outcome: 'rolled-out', reason: null };
    case 'failed':
    case 'rolling-back':
    case 'rolled-back':
      return { outcome: reason === 'rollback' ? 'rolled-back' : 'failed', reason: message };
  }
}

const REPLACED = { outcome: 'replaced', reason: null } as const;

export interface NewContent {
  readonly revision: string;
  readonly origin: ContentOrigin;
  /** When the content came into force, in Unix milliseconds. */
  readonly at: number;
  /** The end of the content before it. */
  readonly end: Omit<ContentEnd, 'at'>;
}

/**
 * The history after a new content has come into force: the content before it gets its end, and the oldest content may
 * go. The last good content stays, so that a rollback finds it however many failed since.
 */
export function withContent(
  contents: readonly KeptContent[],
  { revision, origin, at, end }: NewContent,
): ConfigurationHistory {
  const last = contents.at(-1);
  const before = last === undefined ? [] : [...contents.slice(0, -1), { ...last, end: { ...end, at } }];
  const content: KeptContent = { ...origin, number: (last?.number ?? 0) + 1, revision, at };
  const all = [...before, content];
  const good = all.findLast(({ end: its }) => its?.outcome === 'rolled-out');
  const oldest = all.length > MAX_CONTENTS ? all.find((one) => one !== good) : undefined;
  return { contents: all.filter((one) => one !== oldest) };
}
