/**
 * Brings an older content of a configuration back: `config rollback` and its routes. Either the file stays and its
 * content is held back, or the older content is written into the file.
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

/** The request as the API takes it, which adds the caller itself. */
export const rollbackRequestSchema = z.strictObject({
  to: z
    .int()
    .min(1)
    .optional()
    .describe('number of a content in the history; default: the last earlier content that did not fail'),
  reason: z.string().trim().min(1).max(500).describe('the reason, for the history and for later readers'),
});

interface Rollback extends z.output<typeof rollbackRequestSchema> {
  /** The caller's name in the audit trail. */
  readonly by: string;
}

export const rollbackSchema = z.object({
  name: z.string(),
  to: z.int().describe('number of the content that comes back'),
  revision: z.string(),
  rollout: shownRolloutSchema
    .nullable()
    .describe(
      'the rollout that holds the content of the file back; null: the older content was written into the file',
    ),
});
export type RolledBack = z.output<typeof rollbackSchema>;

/**
 * Brings the older content back and holds the file's content back. Throws DRV_REVISION_UNKNOWN, and the errors of
 * `RolloutWriter.rollback`.
 */
export async function rollBack(
  needs: Reads & Writes,
  name: string,
  { to, reason, by }: Rollback,
): Promise<RolledBack> {
  const { number, revision } = targetOf(needs, name, to);
  const rollout = await needs.rolloutWrites.rollback(name, { to: revision, reason, by });
  return { name, to: number, revision, rollout: shown(needs, rollout) };
}

/** Writes the older content into the file. Throws DRV_REVISION_UNKNOWN, and the errors of `ConfigurationFiles.put`. */
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
