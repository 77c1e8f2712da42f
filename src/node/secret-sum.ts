/**
 * The checksum of a small secret, in a file beside it (`<file>.sum`). A secret is random, so nothing else could tell a
 * changed one. Earlier versions of Drover do not look at the checksum, and keep the secret as it is.
 */
import { readFile, rm } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { replaceFile } from '../files/replace-file.js';
import { ignoreMissing } from '../files/system-error.js';

/** Where the checksum of `file` is. */
const sumFileOf = (file: string): string => `${file}.sum`;

/**
 * Compares `secret`, the content of `file`, with its checksum. Returns the note that was written with the checksum;
 * writes both, with `note`, when there is no checksum yet. Undefined: the file or its checksum has changed.
 */
export async function noteOf(file: string, secret: string, note: string): Promise<string | undefined> {
  const text = await readFile(sumFileOf(file), 'latin1').catch(ignoreMissing);
  if (text === undefined) {
    await replaceFile(sumFileOf(file), `${sumOf(secret, note)} ${note}\n`);
    return note;
  }
  const [, sum, kept = ''] = /^([0-9a-f]{8}) (.*)\n$/.exec(text) ?? [];
  return sum === sumOf(secret, kept) ? kept : undefined;
}

/** Called before another secret is written to `file`. */
export async function dropSum(file: string): Promise<void> {
  await rm(sumFileOf(file), { force: true });
}

function sumOf(secret: string, note: string): string {
  return crc32(`${secret}\n${note}`).toString(16).padStart(8, '0');
}
