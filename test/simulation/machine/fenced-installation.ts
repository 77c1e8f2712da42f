/**
 * The effects of one life of a daemon on the directories, caches and ports of its machine. There are no files: the
 * machine remembers their content. Each effect takes time; when the daemon dies, it is there whole or not at all.
 */

import type { CallPeer } from '../../../src/channel/protocol/calls.js';
import { NO_LOG } from '../../../src/channel/services/log-ranges.js';
import { requestBundle } from '../../../src/channel/services/template-relay.js';
import type { LogBatch, LogPosition } from '../../../src/logs/log-batch.js';
import type { LogRange } from '../../../src/logs/log-range.js';
import type { FoundLines } from '../../../src/logs/search/log-search.js';
import { DroverError } from '../../../src/model/errors.js';
import type { NamedPort, Protocols } from '../../../src/model/fields/ports.js';
import type { LogPlace } from '../../../src/model/run/past-exit.js';
import { stopSettingsOf } from '../../../src/model/stopping.js';
import type { Desired } from '../../../src/node/desired-copy.js';
import type { Installation } from '../../../src/runtime/installation/local-installation.js';
import type { PortCheck } from '../../../src/runtime/ports.js';
import type { StartSpec } from '../../../src/runtime/runtime.js';
import { HAS_STOP_COMMAND, STOP_TIMEOUT_MS } from '../stop-ladders.js';
import type { Life } from './life.js';
import type { MachineLogs } from './logs.js';

/** The part of a machine's disk and network that installations touch. */
export interface MachineFiles {
  readonly cachedDigests: Set<string>;
  /** Instances with a working directory, and what it was made from. */
  readonly directories: Map<string, string>;
  readonly logs: MachineLogs;
  isPortTaken(port: Omit<NamedPort, 'name'>): boolean;
}

/** Variables of a fake start by which the world knows what it was made from. */
export const RESTART_TOKEN = 'RESTART_TOKEN';
/** The content that a start was made from. */
export const REVISION = 'REVISION';
export const HAS_READINESS = 'HAS_READINESS';

const SLOW_MS = 20;

export class FencedInstallation implements Installation {
  readonly #files: MachineFiles;
  readonly #life: Life;

  constructor(files: MachineFiles, life: Life) {
    this.#files = files;
    this.#life = life;
  }

  isCached(digest: string): boolean {
    return this.#files.cachedDigests.has(digest);
  }

  async fetch(digest: string, calls: CallPeer | undefined, signal: AbortSignal): Promise<undefined> {
    const received: Buffer[] = [];
    for await (const bytes of requestBundle(calls, digest, signal)) received.push(bytes);
    if (Buffer.concat(received).toString() !== digest)
      throw new DroverError('DRV_TEMPLATE_CORRUPT', `the tree ${digest} is not what its name says`);
    await this.#life.request('caching a tree', this.#ms(), () => this.#files.cachedDigests.add(digest));
  }

  install({ assignment }: Desired): Promise<readonly string[]> {
    const digests = assignment.templates.map(({ digest }) => digest ?? 'none');
    return this.#life.request('an install', this.#ms(), () => {
      const lacking = digests.find((digest) => !this.isCached(digest));
      if (lacking !== undefined)
        throw new DroverError('DRV_TEMPLATE_UNKNOWN', `the tree ${lacking} is not in the cache`);
      this.#files.directories.set(assignment.id, digests.join(','));
      return [];
    });
  }

  launchSpec({ assignment, configuration }: Desired, run: number): StartSpec {
    const { command, timeoutMs } = stopSettingsOf(configuration);
    return {
      instanceId: assignment.id,
      run,
      command: configuration.command,
      workingDirectory: '/',
      environment: {
        [RESTART_TOKEN]: String(assignment.restartToken),
        [REVISION]: assignment.revision,
        [HAS_STOP_COMMAND]: String(command !== null),
        [STOP_TIMEOUT_MS]: String(timeoutMs),
        [HAS_READINESS]: String(configuration.readiness !== undefined),
      },
      ramMB: configuration.ramMB,
      cpu: configuration.cpu,
      port: assignment.port,
      ports: assignment.ports,
    };
  }

  remove(id: string): Promise<void> {
    return this.#life.request('removing a directory', this.#ms(), () => {
      this.#files.directories.delete(id);
    });
  }

  async directories(): Promise<readonly string[]> {
    return [...this.#files.directories.keys()];
  }

  async directorySizes(): Promise<ReadonlyMap<string, number>> {
    return new Map();
  }

  readonly checkPort = (port: number, protocol: Protocols = 'both'): Promise<PortCheck> =>
    this.#life.request('a port check', this.#ms() / 10, () =>
      this.#files.isPortTaken({ port, protocol })
        ? { free: false, protocol: protocol === 'udp' ? 'udp' : 'tcp' }
        : { free: true },
    );

  async readLogs(): Promise<{ lines: string[]; totalLines: number }> {
    return { lines: [], totalLines: 0 };
  }

  async readLogRange(): Promise<LogRange> {
    return NO_LOG;
  }

  async searchLog(): Promise<FoundLines> {
    return { lines: [], next: null };
  }

  async readLogTimes(): Promise<[]> {
    return [];
  }

  async *followLogs(id: string, position: LogPosition, signal: AbortSignal): AsyncGenerator<LogBatch> {
    const { logs } = this.#files;
    let next = 'since' in position ? position.since : logs.nextLine(id);
    while (!signal.aborted) {
      const lines = logs.from(id, next);
      if (lines.length > 0) yield { kind: 'lines', firstLine: next, lines };
      else await this.#moreLines(id, signal);
      next += lines.length;
    }
  }

  nextLogLine(id: string): Promise<number> {
    return this.#life.request('counting lines', this.#ms() / 10, () => this.#files.logs.nextLine(id));
  }

  logLineAt(_id: string, { segment }: LogPlace): Promise<number> {
    return this.#life.request('finding a line', this.#ms() / 10, () => segment);
  }

  async readOutput(): Promise<{ lines: string[]; isKept: boolean }> {
    return { lines: [], isKept: true };
  }

  /** Resolves some time after the next line, or when `signal` aborts. */
  #moreLines(id: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        stopWatching();
        signal.removeEventListener('abort', end);
        resolve();
      };
      const stopWatching = this.#files.logs.watch(id, () => this.#life.after(this.#ms(), end));
      signal.addEventListener('abort', end);
    });
  }

  #ms(): number {
    return this.#life.random.between(0.1, SLOW_MS);
  }
}
