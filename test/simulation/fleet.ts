/**
 * The simulated fleet: machines, the network between them, the master's disk, and the daemons that live and die on
 * them. It carries out operations; the invariants watch what must hold.
 */
import { pino } from 'pino';
import type { Configuration } from '../../src/model/configuration.js';
import { DroverError } from '../../src/model/errors.js';
import { NO_HOST_PID, pidOf } from '../../src/model/run/run-identity.js';
import type { RunId, StartSpec } from '../../src/runtime/runtime.js';
import type { Logger } from '../../src/telemetry/logger.js';
import type { Metrics } from '../../src/telemetry/metrics.js';
import { Comebacks } from './comebacks.js';
import { Invariants, TROUBLE_MS } from './invariants.js';
import { SimulatedDaemon, type Uplink } from './machine/daemon.js';
import { Disk } from './machine/disk.js';
import { HAS_READINESS } from './machine/fenced-installation.js';
import { EPOCH, Life } from './machine/life.js';
import { Machine } from './machine/machine.js';
import type { MasterPlace, MasterRole } from './machine/master-role.js';
import { programOf, READY_LINE } from './machine/program.js';
import { SoleMaster } from './machine/sole-master.js';
import { SimulatedTemplates } from './machine/templates.js';
import { isOutcomeUnknown, SimulatedMasters } from './masters/masters.js';
import { Network } from './network/network.js';
import type { Direction, Disorder } from './network/path.js';
import { Random } from './random.js';
import { Receiver } from './receiver.js';
import { Scheduler } from './scheduler.js';
import { Trace } from './trace.js';
import { Troubles } from './troubles.js';

export const MASTER = 'node0';
const ADDRESS = '10.0.0.';
/** An orderly stop that takes longer is ended by the service manager. */
const STOP_PATIENCE_MS = 90_000;
/** A write of one of several masters without an answer may still take effect for so long. */
const UNKNOWN_FOR_MS = 20_000;
const APPLY_AGAIN_MS = 1000;
/** How often a program prints a line. */
const TICK_MS = 5000;
/** A leader that knows no start by its own clock counts anew; then comes the stop ladder. */
const OVERDUE_MS = 90_000;
/** A write of one of several masters waits so long for an answer (`WRITE_MS` of term-writer.ts), and the next one waits for it. */
const UNANSWERED_MS = 2000;

interface FleetOptions {
  readonly seed: string;
  readonly disorder: Disorder;
  readonly isTraced: boolean;
  /** How many of the machines are masters, on an etcd that they share. Default: one, with its state on its disk. */
  readonly masters?: number | undefined;
  /** Shared by all simulations of a process: the library's own counters are never released. */
  readonly metrics: Metrics;
}

export class Fleet {
  readonly scheduler = new Scheduler();
  readonly trace: Trace;
  readonly network: Network;
  /** Of the only master. */
  readonly masterDisk = new Disk();
  /** Undefined: there is one. */
  readonly masters: SimulatedMasters | undefined;
  readonly templates = new SimulatedTemplates();
  /** The configuration files, by name. */
  readonly files = new Map<string, Configuration>();
  readonly machines = new Map<string, Machine>();
  readonly daemons = new Map<string, SimulatedDaemon>();
  readonly troubles = new Troubles(this.scheduler);
  /** Machines that are cut off, or were: what they missed comes a moment later. */
  readonly #deaf = new Troubles(this.scheduler);
  readonly invariants: Invariants;
  readonly receiver: Receiver;
  readonly comebacks: Comebacks;
  readonly #options: FleetOptions;
  readonly #random: Random;
  readonly #logger: Logger;
  /** Instances whose processes end as soon as they have started. */
  readonly #looping = new Set<string>();
  /** The starts of programs that hang, or have hung. */
  readonly #hung = new Set<StartSpec>();
  readonly #onStarted: ((id: string) => void)[] = [];
  #lives = 0;
  #ids = 0;
  #isCalm = false;

