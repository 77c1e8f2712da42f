/**
 * Chooses the wanted instances that minimum-service ends: those beyond a lowered minimum with `"surplus":
 * "remove"`, and those of a configuration that is gone. Both wait for players in the same way. Pure.
 */
import type { LeavingView } from '../../../src/explain/decisions.js';
import type { Plan } from '../../../src/loop/reconciler.js';
import type { Configuration } from '../../../src/model/configuration.js';
import { mayBeUsed } from '../../../src/model/instance.js';
import { NO_UPDATE } from '../../../src/model/update.js';
import type { CountedInstance } from './plan.js';

/** How long an instance that is to end waits for its players to leave. The configuration's `update` sets it. */
export interface Patience {
  readonly players: 'wait' | 'ignore';
  /** How long the wait for players still lasts; null: for ever. */
  readonly leftMs: number | null;
}

export function patienceOf({
  update: { players, playersSeconds } = NO_UPDATE,
}: Pick<Configuration, 'update'>): Patience {
  return { players, leftMs: playersSeconds === 0 ? null : playersSeconds * 1000 };
}

/** The patience that is left when some time has passed. */
export function after(patience: Patience, passedMs: number): Patience {
  return patience.leftMs === null ? patience : { ...patience, leftMs: patience.leftMs - passedMs };
}

/** An instance that is to end. For a static instance, to end means to be stopped. */
export interface LeavingInstance extends Pick<CountedInstance, 'id' | 'players'> {
  /**
   * The patience that `update` of the content in force asks for. When the configuration is gone, the instance's own
   * content counts.
   */
  readonly patience: Patience;
}

/** Ends an instance. `evenUsed` false: only if it has got no players meanwhile. */
export interface EndStep<How extends string> {
  readonly do: How;
  readonly name: string;
  readonly id: string;
  readonly evenUsed: boolean;
}

/** Ends the instances that wait for no players. `name`: their configuration. */
export function planEnds<How extends string>(
  how: How,
  name: string,
  leaving: readonly LeavingInstance[],
): Plan<EndStep<How>> {
  const { now, waiting } = split(leaving);
  const steps = now.map(({ id, players }) => ({ do: how, name, id, evenUsed: mayBeUsed(players) }));
  const waits = waiting.flatMap(({ patience }) => patience.leftMs ?? []);
  return waits.length === 0 ? { steps } : { steps, recheckInMs: Math.min(...waits) };
}

/** Divides the instances into those that go now and those that go when their players have left. */
export function split(leaving: readonly LeavingInstance[]): {
  readonly now: readonly LeavingInstance[];
  readonly waiting: readonly LeavingInstance[];
} {
  return { now: leaving.filter((one) => !isWaitedFor(one)), waiting: leaving.filter(isWaitedFor) };
}

/** How many of the instances go now, and how many wait for their players, for `why`. */
export function viewOfLeaving(leaving: readonly LeavingInstance[]): LeavingView {
  const { now, waiting } = split(leaving);
  return { going: now.length, waiting: waiting.length };
}

/**
 * Chooses the instances beyond a lowered minimum. `standing`: the instances that are wanted and count. An
 * instance that a client made is never surplus. An original and its replacement count as one, and neither is
 * surplus: another controller resolves the pair. Instances that are not up go first, then those without
 * players; among equals the youngest first.
 */
export function surplusOf(
  standing: readonly CountedInstance[],
  minimum: number,
  patience: Patience,
): LeavingInstance[] {
  const ids = new Set(standing.map(({ id }) => id));
  const originals = new Set(standing.map(({ replaces }) => replaces));
  const made = standing.filter(
    ({ maker, knowledge, replaces }) =>
      maker === 'enforcer' && knowledge !== 'awaits-report' && (replaces === null || !ids.has(replaces)),
  );
  const most = made.length - minimum;
  if (most <= 0) return [];
  return made
    .filter(({ id }) => !originals.has(id))
    .toSorted((a, b) => rank(a) - rank(b) || b.createdAt - a.createdAt || (a.id < b.id ? -1 : 1))
    .slice(0, most)
    .map(({ id, players }) => ({ id, players, patience }));
}

function rank({ players, state }: CountedInstance): number {
  if (mayBeUsed(players)) return 2;
  return state === 'ONLINE' ? 1 : 0;
}

function isWaitedFor({ players, patience: { players: how, leftMs } }: LeavingInstance): boolean {
  return mayBeUsed(players) && how === 'wait' && (leftMs === null || leftMs > 0);
}
