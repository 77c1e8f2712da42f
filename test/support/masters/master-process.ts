/** A master under test that shares its state with other masters on etcd: the executable on a root of its own. */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { prepareRoot, type RootPaths } from '../../../src/node/root.js';
import { ApiClient } from '../api/api-client.js';
import { drover } from '../cluster/member.js';
import { DaemonProcess } from '../daemon/daemon-process.js';
import { RootProcesses } from '../daemon/root-processes.js';
import { freePorts } from '../free-ports.js';
import { until } from '../until.js';

interface MasterProcessOptions {
  readonly nodeId: string;
  readonly endpoints: readonly string[];
  readonly prefix: string;
  /** The root of a master whose keys this master gets. Default: it makes its own keys. */
  readonly keysOf?: Pick<RootPaths, 'adminKey' | 'cluster'>;
  /** More fields of config.json. */
  readonly settings?: Readonly<Record<string, unknown>>;
}

export class MasterProcess {
  readonly nodeId: string;
  readonly paths: RootPaths;
  readonly api: ApiClient;
  /** The `host:port` of the cluster port. */
  readonly clusterAddress: string;
  readonly #outputs: DaemonProcess[] = [];
  readonly #processes: RootProcesses;

  private constructor(nodeId: string, paths: RootPaths, apiPort: number) {
    this.nodeId = nodeId;
    this.paths = paths;
    this.#processes = new RootProcesses(paths.rootId);
    this.clusterAddress = `127.0.0.1:${apiPort + 1}`;
    this.api = new ApiClient({ apiPort, keyFile: paths.adminKey, authorityFile: undefined });
  }

  /** Makes the root, without starting the master. */
  static async create({
    nodeId,
    endpoints,
    prefix,
    keysOf,
    settings,
  }: MasterProcessOptions): Promise<MasterProcess> {
    const root = mkdtempSync(join(tmpdir(), `drover-${nodeId}-`));
    const apiPort = await freePorts(2);
    const store = { kind: 'etcd', endpoints, prefix };
    const fields = { apiPort, port: apiPort + 1, nodeId, store, ...settings };
    writeFileSync(join(root, 'config.json'), JSON.stringify(fields));
    const paths = await prepareRoot(root);
    if (keysOf !== undefined) {
      copyFileSync(keysOf.adminKey, paths.adminKey);
      const key = join(paths.cluster, 'cluster.key');
      mkdirSync(dirname(key), { recursive: true, mode: 0o700 });
      copyFileSync(join(keysOf.cluster, 'cluster.key'), key);
    }
    return new MasterProcess(nodeId, paths, apiPort);
  }

  /** Makes the root by `drover join --as-master` with a token of `master`, without starting the new master. */
  static async join(
    nodeId: string,
    master: MasterProcess,
    settings: Readonly<Record<string, unknown>> = {},
  ): Promise<MasterProcess> {
    const root = mkdtempSync(join(tmpdir(), `drover-${nodeId}-`));
    const apiPort = await freePorts(2);
    writeFileSync(join(root, 'config.json'), JSON.stringify({ apiPort, port: apiPort + 1, ...settings }));
    const [token = ''] = (await drover('token', '--root', master.paths.root, '--as-master')).split('\n');
    const where = ['--master', master.clusterAddress, '--root', root, '--node-id', nodeId];
    await drover('join', token, '--as-master', ...where);
    const paths = await prepareRoot(root);
    return new MasterProcess(nodeId, paths, apiPort);
  }

  get process(): DaemonProcess {
    const last = this.#outputs.at(-1);
    if (last === undefined) throw new Error(`master ${this.nodeId} was not started`);
    return last;
  }

  /** The output of all its processes. */
  get output(): string {
    return this.#outputs.map(({ stdout, stderr }) => stdout + stderr).join('\n');
  }

  /** Starts the master. `parameters`: further parameters of `start`. */
  spawn(parameters: readonly string[] = []): void {
    this.#outputs.push(new DaemonProcess({ root: this.paths.root, parameters }));
  }

  /** The leader as this master names it; undefined: this master does not answer. */
  async leader(): Promise<string | null | undefined> {
    try {
      return JSON.parse((await this.api.send('GET', '/ping')).text).leader;
    } catch {
      return undefined;
    }
  }

  /** Resolves with the leader when this master names another leader than `former`. */
  untilLed(former?: string): Promise<string> {
    return until(async () => {
      const leader = await this.leader();
      if (leader == null || leader === former) throw new Error(`${this.nodeId} says that ${leader} leads`);
      return leader;
    });
  }

  /** Ends the process and removes the root. */
  async remove(): Promise<void> {
    const last = this.#outputs.at(-1);
    if (last?.isRunning === true) {
      last.signal('SIGCONT');
      await last.end('SIGKILL');
    }
    await this.#processes.killAll();
    rmSync(this.paths.root, { recursive: true, force: true });
  }
}
