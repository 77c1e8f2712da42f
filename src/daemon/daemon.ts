/**
 * A running node with a master. The executable and end-to-end tests ask it for its state, and stop it with or without
 * its instances. start-daemon.ts puts it together.
 */
import type { DashboardFiles } from '../api/dashboard/dashboard-files.js';
import type { ApiCertificate } from '../channel/trust/api-certificate.js';
import type { Commands } from '../console/commands.js';
import type { Master } from '../master.js';
import { byAge, hasDoneItsWork, type InstanceRecord } from '../model/instance.js';
import type { NodeConfiguration, RuntimeOffer } from '../model/node.js';
import type { RootPaths } from '../node/root.js';
import { visibleInstances } from '../state/instance-writes.js';
import { setAsideOf } from '../state/left-of-record.js';
import type { LookupReader } from '../store/lookup.js';
import type { Logger } from '../telemetry/logger.js';
import type { Wrapper } from '../wrapper.js';
import type { Assembly } from './assembly.js';
import type { StartedMaster } from './start-master.js';

export class Daemon {
  readonly paths: RootPaths;
  readonly configuration: NodeConfiguration;
  readonly logger: Logger;
  readonly master: Master;
  /** The command tree, for the prompt. */
  readonly commands: Commands;
  /** The certificate of the API; undefined: the API has no TLS. */
  readonly apiCertificate: ApiCertificate | undefined;
  readonly dashboard: Pick<DashboardFiles, 'require'>;
  readonly #assembly: Assembly;
  readonly #wrapper: Wrapper;
  readonly #started: StartedMaster;
  /** The instances that are ONLINE or have done their work, by configuration. */
  readonly #standing: LookupReader<string>;

  constructor(assembly: Assembly, wrapper: Wrapper, started: StartedMaster) {
    this.paths = assembly.paths;
    this.configuration = assembly.configuration;
    this.logger = assembly.shared.logger;
    this.master = started.master;
    this.commands = started.commands;
    this.dashboard = started.dashboard;
    this.apiCertificate = started.apiCertificate;
    this.#assembly = assembly;
    this.#wrapper = wrapper;
    this.#started = started;
    this.#standing = started.master.state.instances.lookup((record) =>
      record.desired.goal !== 'remove' && (record.status.state === 'ONLINE' || hasDoneItsWork(record))
        ? [record.configurationName]
        : [],
    );
  }

  /** The base URL of the API, as this machine reaches it. */
  get apiUrl(): string {
    const { host, port } = this.#started.api.address ?? {
      host: this.configuration.address,
      port: this.configuration.apiPort,
    };
    const local = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
    return `${this.apiCertificate === undefined ? 'http' : 'https'}://${local.includes(':') ? `[${local}]` : local}:${port}/api`;
  }

  instances(): InstanceRecord[] {
    return [...visibleInstances(this.master.state)].toSorted(byAge);
  }

  /** The runtimes of this node, and why some of them cannot be used. */
  offers(): readonly RuntimeOffer[] {
    return this.#wrapper.status().offers;
  }

  /** The configuration files whose present content is not in force, one line each. */
  fileErrors(): string[] {
    return this.#started.files
      .errors()
      .map(({ file, line, message }) => `${file}${line === null ? '' : `:${line}`}: ${message}`);
  }

  /** Resolves when every declared minimum is ONLINE or has finished, or after `timeoutMs`. */
  async untilStanding(timeoutMs: number): Promise<void> {
    const { instances } = this.master.state;
    const isStanding = (): boolean => {
      for (const [name, { value }] of this.master.state.configurations.entries()) {
        const setAside = [...setAsideOf(instances.setAside, name)].length;
        const standing = this.#standing.get(name).size + setAside;
        if (standing < value.configuration.minimumServiceCount) return false;
      }
      return true;
    };
    if (isStanding()) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, timeoutMs);
      const unsubscribe = instances.onChange(() => {
        if (!isStanding()) return;
        clearTimeout(timer);
        unsubscribe();
        resolve();
      });
    });
  }

  /** The ids of the instances that live on this node, which `stopInstances` would end. */
  aliveInstances(): readonly string[] {
    return this.#wrapper.aliveInstances();
  }

  /**
   * Ends every instance, with progress, for Ctrl-C. The desired state stays, so the next start brings the instances
   * back.
   */
  async stopInstances(onProgress: (alive: readonly string[]) => void, signal: AbortSignal): Promise<void> {
    await this.#handOver();
    await this.master.term?.controllers.stop();
    await this.#wrapper.stopInstances(onProgress, signal);
  }

  /** Stops every part of the node. Instances go on running for the next daemon. Idempotent. */
  async stop(): Promise<void> {
    try {
      await this.#handOver();
    } finally {
      await this.#assembly.running.stop();
    }
  }

  /**
   * Gives up the lead when there is another master. The only master keeps the lead, because no other master would
   * restart the instances that end here.
   */
  async #handOver(): Promise<void> {
    const { candidate } = this.#started;
    if (candidate.masters().length > 1) await candidate.stop();
  }
}
