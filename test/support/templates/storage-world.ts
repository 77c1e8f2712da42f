/** A storage provider in memory, and the parts of a master that take templates from it, on a temporary directory. */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { StorageDownloads } from '../../../src/templates/storage/storage-download.js';
import { StorageLibrary } from '../../../src/templates/storage/storage-library.js';
import type { StorageProvider } from '../../../src/templates/storage/storage-provider.js';
import { FakeClock } from '../fake-clock.js';
import { type Tree, temporaryDirectory, writeTree } from './template-trees.js';

/** Templates by `<group>/<name>`, each with a version. */
class FakeStorage implements StorageProvider {
  readonly templates = new Map<string, { version: string; tree: Tree }>();
  /** The calls in order, such as `version a/b` and `download a/b`. */
  readonly calls: string[] = [];
  /** While set, every call fails with this error. */
  failWith: Error | undefined;
  /** Awaited by every call. */
  hold: () => Promise<void> = async () => {};

  put(name: string, version: string, tree: Tree): void {
    this.templates.set(name, { version, tree });
  }

  async list(group: string): Promise<readonly string[]> {
    this.calls.push(`list ${group}`);
    await this.hold();
    if (this.failWith !== undefined) throw this.failWith;
    return [...this.templates.keys()].flatMap((key) =>
      key.startsWith(`${group}/`) ? key.slice(group.length + 1) : [],
    );
  }

  async version(group: string, name: string): Promise<string | null> {
    this.calls.push(`version ${group}/${name}`);
    await this.hold();
    if (this.failWith !== undefined) throw this.failWith;
    return this.templates.get(`${group}/${name}`)?.version ?? null;
  }

  async download(group: string, name: string, directory: string): Promise<void> {
    this.calls.push(`download ${group}/${name}`);
    await this.hold();
    if (this.failWith !== undefined) throw this.failWith;
    writeTree(directory, this.templates.get(`${group}/${name}`)?.tree ?? {});
  }
}

export class StorageWorld {
  readonly root = temporaryDirectory();
  readonly directory = join(this.root, 'data/storages');
  readonly downloadsDirectory = join(this.root, 'data/downloads');
  // Later than every file here, so that no file counts as just changed.
  readonly clock = new FakeClock({ startAt: Date.now() + 3_600_000, settleTurns: 30 });
  readonly main = new FakeStorage();
  readonly providers = new Map<string, StorageProvider>([['main', this.main]]);
  readonly log: string[] = [];
  readonly logger = pino(
    { level: 'info' },
    { write: (line) => this.log.push((JSON.parse(line) as { msg: string }).msg) },
  );
  /** The templates that listeners were told of. */
  readonly told: string[] = [];
  downloads: StorageDownloads;
  library: StorageLibrary;

  constructor() {
    mkdirSync(join(this.root, 'data'));
    ({ downloads: this.downloads, library: this.library } = this.#build());
  }

  async start(): Promise<void> {
    await this.downloads.start();
    await this.library.start();
    this.library.onChange((group, name) => this.told.push(`${group}/${name}`));
  }

  /** Replaces the master's parts by new ones on the same directory, as after a restart. */
  async restart(): Promise<void> {
    await this.library.stop();
    ({ downloads: this.downloads, library: this.library } = this.#build());
    await this.start();
  }

  async stop(): Promise<void> {
    await this.library.stop();
    rmSync(this.root, { recursive: true });
  }

  #build(): { downloads: StorageDownloads; library: StorageLibrary } {
    const { clock, logger, providers } = this;
    const downloads = new StorageDownloads({
      providers: { keys: () => [...providers.keys()], get: (key) => providers.get(key) },
      directory: this.downloadsDirectory,
      clock,
      limits: { maxEntries: 100, maxBytes: 10_000 },
      downloadLimitMs: 600_000,
    });
    const library = new StorageLibrary({
      directory: this.directory,
      downloads,
      clock,
      random: () => 1,
      logger,
    });
    return { downloads, library };
  }
}
