/** The instances that end when a configuration is scaled down and the surplus is to go. The page loads this file too. */
import type { InstanceInfo } from '../instance.js';

type Standing = Pick<InstanceInfo, 'state' | 'players' | 'createdAt'>;

/** The instances above `count`: those without players first, then those that are not ONLINE, then the youngest. */
export function surplusOf<T extends Standing>(instances: readonly T[], count: number): T[] {
  const playing = ({ players }: Standing): number => Math.max(0, players ?? 0);
  const up = ({ state }: Standing): number => (state === 'ONLINE' ? 1 : 0);
  return instances
    .toSorted((a, b) => playing(a) - playing(b) || up(a) - up(b) || b.createdAt - a.createdAt)
    .slice(0, Math.max(0, instances.length - count));
}
