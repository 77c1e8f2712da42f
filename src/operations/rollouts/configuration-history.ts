/**
 * The last contents of a configuration, and the differences between two of them: `config history`, `config diff` and
 * routes.
 */

import { z } from 'zod';
import type { Configuration } from '../../model/configuration.js';
import {
  contentEndSchema,
  contentsOf,
  endOf,
  type KeptContent,
  keptContentSchema,
} from '../../model/configuration-history.js';
import { revisionUnknown } from '../../model/errors.js';
import { differencesOf, fieldDifferenceSchema } from '../../model/field-differences.js';
import type { ShownValues } from '../../model/plain/may-be-secret.js';
import { isHeldBack, type RolloutRecord, revisionForNew } from '../../model/rollout.js';
import { unknownConfiguration } from '../../model/unknown.js';
import type { Reads } from '../reads.js';
import { shownDifferences } from '../shown-differences.js';

export const pastContentSchema = keptContentSchema.omit({ end: true }).extend({
  outcome: z
    .enum(['in-force', 'rolling', ...contentEndSchema.shape.outcome.options])
    .describe('in-force: new instances are made from this content, and no rollout says more'),
  reason: contentEndSchema.shape.reason,
  endedAt: z
    .number()
    .nullable()
    .describe(
      'when the content was replaced, in Unix milliseconds; null: it is the present content of the file',
    ),
  isInForce: z.boolean().describe('true: new instances are made from this content'),
  isRollbackTarget: z
    .boolean()
    .describe('true: a rollback that names no content goes back to this one, the last that was good'),
  instances: z.int().describe('how many instances have this content now'),
});
export type PastContent = z.output<typeof pastContentSchema>;

export const contentDiffSchema = z.object({
  configurationName: z.string(),
  from: z.int().describe('number of the older content'),
  to: z.int().describe('number of the newer content'),
  differences: z
    .array(fieldDifferenceSchema)
    .describe('the differences from the older content to the newer one'),
});
export type ContentDiff = z.output<typeof contentDiffSchema>;

interface ContentDiffQuestion {
  readonly from: number;
  readonly to?: number | undefined;
  readonly shown?: ShownValues;
}

/** The last contents, the newest first. Throws DRV_CONFIGURATION_UNKNOWN. */
export function configurationHistory(needs: Reads, name: string): PastContent[] {
  const contents = keptContents(needs, name);
  const rollout = needs.rollouts.get(name)?.value;
  const current = rollout === undefined ? contents.at(-1)?.revision : revisionForNew(rollout);
  const inForce = contents.findLast(({ revision }) => revision === current);
  const counts = needs.instanceRevisions.of(name);
  const shown = contents
    .map((content) => {
      const { end, ...rest } = content;
      const isInForce = content === inForce;
      return {
        ...rest,
        ...outcomeOf(content, rollout, isInForce),
        endedAt: end?.at ?? null,
        isInForce,
        instances: counts.get(content.revision) ?? 0,
      };
    })
    .toReversed();
  const target = rollbackTarget(shown, rollout);
  return shown.map((content) => ({ ...content, isRollbackTarget: content === target }));
}

/**
 * The content that a rollback goes back to: the last good one before the content of the file. It is in force already when
 * a rollout failed. After a rollback by a person it is the content before the one in force. A content that failed is never
 * chosen.
 */
function rollbackTarget<T extends Omit<PastContent, 'isRollbackTarget'>>(
  contents: readonly T[],
  rollout: RolloutRecord | undefined,
): T | undefined {
  const newest = contents[0]?.revision;
  const now = contents.find(({ isInForce }) => isInForce) ?? contents[0];
  const { state, reason, from = null, to } = rollout ?? {};
  const isBack = reason === 'rollback-failed' || (reason === 'rollback' && state === 'rolled-back');
  const good = state === 'complete' && to !== newest ? to : from;
  const lastGood = contents.find(({ revision }) => !isBack && revision === good && revision !== newest);
  return (
    lastGood ??
    contents.find((one) => one.number < (now?.number ?? 0) && one.revision !== now?.revision && !isBad(one))
  );
}

function isBad({ outcome }: Pick<PastContent, 'outcome'>): boolean {
  return outcome === 'failed' || outcome === 'rolled-back';
}

/**
 * The differences between two contents. `to` absent: the newest. Throws DRV_CONFIGURATION_UNKNOWN, or DRV_REVISION_UNKNOWN.
 */
export function contentDiffOf(
  needs: Reads,
  name: string,
  { from, to, shown = 'none' }: ContentDiffQuestion,
): ContentDiff {
  const contents = keptContents(needs, name);
  const newest = to ?? contents.at(-1)?.number ?? 1;
  const before = revisionContent(needs, contentNumbered(contents, { name, number: from }));
  const after = revisionContent(needs, contentNumbered(contents, { name, number: newest }));
  const differences = differencesOf(before, after);
  return { configurationName: name, from, to: newest, differences: shownDifferences(differences, shown) };
}

/** The kept content of this number. Throws DRV_REVISION_UNKNOWN. */
export function contentNumbered<T extends Pick<KeptContent, 'number'>>(
  contents: readonly T[],
  { name, number }: { readonly name: string; readonly number: number },
): T {
  const content = contents.find((one) => one.number === number);
  if (content !== undefined) return content;
  const numbers = contents.map((one) => one.number).toSorted((a, b) => a - b);
  throw revisionUnknown(
    `configuration ${name} has no content ${number} in its history: there are ${numbers.join(', ')}`,
  );
}

/** The configuration of a kept content. Throws DRV_REVISION_UNKNOWN. */
export function revisionContent(
  { revisions }: Reads,
  { number, revision }: Pick<KeptContent, 'number' | 'revision'>,
): Configuration {
  const content = revisions.get(revision)?.value;
  if (content !== undefined) return content;
  throw revisionUnknown(`content ${number} (revision ${revision}) is not kept any more`);
}

function keptContents({ configurations, histories }: Reads, name: string): readonly KeptContent[] {
  const record = configurations.get(name)?.value;
  if (record === undefined) throw unknownConfiguration(name);
  return contentsOf(histories.get(name)?.value, record);
}

function outcomeOf(
  { revision, end }: KeptContent,
  rollout: RolloutRecord | undefined,
  isInForce: boolean,
): Pick<PastContent, 'outcome' | 'reason'> {
  // The content had ended, and a rollback has brought it back into force.
  if (end !== undefined && isInForce && rollout !== undefined && isHeldBack(rollout)) return IN_FORCE;
  if (end !== undefined) return { outcome: end.outcome, reason: end.reason };
  if (rollout?.to !== revision) return IN_FORCE;
  const now = endOf(rollout, revision);
  return now.outcome === 'replaced' ? { outcome: 'rolling', reason: null } : now;
}

const IN_FORCE = { outcome: 'in-force', reason: null } as const;
