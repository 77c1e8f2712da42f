/**
 * A private Docker Engine or Podman for tests: everything that it has is in one temporary directory, and it is ended
 * and removed afterwards. It needs root, Debian's docker.io (or podman, runc and catatonit) and busybox-static, but no
 * network.
 *
 * - `vfs` copies images and needs no support of the kernel; `cgroupfs` needs no systemd.
 * - `--bridge=none --iptables=false` leaves the machine's network alone. Containers are on the host's network, or on a
 *   network that a test makes, whose ports docker-proxy publishes without a rule of iptables.
 * - dockerd starts a containerd of its own below `exec`, and ends it at SIGTERM.
 * - Limits work where the control groups of memory and cpu can be written, v1 or v2.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { pack } from 'tar-stream';
import { messageOf } from '../../../src/model/errors.js';
import { until } from '../until.js';
import { hasTool } from './process-world.js';

/**
 * The image that a test may start: busybox as the few tools of TOOLS. It is small because vfs copies it for each
 * container.
 */
export const IMAGE = 'drover-test:1';
const TOOLS = 'sh cat env head httpd od seq sleep tail touch tr true wc'.split(' ');
const BUSYBOX = '/usr/bin/busybox';
const PATIENCE_MS = 120_000;

/** Starts a Docker Engine that can run IMAGE. Resolves with the reason where that is not possible. */
export async function startEngine(): Promise<ContainerEngine | string> {
  const missing = whyNoEngine('docker.io', ['dockerd', 'containerd', 'runc']);
  return missing ?? startWith(new DockerEngine());
}

/** Starts a Podman that can run IMAGE. Resolves with the reason where that is not possible. */
export async function startPodman(): Promise<ContainerEngine | string> {
  const missing = whyNoEngine('podman, runc, catatonit', ['podman', 'conmon', 'runc', 'catatonit']);
  return missing ?? startWith(new Podman());
}

async function startWith(engine: ContainerEngine): Promise<ContainerEngine | string> {
  try {
    await engine.start();
    await engine.importImage();
    await engine.tryContainer();
    return engine;
  } catch (error) {
    await engine.close();
    return messageOf(error);
  }
}

/** The requirement that this machine lacks for an engine; undefined: it has all of them. */
function whyNoEngine(packages: string, tools: readonly string[]): string | undefined {
  if (process.getuid?.() !== 0) return 'not root';
  for (const tool of tools) if (!hasTool(tool)) return `no ${tool} (Debian: ${packages})`;
  try {
    if (readFileSync(BUSYBOX).includes('/lib64/ld-linux'))
      return `${BUSYBOX} needs libraries (Debian package busybox-static)`;
  } catch {
    return 'no busybox (Debian package busybox-static)';
  }
  return undefined;
}

interface InspectedContainer {
  readonly Config: { readonly Labels: Readonly<Record<string, string>> };
  readonly HostConfig: { readonly PortBindings: object };
  readonly State: { readonly Running: boolean };
}

export abstract class ContainerEngine {
  /** The path is short because podman refuses a long one. */
  protected readonly directory = mkdtempSync(join(tmpdir(), 'drover-dk-'));
  readonly socketPath = join(this.directory, 'engine.sock');
  #daemon: ChildProcess | undefined;

  /** The program that serves the socket, with its parameters. */
  protected abstract command(): readonly [string, ...string[]];

  /** The path of Podman's settings. By default Podman asks for limits that not every machine gives. */
  protected containersConf(): string {
    const path = join(this.directory, 'containers.conf');
    writeFileSync(path, '[containers]\ndefault_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]\n');
    return path;
  }

