/**
 * The form of an entry in the LMDB file: CRC-32 of the key and the rest (4 bytes), revision (8 bytes, a double), JSON
 * text. Another record, under the key 0, sums up the whole file. A store checks both when it opens. In the summary, the
 * writer's number stands in place of the revision.
 */
import { crc32 } from 'node:zlib';
import { z } from 'zod';
import { corruptStore } from '../../model/errors.js';
import type { Entry } from '../store.js';

const CHECKSUM_BYTES = 4;
const HEADER_BYTES = 12;

/** The key of the summary. The keys of entries are strings, so they never equal it. */
export const SUMMARY_KEY = 0;

const summarySchema = z.object({
  format: z.literal(1),
  revision: z.int().min(0),
  entries: z.int().min(0),
  /** The number of the writer, which grows by one with each process that opens the file. */
  writer: z.int().min(0),
});

/**
 * The exponent that makes the first 8 bytes of a summary an ordinary double between 1 and 2. Other doubles, such as
 * NaN, may equal nothing.
 */
const STAMP_EXPONENT = 0x3ff0_0000;
const STAMP_FRACTION = 0x000f_ffff;

/** The summary of the file, written with every group of transactions. */
export type Summary = z.output<typeof summarySchema>;

export function encodeEntry(key: string, revision: number, json: string): Buffer {
  const record = Buffer.allocUnsafe(HEADER_BYTES + Buffer.byteLength(json));
  record.writeDoubleLE(revision, CHECKSUM_BYTES);
  record.write(json, HEADER_BYTES);
  return withChecksum(key, record);
}

/** Reads an entry. Throws DRV_STORE_CORRUPT when a bit of key or value has changed. */
export function decodeEntry(key: string, record: Buffer): Entry {
  if (record.length <= HEADER_BYTES || record.readUInt32LE(0) !== checksum(key, record))
    throw corruptStore(`the checksum of ${key} is wrong`);
  const value: unknown = JSON.parse(record.toString('utf8', HEADER_BYTES));
  return { key, value, revision: record.readDoubleLE(CHECKSUM_BYTES) };
}

export function encodeSummary(summary: Summary): Buffer {
  const json = JSON.stringify(summary);
  const record = Buffer.alloc(HEADER_BYTES + json.length);
  record.writeUInt32LE(STAMP_EXPONENT + (summary.writer & STAMP_FRACTION), CHECKSUM_BYTES);
  record.write(json, HEADER_BYTES);
  return withChecksum(String(SUMMARY_KEY), record);
}

/**
 * The first 8 bytes of a summary: its checksum and its writer. LMDB can compare them with the file in the same
 * transaction that replaces the summary.
 */
export function stampOf(summary: Buffer): number {
  return summary.readDoubleLE(0);
}

/** Reads the summary. Throws DRV_STORE_CORRUPT. */
export function decodeSummary(record: Buffer): Summary {
  const parsed = summarySchema.safeParse(decodeEntry(String(SUMMARY_KEY), record).value);
  if (parsed.success) return parsed.data;
  throw corruptStore('its summary is of a format that this version does not know');
}

function withChecksum(key: string, record: Buffer): Buffer {
  record.writeUInt32LE(checksum(key, record), 0);
  return record;
}

function checksum(key: string, record: Buffer): number {
  return crc32(record.subarray(CHECKSUM_BYTES), crc32(key));
}
