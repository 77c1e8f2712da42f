/**
 * The rollout of a configuration: how far its content has reached the instances, and which content new ones get. The
 * record exists once a configuration's `update` block replaces instances, or somebody asked for a rollout. Its field
 * table is in controllers/README.md.
 */
import { z } from 'zod';
import { nameSchema, shownInstanceId } from './names.js';

/**
 * ```
 *                   canaries good, promote manual
 *  changed -> rolling ---------> awaiting-promotion        any of the left, pause ---> paused, and back by resume
 *                |  ^--- promote ---'
 *                |--- all are good ----------> complete
 *                '--- no progress --> failed | rolling-back ---> rolled-back
 *                rollback by a person -----------'
 * ```
 * A changed file and `retry` lead from every state to `rolling`.
 */
const rolloutStateSchema = z.enum([
  'rolling',
  'awaiting-promotion',
  'paused',
  'failed',
  'rolling-back',
  'rolled-back',
  'complete',
]);
type RolloutState = z.output<typeof rolloutStateSchema>;

/** The cause of the rollout. */
const rolloutCauseSchema = z.enum(['content', 'templates', 'restart', 'rollback', 'retry']);
export type RolloutCause = z.output<typeof rolloutCauseSchema>;

/** Why a content is held back, as a short stable code. `message` says it in words and numbers. */
const rolloutReasonSchema = z.enum([
  /** No instance of the content became good in time. */
  'no-progress',
  /** No node has room for an instance of the content. */
  'not-placeable',
  /** A static instance would lose its directory. */
  'loses-files',
  /** A person asked for a rollback. */
  'rollback',
  /** A rollback made no progress: the older content does not become good either. */
  'rollback-failed',
]);
export type RolloutReason = z.output<typeof rolloutReasonSchema>;

/** How many last lines of a failed instance are kept, and the length at which each is cut. */
export const MOST_FAILURE_LINES = 10;
export const MOST_FAILURE_CHARS = 300;

const rolloutFailureSchema = z.object({
  instance: shownInstanceId.describe('the instance that failed'),
  code: z.int().nullable().describe('the exit code of its last run'),
  signal: z.string().nullable().describe('the signal that ended it'),
  crashes: z.int().min(0).describe('how many times it ended by itself'),
  lines: z.array(z.string()).max(MOST_FAILURE_LINES).describe('what its last run wrote last, oldest first'),
});
export type RolloutFailure = Readonly<z.output<typeof rolloutFailureSchema>>;

const rolloutCountsSchema = z.object({
  total: z.int().min(0).describe('instances that are wanted'),
  updated: z.int().min(0).describe('of the content that the rollout brings'),
  good: z.int().min(0).describe('of these: ready for minReadySeconds without a restart'),
  outdated: z.int().min(0).describe('still to be replaced'),
  waiting: z.int().min(0).describe('of these: waiting for their players to leave'),
});
export type RolloutCounts = Readonly<z.output<typeof rolloutCountsSchema>>;

export const NO_COUNTS: RolloutCounts = { total: 0, updated: 0, good: 0, outdated: 0, waiting: 0 };

/** Store value of `rollouts/<name>`. Instants are Unix milliseconds, revisions are hashes of contents. */
export const rolloutRecordSchema = z.object({
  name: nameSchema,
  /** The last good content; null: none. While `to` is held back, new instances get it. */
  from: z.string().nullable(),
  /** The content that the rollout has taken up. */
  to: z.string(),
  /** A counter, raised when the same content is to be made anew. An instance of a lower generation is outdated. */
  generation: z.int().min(0),
  state: rolloutStateSchema,
  cause: rolloutCauseSchema,
  /** `reason` and `message` are null unless the content is held back. */
  reason: rolloutReasonSchema.nullable(),
  message: z.string().nullable(),
  failure: rolloutFailureSchema
    .optional()
    .describe(
      'the new instance that did not become good, which is removed soon; absent: none ended by itself',
    ),
  /** The key or person that asked for the rollout; null: a changed file or template caused it. */
  by: z.string().nullable(),
  since: z.number(),
  /** When the rollout ended or failed; null: it goes on. */
  endedAt: z.number().nullable(),
  /** When the last progress was; null: nothing can be replaced now, such as while players are waited for. */
  progressAt: z.number().nullable(),
  /** True when the canaries are good, or there are none. All other instances then follow. */
  isPromoted: z.boolean(),
  paused: z
    .object({
      by: z.string(),
      at: z.number(),
      /** The state that resume leads back to. */
      was: z.enum(['rolling', 'awaiting-promotion', 'rolling-back']),
    })
    .nullable(),
  counts: rolloutCountsSchema,
  players: z
    .enum(['wait', 'ignore'])
    .optional()
    .describe('what the restart of a schedule does about players; absent: what `update` says'),
  /** With `update.templates`: the digest of each template when it was taken up, by `templateKeyOf`. */
  templates: z.record(z.string(), z.string()),
});
export type RolloutRecord = Readonly<z.output<typeof rolloutRecordSchema>>;

const HELD_BACK: ReadonlySet<RolloutState> = new Set(['failed', 'rolling-back', 'rolled-back']);
const ENDED: ReadonlySet<RolloutState> = new Set(['failed', 'rolled-back', 'complete']);

/** The state, or the state that a pause interrupts. */
export function phaseOf(rollout: Pick<RolloutRecord, 'state' | 'paused'>): Exclude<RolloutState, 'paused'> {
  return rollout.state === 'paused' ? (rollout.paused?.was ?? 'rolling') : rollout.state;
}

/** True when the content of the file is not used: new instances get `from`. */
export function isHeldBack(rollout: Pick<RolloutRecord, 'state' | 'paused' | 'from' | 'to'>): boolean {
  return HELD_BACK.has(phaseOf(rollout)) && rollout.from !== null && rollout.from !== rollout.to;
}

/** True when the rollout replaces nothing more. */
export function hasEnded({ state }: Pick<RolloutRecord, 'state'>): boolean {
  return ENDED.has(state);
}

/** The revision that the rollout brings the instances to. */
export function targetOf(rollout: RolloutRecord): string {
  return HELD_BACK.has(phaseOf(rollout)) ? (rollout.from ?? rollout.to) : rollout.to;
}

/** The revision of new instances that the rollout does not make itself, so that canaries stay few. */
export function revisionForNew(rollout: RolloutRecord): string {
  return rollout.isPromoted ? targetOf(rollout) : (rollout.from ?? rollout.to);
}
