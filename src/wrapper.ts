/**
 * Composition root of a wrapper: what it remembers, its controllers, and its link to the master, over a store, a
 * clock and runtimes that are handed in. The same wrapper runs in the daemon, in benchmarks and in simulations.
 */

import type { RuntimeSet } from '../controllers/wrapper/process-supervisor/reconciler.js';
import { buildWrapperControllers, type WrapperControllers } from '../controllers/wrapper/register.js';
import type { CallPeer } from './channel/calls.js';
import { descriptionServices } from './channel/instance-description.js';
import { Link } from './channel/link.js';
import { instanceServices, type LogLines } from './channel/log-relay.js';
import { prefetchServices } from './channel/template-relay.js';
import type { Transport } from './channel/transport.js';
import type { LogBatch, LogPosition } from './logs/log-batch.js';
import type { SpanLines } from './logs/span-lines.js';
import type { Clock, TimerHandle } from './loop/clock.js';
import type { Part } from './loop/lifecycle.js';
import { DroverError, messageOf } from './model/errors.js';
import type { InstanceDescription } from './model/instance-description.js';
import type { NodeCapacity, RuntimeOffer } from './model/node.js';
import type { OutputSpan } from './model/past-exit.js';
import { type Desired, DesiredCopy, type MasterAddress } from './node/desired-copy.js';
import { type Handle, HandleBook, newHandle } from './node/handle-book.js';
import { describePastRuns } from './node/past-runs.js';
import { StatusOutbox } from './node/status-outbox.js';
import { TemplatePrefetch } from './node/template-prefetch.js';
import { WriteBehind } from './node/write-behind.js';
import type { Exit, Held, Runtime, StartSpec } from './runtime/runtime.js';
import type { Store } from './store/store.js';
import type { Logger } from './telemetry/logger.js';
import type { Metrics } from './telemetry/metrics.js';

/** What the wrapper does to directories; the daemon hands in the real ones, simulations fakes. */
export interface Installation {
  isCached(digest: string): boolean;
  /** Brings a tree into the cache, asking the master by `calls`. */
  fetch(digest: string, calls: CallPeer | undefined, signal: AbortSignal): Promise<void>;
  /** Makes the working directory, whole or not at all; resolves with warnings. */
  install(
    desired: Desired,
    master: MasterAddress | undefined,
    signal: AbortSignal,
  ): Promise<readonly string[]>;
  launchSpec(desired: Desired, run: number, master: MasterAddress | undefined): StartSpec;
  remove(id: string): Promise<void>;
  checkPort(port: number): Promise<{ free: true } | { free: false; protocol: 'tcp' | 'udp' }>;
  readLogs(id: string, lines: number): Promise<LogLines>;
  /** From `position` on, then live, until `signal` aborts. */
  followLogs(id: string, position: LogPosition, signal: AbortSignal): AsyncIterable<LogBatch>;
  /** The last lines of one run. */
  readOutput(id: string, span: OutputSpan, lines: number): Promise<SpanLines>;
}

export interface WrapperOptions {
  readonly nodeId: string;
  readonly clusterName: string;
  readonly address: string;
  readonly version: string;
  readonly capacity: NodeCapacity;
  readonly runtimes: readonly Runtime[];
  readonly installation: Installation;
  readonly connect: () => Promise<Transport>;
  /** The node's own store, not the master's. */
  readonly store: Store;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
}

/** Unexplained ends: the process went while no daemon watched. */
const UNSEEN_EXIT = { code: null, signal: null };
/** How long a node that is being stopped waits for its last reports to be recorded. */
const LAST_REPORTS_MS = 2000;
const PROBE_EVERY_MS = 30_000;

export class Wrapper implements Part {
  readonly #options: WrapperOptions;
  readonly #disk: WriteBehind;
  readonly #desired: DesiredCopy;
  readonly #handles: HandleBook;
  readonly #outbox = new StatusOutbox();
  readonly #runtimes: ReadonlyMap<string, Runtime>;
  readonly #offers = new Map<string, RuntimeOffer>();
  readonly #controllers: WrapperControllers;
  readonly #link: Link;
  readonly #prefetch: TemplatePrefetch;
  readonly #unsubscribe: (() => void)[] = [];
  #resolveFed: () => void = () => undefined;
  /** The first time that the master says what this node should hold: from then on it counts the node as there. */
  readonly whenFed = new Promise<void>((resolve) => {
    this.#resolveFed = resolve;
  });
  #probeTimer: TimerHandle | undefined;
  #isNodeStopping = false;
  #isStopped = false;

