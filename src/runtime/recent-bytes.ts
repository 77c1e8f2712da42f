/** Reads the newest bytes of an instance's log, as they were written, for the first screen of an attached terminal. */
import * as fs from 'node:fs';
import { NEWLINE, READ, segmentsOf } from '../logs/segments.js';
import { attempt } from '../model/plain/attempt.js';

const NONE = Buffer.alloc(0);

/**
 * Returns at most `mostBytes`, beginning at the start of a line where possible. A log that cannot be read gives no
 * bytes.
 */
export function recentBytes(directory: string, mostBytes: number): Buffer {
  return attempt(() => {
    const found: Buffer[] = [];
    let room = mostBytes;
    for (const { path } of segmentsOf(directory, fs.readdirSync(directory)).reverse()) {
      if (room <= 0) break;
      const bytes = endOf(path, room);
      found.unshift(bytes);
      room -= bytes.length;
    }
    return room > 0 ? Buffer.concat(found) : fromLineStart(Buffer.concat(found));
  }, NONE);
}

function endOf(path: string, mostBytes: number): Buffer {
  const fd = fs.openSync(path, READ);
  try {
    const { size } = fs.fstatSync(fd);
    const bytes = Buffer.alloc(Math.min(size, mostBytes));
    return bytes.subarray(0, fs.readSync(fd, bytes, 0, bytes.length, size - bytes.length));
  } finally {
    fs.closeSync(fd);
  }
}

function fromLineStart(bytes: Buffer): Buffer {
  return bytes.subarray(bytes.indexOf(NEWLINE) + 1);
}