  constructor(options: FleetOptions) {
    this.#options = options;
    this.#random = new Random(options.seed).fork('fleet');
    this.trace = new Trace(this.scheduler, options.isTraced);
    this.#logger = options.isTraced ? this.#tracingLogger() : pino({ level: 'silent' });
    const masterIds = Array.from({ length: options.masters ?? 1 }, (_, number) => `node${number}`);
    this.network = new Network({
      scheduler: this.scheduler,
      random: this.#random.fork('network'),
      trace: this.trace,
      disorder: options.disorder,
      masterIds,
    });
    this.masters = masterIds.length === 1 ? undefined : this.#buildMasters(masterIds);
    this.receiver = new Receiver(this.state, (text) => this.invariants.report(text));
    this.invariants = new Invariants(this.state, this.templates, {
      now: () => this.scheduler.now,
      inOrderSince: (nodeId) => this.#inOrderSinceOf(nodeId),
      fullUntil: (nodeId) => this.machines.get(nodeId)?.disk.fullUntil ?? Number.NEGATIVE_INFINITY,
      isInterrupted: (nodeId) => this.daemons.get(nodeId)?.isInterrupted === true,
      mayBePast: (at) => this.#mayBePast(at),
      hasHung: (spec) => this.#hung.has(spec),
      whenGivenUp: (error, close) => this.#whenGivenUp(error, close),
      disturbances: (withinMs) => this.troubles.disturbances(withinMs),
      unansweredMs: this.masters === undefined ? 0 : UNANSWERED_MS,
    });
    this.comebacks = new Comebacks({
      scheduler: this.scheduler,
      report: (violation) => this.invariants.report(violation),
      isFit: (machine) => this.#isFit(machine),
      isAlways: (revision) => this.invariants.policyOf(revision) === 'always',
    });
    this.#traceRecords();
  }

  /** Whether the process of a run has lived for so long, and more than a failover may add. */
  isOverdue(id: string, ms: number): boolean {
    const startedAt = this.invariants.startedAtOf(id) ?? Number.POSITIVE_INFINITY;
    return this.scheduler.now - startedAt > ms + OVERDUE_MS;
  }

  /** The daemon of the master that leads. */
  get master(): SimulatedDaemon | undefined {
    return this.masters === undefined ? this.daemons.get(MASTER) : this.masters.leader;
  }

  /** The daemon that answers a client; undefined: none does. Stopped, a request is as good as not made. */
  get reached(): SimulatedDaemon | undefined {
    if (this.masters !== undefined) return this.masters.reached;
    const { master } = this;
    return master?.isReady === true && !master.life.isStalled ? master : undefined;
  }

  /** What is durable of the state. */
  get state(): Pick<Disk, 'entries' | 'onCommit'> {
    return this.masters?.terms ?? this.masterDisk;
  }

  /** The disks that a daemon of a machine writes to. */
  disksOf({ nodeId, disk }: Machine): readonly Disk[] {
    return nodeId === MASTER && this.masters === undefined ? [this.masterDisk, disk] : [disk];
  }

  isMaster(nodeId: string): boolean {
    return this.masters?.isMaster(nodeId) ?? nodeId === MASTER;
  }

  /** Faults no longer happen, nor do those begin that were put off. */
  calm(): void {
    this.#isCalm = true;
    this.#looping.clear();
    this.templates.fail(undefined);
    this.#onStarted.length = 0;
    this.network.mend();
    this.masters?.calm();
    for (const { life } of this.daemons.values()) life.spare();
  }

  addMachine(): Machine {
    const number = this.machines.size;
    const nodeId = `node${number}`;
    const machine = new Machine({
      nodeId,
      address: `${ADDRESS}${number}`,
      capacity: {
        maxRamMB: this.isMaster(nodeId) ? 100_000 : this.#random.pick([700, 2000, 100_000]),
        maxCpu: 100_000,
      },
      skewMs: this.#random.pick([0, 0, -3000, 40_000, 3_600_000]),
    });
    this.machines.set(nodeId, machine);
    this.#watchProcesses(machine);
    this.start(machine);
    return machine;
  }

