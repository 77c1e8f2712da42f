/** The gauges that show who leads, as this master sees it. */
import { Counter, Gauge, type Registry } from 'prom-client';

export interface LeadershipFigures {
  isLeader(): boolean;
  /** The present leader; null: nobody leads. */
  leader(): { readonly epoch: number } | null;
  onChange(listener: () => void): () => void;
}

export function addLeadershipGauges(registry: Registry, leadership: LeadershipFigures): void {
  const registers = [registry];
  new Gauge({
    name: 'drover_leader',
    help: '1: this master leads. 0: it follows another one, or waits for an election.',
    registers,
    collect() {
      this.set(leadership.isLeader() ? 1 : 0);
    },
  });
  let epoch = leadership.leader()?.epoch ?? 0;
  new Gauge({
    name: 'drover_leader_epoch',
    help: 'The number of the last term that this master has heard of. 0: there is one master.',
    registers,
    collect() {
      this.set(epoch);
    },
  });
  const changes = new Counter({
    name: 'drover_leader_changes_total',
    help: 'How many terms have begun since this master started.',
    registers,
  });
  leadership.onChange(() => {
    const now = leadership.leader()?.epoch ?? epoch;
    if (now === epoch) return;
    epoch = now;
    changes.inc();
  });
}
