/**
 * A directory of configurations, a store that records its transactions, and between them the part that reads the files,
 * and what follows it.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import type { ConfigurationFiles } from '../../../src/configuration-files/configuration-files.js';
import { buildSoleFiles } from '../../../src/daemon/sole-files.js';
import type { Clock } from '../../../src/loop/clock.js';
import { RunningParts } from '../../../src/loop/lifecycle.js';
import { SystemClock } from '../../../src/loop/system-clock.js';
import {
  type ConfigurationRecord,
  configurationRecordSchema,
  configurationSchema,
} from '../../../src/model/configuration.js';
import { configurationHistorySchema } from '../../../src/model/configuration-history.js';
import type { ConfigurationWrites } from '../../../src/model/plain/configuration-writes.js';
import { MasterState } from '../../../src/state/master-state.js';
import { PREFIX } from '../../../src/store/keys.js';
import type { Operation } from '../../../src/store/store.js';
import { Metrics } from '../../../src/telemetry/metrics.js';
import { MemoryStore } from '../store/memory-store.js';

class NotingStore extends MemoryStore {
  /** The transactions that were asked for, including refused ones. */
  readonly transactions: (readonly Operation[])[] = [];
  /** While set, every transaction fails with this error, after the next `takes` ones have passed. */
  failure: Error | undefined;
  takes = 0;
  /** A write of another client, made just before the next transaction. */
  rival: readonly Operation[] | undefined;

  override async transact(operations: readonly Operation[]): Promise<number> {
    this.transactions.push(operations);
    if (this.failure !== undefined && this.takes-- <= 0) throw this.failure;
    const { rival } = this;
    this.rival = undefined;
    if (rival !== undefined) await super.transact(rival);
    return super.transact(operations);
  }

  /** The operations on configurations, such as `put` with the key. */
  operations(): string[] {
    return this.transactions
      .flat()
      .filter(({ key }) => key.startsWith(PREFIX.configurations))
      .map((operation) => `${operation.do} ${operation.key.slice(PREFIX.configurations.length)}`);
  }
}

interface WorldOptions {
  readonly directory?: string;
  readonly nodeId?: string;
  readonly writes?: ConfigurationWrites | undefined;
}

export class ConfigurationWorld {
  readonly root = mkdtempSync(join(tmpdir(), 'drover-configurations-'));
  readonly directory = join(this.root, 'configurations');
  readonly store = new NotingStore();
  readonly log: string[] = [];
  readonly #clock: Clock;
  #files: ConfigurationFiles | undefined;
  #running = new RunningParts();

  constructor(clock: Clock = new SystemClock()) {
    this.#clock = clock;
  }

  get files(): ConfigurationFiles {
    if (this.#files === undefined) throw new Error('open the world first');
    return this.#files;
  }

  /** Stops what runs and makes a new part over the same store, without starting it. `nodeId`: the node of the files. */
  async open({
    directory = this.directory,
    nodeId = 'n1',
    writes,
  }: WorldOptions = {}): Promise<ConfigurationFiles> {
    await this.#stop();
    const { store } = this;
    const clock = this.#clock;
    const logger = pino({ level: 'debug' }, { write: (line: string) => this.log.push(line) });
    const state = new MasterState(store, logger);
    const files = buildSoleFiles({
      nodeId,
      paths: { configurations: directory, data: join(this.root, 'data') },
      writes,
      state,
      store,
      metrics: new Metrics(),
      clock,
      random: () => 0.5,
      logger,
    });
    await this.#running.start(state);
    this.#files = files;
    return files;
  }

  /** Writes these files into the directory and starts a part on it. */
  async start(files: Record<string, unknown> = {}): Promise<ConfigurationFiles> {
    await mkdir(this.directory, { recursive: true });
    for (const [file, content] of Object.entries(files)) await this.write(file, content);
    const part = await this.open();
    await part.start();
    return part;
  }

  /** Writes a file in place; content that is not a text becomes JSON. */
  async write(file: string, content: unknown): Promise<void> {
    await writeFile(this.path(file), typeof content === 'string' ? content : JSON.stringify(content));
  }

  async rename(from: string, to: string): Promise<void> {
    await rename(this.path(from), this.path(to));
  }

  /** Removes files in one turn, so that no look sees only some of them gone. */
  async remove(...files: readonly string[]): Promise<void> {
    for (const file of files) rmSync(this.path(file));
  }

  async read(file: string): Promise<string> {
    return readFile(this.path(file), 'utf8');
  }

  path(file: string): string {
    return join(this.directory, file);
  }

  async record(name: string): Promise<ConfigurationRecord | undefined> {
    const entry = await this.store.get(PREFIX.configurations + name);
    return entry === undefined ? undefined : configurationRecordSchema.parse(entry.value);
  }

  /** The configurations in the store, by name, as `name command file`. */
  async stored(): Promise<string[]> {
    const { entries } = await this.store.list(PREFIX.configurations);
    return entries.map(({ value }) => {
      const { configuration, sourceFile } = configurationRecordSchema.parse(value);
      return `${configuration.name} ${configuration.command} ${sourceFile}`;
    });
  }

  /** The kept contents of a configuration as `number command file`, with who wrote it and how it ended. */
  async history(name: string): Promise<string[]> {
    const entry = await this.store.get(PREFIX.histories + name);
    if (entry === undefined) return [];
    const { contents } = configurationHistorySchema.parse(entry.value);
    const lines = contents.map(async ({ number, revision, file, key, end }) => {
      const content = await this.store.get(PREFIX.revisions + revision);
      const { command } = configurationSchema.parse(content?.value);
      const who = key === null ? '' : ` by ${key}`;
      return `${number} ${command} ${file}${who}${end === undefined ? '' : `: ${end.outcome}`}`;
    });
    return Promise.all(lines);
  }

  /** The errors as `file:line field message`. */
  errors(): string[] {
    return this.files.errors().map(({ file, line, field, message }) => `${file}:${line} ${field} ${message}`);
  }

  /** The log lines whose message holds `text`. */
  lines(text: string): string[] {
    return this.log.filter((line) => line.includes(text));
  }

  async close(): Promise<void> {
    await this.#stop();
    await this.store.close();
    await rm(this.root, { recursive: true, force: true });
  }

  async #stop(): Promise<void> {
    await this.#files?.stop();
    await this.#running.stop();
    this.#running = new RunningParts();
  }
}
