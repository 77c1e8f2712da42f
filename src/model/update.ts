/**
 * How a changed content of a configuration reaches the instances that run: its `update` block. Without one nothing is
 * replaced. The rollout controller reads it.
 */
import { z } from 'zod';
import { MAX_SERVICE_COUNT } from './plain/command-limits.js';

/** A day: longer waits are no settings of a rollout, but mistakes. */
const MOST_SECONDS = 86_400;
/** Players may be waited for longer than a rollout may stand still. */
const MOST_PLAYERS_SECONDS = 30 * 86_400;
const PERCENTAGE = /^(?:100|[1-9]?[0-9])%$/;

/** Instances: a number, or a share of the ready ones that may be replaced. */
const amountSchema = z.union(
  [
    z.int().min(0).max(MAX_SERVICE_COUNT),
    z.string().regex(PERCENTAGE, 'must be a percentage from 0% to 100%'),
  ],
  {
    error: 'must be a number of instances, or a percentage such as "25%"',
  },
);
export type Amount = z.output<typeof amountSchema>;

/**
 * `manual`: nothing is replaced. `rolling`: all are, step by step. `idle`: only what ends, starts again, or says that it
 * has no players.
 */
const strategySchema = z.enum(['manual', 'rolling', 'idle']);

const fieldsSchema = z.strictObject({
  strategy: strategySchema.default('manual'),
  /** How many more than now may stand at a time. */
  maxSurge: amountSchema.default(1),
  /** How many of those that are there may be missing at a time. */
  maxUnavailable: amountSchema.default(0),
  /** Ready for so long without a restart is good. */
  minReadySeconds: z.int().min(0).max(MOST_SECONDS).default(10),
  /** Whether an instance with players is left alone. */
  players: z.enum(['wait', 'ignore']).default('wait'),
  /** From the begin of a rollout: players are waited for so long; 0: for ever. */
  playersSeconds: z.int().min(0).max(MOST_PLAYERS_SECONDS).default(0),
  /** No good instance for so long, while one may be replaced, is a failure. */
  progressSeconds: z.int().min(1).max(MOST_SECONDS).default(600),
  /** After a failure: stop, or also bring back what was replaced. */
  onFailure: z.enum(['pause', 'rollback']).default('pause'),
  /** So many are replaced first; 0: none. */
  canary: z.int().min(0).max(MAX_SERVICE_COUNT).default(0),
  /** What follows on good canaries: all others, or a wait for `rollout promote`. */
  promote: z.enum(['auto', 'manual']).default('auto'),
  /** A changed template is a new content, too. */
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

/** What a configuration without the block means. */
export const NO_UPDATE: Update = updateSchema.parse({});

function isNone(amount: Amount): boolean {
  return amount === 0 || amount === '0%';
}

/** How many of `base` instances an amount is. A percentage is rounded as `round` says. */
export function amountOf(amount: Amount, base: number, round: 'up' | 'down'): number {
  if (typeof amount === 'number') return amount;
  const share = (base * Number(amount.slice(0, -1))) / 100;
  return round === 'up' ? Math.ceil(share) : Math.floor(share);
}