  /** Starts Drover on a machine that has power and no daemon. */
  start(machine: Machine): void {
    const { nodeId } = machine;
    if (machine.isGone || this.daemons.has(nodeId) || this.network.off.has(nodeId)) return;
    this.troubles.jolt(nodeId);
    this.comebacks.excuse(nodeId);
    const life = this.#newLife(machine);
    const daemon = this.#build(machine, life);
    this.daemons.set(nodeId, daemon);
    life.onDeath(() => this.#buried(machine, daemon));
    this.trace.note(nodeId, () => 'starts');
    this.#expect(daemon.start());
  }

  /** SIGTERM or Ctrl-C. */
  stop(machine: Machine, isInterrupt: boolean): void {
    const daemon = this.daemons.get(machine.nodeId);
    if (daemon === undefined) return;
    this.trace.note(machine.nodeId, () => (isInterrupt ? 'is interrupted' : 'is asked to end'));
    this.comebacks.excuse(machine.nodeId);
    this.#expect(daemon.stop(isInterrupt));
    this.scheduler.after(STOP_PATIENCE_MS, () => daemon.life.die('took too long to stop'));
  }

  kill(machine: Machine, effects: number): void {
    this.daemons.get(machine.nodeId)?.life.dieAfterEffects(effects);
    if (effects === 0) this.daemons.get(machine.nodeId)?.life.die('kill -9');
  }

  powerOff(machine: Machine): void {
    const { nodeId } = machine;
    if (this.network.off.has(nodeId)) return;
    this.trace.note(nodeId, () => 'loses its power');
    this.network.powerOff(nodeId);
    this.daemons.get(nodeId)?.life.die('no power');
    for (const id of machine.runtime.alive) this.invariants.noteEnd(nodeId, id);
    machine.reboot();
    this.#watchProcesses(machine);
    this.troubles.begin(nodeId);
  }

  powerOn(machine: Machine): void {
    if (machine.isGone || !this.network.off.delete(machine.nodeId)) return;
    this.trace.note(machine.nodeId, () => 'has power again');
    this.network.refresh();
    this.troubles.end(machine.nodeId);
  }

  cut(machine: Machine, directions: readonly Direction[]): void {
    this.trace.note(machine.nodeId, () => `is cut off: ${directions.join(' and ')}`);
    this.network.cut(this.network.pathsOf(machine.nodeId), directions);
    this.masters?.cutOff(machine.nodeId, directions);
    this.troubles.begin(machine.nodeId);
    this.#deaf.begin(machine.nodeId);
  }

  /** Cuts one node from one of several masters. */
  part(machine: Machine, masterId: string, directions: readonly Direction[]): void {
    this.trace.note(machine.nodeId, () => `is cut off from ${masterId}: ${directions.join(' and ')}`);
    this.network.cut([this.network.path(machine.nodeId, masterId)], directions);
    this.troubles.begin(machine.nodeId);
  }

  rejoin(machine: Machine, masterId: string, directions: readonly Direction[]): void {
    this.trace.note(machine.nodeId, () => `can reach ${masterId} again`);
    this.network.heal([this.network.path(machine.nodeId, masterId)], directions);
    this.troubles.end(machine.nodeId);
  }

  /** `directions`: of the cut that ends. */
  heal(machine: Machine, directions: readonly Direction[] = ['up', 'down']): void {
    this.trace.note(machine.nodeId, () => 'is reachable again');
    this.network.heal(this.network.pathsOf(machine.nodeId), directions);
    this.masters?.letBack(machine.nodeId, directions);
    this.troubles.end(machine.nodeId);
    this.#deaf.end(machine.nodeId);
  }

  /** The disks of a machine are full, or not any more. */
  fill(machine: Machine, isFull: boolean): void {
    this.comebacks.excuse(machine.nodeId);
    for (const each of this.disksOf(machine))
      each.fullUntil = isFull ? Number.POSITIVE_INFINITY : Math.min(each.fullUntil, this.scheduler.now);
  }

  /** A node that was forgotten may join again, once nothing of it is left. */
  letIn(machine: Machine): void {
    const { nodeId } = machine;
    const isForgotten = this.network.shutOut.has(nodeId) && !this.invariants.book.nodes.has(nodeId);
    if (!isForgotten) {
      if (this.network.shutOut.has(nodeId)) this.later(1000, () => this.letIn(machine));
      return;
    }
    this.trace.note(nodeId, () => 'may join again');
    this.troubles.jolt(nodeId);
    this.network.shutOut.delete(nodeId);
    this.invariants.noteLetIn(nodeId);
  }

  /** What holds the processes of a machine dies, and they with it. */
  loseRuntime(machine: Machine): void {
    this.trace.note(machine.nodeId, () => 'loses its runtime with all processes');
    for (const id of machine.runtime.alive) this.invariants.noteEnd(machine.nodeId, id);
    machine.runtime.forgetAll();
    this.comebacks.excuse(machine.nodeId);
    this.daemons.get(machine.nodeId)?.runtime.lose();
  }

  /** The process of an instance ends by itself; `isLooping`: and each one after it, until the calm. */
  crash(machine: Machine, id: string, code: number, isLooping: boolean): void {
    if (isLooping) this.#looping.add(id);
    this.trace.note(machine.nodeId, () => `${id} crashes`);
    this.comebacks.noteCrash(machine, id);
    machine.runtime.end(id, code > 100 ? { code: null, signal: 'SIGSEGV' } : { code, signal: null });
  }

  /** The process of an instance does nothing more, until the calm. */
  hang(machine: Machine, id: string): void {
    this.trace.note(machine.nodeId, () => `${id} hangs`);
    const spec = machine.runtime.specOf(id);
    if (spec !== undefined) this.#hung.add(spec);
  }

  /** Told of each process a moment after its start, until the calm. */
  onStarted(listener: (id: string) => void): void {
    this.#onStarted.push(listener);
  }

  /** SIGSTOP of a daemon, and SIGCONT after `ms`. */
  stall(machine: Machine, ms: number): void {
    const { nodeId } = machine;
    const before = this.scheduler.now;
    this.comebacks.excuse(nodeId);
    this.troubles.jolt(nodeId);
    this.daemons.get(nodeId)?.life.stall(ms);
    this.scheduler.after(ms, () =>
      this.isMaster(nodeId) ? this.#masterGoesOn(before) : this.troubles.jolt(nodeId),
    );
  }

  /** A client of several masters brings the state up to the files; refused, it tries again. */
  applyFiles(): void {
    const again = (): void => this.later(APPLY_AGAIN_MS, () => this.applyFiles());
    const { reached } = this;
    if (reached === undefined) again();
    else
      reached.syncFiles().catch((error: unknown) => {
        const isRefused =
          DroverError.is(error, 'DRV_STORE_CONFLICT') ||
          DroverError.is(error, 'DRV_STORE_WRITE_FAILED') ||
          DroverError.is(error, 'DRV_STORE_CLOSED') ||
          isOutcomeUnknown(error);
        if (isRefused) again();
        else this.invariants.report(textOf(error));
      });
  }

  #whenGivenUp(error: unknown, close: () => void): void {
    if (this.masters !== undefined && isOutcomeUnknown(error)) this.scheduler.after(UNKNOWN_FOR_MS, close);
    else close();
  }

