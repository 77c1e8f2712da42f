/**
 * The form of a store in etcd. The value of an entry is its revision, a space and its JSON text; a long value is
 * deflated, after a `z`. Another key sums up the whole store, and every write changes it.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { z } from 'zod';
import { corruptStore, messageOf } from '../../model/errors.js';
import { attempt } from '../../model/plain/attempt.js';
import type { Entry } from '../store.js';

/**
 * The size from which a value is deflated. Requests to etcd have a size limit, 1.5 MiB by default, and one
 * request may store a file of 1 MiB in two records.
 */
const DEFLATED_FROM_BYTES = 32 * 1024;
const DEFLATED = 'z'.charCodeAt(0);

const revisionSchema = z.int().min(1);

const summarySchema = z.object({
  format: z.literal(1),
  /** The revision of the last transaction. */
  revision: z.int().min(0),
  entries: z.int().min(0),
  /** The session and the number of the last write, which tell whether a write without an answer took effect. */
  session: z.string(),
  write: z.int().min(0),
});

/** The summary of the store, written with every transaction. */
export type Summary = z.output<typeof summarySchema>;

export function encodeEntry(revision: number, json: string): Buffer {
  const text = Buffer.from(`${revision} ${json}`);
  if (text.length < DEFLATED_FROM_BYTES) return text;
  return Buffer.concat([Buffer.of(DEFLATED), deflateRawSync(text)]);
}

/** Reads an entry. Throws DRV_STORE_CORRUPT when `encodeEntry` did not make `value`. */
export function decodeEntry(key: string, value: Buffer): Entry {
  try {
    const text = (value[0] === DEFLATED ? inflateRawSync(value.subarray(1)) : value).toString();
    const space = text.indexOf(' ');
    const revision = revisionSchema.parse(Number(text.slice(0, space)));
    return { key, value: JSON.parse(text.slice(space + 1)), revision };
  } catch (error) {
    throw corruptStore(`${key} cannot be read: ${messageOf(error)}`);
  }
}

/** Reads the summary. Throws DRV_STORE_CORRUPT. */
export function decodeSummary(value: Buffer): Summary {
  const summary = summaryOf(value);
  if (summary !== undefined) return summary;
  throw corruptStore('its summary is of a format that this version does not know');
}

/** The summary; undefined: a newer version of Drover wrote the value, or something other than Drover did. */
export function summaryOf(value: Buffer): Summary | undefined {
  return decodeJson(summarySchema, value);
}

/** The value of a summary, of a leader key, or of a master's own key. */
export function encodeJson(value: object): Buffer {
  return Buffer.from(JSON.stringify(value));
}

/**
 * The value of a leader key or of a master's own key; undefined: there is no value, or it is not of this
 * schema.
 */
export function decodeJson<T>(schema: z.ZodType<T>, value: Buffer | undefined): T | undefined {
  if (value === undefined) return undefined;
  return attempt(() => schema.safeParse(JSON.parse(value.toString())).data);
}
