/**
 * A running node with a master. The executable and end-to-end tests ask it for its state, and stop it with or without
 * its instances. start-daemon.ts puts it together.
 */
import type { DashboardFiles } from '../api/dashboard/dashboard-files.js';
import type { ApiServer } from '../api/server.js';
import type { ApiCertificate } from '../channel/trust/api-certificate.js';
import type { ConfigurationFiles } from '../configuration-files/configuration-files.js';
import type { Commands } from '../console/commands.js';
import type { Candidate } from '../leadership/candidate.js';
import type { RunningParts } from '../loop/lifecycle.js';
import type { Master } from '../master.js';
import { hasFinished, type InstanceRecord } from '../model/instance.js';
import type { NodeConfiguration, RuntimeOffer } from '../model/node.js';
import type { RootPaths } from '../node/root.js';
import { setAsideOf } from '../state/left-of-record.js';
import type { LookupReader } from '../store/lookup.js';
import type { Logger } from '../telemetry/logger.js';
import type { Wrapper } from '../wrapper.js';

export interface DaemonParts {
  readonly paths: RootPaths;
  readonly configuration: NodeConfiguration;
  readonly logger: Logger;
  readonly master: Master;
  readonly candidate: Candidate;
  readonly wrapper: Wrapper;
  readonly api: ApiServer;
  readonly apiCertificate: ApiCertificate | undefined;
  readonly files: ConfigurationFiles;
  readonly dashboard: Pick<DashboardFiles, 'require'>;
  readonly commands: Commands;
  readonly running: RunningParts;
}

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
  readonly #candidate: Candidate;
  readonly #wrapper: Wrapper;
  readonly #api: ApiServer;
  readonly #files: ConfigurationFiles;
  readonly #running: RunningParts;
  /** The instances that are ONLINE or have finished, by configuration. */
  readonly #standing: LookupReader<string>;

  constructor(parts: DaemonParts) {
    this.paths = parts.paths;
    this.configuration = parts.configuration;
    this.logger = parts.logger;
    this.master = parts.master;
    this.commands = parts.commands;
    this.dashboard = parts.dashboard;
    this.apiCertificate = parts.apiCertificate;
    this.#candidate = parts.candidate;
    this.#wrapper = parts.wrapper;
    this.#api = parts.api;
    this.#files = parts.files;
    this.#running = parts.running;
    this.#standing = parts.master.state.instances.lookup((record) =>
      record.desired.goal !== 'remove' && (record.status.state === 'ONLINE' || hasFinished(record))
        ? [record.configurationName]
        : [],
    );
  }

  /** The base URL of the API, as this machine reaches it. */
  get apiUrl(): string {
    const { host, port } = this.#api.address ?? {
      host: this.configuration.address,
      port: this.configuration.apiPort,
    };
    const local = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
    return `${this.apiCertificate === undefined ? 'http' : 'https'}://${local.includes(':') ? `[${local}]` : local}:${port}/api`;
  }

  instances(): InstanceRecord[] {
    return [...this.master.state.instances.entries()]
      .map(([, { value }]) => value)
      .filter(({ desired }) => desired.goal !== 'remove')
      .toSorted((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
  }

  /** The runtimes of this node, and why some of them cannot be used. */
  offers(): readonly RuntimeOffer[] {
    return this.#wrapper.status().offers;
  }

  /** The configuration files whose present content is not in force, one line each. */
  fileErrors(): string[] {
    return this.#files
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

  /** The ids of the instances that live on this node: those that `stopInstances` would end. */
  aliveInstances(): readonly string[] {
    return this.#wrapper.aliveInstances();
  }

  /**
   * Ends every instance, with progress, for Ctrl-C. The desired state stays, so the next start brings the instances
   * back.
   */
  async stopInstances(onProgress: (alive: readonly string[]) => void, signal: AbortSignal): Promise<void> {
    await this.#handOver();
    await this.master.stopControllers();
    await this.#wrapper.stopInstances(onProgress, signal);
  }

  /** Stops every part of the node. Instances go on running for the next daemon. Idempotent. */
  async stop(): Promise<void> {
    try {
      await this.#handOver();
    } finally {
      await this.#running.stop();
    }
  }

  /**
   * Hands the lead to another master, if there is one. If there is none, nothing starts instances again that end here.
   */
  async #handOver(): Promise<void> {
    if (this.#candidate.masters().length > 1) await this.#candidate.stop();
  }
}
