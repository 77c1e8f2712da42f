/** The gauges of the etcd that holds the state. */
import { Gauge, type Registry } from 'prom-client';

export interface EtcdFigures {
  readonly databaseBytes: number;
  readonly databaseBytesInUse: number;
  /** The names of the alarms that are on, such as `NOSPACE`. */
  readonly alarms: ReadonlySet<string>;
}

/**
 * Adds gauges that show the result of `read` at each scrape. `read` returns the figures of the last look at etcd;
 * undefined: no look yet.
 */
export function addEtcdGauges(registry: Registry, read: () => EtcdFigures | undefined): void {
  const registers = [registry];
  const size = (name: string, help: string, of: (figures: EtcdFigures) => number): void => {
    new Gauge({
      name,
      help,
      registers,
      collect() {
        const figures = read();
        if (figures !== undefined) this.set(of(figures));
      },
    });
  };
  size(
    'drover_etcd_database_bytes',
    'Size of the database file of the etcd member that answers.',
    ({ databaseBytes }) => databaseBytes,
  );
  size(
    'drover_etcd_database_in_use_bytes',
    'Bytes of the database file of etcd that are in use.',
    ({ databaseBytesInUse }) => databaseBytesInUse,
  );
  new Gauge({
    name: 'drover_etcd_alarm',
    help: 'An alarm of etcd that is on: 1. While NOSPACE is on, nothing can be written.',
    labelNames: ['alarm'],
    registers,
    collect() {
      this.reset();
      for (const alarm of read()?.alarms ?? []) this.set({ alarm }, 1);
    },
  });
}
