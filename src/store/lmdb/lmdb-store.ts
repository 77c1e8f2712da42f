/**
 * The embedded durable store. Each group of transactions is one LMDB transaction, flushed before callers and
 * watchers hear of it. `openStore` checks the file and makes the store. Memory holds all entries too, so reads
 * never wait for the disk.
 */
import { lstatSync, type Stats, statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { open, type RootDatabase } from 'lmdb';
import { isInPlace } from '../../files/in-place.js';
import { hasFileCode, isMissing } from '../../files/system-error.js';
import { DroverError, messageOf, storeWriteFailed } from '../../model/errors.js';
import { systemReason } from '../../model/words.js';
import type { Logger } from '../../telemetry/logger.js';
import { EmbeddedStore, type WriteObserver } from '../embedded-store.js';
import type { Accepted, KeyTable } from '../key-table.js';
import type { StoreState } from '../store.js';
import type { ChangeHistory } from '../watch.js';
import { decodeSummary, encodeEntry, encodeSummary, SUMMARY_KEY } from './lmdb-record.js';
import { makeRoom, prepareFiles } from './write-room.js';
import { type FenceOptions, WriterFence } from './writer-fence.js';

export type EntryDatabase = RootDatabase<Buffer, string | number>;

/**
 * Opens an LMDB file with full durability, and creates it when missing. Throws the system's error when the disk is full
 * or read-only.
 */
export function openDatabase(file: string): EntryDatabase {
  prepareFiles(file);
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
  /** Makes the files anew, from a whole state and the number of its writer. */
  readonly remake: (state: StoreState, writer: number) => Promise<void>;
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
  readonly #remake: LmdbStoreOptions['remake'];
  #stat: Stats;
  #remaking: Promise<void> | undefined;
  readonly #fence: WriterFence;
  #isWriting = false;
  /** True after a failed write, which the log has told. */
  #isFailing = false;
  /** The open database; undefined after a failed commit, until the next commit opens it again. */
  #database: EntryDatabase | undefined;

  constructor(options: LmdbStoreOptions) {
    super(options.table, options.history, options.onWrite);
    this.#file = options.file;
    this.#logger = options.logger;
    this.#database = options.database;
    this.#remake = options.remake;
    this.#stat = statSync(options.file);
    this.#writer = decodeSummary(options.summary).writer;
    this.#fence = new WriterFence({
      ...options.fence,
      file: options.file,
      summary: options.summary,
      isOurs: async (stamp) => {
        if (this.#isWriting) return true;
        await this.#restore();
        // Another file at the path is the store of another process, or one that an operator has put there.
        if (!isInPlace(this.#file, this.#stat)) return false;
        return (await this.#database?.ifVersion(SUMMARY_KEY, stamp, nothing)) ?? true;
      },
    });
  }

  protected async write(group: readonly Accepted[]): Promise<void> {
    try {
      await this.#restore();
      this.#isWriting = true;
      this.#database ??= this.#reopen();
      await this.#commit(this.#database, group);
      if (this.#isFailing) this.#logger?.info('the store can write to disk again');
      this.#isFailing = false;
    } catch (error) {
      const cause = await causeOf(error);
      // Close the file, so that the next commit opens it anew: LMDB may hold on to a failed state.
      await this.#close();
      const failure = DroverError.is(error, 'DRV_STORE_FENCED') ? error : await this.#describe(error, cause);
      if (!this.#isFailing) this.#logger?.error({ transactions: group.length }, failure.message);
      this.#isFailing = true;
      throw failure;
    } finally {
      this.#isWriting = false;
    }
  }

  protected async release(): Promise<void> {
    this.#fence.stop();
    await this.#remaking?.catch(nothing);
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
    const records = [...texts].map(
      ([key, { text, revision: of }]) =>
        [key, text === undefined ? undefined : encodeEntry(key, of, text)] as const,
    );
    makeRoom(this.#file, records);
    // LMDB compares and writes in one transaction. False: nothing was written.
    const isOurs = await database.ifVersion(SUMMARY_KEY, this.#fence.stamp, () => {
      for (const [key, record] of records) {
        if (record === undefined) void database.remove(key);
        else void database.put(key, record);
      }
      void database.put(SUMMARY_KEY, summary);
    });
    if (!isOurs) throw this.#fence.lose();
    this.#fence.moveTo(summary);
  }

  /** Makes the files anew when they were removed or renamed from outside: memory holds all that was in them. */
  async #restore(): Promise<void> {
    if (this.#remaking === undefined && !isThere(this.#file)) this.#remaking = this.#makeAnew();
    await this.#remaking?.finally(() => {
      this.#remaking = undefined;
    });
  }

  async #makeAnew(): Promise<void> {
    await this.#close();
    const { revision } = this.table;
    const entries = this.table.list('');
    await this.#remake({ entries, revision }, this.#writer);
    this.#stat = statSync(this.#file);
    this.#fence.moveTo(encodeSummary({ format: 1, revision, entries: entries.length, writer: this.#writer }));
    this.#database = this.#reopen();
    this.#logger?.error(
      { entries: entries.length },
      `the store ${this.#file} was removed or renamed while Drover used it: it was made anew from memory, nothing is lost`,
    );
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

  async #describe(error: unknown, cause: string): Promise<DroverError> {
    const free = await statfs(dirname(this.#file)).then(
      ({ bavail, bsize }) => `${Math.floor((bavail * bsize) / 1024)} kB free`,
      () => 'free space unknown',
    );
    const reason = systemReason(error) ?? cause;
    const [told, cure] = hasFileCode(error, 'EROFS')
      ? [reason, 'mount the disk writable']
      : [`${reason}; ${free}`, 'make room or check the disk'];
    return storeWriteFailed(`the store could not write to disk (${told}) and nothing was changed; ${cure}`, {
      cause: error,
    });
  }
}

/** Returns the error with LMDB's own message, which a promise on it gives soon after. */
async function causeOf(error: unknown): Promise<string> {
  if (!(error instanceof Error) || !('commitError' in error)) return messageOf(error);
  return Promise.resolve(error.commitError).then(() => error.message, messageOf);
}

function isThere(file: string): boolean {
  try {
    lstatSync(file);
    return true;
  } catch (error) {
    return !isMissing(error);
  }
}

function nothing(): void {}
