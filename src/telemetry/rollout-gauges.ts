/** The gauges of rollouts. `metrics.ts` registers them, and the master gives their figures. */
import { Gauge, type Registry } from 'prom-client';
import type { RolloutRecord } from '../model/rollout.js';

export type RolloutFigures = Pick<RolloutRecord, 'name' | 'state' | 'counts'>;

/** Adds two gauges, read at each scrape. A configuration without any rollout has no line. */
export function addRolloutGauges(registry: Registry, read: () => Iterable<RolloutFigures>): void {
  const registers = [registry];
  new Gauge({
    name: 'drover_rollout_state',
    help: 'The state of the latest rollout of a configuration: 1 beside that state.',
    labelNames: ['configuration', 'state'],
    registers,
    collect() {
      this.reset();
      for (const { name: configuration, state } of read()) this.set({ configuration, state }, 1);
    },
  });
  new Gauge({
    name: 'drover_rollout_instances',
    help: 'Instances in the latest rollout of a configuration, by what they are in it.',
    labelNames: ['configuration', 'kind'],
    registers,
    collect() {
      this.reset();
      for (const { name: configuration, counts } of read())
        for (const [kind, count] of Object.entries(counts)) this.set({ configuration, kind }, count);
    },
  });
}
