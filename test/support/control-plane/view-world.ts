/** Several masters over one store, each with a directory of configurations of its own. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { ConfigurationFollower } from '../../../controllers/master/configurations/follower.js';
import { Bases } from '../../../controllers/master/directories/bases.js';
import { ConfigurationFiles } from '../../../src/configuration-files/configuration-files.js';
import { LocalFiles } from '../../../src/configuration-files/local-files.js';
import { transactionOf } from '../../../src/configuration-files/record-edits.js';
import { DirectorySource } from '../../../src/configuration-files/source.js';
import { cloneOperations, newestCommitOf } from '../../../src/git/newest-commit.js';
import { RunningParts } from '../../../src/loop/lifecycle.js';
import { SystemClock } from '../../../src/loop/system-clock.js';
import { configurationRecordSchema } from '../../../src/model/configuration.js';
import { DroverError } from '../../../src/model/errors.js';
import { MasterState } from '../../../src/state/master-state.js';
import { PREFIX } from '../../../src/store/keys.js';
import { Metrics } from '../../../src/telemetry/metrics.js';
import { MemoryStore } from '../store/memory-store.js';

export class ViewWorld {
  readonly root = mkdtempSync(join(tmpdir(), 'drover-views-'));
  readonly store = new MemoryStore();
  /** The masters that cannot reach the leader. */
  readonly cut = new Set<string>();
  readonly #masters = new Map<string, ViewMaster>();

  /** Starts a master, or starts it again. */
  async start(nodeId: string): Promise<ViewMaster> {
    const master = new ViewMaster(this, nodeId);
    this.#masters.set(nodeId, master);
    await master.start();
    return master;
  }

  masterOf(nodeId: string): ViewMaster {
    const master = this.#masters.get(nodeId);
    if (master === undefined) throw new Error('not started');
    return master;
  }

  /** All records by name, as `name command`. */
  async records(): Promise<string[]> {
    const { entries } = await this.store.list(PREFIX.configurations);
    return entries.map(({ value }) => {
      const { configuration } = configurationRecordSchema.parse(value);
      return `${configuration.name} ${configuration.command}`;
    });
  }

  async close(): Promise<void> {
    for (const master of this.#masters.values()) await master.stop();
    await this.store.close();
    await rm(this.root, { recursive: true, force: true });
  }
}

class ViewMaster {
  readonly log: string[] = [];
  /** How many transactions of records this master has asked for. */
  transactions = 0;
  readonly #world: ViewWorld;
  readonly #nodeId: string;
  readonly #running = new RunningParts();
  #parts: { readonly view: ConfigurationFollower; readonly files: ConfigurationFiles } | undefined;

  constructor(world: ViewWorld, nodeId: string) {
    this.#world = world;
    this.#nodeId = nodeId;
  }

  get files(): ConfigurationFiles {
    if (this.#parts === undefined) throw new Error('not started');
    return this.#parts.files;
  }

  get view(): ConfigurationFollower {
    if (this.#parts === undefined) throw new Error('not started');
    return this.#parts.view;
  }

  get directory(): string {
    return join(this.#world.root, this.#nodeId, 'configurations');
  }

  async start(): Promise<void> {
    const { store, root } = this.#world;
    await mkdir(this.directory, { recursive: true });
    const clock = new SystemClock();
    const logger = pino({ level: 'debug' }, { write: (line: string) => this.log.push(line) });
    const nodeId = this.#nodeId;
    const state = new MasterState(store, logger);
    const newest = newestCommitOf('configurations', state.clones, {
      write: (edits) => store.transact(cloneOperations(edits)),
    });
    const source = new DirectorySource({ nodeId, directory: this.directory, newest, logger, clock });
    const { configurations, overrides, timetables } = state;
    const view = new ConfigurationFollower({
      source,
      localFiles: new LocalFiles(source),
      configurations,
      overrides,
      timetables,
      store,
      door: {
        write: async (edits) => {
          this.transactions++;
          if (this.#world.cut.has(nodeId)) throw new DroverError('DRV_STORE_UNAVAILABLE', 'no master leads');
          return store.transact(await transactionOf(edits, nodeId, { ...state, clock, logger }));
        },
      },
      bases: new Bases({ path: join(root, nodeId, 'data/views/configurations.json'), store, logger }),
      metrics: new Metrics(),
      clock,
      random: () => 0.5,
      logger,
    });
    const files = new ConfigurationFiles({
      source,
      follower: view,
      editor: view,
      configurations,
      overrides,
      timetables,
      logger,
      clock,
    });
    this.#parts = { view, files };
    await this.#running.start(state);
    await this.#running.start(files);
  }

  async stop(): Promise<void> {
    await this.#running.stop();
  }

  path(file: string): string {
    return join(this.directory, file);
  }

  /** Writes a file, as an operator does. */
  async edit(file: string, content: object | string): Promise<void> {
    const text = typeof content === 'string' ? content : JSON.stringify(content);
    await writeFile(this.path(file), text);
  }

  /** Removes files in one turn, so that no look sees only some of them gone. */
  async delete(...files: readonly string[]): Promise<void> {
    for (const file of files) rmSync(this.path(file));
  }

  /** All files as `file command`. */
  commands(): string[] {
    return readdirSync(this.directory)
      .filter((file) => !file.startsWith('.'))
      .sort()
      .map((file) => `${file} ${/"command": ?"([^"]*)"/.exec(readFileSync(this.path(file), 'utf8'))?.[1]}`);
  }

  /** All conflicts as `name kind`. */
  conflicts(): string[] {
    return this.view.conflicts().map(({ name, kind }) => `${name} ${kind}`);
  }
}
