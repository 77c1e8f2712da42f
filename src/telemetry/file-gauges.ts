/** The metrics of configuration files: their states, removals that wait, and instances of older contents. */
import { Gauge, type Registry } from 'prom-client';

export interface FileFigures {
  /** How many files are in each state. Every state is named, so that each has a line. */
  readonly states: ReadonlyMap<string, number>;
  /** Configurations without a file whose removal waits to be confirmed. */
  readonly removalsWaiting: number;
  /** How many instances of each configuration were made from an older content. */
  readonly outdated: ReadonlyMap<string, number>;
}

export interface FileGaugesOptions {
  /** The registry for metrics without names of configurations. */
  readonly open: Registry;
  /** The registry for metrics with names of configurations. */
  readonly naming: Registry;
  readonly read: () => FileFigures;
}

export function addFileGauges({ open, naming, read }: FileGaugesOptions): void {
  new Gauge({
    name: 'drover_configuration_files',
    help: 'Configuration files by state.',
    labelNames: ['state'],
    registers: [open],
    collect() {
      for (const [state, count] of read().states) this.set({ state }, count);
    },
  });
  new Gauge({
    name: 'drover_configuration_removals_waiting',
    help: 'Configurations without a file that stay until their removal is confirmed.',
    registers: [open],
    collect() {
      this.set(read().removalsWaiting);
    },
  });
  new Gauge({
    name: 'drover_configuration_outdated_instances',
    help: 'Instances that were made from an older content of their configuration.',
    labelNames: ['configuration'],
    registers: [naming],
    collect() {
      this.reset();
      for (const [configuration, count] of read().outdated) this.set({ configuration }, count);
    },
  });
}
