/** A root directory on a real engine. A test makes as many docker runtimes on it as it needs, one for each daemon. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { readLastLines } from '../../../src/logs/tail.js';
import { SystemClock } from '../../../src/loop/system-clock.js';
import type { RunIdentity } from '../../../src/model/run/run-identity.js';
import { DockerRuntime, type DockerRuntimeOptions } from '../../../src/runtime/docker/docker-runtime.js';
import type { StartSpec } from '../../../src/runtime/runtime.js';
import { type ContainerEngine, IMAGE } from './docker-engine.js';

export class DockerWorld {
  readonly engine: ContainerEngine;
  readonly root = mkdtempSync(join(tmpdir(), 'drover-docker-'));
  readonly rootId = randomBytes(6).toString('hex');
  readonly workingDirectory = join(this.root, 'running');
  readonly logsDirectory = join(this.root, 'logs');
  readonly options: DockerRuntimeOptions;
  readonly #runtimes: DockerRuntime[] = [];

  constructor(engine: ContainerEngine) {
    this.engine = engine;
    mkdirSync(this.workingDirectory);
    this.options = {
      rootId: this.rootId,
      stateDirectory: join(this.root, 'docker'),
      logsDirectory: this.logsDirectory,
      limits: { segmentBytes: 8 * 1024 * 1024, segments: 4 },
      environment: { DOCKER_HOST: `unix://${engine.socketPath}` },
      random: () => 0,
      clock: new SystemClock(),
      logger: pino({ enabled: false }),
    };
  }

  /** A runtime as a new daemon makes it. Earlier runtimes are not released. */
  runtime(more: Partial<DockerRuntimeOptions> = {}): DockerRuntime {
    const runtime = new DockerRuntime({ ...this.options, ...more });
    this.#runtimes.push(runtime);
    return runtime;
  }

  spec(instanceId: string, command: string, more: Partial<StartSpec> = {}): StartSpec {
    return {
      instanceId,
      run: 1,
      command,
      workingDirectory: this.workingDirectory,
      environment: { PATH: '/bin' },
      properties: { image: IMAGE },
      ramMB: 16,
      cpu: 50,
      ...more,
    };
  }

  async lines(instanceId: string): Promise<string[]> {
    return (await readLastLines(join(this.logsDirectory, instanceId), 1_000_000)).lines;
  }

  async hasEnded(run: RunIdentity): Promise<boolean> {
    if (!('containerId' in run)) return false;
    return !(await this.engine.inspect(run.containerId)).State.Running;
  }

  /** The ids of this root's containers, including ended ones. */
  async containers(): Promise<string[]> {
    const filters = encodeURIComponent(JSON.stringify({ label: [`drover.root=${this.rootId}`] }));
    const said = await this.engine.ask('GET', `/containers/json?all=true&filters=${filters}`);
    const found: { Id: string }[] = JSON.parse(said);
    return found.map(({ Id }) => Id);
  }

  async close(): Promise<void> {
    await Promise.all(this.#runtimes.map((runtime) => runtime.release()));
    const left = await this.containers();
    await Promise.all(left.map((id) => this.engine.remove(id)));
    rmSync(this.root, { recursive: true });
  }
}
