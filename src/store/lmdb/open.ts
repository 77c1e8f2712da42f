/**
 * Opens the embedded store of a directory, or refuses. A file that lost data must never look like an empty or older
 * state, because minimum-service would act on it.
 */
import { existsSync, mkdirSync, renameSync, statSync } from 'node:fs';
import { readdir, rm, rmdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { replaceFile } from '../../files/replace-file.js';
import { syncPath } from '../../files/sync-path.js';
import { ignoreMissing } from '../../files/system-error.js';
import { whileOpen } from '../../files/while-open.js';
import { corruptStore, DroverError, messageOf, storeWriteFailed, unusableRoot } from '../../model/errors.js';
import type { Logger } from '../../telemetry/logger.js';
import type { WriteObserver } from '../embedded-store.js';
import { KeyTable } from '../key-table.js';
import type { Entry, Store, StoreState } from '../store.js';
import { ChangeHistory } from '../watch.js';
import { findDamage } from './lmdb-file.js';
import {
  decodeEntry,
  decodeSummary,
  encodeEntry,
  encodeSummary,
  SUMMARY_KEY,
  type Summary,
} from './lmdb-record.js';
import { type EntryDatabase, LmdbStore, openDatabase } from './lmdb-store.js';
import { makeRoom } from './write-room.js';
import type { FenceOptions } from './writer-fence.js';

export const DATA_FILE = 'store.mdb';
/** The file that marks that a store was made here. If it were missing, a lost data file would look like a new node. */
export const MARKER_FILE = 'store-created';
/** How many checks may fail: a file that another process is writing can look damaged to plain reads for a moment. */
const MOST_CHECKS = 3;

/** True when a store was made in the directory. */
export function wasStoreMade(directory: string): boolean {
  return existsSync(join(directory, MARKER_FILE));
}

interface OpenStoreOptions {
  /**
   * The directory, made with mode 0700 when missing. A process that has this store open already can write no
   * more.
   */
  readonly directory: string;
  /** Watches for the loss of the store. Absent: a process that lost the store learns it only from its next write. */
  readonly fence?: FenceOptions;
  readonly onWrite?: WriteObserver;
  readonly logger?: Logger;
  /** How many changes are kept for watchers. */
  readonly historyCapacity?: number;
}

/**
 * Opens or makes the store, and takes it from every other process. Throws DRV_STORE_CORRUPT when anything that was
 * written is missing or changed. Throws DRV_NODE_ROOT_UNUSABLE when the directory cannot be used, and
 * DRV_STORE_WRITE_FAILED when the disk takes no write.
 */
export async function openStore(options: OpenStoreOptions): Promise<Store> {
  const startedAt = performance.now();
  const file = join(options.directory, DATA_FILE);
  const { database, entries, summary, record } = await openChecked(options.directory, file);
  options.logger?.info(
    { entries: entries.size, revision: summary.revision, ms: Math.round(performance.now() - startedAt) },
    `store ${basename(options.directory)} opened: ${entries.size} entries, all sound`,
  );
  return new LmdbStore({
    file,
    database,
    summary: record,
    remake: (state, writer) => remake(options.directory, state, writer),
    fence: options.fence,
    table: new KeyTable(entries, summary.revision),
    history: new ChangeHistory(summary.revision, options.historyCapacity),
    onWrite: options.onWrite,
    logger: options.logger,
  });
}

/**
 * Makes the store of a directory that has none, from a whole state with its revisions. When it is interrupted, it
 * leaves no store. Throws like `openStore`, and DRV_STORE_CONFLICT when the directory has a store.
 */
export async function fillStore(directory: string, { entries, revision }: StoreState): Promise<void> {
  const file = join(directory, DATA_FILE);
  if (existsSync(file) || wasStoreMade(directory))
    throw new DroverError(
      'DRV_STORE_CONFLICT',
      wasStoreMade(directory)
        ? `${directory} holds a store already; move that directory away first`
        : `${directory} holds a store that was not finished; remove that directory first`,
    );
  await writeFiles(directory, { entries, revision }, 0);
}

async function writeFiles(
  directory: string,
  { entries, revision }: StoreState,
  writer: number,
): Promise<void> {
  const file = join(directory, DATA_FILE);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const records = entries.map(
    ({ key, revision: of, value }) => [key, encodeEntry(key, of, JSON.stringify(value))] as const,
  );
  await whileOpen(openDatabase(file), async (database) => {
    makeRoom(file, records);
    database.transactionSync(() => {
      for (const [key, record] of records) void database.put(key, record);
      const summary = { format: 1, revision, entries: entries.length, writer } as const;
      void database.put(SUMMARY_KEY, encodeSummary(summary));
    });
  });
  await mark(directory);
}

/** Removes a directory that holds only files of a store; it may be missing. */
export async function removeStoreFiles(directory: string): Promise<void> {
  for (const name of (await readdir(directory).catch(ignoreMissing)) ?? []) await rm(join(directory, name));
  await rmdir(directory).catch(ignoreMissing);
}

/** Makes the files of an open store anew, from a whole state. A crash leaves all of them, or none. */
async function remake(directory: string, state: StoreState, writer: number): Promise<void> {
  const fresh = `${directory}.new`;
  await removeStoreFiles(fresh);
  await writeFiles(fresh, state, writer);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  for (const name of [DATA_FILE, MARKER_FILE]) renameSync(join(fresh, name), join(directory, name));
  await syncPath(directory);
  await removeStoreFiles(fresh);
}

interface Content {
  readonly database: EntryDatabase;
  readonly entries: Map<string, Entry>;
  readonly summary: Summary;
  /** The summary that this process wrote. */
  readonly record: Buffer;
}

async function openChecked(directory: string, file: string): Promise<Content> {
  let database: EntryDatabase | undefined;
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const wasMade = wasStoreMade(directory);
    checkFile(file, wasMade);
    database = openDatabase(file);
    if (!wasMade) await makeNew(database, directory);
    return { database, ...takeOver(database) };
  } catch (error) {
    await database?.close();
    throw explain(error, file);
  }
}

