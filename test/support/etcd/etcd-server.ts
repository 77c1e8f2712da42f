/** Starts real etcd members on ports of the system and in temporary directories, for tests of the store. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '../free-ports.js';
import { until } from '../until.js';

/** False: this machine has no `etcd` (Debian package etcd-server), and tests that need it are skipped. */
export const hasEtcd = spawnSync('etcd', ['--version']).status === 0;

export interface EtcdMember {
  readonly endpoint: string;
  readonly pid: number;
  readonly isRunning: boolean;
  /** Ends the member as `kill -9` does. */
  kill(): Promise<void>;
  /** Starts the member again on its data. Resolves when it answers. */
  start(): Promise<void>;
}

export interface EtcdCluster {
  readonly members: readonly EtcdMember[];
  readonly endpoints: readonly string[];
  /** Ends all members and removes their data. */
  stop(): Promise<void>;
}

/** The place where a member runs. */
interface EtcdPlace {
  readonly address: string;
  /** The program and parameters that become etcd in the same process, such as `ip netns exec host`. */
  readonly prefix: readonly string[];
  /** The directory of its data. Default: a temporary directory. */
  readonly directory?: string | undefined;
}

interface EtcdOptions {
  /** The path of another etcd than the one in the PATH. */
  readonly program?: string;
  readonly members?: number;
  /** A place for each member. Default: all on loopback. */
  readonly places?: readonly EtcdPlace[];
  /** More parameters for each member. */
  readonly parameters?: readonly string[];
  /** `https`, with certificates among the parameters. Default: `http`. */
  readonly scheme?: 'http' | 'https';
}

/** Starts the members. Resolves when every member takes part in the cluster. */
export async function startEtcd(options: EtcdOptions = {}): Promise<EtcdCluster> {
  const { program = 'etcd', parameters = [], scheme = 'http' } = options;
  const loopback: EtcdPlace = { address: '127.0.0.1', prefix: [] };
  const places = options.places ?? Array<EtcdPlace>(options.members ?? 1).fill(loopback);
  const count = places.length;
  const directory = await mkdtemp(join(tmpdir(), 'drover-etcd-'));
  const port = await freePorts(2 * count);
  const peers = places.map(({ address }, n) => `http://${address}:${port + count + n}`);
  const members = places.map((place, n) => {
    const endpoint = `${scheme}://${place.address}:${port + n}`;
    const peer = peers[n] ?? '';
    return new Member(endpoint, [
      ...[...place.prefix, program],
      ...['--name', `m${n}`, '--data-dir', place.directory ?? join(directory, `m${n}`)],
      ...['--listen-client-urls', endpoint, '--advertise-client-urls', endpoint],
      ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer],
      ...['--initial-cluster', peers.map((url, index) => `m${index}=${url}`).join()],
      ...['--heartbeat-interval', '50', '--election-timeout', '500', ...parameters],
    ]);
  });
  const stop = async (): Promise<void> => {
    await Promise.all(members.map((member) => member.kill()));
    await rm(directory, { recursive: true });
  };
  try {
    await Promise.all(members.map((member) => member.start()));
  } catch (error) {
    await stop();
    throw error;
  }
  return { members, endpoints: members.map(({ endpoint }) => endpoint), stop };
}

class Member implements EtcdMember {
  readonly endpoint: string;
  readonly #command: readonly string[];
  #child: ChildProcess | undefined;
  #output = '';

  constructor(endpoint: string, command: readonly string[]) {
    this.endpoint = endpoint;
    this.#command = command;
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  get isRunning(): boolean {
    return this.#child?.exitCode === null && this.#child.signalCode === null;
  }

  async start(): Promise<void> {
    this.#output = '';
    const [program = '', ...parameters] = this.#command;
    const child = spawn(program, parameters, { stdio: ['ignore', 'ignore', 'pipe'] });
    this.#child = child;
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#output = (this.#output + text).slice(-20_000);
    });
    await until(() => {
      if (child.exitCode !== null || child.signalCode !== null)
        throw new Error(`etcd has ended: ${this.#output}`);
      if (!/ready to serve client requests/.test(this.#output)) throw new Error(`not ready: ${this.#output}`);
    });
  }

  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }
}
