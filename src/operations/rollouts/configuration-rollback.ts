/**
 * Brings an older content of a configuration back: `config rollback` and its routes. The file is left alone, and its
 * content held back; or, where that is asked for, the older content is written into the file.
 */

import { z } from 'zod';
import { DroverError } from '../../model/errors.js';
import type { Reads } from '../reads.js';
import type { Writes } from '../writes.js';
import {
  configurationHistory,
  contentNumbered,
  type PastContent,
  revisionContent,
} from './configuration-history.js';
import { shown, shownRolloutSchema } from './rollouts.js';

/** What the API takes: who asks is known there. */
export const rollbackRequestSchema = z.strictObject({
  to: z
    .int()
    .min(1)
    .optional()
    .describe('number of a content; default: the last one before that did not fail'),
  reason: z.string().trim().min(1).max(500).describe('why, for the history and for those who look later'),
});

export interface Rollback extends z.output<typeof rollbackRequestSchema> {
  /** The caller's name in the audit trail. */
  readonly by: string;
}

export const rollbackSchema = z.object({
  name: z.string(),
  to: z.int().describe('number of the content that is brought back'),
  revision: z.string(),
  rollout: shownRolloutSchema
    .nullable()
    .describe('that holds the content of the file back; null: the older content was written into the file'),
});
export type RolledBack = z.output<typeof rollbackSchema>;

/** Holds the content of the file back. Throws DRV_REVISION_UNKNOWN, and what `RolloutWriter.rollback` throws. */
export async function rollBack(
  needs: Reads & Writes,
  name: string,
  { to, reason, by }: Rollback,
): Promise<RolledBack> {
  const { number, revision } = targetOf(needs, name, to);
  const rollout = await needs.rolloutWrites.rollback(name, { to: revision, reason, by });
  return { name, to: number, revision, rollout: shown(needs, rollout) };
}

/** Writes the older content into the file. Throws DRV_REVISION_UNKNOWN, and what `ConfigurationFiles.put` throws. */
export async function writeBack(
  needs: Reads & Writes,
  name: string,
  { to, reason, by }: Rollback,
): Promise<RolledBack> {
  const { number, revision } = targetOf(needs, name, to);
  const inForce = needs.configurations.get(name)?.value.hash ?? '';
  await needs.configurationFiles.put(name, revisionContent(needs, { number, revision }), {
    precondition: { is: 'existing', revisions: [inForce] },
    by: { key: by, rollback: reason },
  });
  return { name, to: number, revision, rollout: null };
}

function targetOf(needs: Reads & Writes, name: string, to: number | undefined): PastContent {
  const contents = configurationHistory(needs, name);
  if (to !== undefined) return contentNumbered(contents, { name, number: to });
  const now = contents.find(({ isInForce }) => isInForce) ?? contents[0];
  const before = contents.find(
    ({ number, revision, outcome }) =>
      now !== undefined &&
      number < now.number &&
      revision !== now.revision &&
      outcome !== 'failed' &&
      outcome !== 'rolled-back',
  );
  if (before !== undefined) return before;
  throw new DroverError(
    'DRV_REVISION_UNKNOWN',
    `configuration ${name} has no earlier content that was good: choose one of its history by its number`,
  );
}
