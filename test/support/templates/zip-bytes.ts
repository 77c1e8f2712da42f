/** Makes zips byte by byte, with any faults that a test wants: no library writes such zips. */
import { crc32, deflateRawSync } from 'node:zlib';

export interface ZipEntry {
  readonly name: string | Buffer;
  readonly content?: Buffer | string;
  /** The method of compression. 0: stored. Default 8: deflated. */
  readonly method?: number;
  /** The mode with its type, as Unix tools write it. Default: none. */
  readonly mode?: number;
  /** The flags. Default: UTF-8 names. */
  readonly flags?: number;
  /** The system whose tool made it. Default: Unix. */
  readonly madeBy?: number;
  /** The values in the zip's directory, where they are to be wrong. */
  readonly says?: { readonly size?: number; readonly packedSize?: number; readonly crc?: number };
  /** The index of the entry whose content this entry shares. */
  readonly sharing?: number;
}

const UTF8_NAMES = 0x800;
const UNIX = 3;

/** The bytes of a zip. `says.count`: the number of entries that the end of the zip claims. */
export function zipOf(
  entries: readonly ZipEntry[],
  { says }: { readonly says?: { readonly count: number } } = {},
): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  const offsets: number[] = [];
  let offset = 0;
  for (const entry of entries) {
    const record = recordOf(entry);
    const shared = entry.sharing === undefined ? undefined : offsets[entry.sharing];
    offsets.push(shared ?? offset);
    directory.push(directoryEntry(entry, record, shared ?? offset));
    if (shared !== undefined) continue;
    const local = localHeader(record);
    parts.push(local, record.name, record.packed);
    offset += local.length + record.name.length + record.packed.length;
  }
  const listing = Buffer.concat(directory);
  return Buffer.concat([...parts, listing, endRecord(says?.count ?? entries.length, listing.length, offset)]);
}

interface ZipRecord {
  readonly name: Buffer;
  readonly packed: Buffer;
  readonly method: number;
  readonly flags: number;
  readonly crc: number;
  readonly size: number;
  readonly packedSize: number;
}

function recordOf({ name, content = '', method = 8, flags = UTF8_NAMES, says = {} }: ZipEntry): ZipRecord {
  const bytes = Buffer.from(content);
  const packed = method === 8 ? deflateRawSync(bytes) : bytes;
  return {
    name: Buffer.from(name),
    packed,
    method,
    flags,
    crc: says.crc ?? crc32(bytes),
    size: says.size ?? bytes.length,
    packedSize: says.packedSize ?? packed.length,
  };
}

function localHeader(record: ZipRecord): Buffer {
  const header = Buffer.alloc(30);
  header.writeUInt32LE(0x04034b50, 0);
  header.writeUInt16LE(20, 4);
  writeFacts(header, 6, record);
  header.writeUInt16LE(record.name.length, 26);
  return header;
}

function directoryEntry({ mode = 0, madeBy = UNIX }: ZipEntry, record: ZipRecord, offset: number): Buffer {
  const header = Buffer.alloc(46);
  header.writeUInt32LE(0x02014b50, 0);
  header.writeUInt16LE((madeBy << 8) | 20, 4);
  header.writeUInt16LE(20, 6);
  writeFacts(header, 8, record);
  header.writeUInt16LE(record.name.length, 28);
  header.writeUInt32LE((mode << 16) >>> 0, 38);
  header.writeUInt32LE(offset, 42);
  return Buffer.concat([header, record.name]);
}

/** Flags, method, a date, checksum and sizes have the same order in both headers. */
function writeFacts(header: Buffer, at: number, { flags, method, crc, packedSize, size }: ZipRecord): void {
  header.writeUInt16LE(flags, at);
  header.writeUInt16LE(method, at + 2);
  header.writeUInt32LE(0x00210000, at + 4);
  header.writeUInt32LE(crc, at + 8);
  header.writeUInt32LE(packedSize, at + 12);
  header.writeUInt32LE(size, at + 16);
}

function endRecord(count: number, size: number, offset: number): Buffer {
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(count, 8);
  end.writeUInt16LE(count, 10);
  end.writeUInt32LE(size, 12);
  end.writeUInt32LE(offset, 16);
  return end;
}
