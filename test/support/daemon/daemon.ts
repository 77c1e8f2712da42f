/**
 * A node under test: the real executable on a temporary root with its own ports. The test starts it, kills it and
 * starts it again. `finish` checks the invariants of RELIABILITY.md and removes everything.
 */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import type { ConfigurationInput } from '../../../src/model/configuration.js';
import type { InstanceInfo } from '../../../src/model/instance.js';
import { prepareRoot, type RootPaths } from '../../../src/node/root.js';
import { ApiClient } from '../api/api-client.js';
import { freePorts } from '../free-ports.js';
import { removeControlGroups } from '../runtime/control-groups.js';
import { until } from '../until.js';
import { expectNothingLeft, untilSettled } from './daemon-invariants.js';
import { DaemonProcess, type DaemonProcessOptions, type Ending } from './daemon-process.js';
import { RootProcesses } from './root-processes.js';

export interface DaemonWorldOptions {
  /** The root. Default: a new temporary directory. */
  readonly root?: string;
  /** For an API over TLS: the PEM that checks it. Default: none, or the cluster's with `apiTls` "cluster". */
  readonly authorityFile?: string;
  /** More fields of config.json. */
  readonly settings?: Readonly<Record<string, unknown>>;
}

export class DaemonWorld {
  readonly paths: RootPaths;
  readonly apiPort: number;
  readonly api: ApiClient;
  readonly processes: RootProcesses;
  /**
   * The configurations whose instances fail on purpose. The final comparison of desired and observed leaves them out.
   */
  readonly failing = new Set<string>();
  readonly #past: string[] = [];
  #daemon: DaemonProcess | undefined;

  private constructor(paths: RootPaths, apiPort: number, authorityFile: string | undefined) {
    this.paths = paths;
    this.apiPort = apiPort;
    this.api = new ApiClient({ apiPort, keyFile: paths.adminKey, authorityFile });
    this.processes = new RootProcesses(paths.rootId);
    this.processes.watch();
  }

  /** Makes the root and its config.json, without starting a daemon. */
  static async create(options: DaemonWorldOptions = {}): Promise<DaemonWorld> {
    const root = options.root ?? mkdtempSync(join(tmpdir(), 'drover-e2e-'));
    const apiPort = await freePorts(2);
    // Enough capacity for every test, on any machine.
    const capacity = { maxRamMB: 65_536, maxCpu: 10_000 };
    const settings = { apiPort, port: apiPort + 1, nodeId: 'node-a', ...capacity, ...options.settings };
    writeFileSync(join(root, 'config.json'), JSON.stringify(settings));
    const paths = await prepareRoot(root);
    const { authorityFile = options.settings?.apiTls === 'cluster' ? paths.apiAuthority : undefined } =
      options;
    return new DaemonWorld(paths, apiPort, authorityFile);
  }

  get root(): string {
    return this.paths.root;
  }

