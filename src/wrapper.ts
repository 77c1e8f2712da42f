/**
 * Composition root of a wrapper: its memory, its controllers, and its link to the master, over a store, a clock and
 * runtimes that are handed in. The same wrapper runs in the daemon, in benchmarks and in simulations.
 */

import type { NodeParts } from '../controllers/wrapper/parts.js';
import { Adoption } from '../controllers/wrapper/process-supervisor/adoption.js';
import { owedHook } from '../controllers/wrapper/process-supervisor/hooks.js';
import { buildWrapperControllers, type WrapperControllers } from '../controllers/wrapper/register.js';
import { wrapperServices } from '../controllers/wrapper/services.js';
import type { Services } from './channel/protocol/calls.js';
import { askOfPrograms } from './channel/services/usage-day.js';
import { Link, type LinkOptions } from './channel/wrapper/link.js';
import type { Part } from './loop/lifecycle.js';
import { pause } from './loop/pause.js';
import type { Sealing } from './model/fields/secret.js';
import type { InstanceState } from './model/instance.js';
import type { RuntimeOffer } from './model/node.js';
import { DesiredCopy, hiddenValuesOf, type OlderMaster } from './node/desired-copy.js';
import { FetchAhead } from './node/fetch-ahead.js';
import { type Handle, isAlive, processOf } from './node/handle.js';
import { HandleBook } from './node/handle-book.js';
import { LeftDirectories } from './node/left-directories.js';
import { NodeSecrets } from './node/node-secrets.js';
import { StatusOutbox } from './node/status-outbox.js';
import { TemplatePrefetch } from './node/template-prefetch.js';
import type { UsedNow } from './node/usage-day.js';
import { WriteBehind } from './node/write-behind.js';
import type { Installation } from './runtime/installation/local-installation.js';
import type { ProcessUsage } from './runtime/limits/process-usage.js';
import { advisoryLimits, type ResourceLimits } from './runtime/limits/resource-limits.js';
import { type SampledRun, UsageSampler } from './runtime/limits/usage-sampler.js';
import { findListenerOf, type holderOfPort } from './runtime/listening.js';
import { RuntimeOffers } from './runtime/offers.js';
import type { checkPort } from './runtime/ports.js';
import type { Runtime } from './runtime/runtime.js';
import type { Store } from './store/store.js';
import type { Ambient } from './telemetry/ambient.js';
import type { Metrics } from './telemetry/metrics.js';

type OfLink =
  | 'nodeId'
  | 'clusterName'
  | 'address'
  | 'version'
  | 'capacity'
  | 'connect'
  | 'masters'
  | 'random';

export interface WrapperOptions extends Ambient, Pick<LinkOptions, OfLink> {
  readonly runtimes: readonly Runtime[];
  /** Holds `ramMB` and `cpu`. Absent: both are advisory. */
  readonly limits?: ResourceLimits;
  /** Measures the instances that neither a control group nor a runtime measures. Absent: they are not measured. */
  readonly processUsage?: Pick<ProcessUsage, 'read' | 'pids'>;
  readonly installation: Installation;
  /** Tells whether a port is free on this node. */
  readonly checkPort: typeof checkPort;
  /** Names the program that listens on a port. Absent: it is not named. */
  readonly holderOfPort?: typeof holderOfPort;
  /**
   * Called to end the node when the master refuses it for good and nothing runs here. Absent: the node goes on and
   * tries again, as it does while something runs.
   */
  readonly endRefused?: (reason: string) => void;
  /**
   * Whether to accept a master whose store is older than what this node has seen. Absent: the node refuses that
   * master.
   */
  readonly older?: OlderMaster;
  /** The seal of the secrets on this node's disk. Absent: they are lost with this daemon. */
  readonly sealing?: Sealing;
  /** Further calls that the node answers to the master. */
  readonly services?: Services;
  /** The node's own store, not the master's. */
  readonly store: Store;
  readonly metrics: Metrics;
}

