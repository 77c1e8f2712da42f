/** Carries out operations on a fleet: the actions of clients, applications, machines and networks. */

import type { Fleet } from '../fleet.js';
import type { Machine } from '../machine/machine.js';
import { MasterFaults } from '../masters/master-faults.js';
import { Clients } from './clients.js';
import type { Operation } from './operations.js';

/** More would only make runs longer. */
const MOST_JOINS = 3;
const SLOW_DISK_MS = 500;

export class Operator {
  readonly #fleet: Fleet;
  readonly #clients: Clients;
  /** Undefined: there is one master. */
  readonly #masterFaults: MasterFaults | undefined;
  #joined = 0;

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
    this.#clients = new Clients(fleet);
    this.#masterFaults = fleet.masters && new MasterFaults(fleet, fleet.masters);
  }

  perform(operation: Operation): void {
    const clients = this.#clients;
    this.#fleet.trace.note('world', () => JSON.stringify(operation));
    this.#fleet.troubles.disturb();
    switch (operation.do) {
      case 'put':
        clients.put(operation.name, operation.shape);
        return;
      case 'put-job':
        clients.putJob(operation.shape);
        return;
      case 'run-job':
        clients.run(operation.key);
        return;
      case 'drop':
        clients.drop(operation.name);
        return;
      case 'create':
        clients.create(operation.name, operation.count);
        return;
      case 'lifecycle':
        clients.setLifecycle(operation.pick, operation.targets);
        return;
      case 'revive':
        clients.revive(operation.pick);
        return;
      case 'quit':
        clients.quit(operation.name);
        return;
      case 'delete':
        clients.remove(operation.pick);
        return;
      case 'put-state':
        clients.putState(operation);
        return;
      case 'players':
        clients.setPlayers(operation.pick, operation.count);
        return;
      case 'crash':
        this.#onRunning(operation.pick, (machine, id) =>
          this.#fleet.crash(machine, id, operation.code, operation.isLooping),
        );
        return;
      case 'hang':
        this.#onRunning(operation.pick, (machine, id) => this.#fleet.hang(machine, id));
        return;
      case 'toggle-stubborn':
        this.#toggleStubborn(operation.pick);
        return;
      case 'change-template':
        this.#fleet.templates.change(operation.name);
        return;
      case 'remove-template':
        this.#fleet.templates.remove(operation.name);
        return;
      case 'save-and-restart':
        this.#saveAndRestart(operation);
        return;
      case 'fail-storage':
        this.#fleet.templates.fail(operation.outage);
        this.#fleet.later(operation.forMs, () => this.#fleet.templates.fail(undefined));
        return;
      case 'join':
        if (this.#joined++ < MOST_JOINS) this.#fleet.addMachine();
        return;
      case 'to-masters':
        this.#masterFaults?.perform(operation.deed);
        return;
      default:
        this.#performOn(this.#machine(operation.node), operation);
        return;
    }
  }

  #performOn(machine: Machine, operation: Extract<Operation, { node: number }>): void {
    const { runtime, foreignPorts, nodeId } = machine;
    switch (operation.do) {
      case 'toggle-port':
        this.#fleet.comebacks.excuse(nodeId);
        if (!foreignPorts.delete(operation.port)) foreignPorts.add(operation.port);
        return;
      case 'toggle-starts':
        this.#fleet.comebacks.excuse(nodeId);
        runtime.failWith = runtime.failWith === undefined ? 'out of processes' : undefined;
        return;
      case 'toggle-runtime':
        this.#fleet.comebacks.excuse(nodeId);
        runtime.isAvailable = !runtime.isAvailable;
        return;
      case 'lose-runtime':
        this.#fleet.loseRuntime(machine);
        return;
      case 'cordon':
      case 'uncordon':
        this.#clients.changeNode(nodeId, operation.do);
        return;
      case 'drain':
        this.#clients.drain(nodeId, operation.withinMs);
        return;
      case 'forget':
        this.#forget(machine, operation.backAfterMs);
        return;
      case 'crash-alone':
        this.#crashAlone(machine, operation);
        return;
      case 'jump-clock':
        machine.skewMs += operation.byMs;
        machine.jumpedAt = this.#fleet.scheduler.now;
        return;
      case 'leave':
        if (this.#fleet.isMaster(nodeId)) return;
        machine.isGone = true;
        this.#fleet.powerOff(machine);
        return;
      case 'power-off':
      case 'kill':
      case 'stop-daemon':
      case 'stall':
        this.#performOnDaemon(machine, operation);
        return;
      default:
        this.#performOnPaths(machine, operation);
        return;
    }
  }

  #performOnDaemon(
    machine: Machine,
    operation: Extract<Operation, { do: 'power-off' | 'kill' | 'stop-daemon' | 'stall' }>,
  ): void {
    const fleet = this.#fleet;
    const { forMs } = operation;
    switch (operation.do) {
      case 'power-off':
        fleet.powerOff(machine);
        fleet.later(forMs, () => {
          fleet.powerOn(machine);
          fleet.start(machine);
        });
        return;
      case 'kill':
        fleet.kill(machine, operation.effects);
        fleet.later(forMs, () => {
          // It may have had too little to do to reach the effect that it was to die at.
          if (operation.effects > 0) fleet.kill(machine, 0);
          fleet.start(machine);
        });
        return;
      case 'stop-daemon':
        fleet.stop(machine, operation.isInterrupt);
        fleet.later(forMs, () => fleet.start(machine));
        return;
      case 'stall':
        fleet.stall(machine, forMs);
        return;
      default:
        operation satisfies never;
    }
  }

  #performOnPaths(
    machine: Machine,
    operation: Extract<
      Operation,
      { do: 'cut' | 'flap' | 'reset-connection' | 'slow-network' | 'fill-disk' | 'slow-disk' }
    >,
  ): void {
    const fleet = this.#fleet;
    const { nodeId } = machine;
    const disks = fleet.disksOf(machine);
    switch (operation.do) {
      case 'cut':
        fleet.cut(machine, operation.directions);
        fleet.later(operation.forMs, () => fleet.heal(machine, operation.directions));
        return;
      case 'flap':
        this.#flap(machine, operation);
        return;
      case 'reset-connection':
        fleet.troubles.jolt(nodeId);
        fleet.network.reset(fleet.network.pathsOf(nodeId));
        return;
      case 'slow-network':
        fleet.troubles.jolt(nodeId);
        for (const path of fleet.network.pathsOf(nodeId)) path.latencyMs = operation.latencyMs;
        return;
      case 'fill-disk':
        fleet.fill(machine, true);
        fleet.later(operation.forMs, () => fleet.fill(machine, false));
        return;
      case 'slow-disk':
        fleet.comebacks.excuse(nodeId);
        for (const disk of disks) disk.latencyMs = SLOW_DISK_MS;
        fleet.later(operation.forMs, () => {
          fleet.comebacks.excuse(nodeId);
          for (const disk of disks) disk.latencyMs = 2;
        });
        return;
      default:
        operation satisfies never;
    }
  }

  #flap(machine: Machine, { times, forMs, backMs }: Operation & { do: 'flap' }): void {
    if (times === 0) return;
    const fleet = this.#fleet;
    fleet.cut(machine, ['up', 'down']);
    fleet.later(forMs, () => {
      fleet.heal(machine);
      fleet.later(backMs, () =>
        this.#flap(machine, { do: 'flap', node: 0, times: times - 1, forMs, backMs }),
      );
    });
  }

  #onRunning(pick: number, action: (machine: Machine, id: string) => void): void {
    const { invariants, machines } = this.#fleet;
    const running = [...invariants.liveIds];
    const id = running[pick % running.length];
    const machine = id === undefined ? undefined : machines.get(invariants.nodeOf(id) ?? '');
    if (id !== undefined && machine !== undefined) action(machine, id);
  }

  #forget(machine: Machine, backAfterMs: number | null): void {
    if (this.#fleet.isMaster(machine.nodeId)) return;
    this.#clients.forget(machine);
    if (backAfterMs !== null) this.#fleet.later(backAfterMs, () => this.#fleet.letIn(machine));
  }

  #crashAlone(
    machine: Machine,
    { name, cutAfterMs, crashAfterMs, forMs }: Operation & { do: 'crash-alone' },
  ): void {
    const fleet = this.#fleet;
    fleet.templates.change(name);
    fleet.later(cutAfterMs, () => {
      fleet.cut(machine, ['up', 'down']);
      fleet.later(forMs, () => fleet.heal(machine));
      fleet.later(crashAfterMs, () => {
        for (const id of machine.runtime.alive) fleet.crash(machine, id, 1, false);
      });
    });
  }

  #saveAndRestart({
    name,
    pick,
    againAfterMs,
    restartAfterMs,
  }: Operation & { do: 'save-and-restart' }): void {
    const fleet = this.#fleet;
    fleet.templates.change(name);
    fleet.later(againAfterMs, () => {
      fleet.templates.change(name);
      fleet.later(restartAfterMs, () => this.#clients.setLifecycle(pick, ['restart']));
    });
  }

  #toggleStubborn(pick: number): void {
    const id = this.#clients.picked(pick);
    if (id === undefined) return;
    for (const { runtime } of this.#fleet.machines.values())
      if (!runtime.stubborn.delete(id)) runtime.stubborn.add(id);
  }

  #machine(node: number): Machine {
    const machines = [...this.#fleet.machines.values()];
    const machine = machines[node % machines.length];
    if (machine === undefined) throw new Error('a fleet has machines');
    return machine;
  }
}
