/**
 * Reads git's index, versions 2 to 4: what was last checked out or added, with the state that each file had then. The
 * bytes may be anything: every length is checked, and a fault gives undefined.
 */

/** One file of the index. Times as the system gives them; all numbers are cut to 32 bits, as git does. */
export interface IndexEntry {
  readonly changedSeconds: number;
  readonly changedNanoseconds: number;
  readonly modifiedSeconds: number;
  readonly modifiedNanoseconds: number;
  readonly inode: number;
  readonly mode: number;
  readonly size: number;
  /** The hash of the blob. */
  readonly blob: string;
  /** It was merged with a conflict, or only named for a later `add`: no blob is its content. */
  readonly isUnsettled: boolean;
}

interface EntryHead {
  readonly entry: IndexEntry;
  readonly nameAt: number;
}

const HEAD_BYTES = 12;
const FIELDS_BYTES = 40;
const STAGE_BITS = 0x3000;
const IS_EXTENDED = 0x4000;
const IS_INTENDED = 0x2000;
const MAX_NAME_BYTES = 4096;
/** An extension that a reader must know, because entries are elsewhere too: its name starts with a small letter. */
const REQUIRED = /^[a-z]/;

/**
 * Those of `paths` that the index has. `hashBytes`: 20 or 32. Undefined: the bytes are no index that can be read, such as
 * one that is split over two files.
 */
export function parseIndex(
  bytes: Buffer,
  paths: ReadonlySet<string>,
  hashBytes: number,
): ReadonlyMap<string, IndexEntry> | undefined {
  if (bytes.length < HEAD_BYTES + hashBytes || bytes.toString('latin1', 0, 4) !== 'DIRC') return undefined;
  const version = bytes.readUInt32BE(4);
  if (version < 2 || version > 4) return undefined;
  const entries = new Map<string, IndexEntry>();
  const end = bytes.length - hashBytes;
  const lengths = new Set([...paths].map((path) => Buffer.byteLength(path)));
  let at = HEAD_BYTES;
  let name: Buffer = Buffer.alloc(0);
  for (let left = bytes.readUInt32BE(8); left > 0; left--) {
    const head = headAt(bytes, at, { end, hashBytes, version });
    const named = head && nameAt(bytes, head.nameAt, { end, before: version === 4 ? name : undefined });
    if (head === undefined || named === undefined) return undefined;
    name = named.name;
    // Before version 4 entries are padded with NULs to a multiple of eight bytes.
    at = version === 4 ? named.next : at + Math.ceil((named.next - at) / 8) * 8;
    if (at > end) return undefined;
    const path = lengths.has(name.length) ? name.toString() : undefined;
    if (path !== undefined && paths.has(path)) entries.set(path, head.entry);
  }
  return hasUnknownExtension(bytes, at, end) ? undefined : entries;
}

function headAt(
  bytes: Buffer,
  at: number,
  { end, hashBytes, version }: { readonly end: number; readonly hashBytes: number; readonly version: number },
): EntryHead | undefined {
  const flagsAt = at + FIELDS_BYTES + hashBytes;
  if (flagsAt + 4 > end) return undefined;
  const flags = bytes.readUInt16BE(flagsAt);
  const isExtended = version >= 3 && (flags & IS_EXTENDED) !== 0;
  const more = isExtended ? bytes.readUInt16BE(flagsAt + 2) : 0;
  return {
    entry: {
      changedSeconds: bytes.readUInt32BE(at),
      changedNanoseconds: bytes.readUInt32BE(at + 4),
      modifiedSeconds: bytes.readUInt32BE(at + 8),
      modifiedNanoseconds: bytes.readUInt32BE(at + 12),
      inode: bytes.readUInt32BE(at + 20),
      mode: bytes.readUInt32BE(at + 24),
      size: bytes.readUInt32BE(at + 36),
      blob: bytes.toString('hex', at + FIELDS_BYTES, flagsAt),
      isUnsettled: (flags & STAGE_BITS) !== 0 || (more & IS_INTENDED) !== 0,
    },
    nameAt: flagsAt + (isExtended ? 4 : 2),
  };
}

/** The name up to its NUL. `before`: the name of the entry before, of which version 4 repeats only the end that differs. */
function nameAt(
  bytes: Buffer,
  at: number,
  { end, before }: { readonly end: number; readonly before: Buffer | undefined },
): { readonly name: Buffer; readonly next: number } | undefined {
  const cut = before === undefined ? { value: 0, next: at } : offsetAt(bytes, at, end);
  if (cut === undefined || cut.value > (before?.length ?? 0)) return undefined;
  const nul = bytes.indexOf(0, cut.next);
  if (nul < 0 || nul >= end || nul - cut.next > MAX_NAME_BYTES) return undefined;
  const rest = bytes.subarray(cut.next, nul);
  const kept = before?.subarray(0, before.length - cut.value);
  const name = kept === undefined ? rest : Buffer.concat([kept, rest]);
  return name.length > MAX_NAME_BYTES ? undefined : { name, next: nul + 1 };
}

/** A number of git's "offset" form, most significant bits first, as packs and version 4 have it. */
export function offsetAt(
  bytes: Buffer,
  at: number,
  end: number,
): { readonly value: number; readonly next: number } | undefined {
  let value = 0;
  for (let next = at; next < end; ) {
    const byte = bytes.readUInt8(next++);
    value = value * 128 + (byte & 0x7f);
    if ((byte & 0x80) === 0) return { value, next };
    value += 1;
    if (value > Number.MAX_SAFE_INTEGER / 256) return undefined;
  }
  return undefined;
}

function hasUnknownExtension(bytes: Buffer, from: number, end: number): boolean {
  for (let at = from; at + 8 <= end; at += 8 + bytes.readUInt32BE(at + 4)) {
    const name = bytes.toString('latin1', at, at + 4);
    // Of a sparse index the directories that are not there are entries of their own.
    if (REQUIRED.test(name) && name !== 'sdir') return true;
  }
  return false;
}
