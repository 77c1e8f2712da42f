/**
 * A machine of the simulated fleet: everything that outlives a daemon. It has disks, processes, working
 * directories, a cache, other programs on its ports, and a wall clock that is wrong.
 */
import { isSamePort, type NamedPort, portsOf } from '../../../src/model/fields/ports.js';
import type { NodeCapacity } from '../../../src/model/node.js';
import { FakeRuntime } from '../../support/control-plane/fake-runtime.js';
import { Disk } from './disk.js';
import type { MachineFiles } from './fenced-installation.js';
import { MachineLogs } from './logs.js';

export const RUNTIME_KEY = 'process';

interface MachineOptions {
  readonly nodeId: string;
  readonly address: string;
  readonly capacity: NodeCapacity;
  readonly skewMs: number;
}

export class Machine implements MachineFiles {
  readonly nodeId: string;
  readonly address: string;
  readonly capacity: NodeCapacity;
  /** The node's own store. */
  readonly disk = new Disk();
  readonly cachedDigests = new Set<string>();
  readonly directories = new Map<string, string>();
  readonly logs = new MachineLogs();
  /** Ports that foreign programs hold. */
  readonly foreignPorts = new Set<number>();
  /** What the node keeps of the masters, where there are several. */
  keptMasters: string | undefined;
  skewMs: number;
  /** Virtual time at which its wall clock was last set. */
  jumpedAt = Number.NEGATIVE_INFINITY;
  runtime: FakeRuntime;
  /** Switched off for good. */
  isGone = false;
  #boots = 0;

  constructor({ nodeId, address, capacity, skewMs }: MachineOptions) {
    this.nodeId = nodeId;
    this.address = address;
    this.capacity = capacity;
    this.skewMs = skewMs;
    this.runtime = this.#boot();
  }

  /** Whatever ran does not run any more, and its pids are given out again. */
  reboot(): void {
    const { stubborn, failWith, isAvailable } = this.runtime;
    this.runtime = this.#boot();
    for (const id of stubborn) this.runtime.stubborn.add(id);
    this.runtime.failWith = failWith;
    this.runtime.isAvailable = isAvailable;
  }

  isPortTaken(port: Omit<NamedPort, 'name'>): boolean {
    const isHeldBy = (id: string): boolean =>
      portsOf(this.runtime.specOf(id) ?? {}).some((other) => isSamePort(port, other));
    return this.foreignPorts.has(port.port) || this.runtime.alive.some(isHeldBy);
  }

  #boot(): FakeRuntime {
    const runtime = new FakeRuntime(RUNTIME_KEY, `boot ${++this.#boots}`, (id) => this.logs.nextLine(id));
    // Every second instance has a shell before its program.
    runtime.isShelled = (id) => id.charCodeAt(0) % 2 === 0;
    return runtime;
  }
}
