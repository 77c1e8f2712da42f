/** Reads one object of a pack of git by the pack's index (version 2), without reading the whole of either. */
import type { FileHandle } from 'node:fs/promises';
import { inflateSync } from 'node:zlib';
import { readAt, readUpTo, withFile } from './bounded-file.js';
import { applyDelta } from './delta.js';
import { offsetAt } from './index-file.js';

/** Larger objects are not read: a commit or a tree is far smaller. */
export const MAX_OBJECT_BYTES = 16 * 1024 * 1024;

export interface FoundObject {
  /** `commit`, `tree`, `blob` or `tag`. */
  readonly type: string;
  readonly content: Buffer;
}

export interface ObjectReader {
  /** Undefined: it is not there, larger than 16 MiB, or broken. `hash`: in hex. */
  read(hash: string): Promise<FoundObject | undefined>;
  /** Called before an object is unpacked; false: enough was unpacked. It ends chains that have no end. */
  spend(bytes: number): boolean;
}

const TYPES = new Map([
  [1, 'commit'],
  [2, 'tree'],
  [3, 'blob'],
  [4, 'tag'],
]);
const OFFSET_DELTA = 6;
const HASH_DELTA = 7;
const IDX_MAGIC = 0xff744f63;
const FAN_OUT_AT = 8;
const HASHES_AT = FAN_OUT_AT + 256 * 4;
const HEAD_BYTES = 64;

interface Entry {
  readonly kind: number;
  /** Of what the entry unpacks to: the object, or the delta. */
  readonly size: number;
  readonly dataAt: number;
  /** Of the object that the delta changes: its place in the pack, or its hash. */
  readonly base: number | string | undefined;
}

/** `pack`: its path without `.pack`. `reader`: for a base that is elsewhere. Undefined: the pack does not have it whole. */
export async function objectInPack(
  pack: string,
  hash: string,
  reader: ObjectReader,
): Promise<FoundObject | undefined> {
  const offset = await withFile(`${pack}.idx`, (file) => offsetOf(file, hash));
  if (offset === undefined) return undefined;
  return withFile(`${pack}.pack`, (file) => objectAt(file, { offset, hashBytes: hash.length / 2, reader }));
}

interface Wanted {
  readonly offset: number;
  readonly hashBytes: number;
  readonly reader: ObjectReader;
}

async function objectAt(
  file: FileHandle,
  { offset, hashBytes, reader }: Wanted,
): Promise<FoundObject | undefined> {
  const deltas: Buffer[] = [];
  let next: number | string = offset;
  while (typeof next === 'number') {
    const entry = await entryAt(file, next, hashBytes);
    const data = entry && reader.spend(entry.size) ? await unpack(file, entry) : undefined;
    if (entry === undefined || data === undefined) return undefined;
    const type = TYPES.get(entry.kind);
    if (type !== undefined) return rebuilt({ type, content: data }, deltas);
    if (entry.base === undefined) return undefined;
    deltas.push(data);
    next = entry.base;
  }
  const base = await reader.read(next);
  return base && rebuilt(base, deltas);
}

/** The deltas stand in the order in which they were found: the last one is applied first. */
function rebuilt({ type, content }: FoundObject, deltas: readonly Buffer[]): FoundObject | undefined {
  let result: Buffer | undefined = content;
  for (const delta of deltas.toReversed()) result = result && applyDelta(result, delta, MAX_OBJECT_BYTES);
  return result && { type, content: result };
}

async function entryAt(file: FileHandle, offset: number, hashBytes: number): Promise<Entry | undefined> {
  const head = await readUpTo(file, offset, HEAD_BYTES);
  const first = head.at(0);
  if (first === undefined) return undefined;
  const kind = (first >> 4) & 7;
  let size = first & 15;
  let at = 1;
  for (let byte = first, factor = 16; (byte & 0x80) !== 0; factor *= 128) {
    const more = head.at(at++);
    if (more === undefined || size > MAX_OBJECT_BYTES) return undefined;
    size += (more & 0x7f) * factor;
    byte = more;
  }
  if (kind === HASH_DELTA) {
    const base = head.toString('hex', at, at + hashBytes);
    return { kind, size, dataAt: offset + at + hashBytes, base };
  }
  if (kind !== OFFSET_DELTA) return { kind, size, dataAt: offset + at, base: undefined };
  const back = offsetAt(head, at, head.length);
  // A base stands before its deltas, so a chain cannot be a circle.
  if (back === undefined || back.value < 1 || back.value > offset) return undefined;
  return { kind, size, dataAt: offset + back.next, base: offset - back.value };
}

async function unpack(file: FileHandle, { size, dataAt }: Entry): Promise<Buffer | undefined> {
  if (size > MAX_OBJECT_BYTES) return undefined;
  // What zlib makes of bytes that cannot be made smaller, and some more; the rest of the pack behind them is passed over.
  const packed = await readUpTo(file, dataAt, size + Math.ceil(size / 1000) + 128);
  const content = inflateSync(packed, { maxOutputLength: Math.max(size, 1) });
  return content.length === size ? content : undefined;
}

/** Where the pack has the object. */
async function offsetOf(file: FileHandle, hash: string): Promise<number | undefined> {
  const head = await readAt(file, 0, HASHES_AT);
  if (head === undefined || head.readUInt32BE(0) !== IDX_MAGIC || head.readUInt32BE(4) !== 2)
    return undefined;
  const countBelow = (first: number): number => (first < 0 ? 0 : head.readUInt32BE(FAN_OUT_AT + first * 4));
  const wanted = Buffer.from(hash, 'hex');
  const total = countBelow(255);
  const first = wanted.readUInt8(0);
  const place = await search(file, wanted, { from: countBelow(first - 1), to: countBelow(first) });
  if (place === undefined) return undefined;
  // Behind the hashes: a checksum of 4 bytes for each, then 4 bytes of each one's offset, then the large offsets.
  const offsetsAt = HASHES_AT + total * (wanted.length + 4);
  const offset = (await readAt(file, offsetsAt + place * 4, 4))?.readUInt32BE(0);
  if (offset === undefined || offset < 0x80000000) return offset;
  const largeAt = offsetsAt + total * 4 + (offset - 0x80000000) * 8;
  const large = (await readAt(file, largeAt, 8))?.readBigUInt64BE(0);
  return large === undefined || large > BigInt(Number.MAX_SAFE_INTEGER) ? undefined : Number(large);
}

async function search(
  file: FileHandle,
  wanted: Buffer,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<number | undefined> {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const found = await readAt(file, HASHES_AT + middle * wanted.length, wanted.length);
    if (found === undefined) return undefined;
    const order = Buffer.compare(found, wanted);
    if (order === 0) return middle;
    if (order < 0) low = middle + 1;
    else high = middle;
  }
  return undefined;
}
