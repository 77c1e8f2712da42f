/**
 * The `update` block of a configuration: how a changed content reaches running instances. When it is absent, nothing is
 * replaced. The rollout controller reads it.
 */
import { z } from 'zod';
import { MAX_SERVICE_COUNT } from './plain/command-limits.js';

/** The limit for times: a day. A longer time is probably a mistake. */
const MOST_SECONDS = 86_400;
/** The limit for the wait for players: 30 days, because players may stay for long. */
const MOST_PLAYERS_SECONDS = 30 * 86_400;
const PERCENTAGE = /^(?:100|[1-9]?[0-9])%$/;

/** An amount of instances: a number, or a share in percent. */
const amountSchema = z.union(
  [
    z.int().min(0).max(MAX_SERVICE_COUNT),
    z.string().regex(PERCENTAGE, 'must be a percentage from 0% to 100%'),
  ],
  { error: 'must be a number of instances, or a percentage such as "25%"' },
);
export type Amount = z.output<typeof amountSchema>;

/**
 * `manual`: nothing is replaced. `rolling`: all instances are replaced, step by step. `idle`: only instances that end,
 * start again, or report no players.
 */
const strategySchema = z.enum(['manual', 'rolling', 'idle']);

const fieldsSchema = z.object({
  strategy: strategySchema.default('manual'),
  /** How many instances above the present number may exist at a time. */
  maxSurge: amountSchema.default(1),
  /** How many of the present instances may be missing at a time. */
  maxUnavailable: amountSchema.default(0),
  /** An instance is healthy after it was ready for this long without a restart. */
  minReadySeconds: z.int().min(0).max(MOST_SECONDS).default(10),
  /** `wait`: an instance with players is left alone until they leave. `ignore`: it is replaced like any other. */
  players: z.enum(['wait', 'ignore']).default('wait'),
  /** How long a rollout waits for players, from its begin; 0: for ever. */
  playersSeconds: z.int().min(0).max(MOST_PLAYERS_SECONDS).default(0),
  /** How long a rollout may go without a new healthy instance, while it may replace one, before it fails. */
  progressSeconds: z.int().min(1).max(MOST_SECONDS).default(600),
  /** The reaction to a failure: the rollout stops, or it also rolls back. */
  onFailure: z.enum(['pause', 'rollback']).default('pause'),
  /** How many instances are replaced first; 0: none. */
  canary: z.int().min(0).max(MAX_SERVICE_COUNT).default(0),
  /** The step after healthy canaries: all others follow, or the rollout waits for `rollout promote`. */
  promote: z.enum(['auto', 'manual']).default('auto'),
  /** True when a changed template counts as a new content, too. */
  templates: z.boolean().default(false),
});

export const updateSchema = fieldsSchema.superRefine(
  ({ maxSurge, maxUnavailable, promote, canary }, context) => {
    if (isNone(maxSurge) && isNone(maxUnavailable)) {
      const message = 'must not be 0 while maxSurge is 0: then nothing could ever be replaced';
      context.addIssue({ code: 'custom', path: ['maxUnavailable'], message });
    }
    if (promote === 'manual' && canary === 0) {
      const message =
        'must be 1 or more where "promote" is "manual": without canaries there is nothing to promote';
      context.addIssue({ code: 'custom', path: ['canary'], message });
    }
  },
);

/** The block with every default filled in. */
export type Update = Readonly<z.output<typeof updateSchema>>;

/** The settings of a configuration without the block. */
export const NO_UPDATE: Update = updateSchema.parse({});

function isNone(amount: Amount): boolean {
  return amount === 0 || amount === '0%';
}

/** The number of instances that an amount means for `base` instances. `round` says how a percentage is rounded. */
export function amountOf(amount: Amount, base: number, round: 'up' | 'down'): number {
  if (typeof amount === 'number') return amount;
  const share = (base * Number(amount.slice(0, -1))) / 100;
  return round === 'up' ? Math.ceil(share) : Math.floor(share);
}
