/**
 * Composition root of a wrapper: its memory, its controllers, and its link to the master, over a store, a clock and
 * runtimes that are handed in. The same wrapper runs in the daemon, in benchmarks and in simulations.
 */

import { Adoption } from '../controllers/wrapper/process-supervisor/adoption.js';
import { buildWrapperControllers, type WrapperControllers } from '../controllers/wrapper/register.js';
import type { Service } from './channel/protocol/calls.js';
import type { Transport } from './channel/protocol/transport.js';
import type { KnownMasters } from './channel/wrapper/known-masters.js';
import { Link } from './channel/wrapper/link.js';
import type { Clock, TimerHandle } from './loop/clock.js';
import type { Part } from './loop/lifecycle.js';
import type { InstanceState } from './model/instance.js';
import type { NodeCapacity, RuntimeOffer } from './model/node.js';
import { DesiredCopy } from './node/desired-copy.js';
import { FetchAhead } from './node/fetch-ahead.js';
import { type Handle, HandleBook } from './node/handle-book.js';
import { LeftDirectories } from './node/left-directories.js';
import { StatusOutbox } from './node/status-outbox.js';
import { TemplatePrefetch } from './node/template-prefetch.js';
import { WriteBehind } from './node/write-behind.js';
import type { Installation } from './runtime/installation/installation.js';
import type { ProcessUsage } from './runtime/limits/process-usage.js';
import { advisoryLimits, type ResourceLimits } from './runtime/limits/resource-limits.js';
import { type SampledRun, UsageSampler } from './runtime/limits/usage-sampler.js';
import { RuntimeOffers } from './runtime/offers.js';
import type { Runtime } from './runtime/runtime.js';
import type { Store } from './store/store.js';
import type { Logger } from './telemetry/logger.js';
import type { Metrics } from './telemetry/metrics.js';
import { wrapperServices } from './wrapper-services.js';

export interface WrapperOptions {
  readonly nodeId: string;
  readonly clusterName: string;
  readonly address: string;
  readonly version: string;
  readonly capacity: NodeCapacity;
  readonly runtimes: readonly Runtime[];
  /** Holds `ramMB` and `cpu`. Absent: both are advisory. */
  readonly limits?: ResourceLimits;
  /** Measures the instances that neither a control group nor a runtime measures. Absent: they are not measured. */
  readonly processUsage?: Pick<ProcessUsage, 'read'>;
  readonly installation: Installation;
  readonly connect: (signal: AbortSignal) => Promise<Transport>;
  /**
   * Ends the node, because the master refuses it for good and nothing runs here. Absent: the node goes on and tries
   * again, as it does while something runs.
   */
  readonly endRefused?: (reason: string) => void;
  /** Absent: a master whose store is older than what this node has seen is not taken. */
  readonly older?: OlderMaster;
  /** Of a cluster that may have several masters. Absent: the master is in this process. */
  readonly masters?: Pick<KnownMasters, 'welcomed' | 'pointed' | 'fruitless'>;
  /** Further calls that it answers to the master. */
  readonly services?: ReadonlyMap<string, Service>;
  /** The node's own store, not the master's. */
  readonly store: Store;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
}

/** Whether the next master may have an older store than this node has seen. The first snapshot ends it. */
export interface OlderMaster {
  isAccepted: boolean;
}

/** How long a node that is being stopped waits until its last reports are recorded. */
const LAST_REPORTS_MS = 2000;

export interface WrapperStatus {
  /** The master has welcomed this node, and the connection stands. */
  readonly isConnected: boolean;
  readonly offers: readonly RuntimeOffer[];
  /** What the node should hold, by id. */
  readonly instances: readonly {
    readonly id: string;
    readonly configurationName: string;
    readonly state: InstanceState;
    readonly message: string | null;
  }[];
}

