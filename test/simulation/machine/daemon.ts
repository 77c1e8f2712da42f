/**
 * One life of Drover on a simulated machine: the real composition roots over the simulated machine and network. It
 * starts and stops them in the order of the real daemon.
 */
import type { Transport } from '../../../src/channel/protocol/transport.js';
import { SoleLeadership } from '../../../src/leadership/sole-leadership.js';
import { Master } from '../../../src/master.js';
import type { Configuration } from '../../../src/model/configuration.js';
import type { Logger } from '../../../src/telemetry/logger.js';
import type { Metrics } from '../../../src/telemetry/metrics.js';
import { Wrapper } from '../../../src/wrapper.js';
import { SimulatedConfigurationFiles } from '../operator/configuration-files.js';
import { type Disk, DiskStore } from './disk.js';
import { FencedInstallation } from './fenced-installation.js';
import { FencedRuntime, type RuntimeWatcher } from './fenced-runtime.js';
import type { Life } from './life.js';
import type { Machine } from './machine.js';
import type { SimulatedTemplates } from './templates.js';

const CLUSTER = 'simulated';
const JOIN_WAIT_MS = 2000;
export const NODE_TIMEOUT_MS = 6000;

/** What the master's machine has beside that of every node. */
export interface MasterPlace {
  readonly disk: Disk;
  readonly templates: SimulatedTemplates;
  readonly files: ReadonlyMap<string, Configuration>;
  readonly newInstanceId: () => string;
  /** The cluster port is open. */
  onListening(accept: (transport: Transport, nodeId?: string) => void): void;
  /** Revokes the certificate of a node. */
  shutOut(nodeId: string): void;
}

export interface DaemonOptions {
  readonly machine: Machine;
  readonly life: Life;
  readonly watcher: RuntimeWatcher;
  readonly connect: () => Promise<Transport>;
  readonly metrics: Metrics;
  readonly logger: Logger;
  /** Absent: a node that is only a wrapper. */
  readonly master?: MasterPlace;
}

export class SimulatedDaemon {
  readonly life: Life;
  readonly wrapper: Wrapper;
  readonly runtime: FencedRuntime;
  readonly master: Master | undefined;
  readonly #options: DaemonOptions;
  readonly #files: SimulatedConfigurationFiles | undefined;
  /** The API takes requests. */
  #isReady = false;
  #isInterrupted = false;
  #isStopping = false;

  constructor(options: DaemonOptions) {
    const { machine, life, watcher, master } = options;
    this.#options = options;
    this.life = life;
    this.runtime = new FencedRuntime(machine.runtime, life, watcher);
    this.wrapper = this.#buildWrapper();
    if (master === undefined) return;
    this.#files = new SimulatedConfigurationFiles(machine.nodeId, master.files, life);
    this.master = this.#buildMaster(master, this.#files);
  }

  get isReady(): boolean {
    return this.#isReady && this.life.isAlive;
  }

  /** Ctrl-C was pressed: instances are ended although they are wanted. */
  get isInterrupted(): boolean {
    return this.#isInterrupted;
  }

  /** Resolves also when it is stopped meanwhile. */
  async start(): Promise<void> {
    try {
      await this.#begin();
    } catch (error) {
      if (!this.#isStopping) throw error;
    }
  }

  async #begin(): Promise<void> {
    const { master: place } = this.#options;
    const { master } = this;
    if (place !== undefined && master !== undefined) {
      await master.start();
      master.beginTerm({ epoch: 0 });
      place.onListening((transport, nodeId) =>
        master.accept(transport, nodeId === undefined ? undefined : { nodeId }),
      );
      await this.syncFiles();
    }
    await this.wrapper.start();
    if (master === undefined) return;
    await this.#untilJoined();
    await master.startControllers();
    this.#isReady = true;
  }

  /** The configuration files changed: resolves when the store has what they say. */
  async syncFiles(): Promise<void> {
    if (this.master !== undefined) await this.#files?.sync(this.master.configurationFollower);
  }

  /** SIGTERM; `isInterrupt`: SIGINT, which ends the instances first. */
  async stop(isInterrupt: boolean): Promise<void> {
    this.#isReady = false;
    this.#isStopping = true;
    if (isInterrupt) {
      await this.master?.stopControllers();
      this.#isInterrupted = true;
      await this.wrapper.stopInstances(() => undefined, new AbortController().signal);
    }
    await this.wrapper.stop();
    await this.master?.stop();
    this.life.die('stopped in order');
  }

  async #untilJoined(): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = this.life.clock.setTimer(JOIN_WAIT_MS, resolve);
      void this.wrapper.whenFed.then(() => {
        timer.cancel();
        resolve();
      });
    });
  }

  #buildWrapper(): Wrapper {
    const { machine, life, connect, metrics, logger } = this.#options;
    return new Wrapper({
      nodeId: machine.nodeId,
      clusterName: CLUSTER,
      address: machine.address,
      version: '0.0.0',
      capacity: machine.capacity,
      runtimes: [this.runtime],
      installation: new FencedInstallation(machine, life),
      connect,
      store: new DiskStore(machine.disk, life),
      metrics,
      clock: life.clock,
      random: life.random.fork('wrapper').next,
      logger,
    });
  }

  #buildMaster(
    { disk, templates, newInstanceId, shutOut }: MasterPlace,
    configurationSource: SimulatedConfigurationFiles,
  ): Master {
    const { machine, life, metrics, logger } = this.#options;
    const source = templates.source(life);
    life.onDeath(() => source.close());
    return new Master({
      clusterName: CLUSTER,
      address: { nodeId: machine.nodeId, address: machine.address, port: 6000, apiPort: 7000 },
      leadership: new SoleLeadership({
        nodeId: machine.nodeId,
        clusterAddress: `${machine.address}:6000`,
        since: 0,
      }),
      nodeTimeoutMs: NODE_TIMEOUT_MS,
      store: new DiskStore(disk, life),
      configurationSource,
      templates: source,
      issueInstanceToken: (id) => `token-${id}`,
      hostAddressOf: (configuration, node) => configuration.hostAddress ?? node.address,
      revokeNode: (nodeId) =>
        life.request('revoking a certificate', life.random.between(0.05, disk.latencyMs), () => {
          shutOut(nodeId);
          return undefined;
        }),
      metrics,
      clock: life.clock,
      random: life.random.fork('master').next,
      // A change that wakes too few would be hidden by it.
      isResynced: false,
      newInstanceId,
      logger,
    });
  }
}
