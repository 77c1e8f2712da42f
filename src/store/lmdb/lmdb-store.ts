/**
 * The embedded durable store. Each group of transactions is one LMDB transaction, flushed before callers and
 * watchers hear of it. `openStore` checks the file and makes the store. Memory holds all entries too, so reads
 * never wait for the disk.
 */
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { open, type RootDatabase } from 'lmdb';
import { DroverError, messageOf } from '../../model/errors.js';
import type { Logger } from '../../telemetry/logger.js';
import { EmbeddedStore, type WriteObserver } from '../embedded-store.js';
import type { Accepted, KeyTable } from '../key-table.js';
import type { ChangeHistory } from '../watch.js';
import { decodeSummary, encodeEntry, encodeSummary, SUMMARY_KEY } from './lmdb-record.js';
import { type FenceOptions, WriterFence } from './writer-fence.js';

export type EntryDatabase = RootDatabase<Buffer, string | number>;

/** Opens an LMDB file with full durability, and creates it when missing. */
export function openDatabase(file: string): EntryDatabase {
  return open({
    path: file,
    encoding: 'binary',
    // Report a commit only when it is on disk; a failed commit then leaves nothing behind.
    overlappingSync: false,
    // EmbeddedStore makes the groups; waiting for more in the same turn would only add latency.
    eventTurnBatching: false,
  });
}

interface LmdbStoreOptions {
  readonly file: string;
  readonly database: EntryDatabase;
  /** The summary that this process wrote when it opened the store. */
  readonly summary: Buffer;
  readonly fence?: FenceOptions | undefined;
  readonly table: KeyTable;
  readonly history: ChangeHistory;
  readonly onWrite?: WriteObserver | undefined;
  readonly logger?: Logger | undefined;
}

export class LmdbStore extends EmbeddedStore {
  readonly #file: string;
  readonly #logger: Logger | undefined;
  readonly #writer: number;
  readonly #fence: WriterFence;
  #isWriting = false;
  /** True while writes fail: only the first failure is logged, because callers try again every second. */
  #isFailing = false;
  /** The open database; undefined after a failed commit, until the next commit opens it again. */
  #database: EntryDatabase | undefined;

  constructor(options: LmdbStoreOptions) {
    super(options.table, options.history, options.onWrite);
    this.#file = options.file;
    this.#logger = options.logger;
    this.#database = options.database;
    this.#writer = decodeSummary(options.summary).writer;
    this.#fence = new WriterFence({
      ...options.fence,
      file: options.file,
      summary: options.summary,
      isOurs: async (stamp) =>
        this.#isWriting || ((await this.#database?.ifVersion(SUMMARY_KEY, stamp, nothing)) ?? true),
    });
  }

  protected async write(group: readonly Accepted[]): Promise<void> {
    this.#isWriting = true;
    try {
      this.#database ??= this.#reopen();
      await this.#commit(this.#database, group);
      if (this.#isFailing) this.#logger?.info(`the store ${this.#file} can be written again`);
      this.#isFailing = false;
    } catch (error) {
      const failure = DroverError.is(error, 'DRV_STORE_FENCED') ? error : await this.#describe(error);
      if (!this.#isFailing) this.#logger?.error({ transactions: group.length }, failure.message);
      this.#isFailing = true;
      // Close the file, so that the next commit opens it anew: LMDB may hold on to a failed state.
      await this.#close();
      throw failure;
    } finally {
      this.#isWriting = false;
    }
  }

  protected async release(): Promise<void> {
    this.#fence.stop();
    await this.#close();
  }

  async #close(): Promise<void> {
    const database = this.#database;
    this.#database = undefined;
    await database?.close();
  }

  async #commit(database: EntryDatabase, group: readonly Accepted[]): Promise<void> {
    const { texts, entries, revision } = this.sumOf(group);
    const summary = encodeSummary({ format: 1, revision, entries, writer: this.#writer });
    // LMDB compares and writes in one transaction. False: nothing was written.
    const isOurs = await database.ifVersion(SUMMARY_KEY, this.#fence.stamp, () => {
      for (const [key, last] of texts) {
        if (last.text === undefined) void database.remove(key);
        else void database.put(key, encodeEntry(key, last.revision, last.text));
      }
      void database.put(SUMMARY_KEY, summary);
    });
    if (!isOurs) throw this.#fence.lose();
    this.#fence.moveTo(summary);
  }

  #reopen(): EntryDatabase {
    // Reading the stamp throws when this process has lost the store.
    void this.#fence.stamp;
    const database = openDatabase(this.#file);
    const record = database.transactionSync(() => database.get(SUMMARY_KEY));
    const summary = record === undefined ? undefined : decodeSummary(record);
    if (summary?.writer === this.#writer && summary.revision === this.table.revision) return database;
    void database.close();
    if (summary !== undefined && summary.writer !== this.#writer) throw this.#fence.lose();
    throw new Error(
      `the disk is at revision ${summary?.revision}, memory at ${this.table.revision}: Drover must be restarted`,
    );
  }

  async #describe(error: unknown): Promise<DroverError> {
    const cause = await causeOf(error);
    const free = await statfs(dirname(this.#file)).then(
      ({ bavail, bsize }) => `${Math.floor((bavail * bsize) / 1024)} kB free`,
      () => 'free space unknown',
    );
    return new DroverError(
      'DRV_STORE_WRITE_FAILED',
      `the store could not write to disk (${cause}; ${free}) and nothing was changed; make room or check the disk`,
      { cause: error },
    );
  }
}

/**
 * LMDB's own message, which a promise on the error gives soon after. The numbers of pages and buffers in it are left
 * out: they differ each time.
 */
async function causeOf(error: unknown): Promise<string> {
  const message =
    error instanceof Error && 'commitError' in error
      ? await Promise.resolve(error.commitError).then(() => error.message, messageOf)
      : messageOf(error);
  return message.replace(/: Attempting to write page .*$/, '');
}

function nothing(): void {}
