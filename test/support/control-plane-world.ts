/**
 * A control plane that a property test pushes around: operations of operators, apps, machines and networks,
 * at any moment and at any speed of disks and starts. What must hold is in control-plane-invariants.ts.
 */
import { expect } from 'vitest';
import { DroverError, type ErrorCode } from '../../src/model/errors.js';
import type { InstanceRecord } from '../../src/model/instance.js';
import type { Installation } from '../../src/wrapper.js';
import { ControlPlane, type TestNode } from './control-plane.js';
import { aliveOn, checkAlways, checkSettled, type WatchedWorld } from './control-plane-invariants.js';
import type { ServiceShape, WorldOperation, WorldSpeed } from './control-plane-operations.js';
import { FakeClock } from './fake-clock.js';
import { FlakyStore } from './flaky-store.js';
import { Gate, GatedTransport } from './gated-transport.js';

/** What operations may be refused with while things go wrong. */
const EXPECTED: readonly ErrorCode[] = [
  'DRV_INSTANCE_UNKNOWN',
  'DRV_CONFIGURATION_UNKNOWN',
  'DRV_REQUEST_INVALID',
  'DRV_STORE_WRITE_FAILED',
  'DRV_STORE_CLOSED',
];
const MOST_NODES = 3;
/** Longer than every delay there is: creations, restarts, believed ports, retries. */
const CALM_MS = 300_000;

export class ControlPlaneWorld implements WatchedWorld {
  readonly clock = new FakeClock();
  readonly store = new FlakyStore(this.clock);
  readonly #speed: WorldSpeed;
  readonly plane: ControlPlane;
  readonly #gates = new Map<string, Gate>();
  readonly #failures: unknown[] = [];
  readonly seen = new Map<string, InstanceRecord>();
  readonly signalled = new Map<string, Set<string>>();
  #asked = 0;
  #operations = 0;
  #mostWanted = 0;

