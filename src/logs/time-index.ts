/**
 * The format of the index of times beside a log segment: `<number of the first line, 12 digits>.times`. An entry says
 * in which second of the wall clock the lines from a given line on were written. Opens and reads nothing itself.
 *
 *     entry, 16 bytes:  second u32 | line u32 | offset u32 | check u32     (little endian)
 *
 * An entry is written before the first output of a new second. When a line is unfinished at that moment, the entry
 * points at the line's beginning, because a line has the time of its end. Entries stand in the order of the log. Their
 * seconds go back when the clock does.
 */

export const ENTRY_BYTES = 16;
/** The most entries of an index, however long its segment is. */
export const MOST_ENTRIES = 65_536;
/** The `second` of an entry whose time is unknown. */
export const UNKNOWN = 0;

const MOST_U32 = 0xffff_ffff;
const NAME = /^(\d{12})\.times$/;

export interface TimeEntry {
  /** The Unix second in which the following lines were written; `UNKNOWN`: nobody knows. */
  readonly second: number;
  /** How many lines of the segment come before the entry. */
  readonly line: number;
  /** The offset of the entry's first line in the segment. */
  readonly offset: number;
}

/** The path of the index that belongs to the segment at `path`. */
export function timesPathOf(path: string): string {
  return `${path.slice(0, -'.log'.length)}.times`;
}

/** The indexes among the `names` of a directory's entries, with the number of their first line. */
export function indexesOf(names: readonly string[]): { readonly name: string; readonly firstLine: number }[] {
  return names.flatMap((name) => {
    const digits = NAME.exec(name)?.[1];
    return digits === undefined ? [] : [{ name, firstLine: Number(digits) }];
  });
}

/**
 * True when output of unknown time came after `last`: its writer keeps no times, had no room for them, or its entries
 * never reached the disk. `writtenAt`: last write of the segment, Unix milliseconds.
 */
export function isOutdated(last: TimeEntry, writtenAt: number): boolean {
  return Math.floor(writtenAt / 1000) > last.second;
}

export function encodeEntries(entries: readonly TimeEntry[]): Buffer {
  const bytes = Buffer.allocUnsafe(entries.length * ENTRY_BYTES);
  entries.forEach(({ second, line, offset }, index) => {
    const at = index * ENTRY_BYTES;
    const known = second > 0 && second <= MOST_U32 ? second : UNKNOWN;
    bytes.writeUInt32LE(known, at);
    bytes.writeUInt32LE(line, at + 4);
    bytes.writeUInt32LE(offset, at + 8);
    bytes.writeUInt32LE(checkOf(known, line, offset), at + 12);
  });
  return bytes;
}

/** The entry at `at`; undefined: it is damaged. */
export function entryAt(bytes: Buffer, at: number): TimeEntry | undefined {
  const second = bytes.readUInt32LE(at);
  const line = bytes.readUInt32LE(at + 4);
  const offset = bytes.readUInt32LE(at + 8);
  if (bytes.readUInt32LE(at + 12) !== checkOf(second, line, offset) || line > offset) return undefined;
  return { second, line, offset };
}

/**
 * The entries in `bytes`, which begin at an entry's border. When several entries name the same line, the last one
 * counts. An incomplete last entry is left out. Around a damaged entry the times are unknown, from the good entry
 * before to the good entry after.
 */
export function entriesIn(bytes: Buffer): TimeEntry[] {
  const entries: TimeEntry[] = [];
  for (let at = 0; at + ENTRY_BYTES <= bytes.length; at += ENTRY_BYTES) {
    const entry = entryAt(bytes, at);
    const last = entries.at(-1);
    if (
      entry === undefined ||
      (last !== undefined && (entry.line < last.line || entry.offset < last.offset))
    ) {
      if (last !== undefined) entries[entries.length - 1] = { ...last, second: UNKNOWN };
      continue;
    }
    if (last?.line === entry.line) entries.pop();
    entries.push(entry);
  }
  return entries;
}

/** A checksum that finds flipped bits, and blocks of zeros that never reached the disk. No defence against forgery. */
function checkOf(second: number, line: number, offset: number): number {
  let hash = 0x9e3779b9;
  for (const part of [second, line, offset]) {
    hash = Math.imul(hash ^ part, 0x85ebca6b);
    hash ^= hash >>> 13;
  }
  return hash >>> 0;
}