/** Checks the file with plain reads, before LMDB opens it. */
function checkFile(file: string, wasMade: boolean): void {
  const bytes = existsSync(file) ? statSync(file).size : undefined;
  if (wasMade && bytes === undefined) throw corruptStore('it is missing, but a store was made here');
  if (wasMade && bytes === 0) throw corruptStore('it is empty, but a store was made here');
  if (bytes === undefined || bytes === 0) return;
  let damage: string | undefined;
  for (let checks = 0; checks < MOST_CHECKS; checks++) {
    damage = findDamage(file);
    if (damage === undefined) return;
  }
  throw corruptStore(damage ?? '');
}

/**
 * Makes the store at the first start, or after a start that ended before the marker was written. In both
 * cases no write was acknowledged yet.
 */
async function makeNew(database: EntryDatabase, directory: string): Promise<void> {
  database.transactionSync(() => {
    if (database.get(SUMMARY_KEY) === undefined && database.getKeysCount() === 0)
      void database.put(SUMMARY_KEY, encodeSummary({ format: 1, revision: 0, entries: 0, writer: 0 }));
  });
  await mark(directory);
}

async function mark(directory: string): Promise<void> {
  await replaceFile(join(directory, MARKER_FILE), `${new Date().toISOString()}\n`);
}

function readAll(database: EntryDatabase): { entries: Map<string, Entry>; summary: Summary } {
  const record = database.get(SUMMARY_KEY);
  if (record === undefined) throw corruptStore('its summary record is missing');
  const summary = decodeSummary(record);
  const entries = new Map<string, Entry>();
  for (const key of database.getKeys({})) {
    if (key === SUMMARY_KEY) continue;
    if (typeof key !== 'string') throw corruptStore('it holds a key that Drover never writes');
    // Search for each key, instead of only walking over the leaves: a damaged branch page can hide an entry
    // from a search. Take a buffer of its own: getBinaryFast returns a larger buffer, and newer versions of
    // Node.js see all of it.
    const bytes = database.getBinary(key);
    if (bytes === undefined) throw corruptStore(`${key} cannot be found by its key`);
    const entry = decodeEntry(key, bytes);
    if (entry.revision > summary.revision) throw corruptStore(`${key} is newer than the file itself`);
    entries.set(key, entry);
  }
  if (entries.size !== summary.entries)
    throw corruptStore(`it holds ${entries.size} entries, but ${summary.entries} were written`);
  return { entries, summary };
}

/**
 * Reads everything, and makes this process the writer: from here on every other process with the store open
 * is refused. It does both in a single transaction, so that nothing is written in between. A write
 * transaction reads without a place in LMDB's table of readers, which processes with the same pid in two
 * containers cannot share.
 */
function takeOver(database: EntryDatabase): Omit<Content, 'database'> {
  let content: Omit<Content, 'database'> | undefined;
  try {
    return database.transactionSync(() => {
      const { entries, summary } = readAll(database);
      const record = encodeSummary({ ...summary, writer: summary.writer + 1 });
      content = { entries, summary, record };
      void database.put(SUMMARY_KEY, record);
      return content;
    });
  } catch (error) {
    if (content === undefined || isDamage(error)) throw error;
    throw storeWriteFailed(messageOf(error), { cause: error });
  }
}

/**
 * True when the content of the file is damaged, which LMDB's own errors say (`MDB_…`). The exception is
 * MDB_MAP_FULL. Errors of the disk come from the system.
 */
function isDamage(error: unknown): boolean {
  return /^MDB_(?!MAP_FULL)/.test(messageOf(error));
}

function explain(error: unknown, file: string): DroverError {
  if (DroverError.is(error, 'DRV_STORE_WRITE_FAILED'))
    return new DroverError(
      error.code,
      `the store ${file} cannot be written (${error.message}); make room or check the disk`,
    );
  if (error instanceof Error && 'syscall' in error)
    return unusableRoot(`the store ${file} cannot be used: ${error.message}`, { cause: error });
  return corruptStore(
    `the store ${file} is damaged: ${messageOf(error)}. Nothing was changed. Set what is broken aside with "drover store repair", restore a backup with "drover store restore", or move its directory away to start empty; after the last two start with --accept-older`,
    { cause: error },
  );
}