  /** Starts the engine and waits until it answers. Throws with the end of its log. */
  async start(): Promise<void> {
    const [program, ...parameters] = this.command();
    const path = join(this.directory, 'log');
    const log = openSync(path, 'a');
    // Detached from the test's process group, so that Ctrl-C does not end the engine before its containers.
    this.#daemon = spawn(program, parameters, {
      env: { ...process.env, CONTAINERS_CONF: this.containersConf() },
      stdio: ['ignore', log, log],
      detached: true,
    });
    try {
      await until(() => this.ask('GET', '/_ping'), 2 * PATIENCE_MS);
    } catch {
      throw new Error(`${program} does not answer: ${readFileSync(path, 'utf8').slice(-2000)}`);
    }
  }

  /** Makes IMAGE. */
  async importImage(): Promise<void> {
    const archive = pack();
    for (const name of ['bin', 'tmp', 'etc']) archive.entry({ name, type: 'directory', mode: 0o1777 });
    archive.entry({ name: 'bin/busybox', mode: 0o755 }, readFileSync(BUSYBOX));
    for (const name of TOOLS) archive.entry({ name: `bin/${name}`, type: 'symlink', linkname: 'busybox' });
    archive.finalize();
    const [repo = '', tag = ''] = IMAGE.split(':');
    const answer = await this.ask(
      'POST',
      `/images/create?fromSrc=-&repo=${repo}&tag=${tag}`,
      await buffer(archive),
    );
    const [id] = /sha256:\w+/.exec(answer) ?? [];
    // Podman 4.3 takes no notice of the tag.
    await this.ask('POST', `/images/${id ?? IMAGE}/tag?repo=${repo}&tag=${tag}`);
  }

  /** Runs one container. Throws where containers are not possible, such as inside a container. */
  async tryContainer(): Promise<void> {
    const id = await this.run({ Cmd: ['true'], HostConfig: { NetworkMode: 'host', Init: true } });
    await this.ask('POST', `/containers/${id}/wait`);
    await this.remove(id);
  }

  /** Starts a container of IMAGE that is not Drover's. Resolves with its id. */
  async run(options: object): Promise<string> {
    const created = await this.ask('POST', '/containers/create', { Image: IMAGE, ...options });
    const { Id }: { Id: string } = JSON.parse(created);
    await this.ask('POST', `/containers/${Id}/start`);
    return Id;
  }

  async inspect(id: string): Promise<InspectedContainer> {
    return JSON.parse(await this.ask('GET', `/containers/${id}/json`));
  }

  /**
   * Removes a container, also one that runs. Podman refuses while the container's own end is under way ("container
   * state improper"), so a refusal is asked again until the container is gone.
   */
  async remove(id: string): Promise<void> {
    await until(() =>
      this.ask('DELETE', `/containers/${id}?force=true&v=true`).catch((error: unknown) => {
        if (!messageOf(error).includes(': 404 ')) throw error;
      }),
    );
  }

  /** A test's own question, not through the code that is tested: the answer's body. Throws for a refusal. */
  ask(method: string, path: string, body: object | Buffer = {}): Promise<string> {
    const isTar = Buffer.isBuffer(body);
    const bytes = isTar ? body : Buffer.from(JSON.stringify(body));
    const headers = {
      'Content-Type': isTar ? 'application/x-tar' : 'application/json',
      'Content-Length': method === 'GET' ? 0 : bytes.length,
    };
    return new Promise((resolve, reject) => {
      const { socketPath } = this;
      const asked = request({ socketPath, agent: false, method, path, headers }, async (answer) => {
        const said = await text(answer);
        if ((answer.statusCode ?? 500) < 300) resolve(said);
        else reject(new Error(`${method} ${path}: ${answer.statusCode} ${said}`));
      });
      asked.on('error', reject);
      asked.end(method === 'GET' ? '' : bytes);
    });
  }

  /** Makes the engine hang: the kernel still accepts connections, but no answer comes. */
  freeze(): void {
    this.#daemon?.kill('SIGSTOP');
  }

  thaw(): void {
    this.#daemon?.kill('SIGCONT');
  }

  /** Ends the engine's program. Idempotent. */
  async stop(): Promise<void> {
    const daemon = this.#daemon;
    this.#daemon = undefined;
    if (daemon === undefined || daemon.exitCode !== null || daemon.signalCode !== null) return;
    const exited = once(daemon, 'exit');
    daemon.kill('SIGTERM');
    if ((await Promise.race([exited, wait(PATIENCE_MS, 'late', { ref: false })])) !== 'late') return;
    daemon.kill('SIGKILL');
    await exited;
  }

  /** Ends the engine and removes everything that it had. */
  async close(): Promise<void> {
    await this.stop();
    // An engine that had to be killed leaves mounts behind.
    for (const line of readFileSync('/proc/self/mountinfo', 'utf8').split('\n')) {
      const point = line.split(' ')[4];
      if (point?.startsWith(`${this.directory}/`)) execFileSync('umount', ['-l', point]);
    }
    rmSync(this.directory, { recursive: true });
  }
}

/** A Docker Engine that is stopped ends its containers and its containerd too. */
class DockerEngine extends ContainerEngine {
  protected override command(): readonly [string, ...string[]] {
    const path = (name: string): string => join(this.directory, name);
    mkdirSync(path('data'), { recursive: true });
    const flags = ['--storage-driver=vfs', '--exec-opt=native.cgroupdriver=cgroupfs'];
    const network = ['--bridge=none', '--iptables=false', '--ip6tables=false'];
    const places = [`--data-root=${path('data')}`, `--exec-root=${path('exec')}`, `--pidfile=${path('pid')}`];
    return ['dockerd', `--host=unix://${this.socketPath}`, ...flags, ...network, ...places];
  }
}

/** A Podman that is stopped leaves its containers running: each has a process of its own (conmon) beside it. */
class Podman extends ContainerEngine {
  protected override command(): readonly [string, ...string[]] {
    return ['podman', ...this.#flags, 'system', 'service', '--time=0', `unix://${this.socketPath}`];
  }

  override async close(): Promise<void> {
    execFileSync('podman', [...this.#flags, 'rm', '--all', '--force', '--time=0'], { stdio: 'ignore' });
    await super.close();
  }

  get #flags(): readonly string[] {
    const path = (name: string): string => join(this.directory, name);
    return [
      ...[`--root=${path('data')}`, `--runroot=${path('run')}`, `--tmpdir=${path('tmp')}`],
      ...['--storage-driver=vfs', '--cgroup-manager=cgroupfs', '--runtime=runc', '--events-backend=file'],
    ];
  }
}