  /** Runs `action` after so much virtual time, unless the calm has come. */
  later(ms: number, action: () => void): void {
    this.scheduler.after(ms, () => {
      if (!this.#isCalm) action();
    });
  }

  /** Nobody waits for the answer; an error is a violation. */
  #expect(work: Promise<unknown>): void {
    work.catch((error: unknown) => this.invariants.report(textOf(error)));
  }

  /** While it stood still no time has passed for it: a trouble just before is one of just now. */
  #masterGoesOn(stoppedAt: number): void {
    for (const nodeId of this.machines.keys())
      if (this.troubles.inOrderSince(nodeId) > stoppedAt - TROUBLE_MS) this.troubles.jolt(nodeId);
  }

  #inOrderSinceOf(nodeId: string): number {
    const daemon = this.daemons.get(nodeId);
    const isAway = daemon === undefined || daemon.life.isStalled || this.network.shutOut.has(nodeId);
    // Until its state is open, a master's node connects to nobody.
    const isOpening = daemon?.role !== undefined && daemon.master === undefined;
    // The master that it knows may be the one that is gone.
    const isStranger = this.masters?.isIntroduced(nodeId) === false;
    if (isAway || isOpening || isStranger || this.#isMisled(nodeId)) return Number.POSITIVE_INFINITY;
    // A leader that was cut off itself for a moment is as good as a node that was; so is the one that it came from.
    const leaderId = this.masters?.terms.holder?.nodeId;
    const hearsSince = leaderId === undefined ? 0 : this.#deaf.inOrderSince(leaderId);
    const lastMaster = this.masters && this.network.lastMasterOf(nodeId);
    const leftSince = lastMaster === undefined ? 0 : this.#deaf.unchangedSince(lastMaster);
    return Math.max(this.troubles.inOrderSince(nodeId), hearsSince, leftSince);
  }

  /** What nobody promises to a node when there are several masters. */
  #isMisled(nodeId: string): boolean {
    if (this.masters === undefined) return false;
    // What comes twice or too early ends a connection, and then masters are asked that may be gone.
    const { repeat, reorder } = this.#options.disorder;
    if (repeat !== undefined || reorder !== undefined) return true;
    // It is with a former leader that can hear of the next one neither from etcd nor from that one itself.
    const followed = this.network.masterOf(nodeId);
    const leader = this.masters.terms.holder?.nodeId;
    if (followed === undefined || leader === undefined || followed === leader) return false;
    const { cut } = this.network.path(followed, leader);
    return this.masters.paths.get(followed)?.isWhole === false && cut.up + cut.down > 0;
  }

  /** Just after a jump of a master's clock, anything may be. */
  #mayBePast(at: number): boolean {
    const { now } = this.scheduler;
    return [...this.machines.values()].some(
      ({ nodeId, skewMs, jumpedAt }) =>
        this.isMaster(nodeId) && (now - jumpedAt < 2000 || EPOCH + now + skewMs >= at),
    );
  }

  #buildMasters(masterIds: readonly string[]): SimulatedMasters {
    return new SimulatedMasters({
      masterIds,
      scheduler: this.scheduler,
      random: this.#random,
      network: this.network,
      machines: this.machines,
      daemons: this.daemons,
      report: (violation) => this.invariants.report(violation),
      onTerm: () => this.invariants.intents.closeAll(),
      onOpen: (nodeId) => this.troubles.jolt(nodeId),
    });
  }

  #newLife(machine: Machine): Life {
    return new Life({
      name: machine.nodeId,
      scheduler: this.scheduler,
      random: this.#random.fork(`life ${this.#lives++} of ${machine.nodeId}`),
      trace: this.trace,
      skewMs: () => machine.skewMs,
      onPause: () => this.network.refresh(),
    });
  }

  #build(machine: Machine, life: Life): SimulatedDaemon {
    const { nodeId } = machine;
    return new SimulatedDaemon({
      machine,
      life,
      watcher: {
        onStart: (spec) => this.invariants.noteStart(machine, spec),
        onSignal: (run, signal) => this.invariants.noteSignal(nodeId, run, signal),
        onRung: (run, signal) => this.invariants.noteRung(life, run, signal),
        onStopCommand: (run) => this.#obey(machine, run),
      },
      ...this.#rolesOf(machine, life),
      metrics: this.#options.metrics,
      logger: this.#logger,
    });
  }

  #rolesOf(machine: Machine, life: Life): { readonly uplink: Uplink; readonly role?: MasterRole } {
    const { nodeId } = machine;
    const place: MasterPlace = {
      machine,
      life,
      templates: this.templates,
      files: this.files,
      receiver: this.receiver,
      newInstanceId: () => `i${String(this.#ids++).padStart(5, '0')}`,
      metrics: this.#options.metrics,
      logger: this.#logger,
    };
    if (this.masters !== undefined) {
      if (!this.isMaster(nodeId)) return { uplink: this.masters.uplink(machine, life, this.#logger) };
      const role = this.masters.role(place);
      return { uplink: role, role };
    }
    const uplink = { connect: () => this.network.connect(this.network.path(nodeId, MASTER), life) };
    if (nodeId !== MASTER) return { uplink };
    const role = new SoleMaster({
      ...place,
      disk: this.masterDisk,
      shutOut: (forgotten) => this.network.shutOut.add(forgotten),
      onListening: (accept) => {
        if (life.isAlive) this.network.listeners.set(nodeId, { life, accept });
      },
    });
    return { uplink, role };
  }

  #buried(machine: Machine, daemon: SimulatedDaemon): void {
    const { nodeId } = machine;
    if (this.daemons.get(nodeId) === daemon) this.daemons.delete(nodeId);
    this.troubles.jolt(nodeId);
    this.comebacks.noteDeath(machine);
    if (this.network.listeners.get(nodeId)?.life !== daemon.life) return;
    this.network.listeners.delete(nodeId);
    // What one of several masters has under way may take effect until the next one has begun.
    if (this.masters === undefined) this.invariants.intents.closeAll();
  }

  #isFit(machine: Machine): boolean {
    const { runtime, nodeId } = machine;
    const life = this.daemons.get(nodeId)?.life;
    const isDiskFit = this.disksOf(machine).every(
      ({ fullUntil, latencyMs }) => fullUntil < this.scheduler.now && latencyMs <= 2,
    );
    const isRuntimeFit = runtime.isAvailable && runtime.failWith === undefined;
    return life?.isAlive === true && !life.isStalled && isDiskFit && isRuntimeFit;
  }

  #watchProcesses(machine: Machine): void {
    const { runtime, nodeId } = machine;
    runtime.onExit(({ instanceId }) => this.invariants.noteEnd(nodeId, instanceId));
    const start = runtime.start.bind(runtime);
    runtime.start = async (spec) => {
      const process = await start(spec);
      this.trace.note(nodeId, () => `${spec.instanceId} runs, run ${spec.run}, port ${spec.port}`);
      this.#becomeReady(machine, spec, pidOf(process) ?? NO_HOST_PID);
      if (this.#looping.has(spec.instanceId))
        this.later(this.#random.between(0, 3000), () => this.crash(machine, spec.instanceId, 1, true));
      for (const tell of this.#onStarted)
        this.later(this.#random.between(5, 60), () => tell(spec.instanceId));
      return process;
    };
  }

  /** The program of a run says that it is ready, if it ever is. */
  #becomeReady(machine: Machine, spec: StartSpec, pid: number): void {
    const { runtime, nodeId, logs } = machine;
    const { readyAfterMs, ticks, ends } = programOf(spec.command);
    if (ticks) this.#tick(machine, spec);
    if (ends !== null)
      this.scheduler.after(ends.afterMs, () => {
        if (
          machine.runtime === runtime &&
          runtime.specOf(spec.instanceId) === spec &&
          runtime.isRunning(spec)
        )
          runtime.end(spec.instanceId, { code: ends.code, signal: null });
      });
    // Nothing is asked of it, whatever its record says by the time that it is reported.
    const isAsked = spec.environment[HAS_READINESS] !== 'false';
    // A node that is killed while it cannot write forgets that something is asked of the run.
    if (!isAsked || machine.disk.fullUntil >= this.scheduler.now)
      this.invariants.noteReady(nodeId, spec.instanceId, pid);
    if (readyAfterMs === null) return;
    this.scheduler.after(readyAfterMs, () => {
      if (machine.runtime !== runtime || runtime.specOf(spec.instanceId) !== spec || !runtime.isRunning(spec))
        return;
      this.invariants.noteReady(nodeId, spec.instanceId, pid);
      logs.append(spec.instanceId, READY_LINE);
    });
  }

  #tick(machine: Machine, spec: StartSpec): void {
    const { runtime, logs } = machine;
    this.scheduler.after(TICK_MS, () => {
      if (machine.runtime !== runtime || runtime.specOf(spec.instanceId) !== spec || !runtime.isRunning(spec))
        return;
      if (this.#isCalm || !this.#hung.has(spec)) logs.append(spec.instanceId, 'tick');
      this.#tick(machine, spec);
    });
  }

  /** Half of the programs end by their stop command. */
  #obey(machine: Machine, run: RunId): void {
    const { runtime } = machine;
    const spec = runtime.specOf(run.instanceId);
    if (spec === undefined || !programOf(spec.command).heedsStopCommand) return;
    this.scheduler.after(this.#random.between(0, 2000), () => {
      if (machine.runtime === runtime && runtime.specOf(run.instanceId) === spec)
        runtime.end(run.instanceId, { code: 0, signal: null });
    });
  }

  #traceRecords(): void {
    if (!this.trace.isOn) return;
    this.state.onCommit((changes) => {
      for (const { key, after } of changes) this.trace.note('disk', () => `${key} ${JSON.stringify(after)}`);
    });
  }

  #tracingLogger(): Logger {
    return pino(
      // A stack is another one each time: it says what Node.js did around.
      { level: 'info', base: {}, timestamp: false, serializers: { err: textWithoutStack } },
      { write: (line: string) => this.trace.note('log', () => line.trim()) },
    );
  }
}

function textWithoutStack(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}

export function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
