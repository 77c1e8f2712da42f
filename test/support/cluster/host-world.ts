/**
 * A master and wrappers as real processes on separate hosts (hosts.ts), joined by real tokens. Needs root and `npm run
 * build`.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { ConfigurationInput } from '../../../src/model/configuration.js';
import type { InstanceInfo } from '../../../src/model/instance.js';
import { prepareRoot, type RootPaths } from '../../../src/node/root.js';
import { ApiClient } from '../api/api-client.js';
import { SocketClient } from '../api/socket-client.js';
import { DaemonProcess } from '../daemon/daemon-process.js';
import { RootProcesses } from '../daemon/root-processes.js';
import { removeControlGroups } from '../runtime/control-groups.js';
import { until } from '../until.js';
import { Hosts } from './hosts.js';

const API_PORT = 7000;
const TOKEN = /drvjoin_[\w-]+/;

interface HostNode {
  readonly paths: RootPaths;
  readonly processes: RootProcesses;
  daemon: DaemonProcess | undefined;
}

export class HostWorld {
  readonly hosts: Hosts;
  readonly #directory: string;
  readonly #nodes = new Map<string, HostNode>();
  readonly #apis = new Map<string, ApiClient>();
  readonly #sockets: SocketClient[] = [];

  private constructor(hosts: Hosts, directory: string) {
    this.hosts = hosts;
    this.#directory = directory;
  }

  /** The hosts, with nothing running on them yet. */
  static create(names: readonly string[]): HostWorld {
    return new HostWorld(Hosts.create(names), mkdtempSync(join(tmpdir(), 'drover-hosts-')));
  }

  /** Starts the master and one wrapper per name, and waits until all have joined. */
  static async start(wrappers: readonly string[]): Promise<HostWorld> {
    const world = HostWorld.create(['master', ...wrappers]);
    try {
      await world.make('master', { isMasterNode: true });
      world.spawn('master');
      await until(() => world.api.instances());
      const joinToken = TOKEN.exec(await world.command('cluster token create --uses any'))?.[0];
      const masterAddress = world.hosts.addressOf('master');
      for (const name of wrappers) {
        await world.make(name, { isMasterNode: false, masterAddress, joinToken });
        world.spawn(name);
      }
      await world.untilConnected(['master', ...wrappers]);
      return world;
    } catch (error) {
      const said = world.output();
      await world.close();
      throw new Error(`${error instanceof Error ? error.message : error}\n${said}`);
    }
  }

  /** The API of the host `master`. */
  get api(): ApiClient {
    return this.apiOf('master');
  }

  apiOf(master: string): ApiClient {
    let api = this.#apis.get(master);
    if (api === undefined) {
      const keyFile = join(this.#directory, master, 'data', 'admin.key');
      api = new ApiClient({ host: this.hosts.addressOf(master), apiPort: API_PORT, keyFile });
      this.#apis.set(master, api);
    }
    return api;
  }

  /** The base URL of a master's API. */
  urlOf(master: string): string {
    return `http://${this.hosts.addressOf(master)}:${API_PORT}/api`;
  }

  /** The output of all daemons. */
  output(): string {
    return [...this.#nodes]
      .map(([name, { daemon }]) => `--- ${name}\n${daemon?.stdout}${daemon?.stderr}`)
      .join('\n');
  }

  paths(name: string): RootPaths {
    return this.#node(name).paths;
  }

  spawn(name: string): void {
    const node = this.#node(name);
    node.daemon = new DaemonProcess({ root: node.paths.root, prefix: this.hosts.on(name) });
  }

  signal(name: string, signal: NodeJS.Signals): void {
    this.#node(name).daemon?.signal(signal);
  }

  isRunning(name: string): boolean {
    return this.#node(name).daemon?.isRunning === true;
  }

  async end(name: string, signal: NodeJS.Signals): Promise<void> {
    await this.#node(name).daemon?.end(signal);
  }

  /** The pids of the instances' processes on a host, by instance id. */
  async running(name: string): Promise<Map<string, number>> {
    const marked = await this.#node(name).processes.marked();
    return new Map(marked.filter(({ isLeader }) => isLeader).map(({ instanceId, pid }) => [instanceId, pid]));
  }

  async command(command: string, master = 'master'): Promise<string> {
    const { status, text } = await this.apiOf(master).send('POST', '/commands/execute', { command });
    expect(status, text).toBe(200);
    const { output } = JSON.parse(text);
    return String(output);
  }

  configure(name: string, fields: Partial<ConfigurationInput> & { readonly command: string }): void {
    const small = { runtime: 'process', ramMB: 64, cpu: 0 };
    const file = join(this.paths('master').configurations, `${name}.json`);
    writeFileSync(file, JSON.stringify({ name, ...small, ...fields }));
  }

  untilOnline(configuration: string, count: number): Promise<InstanceInfo[]> {
    return until(async () => {
      const online = (await this.api.instances(configuration)).filter(({ state }) => state === 'ONLINE');
      expect(online).toHaveLength(count);
      return online;
    });
  }

  /** Removes every configuration and instance, and waits until no process of an instance runs anywhere. */
  async dismissAll(): Promise<void> {
    const instances = await this.api.instances();
    for (const name of new Set(instances.map(({ configurationName }) => configurationName)))
      await this.api.send('DELETE', `/configurations/${name}`);
    for (const { id } of await this.api.instances()) await this.api.send('DELETE', `/instances/${id}`);
    await until(async () => {
      const left = await Promise.all([...this.#nodes.keys()].map((name) => this.running(name)));
      expect(left.flatMap((running) => [...running.keys()])).toEqual([]);
    });
  }

  /** Waits until the API says that exactly these nodes are connected. */
  untilConnected(names: readonly string[], master = 'master'): Promise<void> {
    return until(async () => {
      const { text } = await this.apiOf(master).send('GET', '/metrics');
      const connected = [...text.matchAll(/^drover_node_connected\{node="([^"]+)"\} 1$/gm)].map(
        ([, node]) => node,
      );
      expect(connected.sort()).toEqual([...names].sort());
    });
  }

  async liveLog(id: string, query = ''): Promise<SocketClient> {
    const url = `${this.urlOf('master')}/instances/${id}/live-log${query}`;
    const client = await SocketClient.open(url, {
      token: readFileSync(this.paths('master').adminKey, 'utf8').trim(),
    });
    this.#sockets.push(client);
    return client;
  }

  async close(): Promise<void> {
    for (const { websocket } of this.#sockets) websocket.terminate();
    await Promise.all([...this.#nodes.keys()].map((name) => this.end(name, 'SIGKILL')));
    const doubles: string[] = [];
    for (const { processes, paths } of this.#nodes.values()) {
      processes.unwatch();
      doubles.push(...processes.doubles);
      await processes.killAll();
      await removeControlGroups(paths.rootId);
    }
    this.hosts.close();
    rmSync(this.#directory, { recursive: true, force: true });
    expect(doubles, 'two runs of one instance at once').toEqual([]);
  }

  /** Makes the root of a node, without starting it. */
  async make(name: string, settings: Readonly<Record<string, unknown>>): Promise<void> {
    const paths = await prepareRoot(join(this.#directory, name));
    const address = this.hosts.addressOf(name);
    const capacity = { maxRamMB: 4096, maxCpu: 1000 };
    const fields = { nodeId: name, address, apiPort: API_PORT, ...capacity, ...settings };
    writeFileSync(paths.configFile, JSON.stringify(fields), { mode: 0o600 });
    const processes = new RootProcesses(paths.rootId);
    processes.watch();
    this.#nodes.set(name, { paths, processes, daemon: undefined });
  }

  #node(name: string): HostNode {
    const node = this.#nodes.get(name);
    if (node === undefined) throw new Error(`there is no node ${name}`);
    return node;
  }
}
