/**
 * A whole store as a file. The head has the number of entries and a checksum of the whole file. A line for each entry
 * follows: the CRC-32 of its JSON text, a space, and that text. Files of format 1 have no checksums.
 */
import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';
import { z } from 'zod';
import { readRegular } from '../files/read-regular.js';
import { removeUnfinishedWrites, replaceFile } from '../files/replace-file.js';
import { ignoreMissing } from '../files/system-error.js';
import { corruptStore, DroverError, messageOf } from '../model/errors.js';
import { problemOf } from '../model/public-message.js';
import type { Entry, StoreState } from './store.js';

/** The age at which a temporary file beside a backup is one of a backup that was cut off, which holds secrets. */
const CUT_OFF_MS = 3_600_000;
const CHECKED_LINE = /^([0-9a-f]{8}) (.*)$/s;

const counts = { revision: z.int().min(0), entries: z.int().min(0) };
const headSchema = z.discriminatedUnion('format', [
  z.strictObject({ drover: z.literal('store backup'), format: z.literal(1), ...counts }),
  z.strictObject({ drover: z.literal('store backup'), format: z.literal(2), ...counts, sha256: z.string() }),
]);

const entrySchema = z.strictObject({ key: z.string().min(1), revision: z.int().min(1), value: z.json() });

/** `isChecked` false: a file of format 1, in which a changed byte may go unnoticed. */
export interface Backup extends StoreState {
  readonly isChecked: boolean;
}

/**
 * Writes the file with mode 0600, because it holds hashes of keys and all configurations. Throws
 * DRV_DISK_WRITE_FAILED, also for a path that is a directory, a pipe or a device.
 */
export async function writeBackup(file: string, { entries, revision }: StoreState): Promise<void> {
  const body = entries.map(lineOf).join('');
  try {
    const present = await stat(file).catch(ignoreMissing);
    if (present?.isFile() === false) throw new Error('it is not a regular file');
    await removeUnfinishedWrites(dirname(file), CUT_OFF_MS);
    await replaceFile(file, `${headOf({ revision, entries: entries.length }, body)}\n${body}`);
  } catch (error) {
    throw new DroverError('DRV_DISK_WRITE_FAILED', `${file} cannot be written: ${messageOf(error)}`);
  }
}

/**
 * Reads a file that `writeBackup`, or an earlier version of it, made. Throws DRV_STORE_CORRUPT for another file, and
 * for a file in which anything is missing or changed.
 */
export async function readBackup(file: string): Promise<Backup> {
  try {
    const text = await readRegular(file);
    const end = text.indexOf('\n');
    const head = headSchema.parse(JSON.parse(text.toString('utf8', 0, end)));
    const body = text.subarray(end + 1);
    const lines = String(body).replace(/\n$/, '').split('\n');
    const entries = head.entries === 0 && body.length === 0 ? [] : lines.map(readerOf(head.format));
    if (entries.length !== head.entries)
      throw new Error(`it holds ${entries.length} entries, but says ${head.entries}`);
    const isChecked = head.format === 2;
    if (isChecked && headOf(head, body) !== text.toString('utf8', 0, end))
      throw new Error('its checksum is wrong: the file was changed after it was written');
    return { entries, revision: head.revision, isChecked };
  } catch (error) {
    throw corruptStore(
      `${file} is no whole backup of a store: ${problemOf(error)}; nothing was changed, take another backup`,
    );
  }
}

/** The head of a file of format 2. Its checksum covers the rest of the head too. */
function headOf({ revision, entries }: { revision: number; entries: number }, body: string | Buffer): string {
  const head = { drover: 'store backup', format: 2, revision, entries };
  const sha256 = createHash('sha256').update(JSON.stringify(head)).update(body).digest('hex');
  return JSON.stringify({ ...head, sha256 });
}

function lineOf({ key, revision, value }: Entry): string {
  const json = JSON.stringify({ key, revision, value });
  return `${checksumOf(json)} ${json}\n`;
}

function readerOf(format: 1 | 2): (line: string, index: number) => Entry {
  return (line, index) => {
    const [, checksum, json = ''] = format === 2 ? (CHECKED_LINE.exec(line) ?? []) : [line, undefined, line];
    // The head is line 1.
    if (format === 2 && checksum !== checksumOf(json))
      throw new Error(`the checksum of line ${index + 2} is wrong${nameIn(json)}`);
    return entrySchema.parse(JSON.parse(json));
  };
}

/** The key in the text of a broken record, as far as it can be told. */
function nameIn(json: string): string {
  const [, key] = /^\{"key":"([\w/.:@-]+)"/.exec(json) ?? [];
  return key === undefined ? '' : ` (${key})`;
}

function checksumOf(json: string): string {
  return crc32(json).toString(16).padStart(8, '0');
}
