/** Carries out what befalls the masters of a fleet and their etcd. */
import type { Fleet } from '../fleet.js';
import type { Machine } from '../machine/machine.js';
import type { Direction } from '../network/path.js';
import type { MasterDeed } from './master-deeds.js';
import type { SimulatedMasters } from './masters.js';

/** While etcd is slow, what is written may arrive when another master leads, or none. */
const WRITES = 12;
const WRITE_EVERY_MS = 150;
/** In which both sides hear that their connection is reset. */
const RESET_MS = 10;
const BOTH_WAYS: readonly Direction[] = ['up', 'down'];

export class MasterFaults {
  readonly #fleet: Fleet;
  readonly #masters: SimulatedMasters;

  constructor(fleet: Fleet, masters: SimulatedMasters) {
    this.#fleet = fleet;
    this.#masters = masters;
  }

  perform(deed: MasterDeed): void {
    const fleet = this.#fleet;
    const { etcd } = this.#masters;
    switch (deed.do) {
      case 'etcd-down':
        etcd.goDown();
        fleet.later(deed.forMs, () => etcd.goUp());
        return;
      case 'etcd-full':
        etcd.isFull = true;
        fleet.later(deed.forMs, () => {
          etcd.isFull = false;
        });
        return;
      case 'compact':
        if (etcd.isUp && etcd.revision - deed.keep > etcd.compacted) etcd.compact(etcd.revision - deed.keep);
        return;
      case 'two-leaders':
        this.#leadTwice(deed);
        return;
      default: {
        const machine = this.#machine(deed.master);
        if (machine !== undefined) this.#performOn(machine, deed);
      }
    }
  }

  #performOn(machine: Machine, deed: Extract<MasterDeed, { master: number | null }>): void {
    const fleet = this.#fleet;
    const { nodeId } = machine;
    const path = this.#masters.paths.get(nodeId);
    switch (deed.do) {
      case 'kill':
        fleet.kill(machine, deed.effects);
        fleet.later(deed.forMs, () => {
          if (deed.effects > 0) fleet.kill(machine, 0);
          fleet.start(machine);
        });
        return;
      case 'power-off':
        fleet.powerOff(machine);
        fleet.later(deed.forMs, () => {
          fleet.powerOn(machine);
          fleet.start(machine);
        });
        return;
      case 'stall':
        fleet.stall(machine, deed.forMs);
        return;
      case 'stop':
        fleet.stop(machine, deed.isInterrupt);
        fleet.later(deed.forMs, () => fleet.start(machine));
        return;
      case 'cut':
        fleet.cut(machine, deed.directions);
        fleet.later(deed.forMs, () => fleet.heal(machine, deed.directions));
        return;
      case 'cut-etcd':
        path?.cut(deed.directions);
        fleet.later(deed.forMs, () => path?.uncut(deed.directions));
        return;
      case 'part': {
        const other = [...fleet.machines.values()][deed.node];
        if (other === undefined || other === machine) return;
        fleet.part(other, nodeId, deed.directions);
        fleet.later(deed.forMs, () => fleet.rejoin(other, nodeId, deed.directions));
        return;
      }
      case 'lose-answers':
        if (path !== undefined) path.lostAnswers = deed.probability;
        fleet.later(deed.forMs, () => {
          if (path !== undefined) path.lostAnswers = 0;
        });
        return;
      case 'slow-etcd':
        if (path !== undefined) path.slowMs = deed.byMs;
        for (let number = 0; number < WRITES; number++)
          fleet.later(number * WRITE_EVERY_MS, () => this.#masters.write());
        fleet.later(deed.forMs, () => {
          if (path !== undefined) path.slowMs = 0;
        });
        return;
      case 'reset-etcd':
        path?.breakOff();
        return;
      default:
        deed satisfies never;
    }
  }

  #leadTwice({ awayMs, forMs }: Extract<MasterDeed, { do: 'two-leaders' }>): void {
    const fleet = this.#fleet;
    const former = this.#machine(null);
    if (former === undefined) return;
    const { nodeId } = former;
    const path = this.#masters.paths.get(nodeId);
    const others = this.#masters.masterIds.filter((id) => id !== nodeId);
    const nodes = [...fleet.machines.values()].filter((machine) => !this.#masters.isMaster(machine.nodeId));
    const part = (machine: Machine | undefined, masterIds: readonly string[], ms: number): void => {
      if (machine === undefined) return;
      for (const masterId of masterIds) {
        fleet.network.reset([fleet.network.path(machine.nodeId, masterId)]);
        fleet.later(RESET_MS, () => fleet.part(machine, masterId, BOTH_WAYS));
        fleet.later(ms, () => fleet.rejoin(machine, masterId, BOTH_WAYS));
      }
    };
    path?.cut(BOTH_WAYS);
    this.#silenceNextLeader(awayMs + forMs);
    fleet.later(awayMs + forMs, () => path?.uncut(BOTH_WAYS));
    part(former, others, awayMs + forMs);
    for (const id of others) part(fleet.machines.get(id), [nodeId], awayMs + forMs);
    for (const node of nodes) {
      part(node, [nodeId], awayMs);
      fleet.later(awayMs, () => part(node, others, forMs));
    }
  }

  /** etcd is away from the next leader's first write on: it takes nodes, and tells them nothing that is newer. */
  #silenceNextLeader(forMs: number): void {
    const { etcd, terms } = this.#masters;
    const before = terms.count;
    const unsubscribe = etcd.onRevision(() => {
      if (terms.count === before) return;
      unsubscribe();
      etcd.goDown();
    });
    this.#fleet.later(forMs, () => {
      unsubscribe();
      etcd.goUp();
    });
  }

  /** Null: the one that leads; none does during an election. */
  #machine(master: number | null): Machine | undefined {
    const nodeId = master === null ? this.#masters.leader?.life.name : `node${master}`;
    return this.#fleet.machines.get(nodeId ?? '');
  }
}
