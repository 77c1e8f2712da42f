/**
 * Chooses what `"surplus": "remove"` ends after a minimum was lowered: instances that the enforcer made, beyond the
 * minimum. Pure.
 */
import type { Configuration } from '../../../src/model/configuration.js';
import { mayBeUsed } from '../../../src/model/instance.js';
import { NO_UPDATE } from '../../../src/model/update.js';
import type { CountedInstance } from './plan.js';

/** How long players are waited for: as `update` of the configuration says. */
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

export interface Surplus {
  readonly now: readonly CountedInstance[];
  /** The instances that go when their players have left. */
  readonly waiting: readonly CountedInstance[];
}

/**
 * `standing`: the instances that are wanted and count. An instance that a client made is never surplus. An original and
 * its replacement count as one, and neither is surplus: another controller resolves the pair. Instances that are not up
 * go first, then those without players; the youngest first.
 */
export function surplusOf(
  standing: readonly CountedInstance[],
  minimum: number,
  patience: Patience,
): Surplus {
  const ids = new Set(standing.map(({ id }) => id));
  const originals = new Set(standing.map(({ replaces }) => replaces));
  const made = standing.filter(
    ({ maker, knowledge, replaces }) =>
      maker === 'enforcer' && knowledge !== 'awaits-report' && (replaces === null || !ids.has(replaces)),
  );
  const most = made.length - minimum;
  if (most <= 0) return { now: [], waiting: [] };
  const going = made
    .filter(({ id }) => !originals.has(id))
    .toSorted((a, b) => rank(a) - rank(b) || b.createdAt - a.createdAt || (a.id < b.id ? -1 : 1))
    .slice(0, most);
  return {
    now: going.filter((one) => !isWaitedFor(one, patience)),
    waiting: going.filter((one) => isWaitedFor(one, patience)),
  };
}

function rank({ players, state }: CountedInstance): number {
  if (mayBeUsed(players)) return 2;
  return state === 'ONLINE' ? 1 : 0;
}

export function isWaitedFor({ players }: Pick<CountedInstance, 'players'>, patience: Patience): boolean {
  const { players: how, leftMs } = patience;
  return mayBeUsed(players) && how === 'wait' && (leftMs === null || leftMs > 0);
}