  constructor(options: WrapperOptions) {
    this.#options = options;
    this.#disk = new WriteBehind(options);
    this.#desired = new DesiredCopy(this.#disk);
    this.#handles = new HandleBook(this.#disk);
    this.#runtimes = new Map(options.runtimes.map((runtime) => [runtime.key, runtime]));
    this.#prefetch = new TemplatePrefetch({
      isCached: (digest) => options.installation.isCached(digest),
      fetch: (digest, signal) => options.installation.fetch(digest, this.#link.calls, signal),
      logger: options.logger,
    });
    this.#link = this.#buildLink();
    this.#controllers = this.#buildControllers();
  }

  /** Takes up what an earlier daemon left, then connects and starts to reconcile. */
  async start(): Promise<void> {
    await this.#desired.load();
    await this.#handles.load();
    for (const runtime of this.#options.runtimes) await this.#adopt(runtime);
    await this.#probe();
    await this.#controllers.supervisor.start();
    await this.#controllers.installer.start();
    this.#controllers.wakeAll();
    this.#link.start();
    this.#probeLater();
  }

  /** Lets go: instances live on for the next daemon. Idempotent. */
  async stop(): Promise<void> {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#probeTimer?.cancel();
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    await Promise.all([
      this.#controllers.supervisor.stop(),
      this.#controllers.installer.stop(),
      this.#prefetch.stop(),
    ]);
    await this.#controllers.processSupervisor.stop();
    this.#link.stop(true);
    for (const runtime of this.#options.runtimes) await runtime.release();
    await this.#disk.stop();
  }

  /**
   * Ctrl-C: ends every instance, leaving what is desired as it is. Resolves when nothing lives any more, or when
   * `signal` aborts. `onProgress` gets the number of instances that still live, whenever it changes.
   */
  async stopInstances(onProgress: (alive: readonly string[]) => void, signal: AbortSignal): Promise<void> {
    this.#isNodeStopping = true;
    this.#controllers.wakeAll();
    let told = -1;
    await new Promise<void>((resolve) => {
      const look = (): void => {
        const alive = [...this.#handles.values()].filter(isAlive).map(({ id }) => id);
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

  /** What has become of the instances should stand in the records; a master that cannot write is not waited for. */
  async #untilReported(): Promise<void> {
    let timer: TimerHandle | undefined;
    const isTooLate = new Promise<void>((resolve) => {
      timer = this.#options.clock.setTimer(LAST_REPORTS_MS, resolve);
    });
    await Promise.race([this.whenIdle().then(() => this.#outbox.whenEmpty()), isTooLate]);
    timer?.cancel();
  }

  /** What housekeeping must leave alone: instances that are or were held here, and the trees that they use. */
  inUse(): { readonly instanceIds: ReadonlySet<string>; readonly digests: ReadonlySet<string> } {
    const instanceIds = new Set([...this.#desired.ids(), ...[...this.#handles.values()].map(({ id }) => id)]);
    const digests = new Set<string>();
    for (const id of instanceIds)
      for (const { digest } of this.#desired.get(id)?.assignment.templates ?? [])
        if (digest !== null) digests.add(digest);
    return { instanceIds, digests };
  }

  /** Resolves when no controller has anything due or running. */
  async whenIdle(): Promise<void> {
    await this.#controllers.supervisor.whenIdle();
    await this.#controllers.installer.whenIdle();
  }

  #buildLink(): Link {
    const { installation } = this.#options;
    return new Link({
      ...this.#options,
      offers: () => [...this.#offers.values()],
      feed: {
        applySnapshot: (snapshot) => {
          this.#desired.applySnapshot(snapshot);
          this.#resolveFed();
        },
        applyDelta: (delta) => this.#desired.applyDelta(delta),
        commit: () => this.#desired.commit(),
      },
      reports: this.#outbox,
      services: new Map([
        ...instanceServices({
          readLogs: (id, lines) => installation.readLogs(id, lines),
          followLogs: (id, position, signal) => installation.followLogs(id, position, signal),
          writeStdin: (id, bytes) => this.#writeStdin(id, bytes),
        }),
        ...prefetchServices((digests) => this.#prefetch.take(digests)),
        ...descriptionServices((id, lines) => this.#describe(id, lines)),
      ]),
      onWelcome: (master) => this.#desired.setMaster(master),
    });
  }

  async #describe(id: string, lines: number): Promise<InstanceDescription | undefined> {
    const { installation, clock } = this.#options;
    const description = this.#controllers.processSupervisor.describe(id);
    if (description === undefined) return undefined;
    const exits = await describePastRuns(this.#handles.get(id)?.exits ?? [], {
      now: clock.now(),
      read: (span) => installation.readOutput(id, span, lines),
    });
    return { ...description, exits };
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
        fetch: (digest, signal) => installation.fetch(digest, this.#link.calls, signal),
        install: (desired, signal) => installation.install(desired, this.#desired.master, signal),
      },
      supervisor: {
        ...shared,
        outbox: this.#outbox,
        runtimes: this.#runtimeSet(),
        launchSpec: (desired, run) => installation.launchSpec(desired, run, this.#desired.master),
        checkPort: (port) => installation.checkPort(port),
        removeWorkspace: (id) => installation.remove(id),
      },
    });
    metrics.addQueue('process-supervisor', () => controllers.supervisor.gauge());
    metrics.addQueue('template-installer', () => controllers.installer.gauge());
    return controllers;
  }

  #runtimeSet(): RuntimeSet {
    return {
      get: (key) => this.#runtimes.get(key),
      problemOf: (key) => {
        const offer = this.#offers.get(key);
        if (offer === undefined) return `this node has no runtime ${key}`;
        return offer.available
          ? null
          : `runtime ${key} is not available on this node: ${offer.reason ?? 'unknown reason'}`;
      },
    };
  }

  /** Subscribes to a runtime and squares its holdings with the handles. */
  async #adopt(runtime: Runtime): Promise<void> {
    this.#unsubscribe.push(
      runtime.onExit((run, exit) => this.#controllers.processSupervisor.noteExit(run, exit)),
      runtime.onLost(() => {
        this.#options.logger.warn(
          { runtime: runtime.key },
          `runtime ${runtime.key} lost hold of its instances; looking at each`,
        );
        this.#takeUp(runtime).catch((error: unknown) =>
          this.#options.logger.error(
            { err: error, runtime: runtime.key },
            'instances could not be taken up again',
          ),
        );
      }),
    );
    try {
      await this.#takeUp(runtime);
    } catch (error) {
      this.#options.logger.warn(
        { err: error, runtime: runtime.key },
        `runtime ${runtime.key} cannot be used: ${messageOf(error)}`,
      );
    }
  }

  async #takeUp(runtime: Runtime): Promise<void> {
    const held = new Map((await runtime.adopt()).map((entry) => [entry.instanceId, entry]));
    for (const handle of [...this.#handles.values()])
      if (handle.runtime === runtime.key) this.#square(handle, held.get(handle.id));
    for (const entry of held.values())
      if (this.#handles.get(entry.instanceId) === undefined) this.#open(runtime, entry);
  }

  /** Brings one handle in line with what its runtime holds. */
  #square(handle: Handle, held: Held | undefined): void {
    const { clock, logger } = this.#options;
    const isSameRun = held !== undefined && held.run >= handle.run;
    if (isSameRun && held.exit === null) {
      const isKnown = handle.process?.pid === held.process.pid && handle.run === held.run;
      if (isKnown && handle.upSince !== null) return;
      this.#handles.put({
        ...handle,
        run: held.run,
        process: held.process,
        upSince: clock.monotonic(),
        isPrepared: false,
      });
      logger.info(
        { instance: handle.id, processPid: held.process.pid },
        `adopted ${handle.id} (${handle.configurationName}), pid ${held.process.pid}`,
      );
      return;
    }
    if (handle.process === null && !isSameRun) {
      // A start may have been cut off between fork and record: whatever it left is looked for.
      if (handle.run > 0 && !handle.isPrepared) this.#handles.change(handle.id, { hasRemains: true });
      return;
    }
    const exit: Exit = (isSameRun ? held.exit : null) ?? { ...UNSEEN_EXIT, at: clock.now() };
    this.#handles.put({
      ...handle,
      run: isSameRun ? held.run : handle.run,
      process: handle.process ?? ABSENT,
    });
    this.#controllers.processSupervisor.noteExit(
      { instanceId: handle.id, run: isSameRun ? held.run : handle.run },
      exit,
    );
  }

  /** A process whose handle never reached the disk. */
  #open(runtime: Runtime, held: Held): void {
    const desired = this.#desired.get(held.instanceId);
    const handle = newHandle({
      id: held.instanceId,
      configurationName: desired?.assignment.configurationName ?? 'unknown',
      // Without its configuration nothing may be deleted.
      static: desired?.configuration.static ?? true,
      runtime: runtime.key,
      restartToken: desired?.assignment.restartToken ?? 0,
    });
    this.#handles.put(handle);
    this.#square(handle, held);
  }

  async #probe(): Promise<boolean> {
    let isChanged = false;
    for (const runtime of this.#options.runtimes) {
      const offer = await runtime.probe();
      const before = this.#offers.get(runtime.key);
      isChanged ||= before?.available !== offer.available || before.version !== offer.version;
      this.#offers.set(runtime.key, offer);
    }
    return isChanged;
  }

  /** Tools come and go while the node runs. */
  #probeLater(): void {
    this.#probeTimer = this.#options.clock.setTimer(PROBE_EVERY_MS, () => {
      this.#probe()
        .then((isChanged) => {
          if (!isChanged) return;
          this.#link.sendOffer();
          this.#controllers.wakeAll();
        })
        .catch((error: unknown) =>
          this.#options.logger.warn({ err: error }, 'the runtimes could not be probed'),
        )
        .finally(() => {
          if (!this.#isStopped) this.#probeLater();
        });
    });
  }

  async #writeStdin(id: string, bytes: Buffer): Promise<void> {
    const handle = this.#handles.get(id);
    const runtime = this.#runtimes.get(handle?.runtime ?? '');
    if (handle?.process == null || runtime === undefined)
      throw new DroverError(
        'DRV_INSTANCE_NOT_RUNNING',
        `instance ${id} is not running, so it reads no commands`,
      );
    await runtime.write({ instanceId: id, run: handle.run }, bytes);
  }
}

/** Stands for a process that is known to be gone, until its exit is noted. */
const ABSENT = { pid: 0, startTime: 0, bootId: '' };

function isAlive(handle: Handle): boolean {
  return handle.process !== null || handle.isStarting || handle.hasRemains;
}