  /** The daemon that runs, or ran last. */
  get daemon(): DaemonProcess {
    if (this.#daemon === undefined) throw new Error('no daemon was started');
    return this.#daemon;
  }

  /** Starts the executable; resolves at once. */
  spawn(options: Omit<DaemonProcessOptions, 'root' | 'uid'> = {}): DaemonProcess {
    if (this.#daemon !== undefined) this.#past.push(this.#daemon.stdout + this.#daemon.stderr);
    this.#daemon = new DaemonProcess({ root: this.root, ...options });
    return this.#daemon;
  }

  /** Starts the executable and waits until the API serves. */
  async start(options: Pick<DaemonProcessOptions, 'parameters' | 'preload' | 'prefix'> = {}): Promise<void> {
    const daemon = this.spawn(options);
    await until(async () => {
      if (!daemon.isRunning) return;
      await this.api.instances();
    });
    expect(daemon.isRunning, `the daemon ended:\n${daemon.stdout}${daemon.stderr}`).toBe(true);
  }

  /** Ends the daemon with a signal. Default: SIGKILL. */
  kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<Ending> {
    return this.daemon.end(signal);
  }

  async restart(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const ending = await this.kill(signal);
    if (signal !== 'SIGKILL') expect(ending).toEqual({ code: 0, signal: null });
    await this.start();
  }

  /** Writes the files of a template, by path. */
  template(group: string, name: string, files: Readonly<Record<string, string>>): void {
    for (const [path, text] of Object.entries(files)) {
      const file = join(this.paths.templates, group, name, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
    }
  }

  /** Writes `configurations/<name>.json`, as an operator does. */
  configure(name: string, fields: Partial<ConfigurationInput> & { readonly command: string }): void {
    // Room for a Node.js program, and no reserved share of the processor: limits hold.
    const small = { runtime: 'process', ramMB: 64, cpu: 0 };
    this.writeConfigurationFile(`${name}.json`, JSON.stringify({ name, ...small, ...fields }, null, 2));
    this.api.writes.forget(name);
  }

  writeConfigurationFile(file: string, text: string): void {
    writeFileSync(join(this.paths.configurations, file), text);
  }

  /**
   * Waits until the running daemon has read the file of a configuration, so that the test can ask for an instance of
   * it.
   */
  untilConfigured(name: string): Promise<void> {
    return until(async () =>
      expect(await this.api.send('GET', `/configurations/${name}`)).toMatchObject({ status: 200 }),
    );
  }

  /** Waits until exactly `count` instances of the configuration are there and ONLINE. */
  untilOnline(configuration: string, count: number): Promise<InstanceInfo[]> {
    return until(async () => {
      const instances = await this.api.instances(configuration);
      expect(instances.map(({ state, message }) => message ?? state)).toEqual(Array(count).fill('ONLINE'));
      return instances;
    });
  }

  /** Waits until the message of the configuration's only instance matches. */
  untilMessage(configuration: string, pattern: RegExp): Promise<InstanceInfo> {
    return until(async () => {
      const [instance] = await this.api.instances(configuration);
      if (instance === undefined) throw new Error(`there is no instance of ${configuration}`);
      expect(instance.message).toMatch(pattern);
      return instance;
    });
  }

  /** Waits for a line in an instance's log. */
  untilLogged(id: string, pattern: RegExp): Promise<string> {
    return until(async () => {
      const lines = await this.api.logs(id);
      const found = lines.find((line) => pattern.test(line));
      if (found === undefined) throw new Error(`no line matches ${pattern}: ${lines.slice(-5).join(' | ')}`);
      return found;
    });
  }

  /**
   * Checks I1, I2 and I4, then removes every configuration, instance and template. The node is then as at its first
   * start.
   */
  async clear(): Promise<void> {
    if (!this.daemon.isRunning) await this.start();
    await this.#checkSettled();
    const statics = new Set(
      (await this.api.configurations()).filter((one) => one.static).map(({ name }) => name),
    );
    for (const directory of [this.paths.configurations, this.paths.templates])
      for (const name of readdirSync(directory))
        if (!name.startsWith('.')) rmSync(join(directory, name), { recursive: true });
    this.failing.clear();
    this.api.writes.clear();
    await until(async () => {
      // Drover wants a confirmation when so many files go at once.
      await this.api.send('POST', '/configuration-files/reload?confirm=true');
      expect(await this.api.configurations()).toEqual([]);
    });
    const instances = await this.api.instances();
    for (const { id } of instances) await this.api.remove(id);
    // Static instances leave their files behind.
    const kept = instances.filter((one) => statics.has(one.configurationName)).map(({ id }) => id);
    await until(async () => {
      expect(await this.processes.marked(), 'processes of instances').toEqual([]);
      expect(kept, 'working directories').toEqual(expect.arrayContaining(readdirSync(this.paths.running)));
    });
    for (const id of kept) rmSync(join(this.paths.running, id), { recursive: true, force: true });
  }

  /**
   * Checks I1 to I4, ends everything, and removes the root. After a failed test it only cleans up and shows the log.
   */
  async finish({ isFailed }: { readonly isFailed: boolean }): Promise<void> {
    try {
      if (isFailed) this.#show();
      else if (this.#daemon !== undefined) await this.#check();
    } finally {
      await this.#cleanUp();
    }
  }

  async #check(): Promise<void> {
    if (!this.daemon.isRunning) await this.start();
    const ports = await this.#checkSettled();
    this.processes.unwatch();
    expect(await this.kill('SIGINT')).toEqual({ code: 0, signal: null });
    await expectNothingLeft(this, ports);
  }

  async #checkSettled(): Promise<number[]> {
    await this.api.writes.check(this.api);
    const ports = await untilSettled(this);
    expect(this.processes.doubles, 'two runs of one instance at once').toEqual([]);
    return ports;
  }

  async #cleanUp(): Promise<void> {
    this.processes.unwatch();
    if (this.#daemon?.isRunning === true) await this.kill('SIGKILL');
    await this.processes.killAll();
    await removeControlGroups(this.paths.rootId);
    rmSync(this.root, { recursive: true, force: true });
  }

  #show(): void {
    const daemon = this.#daemon;
    const last = daemon === undefined ? 'no daemon was started' : daemon.stdout + daemon.stderr;
    for (const output of [...this.#past, last]) console.log(`--- daemon in ${this.root}\n${output}`);
  }
}

/** Tells in an afterEach whether the test that just ran has failed. */
export function failedOf(task: { readonly result?: { readonly state?: string } | undefined }): {
  isFailed: boolean;
} {
  return { isFailed: task.result?.state === 'fail' };
}
