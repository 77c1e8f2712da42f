/** A whole store as a file: a line that says how many entries follow at which revision, then one line for each. */
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { replaceFile } from '../files/replace-file.js';
import { DroverError, messageOf } from '../model/errors.js';
import type { StoreState } from './store.js';

const headSchema = z.strictObject({
  drover: z.literal('store backup'),
  format: z.literal(1),
  revision: z.int().min(0),
  entries: z.int().min(0),
});

const entrySchema = z.strictObject({ key: z.string().min(1), revision: z.int().min(1), value: z.json() });

/** Writes the file with mode 0600, because it holds hashes of keys and all configurations. Throws DRV_DISK_WRITE_FAILED. */
export async function writeBackup(file: string, { entries, revision }: StoreState): Promise<void> {
  const head = { drover: 'store backup', format: 1, revision, entries: entries.length };
  const lines = [head, ...entries.map(({ key, revision: of, value }) => ({ key, revision: of, value }))];
  try {
    await replaceFile(file, `${lines.map((line) => JSON.stringify(line)).join('\n')}\n`);
  } catch (error) {
    throw new DroverError('DRV_DISK_WRITE_FAILED', `${file} cannot be written: ${messageOf(error)}`);
  }
}

/** Reads a file that `writeBackup` made. Throws DRV_STORE_CORRUPT for another file, and for an incomplete one. */
export async function readBackup(file: string): Promise<StoreState> {
  try {
    const [first = '', ...rest] = (await readFile(file, 'utf8')).trimEnd().split('\n');
    const head = headSchema.parse(JSON.parse(first));
    const entries = rest.map((line) => entrySchema.parse(JSON.parse(line)));
    if (entries.length !== head.entries)
      throw new Error(`it holds ${entries.length} entries, but says ${head.entries}`);
    return { entries, revision: head.revision };
  } catch (error) {
    const problem = error instanceof z.ZodError ? z.prettifyError(error) : messageOf(error);
    throw new DroverError('DRV_STORE_CORRUPT', `${file} is no whole backup of a store: ${problem}`);
  }
}
