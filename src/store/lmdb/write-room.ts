/**
 * Meets a disk that is full or read-only before LMDB does. The package `lmdb` damages the memory of this process when
 * the system refuses to open or to write one of its files. So the files are opened, and room for each commit is made,
 * by plain calls first.
 */
import { closeSync, fchmodSync, fstatSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { readMetaOf } from './lmdb-file.js';

/** The pages that any commit may need: those of the summary and of the lists of free pages. */
const SPARE_PAGES = 16;
/** The pages that LMDB copies for an entry: those on the way to it. */
const PAGES_ON_WAY = 4;
/** More than LMDB takes for its lock. */
const LOCK_BYTES = 16_384;
/** More than LMDB writes when it makes a file. */
const NEW_FILE_BYTES = 65_536;
const ZEROS = Buffer.alloc(65_536);

/**
 * Makes missing files, for this user only, because LMDB would let the group read them. Throws the system's error when
 * LMDB could not open them for writing.
 */
export function prepareFiles(file: string): void {
  const opened: number[] = [];
  const openAlso = (path: string): number => {
    const fd = openSync(path, 'a', 0o600);
    opened.push(fd);
    fchmodSync(fd, 0o600);
    return fd;
  };
  try {
    // As many as LMDB holds open at once.
    openAlso(file);
    openAlso(file);
    const lock = openAlso(`${file}-lock`);
    if (fstatSync(lock).size > 0) return;
    // LMDB maps its lock into memory. Where the disk has no room for it, a signal would end this process.
    extend(lock, 0, LOCK_BYTES + NEW_FILE_BYTES);
    ftruncateSync(lock, LOCK_BYTES);
  } finally {
    for (const fd of opened) closeSync(fd);
  }
}

/**
 * Makes room in `file` for a commit of these records and of the summary; undefined removes a key. Throws the system's
 * error when the disk is full or read-only.
 */
export function makeRoom(file: string, records: readonly (readonly [string, Buffer | undefined])[]): void {
  const bytes = records.reduce((sum, [key, record]) => sum + 2 * key.length + (record?.length ?? 0), 0);
  const fd = openSync(file, 'r+');
  try {
    const first = readMetaOf(fd, 0, 0);
    const { pageSize } = first;
    const used = 1 + Math.max(first.lastPage, readMetaOf(fd, 1, pageSize).lastPage);
    // A page may be half full, and a value may have a page of its own.
    const fresh = records.length + Math.ceil((2 * bytes) / pageSize);
    const copied = Math.min(PAGES_ON_WAY * records.length, used);
    extend(fd, fstatSync(fd).size, pageSize * (used + SPARE_PAGES + copied + fresh));
  } finally {
    closeSync(fd);
  }
}

/** Writes zeros from the end of a file up to `end`, so that the file has its room on the disk. */
function extend(fd: number, size: number, end: number): void {
  for (let at = size; at < end; ) at += writeSync(fd, ZEROS, 0, Math.min(ZEROS.length, end - at), at);
}
