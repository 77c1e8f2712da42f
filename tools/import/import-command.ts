/**
 * `drover import`: turns what another tool ran into configurations. It reads files of this machine and needs no
 * master.
 */
import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { write } from '../../src/client/print.js';
import { DroverError } from '../../src/model/errors.js';
import { type ImportOptions, type ImportResult, importDrafts } from './import.js';
import { readPm2 } from './pm2/source.js';
import { readUniverse } from './universe/source.js';

/** Imports a directory and prints the report. Then throws a ClientError when something could not be imported. */
export async function importUniverse(directory: string, options: ImportOptions): Promise<void> {
  const from = resolve(directory);
  const [source, target] = await Promise.all(
    [from, resolve(options.root)].map((path) => realpath(path).catch(() => path)),
  );
  if (source === target)
    throw new DroverError(
      'DRV_COMMAND_INVALID',
      `${from} is the directory to read: give another one to write to with --root`,
    );
  await print(await importDrafts('universe', from, await readUniverse(from), options));
}

/**
 * Imports PM2 apps. `env`: the name of the `env_<name>` block that overrides each app's `env`. Prints and throws like
 * `importUniverse`.
 */
export async function importPm2(
  file: string,
  { env, ...options }: ImportOptions & { readonly env?: string },
): Promise<void> {
  const from = resolve(file);
  await print(await importDrafts('pm2', from, await readPm2(from, env), options));
}

async function print({ text, failure }: ImportResult): Promise<void> {
  await write(process.stdout, text);
  if (failure !== undefined) throw failure;
}