export class Wrapper implements Part {
  readonly #options: WrapperOptions;
  readonly #disk: WriteBehind;
  readonly #desired: DesiredCopy;
  readonly #handles: HandleBook;
  readonly #left: LeftDirectories;
  readonly #outbox = new StatusOutbox();
  readonly #offers: RuntimeOffers;
  readonly #limits: ResourceLimits;
  readonly #sampler: UsageSampler;
  readonly #controllers: WrapperControllers;
  readonly #adoption: Adoption;
  readonly #link: Link;
  readonly #prefetch: TemplatePrefetch;
  readonly #ahead: FetchAhead;
  #resolveFed: () => void = () => undefined;
  /**
   * Resolves when the master first says what this node should hold. From then on the master counts the node as
   * connected.
   */
  readonly whenFed = new Promise<void>((resolve) => {
    this.#resolveFed = resolve;
  });
  #isNodeStopping = false;
  #isStopped = false;

  constructor(options: WrapperOptions) {
    this.#options = options;
    this.#disk = new WriteBehind(options);
    this.#desired = new DesiredCopy(this.#disk);
    this.#handles = new HandleBook(this.#disk);
    this.#left = new LeftDirectories({
      disk: this.#disk,
      directories: () => options.installation.directories(),
      sizes: (ids) => options.installation.directorySizes(ids),
      isHeld: (id) =>
        this.#desired.isConfirmed ? this.#desired.has(id) || this.#handles.get(id) !== undefined : undefined,
    });
    this.#offers = new RuntimeOffers({
      ...options,
      onChange: () => {
        this.#link.sendOffer();
        this.#controllers.wakeAll();
      },
    });
    this.#limits = options.limits ?? advisoryLimits('nothing on this node holds them');
    this.#sampler = this.#buildSampler();
    this.#prefetch = new TemplatePrefetch({
      isCached: (digest) => options.installation.isCached(digest),
      fetch: (digest, signal) => options.installation.fetch(digest, this.#link.calls, signal),
      onFetched: () => this.#controllers.wakeInstalls(),
      logger: options.logger,
    });
    this.#ahead = this.#buildFetchAhead();
    this.#link = this.#buildLink();
    this.#controllers = this.#buildControllers();
    this.#desired.onChange((id) => this.#ahead.changed(id));
    this.#adoption = new Adoption({
      ...options,
      desired: this.#desired,
      handles: this.#handles,
      noteExit: (run, exit) => this.#controllers.processSupervisor.noteExit(run, exit),
      logLineAt: (id, place) => options.installation.logLineAt(id, place),
    });
  }

  /** Takes up what an earlier daemon left, then connects and starts to reconcile. */
  async start(): Promise<void> {
    await this.#desired.load();
    await this.#handles.load(this.#options.clock);
    await this.#left.load();
    let areAllAsked = true;
    for (const runtime of this.#options.runtimes)
      if (!(await this.#adoption.adopt(runtime))) areAllAsked = false;
    await this.#takeUpLimits(areAllAsked);
    await this.#offers.start();
    await this.#controllers.supervisor.start();
    await this.#controllers.installer.start();
    this.#controllers.wakeAll();
    this.#link.start();
    this.#sampler.start();
  }

  /** Stops this daemon's part: instances live on for the next daemon. Idempotent. */
  async stop(): Promise<void> {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#offers.stop();
    this.#adoption.stop();
    await this.#sampler.stop();
    await Promise.all([
      this.#controllers.supervisor.stop(),
      this.#controllers.installer.stop(),
      this.#controllers.templateInstaller.stop(),
      this.#prefetch.stop(),
      this.#ahead.stop(),
    ]);
    await this.#controllers.processSupervisor.stop();
    await this.#limits.stop();
    this.#link.stop(true);
    for (const runtime of this.#options.runtimes) await runtime.release();
    await this.#disk.stop();
  }

  /** Ids of the instances that live here: what `stopInstances` would end. */
  aliveInstances(): readonly string[] {
    return [...this.#handles.values()].filter(isAlive).map(({ id }) => id);
  }

  /**
   * Ctrl-C: ends every instance and leaves what is desired as it is. Resolves when nothing lives any more, or when
   * `signal` aborts. `onProgress` receives the ids that still live, whenever their number changes.
   */
  async stopInstances(onProgress: (alive: readonly string[]) => void, signal: AbortSignal): Promise<void> {
    this.#isNodeStopping = true;
    this.#controllers.wakeAll();
    let told = -1;
    await new Promise<void>((resolve) => {
      const look = (): void => {
        const alive = this.aliveInstances();
        if (alive.length !== told) onProgress(alive);
        told = alive.length;
        if (alive.length === 0 || signal.aborted) resolve();
      };
      this.#handles.onChange(look);
      signal.addEventListener('abort', look, { once: true });
      look();
    });
    await this.#untilReported();
  }

  /** Waits until the ends of the instances stand in the records, but not for a master that cannot write. */
  async #untilReported(): Promise<void> {
    let timer: TimerHandle | undefined;
    const isTooLate = new Promise<void>((resolve) => {
      timer = this.#options.clock.setTimer(LAST_REPORTS_MS, resolve);
    });
    await Promise.race([this.whenIdle().then(() => this.#outbox.whenEmpty()), isTooLate]);
    timer?.cancel();
  }

  /** The node's status, for a person on this machine. */
  status(): WrapperStatus {
    const instances = [...this.#desired.ids()].sort().map((id) => {
      const { assignment } = this.#desired.get(id) ?? {};
      const report = this.#outbox.get(id);
      return {
        id,
        configurationName: assignment?.configurationName ?? '',
        state: report?.state ?? 'CREATING',
        message: report?.message ?? null,
      };
    });
    return { isConnected: this.#link.calls !== undefined, offers: this.#offers.list(), instances };
  }

  /**
   * What housekeeping must leave alone: instances that are or were held here, and the trees that they were last made
   * from and will be made from.
   */
  inUse(): { readonly instanceIds: ReadonlySet<string>; readonly digests: ReadonlySet<string> } {
    const instanceIds = new Set([...this.#desired.ids(), ...[...this.#handles.values()].map(({ id }) => id)]);
    const digests = new Set<string>();
    for (const id of instanceIds) {
      const wanted = this.#desired.get(id)?.assignment.templates ?? [];
      const last = this.#handles.get(id)?.installed?.templates ?? [];
      for (const { digest } of [...wanted, ...last]) if (digest !== null) digests.add(digest);
    }
    return { instanceIds, digests };
  }

  /** Resolves when no controller has anything due or running. */
  async whenIdle(): Promise<void> {
    await this.#controllers.supervisor.whenIdle();
    await this.#controllers.installer.whenIdle();
  }

  /**
   * Opens the limits of running instances again, and removes those of ended ones. `areAllAsked`: what runs without a
   * handle is known too, because each runtime said what it holds.
   */
  async #takeUpLimits(areAllAsked: boolean): Promise<void> {
    // Live ones whose limits are not known: they may have those of any earlier run.
    const unclear = new Set<string>();
    for (const { id, run, process } of this.#handles.values()) {
      const { ramMB = 0, cpu = 0 } = this.#desired.get(id)?.configuration ?? {};
      if (process === null || !('pid' in process)) continue;
      if (!(await this.#limits.adopt({ instanceId: id, run }, process.pid, { ramMB, cpu }))) unclear.add(id);
    }
    await this.#limits.removeUnused(({ instanceId, run }) => {
      const handle = this.#handles.get(instanceId);
      if (handle === undefined) return areAllAsked;
      if (unclear.has(instanceId)) return false;
      return run < handle.run || (run === handle.run && !isAlive(handle));
    });
  }

  #buildSampler(): UsageSampler {
    const { processUsage, clock, logger } = this.#options;
    return new UsageSampler({
      runs: () => this.#sampledRuns(),
      limits: this.#limits,
      processes: processUsage ?? { read: async () => new Map() },
      onSamples: (usages) => this.#link.sendUsage(usages),
      clock,
      logger,
    });
  }

  *#sampledRuns(): Generator<SampledRun> {
    for (const { id, run, process, runtime: key } of this.#handles.values()) {
      const runtime = this.#offers.get(key);
      if (process === null || runtime === undefined) continue;
      yield { instanceId: id, run, runtime, pid: 'pid' in process ? process.pid : null };
    }
  }

  #buildLink(): Link {
    const { installation, older } = this.#options;
    return new Link({
      ...this.#options,
      offers: () => [...this.#offers.list()],
      advisoryLimits: this.#limits.advisory,
      feed: {
        applySnapshot: (snapshot) => {
          const isFirst = !this.#desired.isConfirmed;
          this.#desired.applySnapshot(snapshot);
          if (older !== undefined) older.isAccepted = false;
          // Looked at again: what waited for the snapshot, and what it does not name because it is no longer wanted
          // here.
          if (isFirst) this.#controllers.wakeAll();
          // What waits for the connection goes on at once.
          else this.#controllers.wakeInstalls();
          this.#ahead.connected();
          this.#resolveFed();
        },
        applyDelta: (delta) => this.#desired.applyDelta(delta),
        held: () => this.#desired.held(),
        seen: () => (older?.isAccepted === true ? undefined : this.#desired.seen),
      },
      reports: this.#outbox,
      services: new Map([
        ...(this.#options.services ?? []),
        ...wrapperServices({
          installation,
          handles: this.#handles,
          runtimes: this.#offers,
          prefetch: this.#prefetch,
          left: this.#left,
          describe: (id) => this.#controllers.processSupervisor.describe(id),
          clock: this.#options.clock,
        }),
      ]),
      onWelcome: (master) => this.#desired.setMaster(master),
      onRefused: (reason) => this.#endRefused(reason),
    });
  }

  /** What runs here is looked after as long as it runs, even if its master does not want this node. */
  #endRefused(reason: string): boolean {
    const { endRefused } = this.#options;
    const isIdle =
      this.status().instances.every(({ state }) => state === 'STOPPED') &&
      ![...this.#handles.values()].some(isAlive);
    if (endRefused === undefined || this.#isNodeStopping || !isIdle) return false;
    endRefused(reason);
    return true;
  }

  #buildFetchAhead(): FetchAhead {
    const { installation, clock, random } = this.#options;
    return new FetchAhead({
      desired: this.#desired,
      isCached: (digest) => installation.isCached(digest),
      isConnected: () => this.#link.calls !== undefined,
      fetch: (digest) => this.#prefetch.fetchOne(digest),
      clock,
      random,
    });
  }

  #buildControllers(): WrapperControllers {
    const { installation, clock, random, logger, metrics } = this.#options;
    const shared = {
      desired: this.#desired,
      handles: this.#handles,
      isNodeStopping: () => this.#isNodeStopping,
      clock,
      random,
      logger,
    };
    const controllers = buildWrapperControllers({
      ...shared,
      trace: metrics.trace,
      installer: {
        ...shared,
        isCached: (digest) => installation.isCached(digest),
        isMasterConnected: () => this.#link.calls !== undefined,
        fetch: (digest, signal) =>
          this.#prefetch.urgent(() => installation.fetch(digest, this.#link.calls, signal)),
        install: (desired, signal) => installation.install(desired, this.#desired.master, signal),
      },
      supervisor: {
        ...shared,
        outbox: this.#outbox,
        runtimes: this.#offers,
        limits: this.#limits,
        launchSpec: (desired, run) => installation.launchSpec(desired, run, this.#desired.master),
        checkPort: (port) => installation.checkPort(port),
        mostMemoryOf: (run) => this.#sampler.mostMemory(run),
        removeWorkspace: (id) => installation.remove(id),
        left: this.#left,
        nextLogLine: (id) => installation.nextLogLine(id),
        followLogs: (id, position, signal) => installation.followLogs(id, position, signal),
      },
    });
    metrics.addQueue('process-supervisor', () => controllers.supervisor.gauge());
    metrics.addQueue('template-installer', () => controllers.installer.gauge());
    return controllers;
  }
}

function isAlive(handle: Handle): boolean {
  return handle.process !== null || handle.isStarting || handle.hasRemains;
}
