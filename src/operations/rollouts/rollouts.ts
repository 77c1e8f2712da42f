/** Rollouts as clients see them: `rollout ...`, `config restart` and their routes, the change stream and the dashboard. */

import { z } from 'zod';
import { contentsOf } from '../../model/configuration-history.js';
import { isHeldBack, type RolloutRecord, rolloutRecordSchema } from '../../model/rollout.js';
import { unknownConfiguration, unknownRollout } from '../../model/unknown.js';
import type { Reads } from '../reads.js';

const number = z.int().nullable();

export const shownRolloutSchema = rolloutRecordSchema
  .omit({ name: true, generation: true, progressAt: true, templates: true })
  .extend({
    configurationName: z.string(),
    fromNumber: number.describe(
      'the number of `from` in the history; null: the history does not have it, or not any more',
    ),
    toNumber: number.describe('the number of `to` in the history'),
    isHeldBack: z
      .boolean()
      .describe('true: new instances are made from `from`, until the file changes or somebody retries'),
    isBehind: z
      .boolean()
      .describe('true: the file has changed since, and another rollout brings the change next'),
  });
export type ShownRollout = z.output<typeof shownRolloutSchema>;

/** The actions on an existing rollout. */
export const ROLLOUT_ACTIONS = ['pause', 'resume', 'promote', 'retry'] as const;
export type RolloutAction = (typeof ROLLOUT_ACTIONS)[number];

/** All rollouts, by name of the configuration. */
export function listRollouts(needs: Reads): ShownRollout[] {
  return [...needs.rollouts.entries()]
    .map(([, { value }]) => shown(needs, value))
    .sort((a, b) => (a.configurationName < b.configurationName ? -1 : 1));
}

/** The rollout of a configuration; undefined: it has had none. */
export function rolloutOf(needs: Reads, name: string): ShownRollout | undefined {
  const rollout = needs.rollouts.get(name)?.value;
  return rollout && shown(needs, rollout);
}

/** The rollout of a configuration. Throws DRV_CONFIGURATION_UNKNOWN, or DRV_ROLLOUT_UNKNOWN. */
export function requireRollout(needs: Reads, name: string): ShownRollout {
  const rollout = rolloutOf(needs, name);
  if (rollout !== undefined) return rollout;
  if (needs.configurations.get(name) === undefined) throw unknownConfiguration(name);
  throw unknownRollout(name);
}

export function shown({ configurations, histories }: Reads, rollout: RolloutRecord): ShownRollout {
  const { name, generation: _generation, progressAt: _progress, templates: _templates, ...rest } = rollout;
  const record = configurations.get(name)?.value;
  const contents = contentsOf(histories.get(name)?.value, record);
  const numberOf = (revision: string | null): number | null =>
    contents.findLast((content) => content.revision === revision)?.number ?? null;
  return {
    configurationName: name,
    ...rest,
    fromNumber: numberOf(rollout.from),
    toNumber: numberOf(rollout.to),
    isHeldBack: isHeldBack(rollout),
    isBehind: record !== undefined && record.hash !== rollout.to,
  };
}
