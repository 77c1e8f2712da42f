/** `drover import`: takes over what another tool ran, from files of this machine. It needs no master. */
import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { write } from '../client/print.js';
import { type ImportOptions, type ImportResult, importDrafts } from '../import/import.js';
import { readPm2 } from '../import/pm2/source.js';
import { readUniverse } from '../import/universe/source.js';
import { DroverError } from '../model/errors.js';

/** Prints the report. Throws a ClientError after it when something could not be taken. */
export async function importUniverse(directory: string, options: ImportOptions): Promise<void> {
  const from = resolve(directory);
  const [source, target] = await Promise.all([from, resolve(options.root)].map(realPathOf));
  if (source === target)
    throw new DroverError(
      'DRV_COMMAND_INVALID',
      `${from} is the directory to read: give another one to write to with --root`,
    );
  await print(await importDrafts('universe', from, await readUniverse(from), options));
}

/** `env`: which `env_<name>` of the apps goes over their `env`. Prints and throws as `importUniverse`. */
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

function realPathOf(path: string): Promise<string> {
  return realpath(path).catch(() => path);
}
