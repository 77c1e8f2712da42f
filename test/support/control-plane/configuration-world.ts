/** A configurations directory, a store that notes its transactions, and the part under test between them. */
import { mkdtempSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { ConfigurationFiles } from '../../../src/configuration-files/configuration-files.js';
import type { Clock } from '../../../src/loop/clock.js';
import { SystemClock } from '../../../src/loop/system-clock.js';
import { type ConfigurationRecord, configurationRecordSchema } from '../../../src/model/configuration.js';
import { PREFIX } from '../../../src/store/keys.js';
import { MemoryStore } from '../../../src/store/memory/memory-store.js';
import type { Operation } from '../../../src/store/store.js';

export class NotingStore extends MemoryStore {
  /** What was asked for, refused transactions included. */
  readonly transactions: (readonly Operation[])[] = [];
  /** While set, every transaction fails with it. */
  failure: Error | undefined;

  override async transact(operations: readonly Operation[]): Promise<number> {
    this.transactions.push(operations);
    if (this.failure !== undefined) throw this.failure;
    return super.transact(operations);
  }

  /** `put`, `remove` and so on with the key, without revisions. */
  operations(): string[] {
    return this.transactions
      .flat()
      .filter(({ key }) => !key.startsWith(PREFIX.revisions))
      .map((operation) => `${operation.do} ${operation.key.slice(PREFIX.configurations.length)}`);
  }
}

export class ConfigurationWorld {
  readonly root = mkdtempSync(join(tmpdir(), 'drover-configurations-'));
  readonly directory = join(this.root, 'configurations');
  readonly store = new NotingStore();
  readonly log: string[] = [];
  readonly #clock: Clock;
  #files: ConfigurationFiles | undefined;

  constructor(clock: Clock = new SystemClock()) {
    this.#clock = clock;
  }

  get files(): ConfigurationFiles {
    if (this.#files === undefined) throw new Error('open the world first');
    return this.#files;
  }

  /** Stops what runs and makes a new part over the same store, not started yet. */
  async open(directory = this.directory): Promise<ConfigurationFiles> {
    await this.#files?.stop();
    const logger = pino({ level: 'debug' }, { write: (line: string) => this.log.push(line) });
    this.#files = new ConfigurationFiles({ directory, store: this.store, logger, clock: this.#clock });
    return this.#files;
  }

  /** With these files in the directory, started. */
  async start(files: Record<string, unknown> = {}): Promise<ConfigurationFiles> {
    await mkdir(this.directory, { recursive: true });
    for (const [file, content] of Object.entries(files)) await this.write(file, content);
    const part = await this.open();
    await part.start();
    return part;
  }

  /** Writes in place; anything but a text as JSON. */
  async write(file: string, content: unknown): Promise<void> {
    await writeFile(this.path(file), typeof content === 'string' ? content : JSON.stringify(content));
  }

  async rename(from: string, to: string): Promise<void> {
    await rename(this.path(from), this.path(to));
  }

  async remove(file: string): Promise<void> {
    await rm(this.path(file));
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

  /** `name command file` of everything in the store, by name. */
  async stored(): Promise<string[]> {
    const { entries } = await this.store.list(PREFIX.configurations);
    return entries.map(({ value }) => {
      const { configuration, sourceFile } = configurationRecordSchema.parse(value);
      return `${configuration.name} ${configuration.command} ${sourceFile}`;
    });
  }

  /** `file:line field message` of every error. */
  errors(): string[] {
    return this.files.errors().map(({ file, line, field, message }) => `${file}:${line} ${field} ${message}`);
  }

  /** Log lines whose message holds `text`. */
  lines(text: string): string[] {
    return this.log.filter((line) => line.includes(text));
  }

  async close(): Promise<void> {
    await this.#files?.stop();
    await this.store.close();
    await rm(this.root, { recursive: true, force: true });
  }
}