  constructor(speed: WorldSpeed) {
    this.#speed = speed;
    this.plane = new ControlPlane({
      clock: this.clock,
      masterStore: this.store,
      adaptInstallation: (installation) => this.#slow(installation),
      adaptTransport: (transport, nodeId) => new GatedTransport(transport, this.#gateOf(nodeId)),
    });
  }

  async start(): Promise<void> {
    this.store.latencyMs = this.#speed.storeMs;
    this.#follow();
    await this.plane.start();
    await this.#join();
  }

  async stop(): Promise<void> {
    await this.#complete(this.plane.stop());
  }

  async perform(operation: WorldOperation): Promise<void> {
    this.#operations++;
    switch (operation.do) {
      case 'put':
        return this.#put(operation.name, operation.shape);
      case 'drop':
        return this.#ask(this.plane.removeConfiguration(operation.name));
      case 'create':
        this.#asked++;
        return this.#ask(this.plane.master.writer.create(operation.name));
      case 'start':
      case 'stop':
      case 'restart': {
        const target = operation.do;
        return this.#onPicked(operation.pick, (id) => this.plane.master.writer.setLifecycle(id, target));
      }
      case 'quickly':
        for (const target of operation.targets)
          this.#onPicked(operation.pick, (id) => this.plane.master.writer.setLifecycle(id, target));
        return;
      case 'delete':
        return this.#onPicked(operation.pick, (id) => this.plane.master.writer.remove(id));
      case 'put-state': {
        const { state } = operation;
        return this.#onPicked(operation.pick, (id) => this.plane.master.writer.reportState(id, { state }));
      }
      case 'crash':
        return this.#crash(operation.pick, operation.code);
      case 'toggle-stubborn':
        return this.#toggleStubborn(operation.pick);
      case 'join':
        return this.#join();
      case 'replace-master':
        return this.#replaceMaster();
      case 'fill-disk':
        this.store.isFull = true;
        return;
      case 'empty-disk':
        this.store.isFull = false;
        return;
      default:
        return this.#performOnNode(operation);
    }
  }

  /** What holds at every instant. */
  check(): void {
    if (this.#failures.length > 0) throw this.#failures[0];
    checkAlways(this);
    const bound = this.#asked + this.#mostWanted * (this.#operations + 1);
    expect(this.seen.size, 'instances ever created').toBeLessThanOrEqual(bound);
  }

  /** Ends every fault, lets time pass, and checks that the world is what is desired, and rests. */
  async calm(): Promise<void> {
    this.store.isFull = false;
    for (const node of this.plane.nodes.values()) {
      node.foreignPorts.clear();
      node.runtime.failWith = undefined;
      node.runtime.isAvailable = true;
      this.#gateOf(node.nodeId).open();
    }
    await this.clock.advance(CALM_MS);
    this.check();
    checkSettled(this);
    const { revision } = this.store;
    await this.clock.advance(60_000);
    expect(this.store.revision, 'a settled world writes nothing').toBe(revision);
    this.check();
  }

  /** One line per instance, for a person. */
  describe(): string {
    return this.plane
      .records()
      .map(({ id, configurationName, desired, placement, status }) =>
        [
          id,
          configurationName,
          `${desired.goal}/${desired.restartToken}`,
          `${placement?.nodeId ?? '-'}:${placement?.port ?? '-'}`,
          `${status.state} pid ${status.pid} ${status.reason}: ${status.message}`,
        ].join(' '),
      )
      .join('\n');
  }

  #performOnNode(operation: Extract<WorldOperation, { node: number }>): Promise<void> | void {
    const nodes = [...this.plane.nodes.values()];
    const node = nodes[operation.node % nodes.length];
    if (node === undefined) return;
    switch (operation.do) {
      case 'hold-port':
        node.foreignPorts.add(operation.port);
        return;
      case 'free-port':
        node.foreignPorts.delete(operation.port);
        return;
      case 'break-starts':
        node.runtime.failWith = 'out of processes';
        return;
      case 'mend-starts':
        node.runtime.failWith = undefined;
        return;
      case 'hide-runtime':
        node.runtime.isAvailable = false;
        return;
      case 'show-runtime':
        node.runtime.isAvailable = true;
        return;
      case 'replace-wrapper':
        return this.#complete(this.plane.replaceWrapper(node));
      case 'silence':
        this.#gateOf(node.nodeId).shut();
        return;
      case 'heal':
        this.#gateOf(node.nodeId).open();
        return;
      case 'reset':
        this.#gateOf(node.nodeId).reset();
        return;
      default:
        return operation satisfies never;
    }
  }

  #put(name: string, shape: ServiceShape): void {
    this.#mostWanted = Math.max(this.#mostWanted, shape.minimum);
    const { minimum, maximum, ports, ramMB, static: isStatic } = shape;
    this.#ask(
      this.plane.putConfiguration({
        name,
        runtime: 'process',
        command: 'run',
        cpu: 1,
        ramMB,
        static: isStatic,
        minimumServiceCount: minimum,
        ...(maximum !== undefined && { maximumServiceCount: maximum }),
        ...(ports !== undefined && { availablePorts: ports }),
      }),
    );
  }

  #crash(pick: number, code: number): void {
    const running = [...this.plane.nodes.values()].flatMap(({ runtime }) =>
      runtime.alive.map((id) => ({ runtime, id })),
    );
    const chosen = running[pick % running.length];
    chosen?.runtime.end(chosen.id, code > 100 ? { code: null, signal: 'SIGSEGV' } : { code, signal: null });
  }

  #toggleStubborn(pick: number): void {
    const id = this.#picked(pick);
    if (id === undefined) return;
    for (const { runtime } of this.plane.nodes.values())
      if (!runtime.stubborn.delete(id)) runtime.stubborn.add(id);
  }

  async #join(): Promise<void> {
    const nodeId = `node${this.plane.nodes.size}`;
    if (this.plane.nodes.size >= MOST_NODES) return;
    const capacity = { maxRamMB: this.plane.nodes.size === 0 ? 100_000 : 400, maxCpu: 100_000 };
    await this.#complete(this.plane.addNode(nodeId, { capacity }));
    const node = this.plane.nodes.get(nodeId);
    if (node !== undefined) this.#guardRuntime(node);
  }

  async #replaceMaster(): Promise<void> {
    // While the old one ends its writes nobody can connect to it.
    this.plane.master.accept = (transport) => transport.close('the master stops');
    await this.#complete(this.plane.master.stop());
    await this.#complete(this.plane.replaceMaster());
    this.#follow();
  }

  /** Sees every state of every instance, however short. */
  #follow(): void {
    const { instances } = this.plane.master.state;
    for (const [id, { value }] of instances.entries()) this.seen.set(id, value);
    instances.onChange((id, after) => {
      if (after !== undefined) this.seen.set(id, after.value);
    });
  }

  #guardRuntime({ nodeId, runtime }: TestNode): void {
    const start = runtime.start.bind(runtime);
    runtime.start = async (spec) => {
      await this.#pause(this.#speed.startMs);
      if (aliveOn(this.plane).some(([id]) => id === spec.instanceId))
        this.#failures.push(new Error(`two processes for ${spec.instanceId}, the second on ${nodeId}`));
      return start(spec);
    };
    const signal = runtime.signal.bind(runtime);
    runtime.signal = async (run, name) => {
      // A sweep after a crash reaches strays of a run that has ended by itself.
      if (await runtime.isAlive(run)) {
        const runs = this.signalled.get(run.instanceId) ?? new Set();
        this.signalled.set(run.instanceId, runs.add(`${nodeId} ${run.run}`));
      }
      return signal(run, name);
    };
  }

  #slow(installation: Installation): Installation {
    return {
      ...installation,
      install: async (desired, master, signal) => {
        await this.#pause(this.#speed.installMs);
        return installation.install(desired, master, signal);
      },
      checkPort: async (port) => {
        await this.#pause(this.#speed.installMs);
        return installation.checkPort(port);
      },
    };
  }

  async #pause(ms: number): Promise<void> {
    if (ms > 0) await new Promise<void>((resolve) => this.clock.setTimer(ms, resolve));
  }

  #gateOf(nodeId: string): Gate {
    const gate = this.#gates.get(nodeId) ?? new Gate();
    this.#gates.set(nodeId, gate);
    return gate;
  }

  /** An operation whose answer nobody waits for; it may be refused, but not break. */
  #ask(answer: Promise<unknown>): void {
    answer.catch((error: unknown) => {
      if (!(error instanceof DroverError) || !EXPECTED.includes(error.code)) this.#failures.push(error);
    });
  }

  /** Moves the clock on until `work` is done. */
  async #complete(work: Promise<unknown>): Promise<void> {
    let isDone = false;
    const watched = work.finally(() => {
      isDone = true;
    });
    watched.catch(() => undefined);
    await this.clock.settle();
    for (let waited = 0; !isDone && waited < 1000; waited++) await this.clock.advance(10);
    expect(isDone, 'it ends within 10 s').toBe(true);
    await watched;
  }

  #picked(pick: number): string | undefined {
    const ids = [...this.seen.keys()].filter(
      (id) => this.plane.master.state.instances.get(id)?.value.desired.goal !== 'remove',
    );
    return ids[pick % ids.length];
  }

  #onPicked(pick: number, action: (id: string) => Promise<unknown>): void {
    const id = this.#picked(pick);
    if (id !== undefined) this.#ask(action(id));
  }
}
