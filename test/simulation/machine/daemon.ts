/**
 * One life of Drover on a simulated machine: the real composition roots over the simulated machine and network. It
 * starts and stops them in the order of the real daemon.
 */
import type { Master } from '../../../src/master.js';
import type { Logger } from '../../../src/telemetry/logger.js';
import type { Metrics } from '../../../src/telemetry/metrics.js';
import { Wrapper, type WrapperOptions } from '../../../src/wrapper.js';
import { DiskStore } from './disk.js';
import { FencedInstallation } from './fenced-installation.js';
import { FencedRuntime, type RuntimeWatcher } from './fenced-runtime.js';
import type { Life } from './life.js';
import type { Machine } from './machine.js';
import { CLUSTER, type MasterRole } from './master-role.js';

const JOIN_WAIT_MS = 2000;

/** How the wrapper reaches the master. */
export interface Uplink extends Pick<WrapperOptions, 'connect' | 'masters' | 'services'> {
  /** Reads what the node knows of masters. */
  open?(): Promise<void>;
}

interface DaemonOptions {
  readonly machine: Machine;
  readonly life: Life;
  readonly watcher: RuntimeWatcher;
  readonly uplink: Uplink;
  readonly metrics: Metrics;
  readonly logger: Logger;
  /** Absent: a node that is only a wrapper. */
  readonly role?: MasterRole;
}

export class SimulatedDaemon {
  readonly life: Life;
  readonly wrapper: Wrapper;
  readonly runtime: FencedRuntime;
  readonly role: MasterRole | undefined;
  readonly #options: DaemonOptions;
  #isInterrupted = false;
  #isStopping = false;

  constructor(options: DaemonOptions) {
    const { machine, life, watcher, role } = options;
    this.#options = options;
    this.life = life;
    this.runtime = new FencedRuntime(machine.runtime, life, watcher);
    this.wrapper = this.#buildWrapper();
    this.role = role;
  }

  get master(): Master | undefined {
    return this.role?.master;
  }

  /** The API takes requests. */
  get isReady(): boolean {
    return this.role?.isReady === true && !this.#isStopping && this.life.isAlive;
  }

  /** Ctrl-C was pressed: instances are ended although they are wanted. */
  get isInterrupted(): boolean {
    return this.#isInterrupted;
  }

  /** SIGTERM or Ctrl-C has come: it will end in order, and nothing else. */
  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** Resolves also when it is stopped meanwhile. */
  async start(): Promise<void> {
    try {
      await this.#options.uplink.open?.();
      await this.role?.begin();
      await this.wrapper.start();
      await this.role?.serve(() => this.#untilFed());
    } catch (error) {
      if (!this.#isStopping) throw error;
    }
  }

  /** The configuration files changed: resolves when the store has what they say. */
  async syncFiles(): Promise<void> {
    await this.role?.syncFiles();
  }

  /** SIGTERM; `isInterrupt`: SIGINT, which ends the instances first. */
  async stop(isInterrupt: boolean): Promise<void> {
    this.#isStopping = true;
    await this.role?.handOver();
    if (isInterrupt) {
      await this.role?.interrupt();
      this.#isInterrupted = true;
      await this.wrapper.stopInstances(() => undefined, new AbortController().signal);
    }
    await this.wrapper.stop();
    await this.role?.stop();
    this.life.die('stopped in order');
  }

  async #untilFed(): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = this.life.clock.setTimer(JOIN_WAIT_MS, resolve);
      void this.wrapper.whenFed.then(() => {
        timer.cancel();
        resolve();
      });
    });
  }

  #buildWrapper(): Wrapper {
    const { machine, life, uplink, metrics, logger } = this.#options;
    const installation = new FencedInstallation(machine, life);
    return new Wrapper({
      nodeId: machine.nodeId,
      clusterName: CLUSTER,
      address: machine.address,
      version: '0.0.0',
      capacity: machine.capacity,
      runtimes: [this.runtime],
      installation,
      checkPort: installation.checkPort,
      connect: uplink.connect,
      ...(uplink.masters !== undefined && { masters: uplink.masters }),
      ...(uplink.services !== undefined && { services: uplink.services }),
      store: new DiskStore(machine.disk, life),
      metrics,
      clock: life.clock,
      random: life.random.fork('wrapper').next,
      logger,
    });
  }
}