/** How long a node that is being stopped waits until its last reports are recorded. */
const LAST_REPORTS_MS = 2000;
const PLAYERS_MS = 5000;

export interface WrapperStatus {
  /** True when the master has welcomed this node and the connection stands. */
  readonly isConnected: boolean;
  readonly offers: readonly RuntimeOffer[];
  /** The instances that the node should hold, by id. */
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
  readonly #nodeStop = new AbortController();
  #stopsLater: ReadonlySet<string> = new Set();
  readonly #parts: NodeParts;
  readonly #controllers: WrapperControllers;
  readonly #adoption: Adoption;
  readonly #link: Link;
  readonly #ahead: FetchAhead;
  /**
   * Resolves when the master first says what this node should hold. From then on the master counts the node as
   * connected.
   */
  readonly whenFed: Promise<void>;
  #isStopped = false;

  constructor(options: WrapperOptions) {
    this.#options = options;
    this.#disk = new WriteBehind(options);
    this.#parts = this.#buildParts();
    this.#controllers = buildWrapperControllers(this.#parts, options.metrics.trace);
    this.#adoption = new Adoption(this.#parts, this.#controllers.processSupervisor);
    this.#ahead = new FetchAhead(this.#parts);
    this.#link = this.#buildLink();
    this.whenFed = this.#wake();
    options.metrics.addQueue('process-supervisor', () => this.#controllers.supervisor.gauge());
    options.metrics.addQueue('template-installer', () => this.#controllers.installer.gauge());
  }

  /** Takes up what an earlier daemon left, then connects and starts to reconcile. */
  async start(): Promise<void> {
    const { desired, handles, left, runtimes, sampler } = this.#parts;
    await desired.load();
    await handles.load(this.#options.clock);
    await left.load();
    await this.#adoption.start();
    await runtimes.start();
    await this.#controllers.supervisor.start();
    await this.#controllers.installer.start();
    this.#controllers.wakeAll();
    this.#link.start();
    sampler.start();
  }

  /** Stops this daemon's part: instances live on for the next daemon. Idempotent. */
  async stop(): Promise<void> {
    if (this.#isStopped) return;
    this.#isStopped = true;
    const { runtimes, sampler, prefetch, limits } = this.#parts;
    runtimes.stop();
    this.#adoption.stop();
    await sampler.stop();
    await Promise.all([
      this.#controllers.supervisor.stop(),
      this.#controllers.installer.stop(),
      this.#controllers.templateInstaller.stop(),
      prefetch.stop(),
      this.#ahead.stop(),
    ]);
    await this.#controllers.processSupervisor.stop();
    await limits.stop();
    this.#link.stop(true);
    for (const runtime of runtimes.all) await runtime.release();
    await this.#disk.stop();
  }

  /** Ids of the instances that live here, or have hooks to come after their end: what `stopInstances` would end. */
  aliveInstances(): readonly string[] {
    const { handles, desired, runtimes } = this.#parts;
    const isOwing = (one: Handle): boolean =>
      owedHook({ desired: desired.get(one.id) }, one) !== undefined &&
      runtimes.problemOf(one.runtime) === null;
    return [...handles.values()].filter((one) => isAlive(one) || isOwing(one)).map(({ id }) => id);
  }

  /**
   * Ctrl-C: ends every instance, first those that wait for others (`waitsFor`). The desired state stays. Resolves when
   * nothing lives any more, or when `signal` aborts. `onProgress` receives the ids that still live, whenever their
   * number changes.
   */
  async stopInstances(onProgress: (alive: readonly string[]) => void, signal: AbortSignal): Promise<void> {
    let told = -1;
    await new Promise<void>((resolve) => {
      const look = (): void => {
        const alive = this.aliveInstances();
        const stopsLater = this.#waitedFor(alive);
        if (!this.#nodeStop.signal.aborted || stopsLater.size !== this.#stopsLater.size) {
          this.#stopsLater = stopsLater;
          this.#nodeStop.abort();
          this.#controllers.wakeAll();
        }
        if (alive.length !== told) onProgress(alive);
        told = alive.length;
        if (alive.length === 0 || signal.aborted) resolve();
      };
      this.#parts.handles.onChange(look);
      signal.addEventListener('abort', look, { once: true });
      look();
    });
    await this.#untilReported();
  }

  /** The configurations that these instances wait for. None where all of them are in circles. */
  #waitedFor(alive: readonly string[]): ReadonlySet<string> {
    const contents = alive.flatMap((id) => this.#parts.desired.get(id)?.configuration ?? []);
    const waitedFor = new Set(
      contents.flatMap(({ waitsFor = [] }) => waitsFor.map((one) => one.configuration)),
    );
    return contents.every(({ name }) => waitedFor.has(name)) ? new Set() : waitedFor;
  }

  /**
   * Waits until the master has recorded the ends of the instances. Waits 2 s at most, because a master may be unable
   * to write.
   */
  async #untilReported(): Promise<void> {
    const late = new AbortController();
    const isTooLate = pause(this.#options.clock, LAST_REPORTS_MS, late.signal);
    await Promise.race([this.whenIdle().then(() => this.#parts.outbox.whenEmpty()), isTooLate]);
    late.abort();
  }

  /** The usage of each instance that lives or is started again, as last measured. */
  *used(): Generator<UsedNow> {
    const measured = this.#parts.sampler.latest();
    for (const handle of this.#parts.handles.values()) {
      // An instance in a crash loop is there also while it waits, so that its restarts are seen.
      if (!isAlive(handle) && handle.end !== 'unasked') continue;
      const { id, configurationName: configuration, hooks } = handle;
      const { cpuPercent = null, memoryBytes = null } = measured.get(id) ?? {};
      // A hook is a run, and no start of the program.
      yield { id, configuration, run: Math.max(1, handle.run - hooks.runs), cpuPercent, memoryBytes };
    }
  }

  /** Asks the master for the players of instances; none while the node is not connected. Rejects after 5 s. */
  async players(ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const calls = this.#parts.calls();
    return calls === undefined
      ? new Map()
      : askOfPrograms(calls, 'players-of', ids, AbortSignal.timeout(PLAYERS_MS));
  }

  /** The values that are covered in the log of an instance. */
  hiddenValues(id: string): readonly string[] {
    return hiddenValuesOf(this.#parts.desired.get(id));
  }

  /** The node's status, for a person on this machine. */
  status(): WrapperStatus {
    const { desired, outbox, runtimes, calls } = this.#parts;
    const instances = [...desired.ids()].sort().map((id) => {
      const { assignment } = desired.get(id) ?? {};
      const report = outbox.get(id);
      return {
        id,
        configurationName: assignment?.configurationName ?? '',
        state: report?.state ?? 'CREATING',
        message: report?.message ?? null,
      };
    });
    return { isConnected: calls() !== undefined, offers: runtimes.list(), instances };
  }

  /**
   * The instances and trees that housekeeping must leave alone: instances that are or were held here, and the trees
   * that they were last made from and will be made from.
   */
  inUse(): { readonly instanceIds: ReadonlySet<string>; readonly digests: ReadonlySet<string> } {
    const { desired, handles } = this.#parts;
    const instanceIds = new Set([...desired.ids(), ...[...handles.values()].map(({ id }) => id)]);
    const digests = new Set<string>();
    for (const id of instanceIds) {
      const wanted = desired.get(id)?.assignment.templates ?? [];
      const last = handles.get(id)?.installed?.templates ?? [];
      for (const { digest } of [...wanted, ...last]) if (digest !== null) digests.add(digest);
    }
    return { instanceIds, digests };
  }

  /** Resolves when no controller has anything due or running. */
  async whenIdle(): Promise<void> {
    await this.#controllers.supervisor.whenIdle();
    await this.#controllers.installer.whenIdle();
  }

  #buildParts(): NodeParts {
    const { installation, checkPort, older, clock, random, logger, processUsage, ...options } = this.#options;
    const secrets = new NodeSecrets(this.#disk, options.sealing);
    const desired = new DesiredCopy(this.#disk, secrets, older);
    const handles = new HandleBook(this.#disk);
    const limits = options.limits ?? advisoryLimits('nothing on this node holds them');
    const calls: NodeParts['calls'] = () => this.#link.calls;
    const runtimes = new RuntimeOffers({
      runtimes: options.runtimes,
      onChange: () => {
        this.#link.sendOffer();
        this.#controllers.wakeAll();
      },
      clock,
      logger,
    });
    return {
      desired,
      secrets,
      handles,
      outbox: new StatusOutbox(),
      left: new LeftDirectories(this.#disk, installation, (id) =>
        desired.isConfirmed ? desired.has(id) || handles.get(id) !== undefined : undefined,
      ),
      runtimes,
      limits,
      sampler: new UsageSampler({
        runs: () => sampledRuns(handles, runtimes),
        limits,
        processes: processUsage ?? { read: async () => new Map() },
        onSamples: (usages) => this.#link.sendUsage(usages),
        clock,
        logger,
      }),
      installation,
      checkPort,
      holderOfPort: this.#options.holderOfPort ?? (async () => undefined),
      findListener: (run, port) => findListenerOf(run, port, { limits, processes: processUsage }),
      prefetch: new TemplatePrefetch({
        installation,
        calls,
        onFetched: () => this.#controllers.wakeInstalls(),
        logger,
      }),
      calls,
      nodeStop: this.#nodeStop.signal,
      stopsLater: () => this.#stopsLater,
      clock,
      random,
      logger,
    };
  }

  #buildLink(): Link {
    const { desired, outbox, runtimes, limits } = this.#parts;
    return new Link({
      ...this.#options,
      offers: () => runtimes.list(),
      advisoryLimits: limits.advisory,
      feed: desired,
      reports: outbox,
      services: {
        ...this.#options.services,
        ...wrapperServices(this.#parts, this.#controllers.processSupervisor),
      },
      onWelcome: (master) => desired.setMaster(master),
      onRefused: (reason) => this.#endRefused(reason),
    });
  }

  /**
   * Connects the master's feed: each change goes to the fetch ahead, the first snapshot wakes all controllers, and a
   * later snapshot wakes the installs. Resolves at the first snapshot.
   */
  #wake(): Promise<void> {
    const { desired } = this.#parts;
    desired.onChange((id) => this.#ahead.changed(id));
    return new Promise((resolve) => {
      desired.onSnapshot((isFirst) => {
        // The first snapshot concerns all instances: some waited for it, and those that it does not name must end.
        if (isFirst) this.#controllers.wakeAll();
        // A later snapshot comes with a new connection. Instances that wait for the connection go on at once.
        else this.#controllers.wakeInstalls();
        this.#ahead.connected();
        resolve();
      });
    });
  }

  /**
   * Ends a node that its master refuses. False: the node goes on, for example because an instance still runs here.
   */
  #endRefused(reason: string): boolean {
    const { endRefused } = this.#options;
    const isIdle =
      this.status().instances.every(({ state }) => state === 'STOPPED') && this.aliveInstances().length === 0;
    if (endRefused === undefined || this.#nodeStop.signal.aborted || !isIdle) return false;
    endRefused(reason);
    return true;
  }
}

/** The runs that are up now. */
function* sampledRuns(handles: HandleBook, runtimes: RuntimeOffers): Generator<SampledRun> {
  for (const handle of handles.values()) {
    const process = processOf(handle);
    const runtime = runtimes.get(handle.runtime);
    if (process === null || runtime === undefined) continue;
    yield { instanceId: handle.id, run: handle.run, runtime, pid: 'pid' in process ? process.pid : null };
  }
}
