/** Reads the files of `webhooks/`. The notice controller calls it every few seconds, and decides what they mean. */
import { readdir } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { readRegular } from '../files/read-regular.js';
import { ignoreMissing } from '../files/system-error.js';
import type { ConfigurationFileError } from '../model/configuration.js';
import { type Webhook, webhookSchema } from '../model/webhook.js';
import { fileReason } from './file-reason.js';
import { MAX_FILE_BYTES, parseJsonFile } from './parse.js';
import { readerOf } from './problems.js';

const readHook = readerOf(webhookSchema, ([field]) => field !== undefined && field !== 'url');

/** A webhook with its secret. */
export type Hook = Webhook & { readonly secret?: string | undefined };
export type Webhooks = ReadonlyMap<
  string,
  { readonly data: Hook } | { readonly error: ConfigurationFileError }
>;

/** The webhooks and broken files by name. Throws when the directory is there and cannot be read. */
export async function readWebhooks(directory: string): Promise<Webhooks> {
  const names = (await readdir(directory).catch(ignoreMissing)) ?? [];
  const files = names.filter((name) => name.endsWith('.json') && !name.startsWith('.')).sort();
  const read = async (file: string) => [basename(file, '.json'), await readWebhook(directory, file)] as const;
  return new Map(await Promise.all(files.map(read)));
}

async function textIn(directory: string, file: string): Promise<string> {
  return (await readRegular(resolve(directory, file), MAX_FILE_BYTES)).toString();
}

async function readWebhook(directory: string, name: string) {
  const file = `webhooks/${name}`;
  let field: string | null = null;
  try {
    const read = parseJsonFile(file, await textIn(directory, name), readHook);
    if ('error' in read || read.data.secretFile === undefined) return read;
    field = 'secretFile';
    const secret = (await textIn(directory, read.data.secretFile)).trim();
    if (secret !== '') return { data: { ...read.data, secret } };
    throw new Error('it is empty');
  } catch (error) {
    const message = `${field === null ? '' : `${field}: `}cannot be read: ${fileReason(error)}`;
    return { error: { file, line: null, column: null, field, message } };
  }
}
