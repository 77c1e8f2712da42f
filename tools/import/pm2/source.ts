/** Reads a list of pm2 in JSON and maps it. It runs no code of an ecosystem file. */
import { readSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { dirname, extname } from 'node:path';
import {
  ClientError,
  failedError,
  notFoundError,
  usageError,
} from '../../../src/command-tree/runs/client-error.js';
import { fileReason } from '../../../src/configuration-files/file-reason.js';
import { JsonTextError, readJsonText } from '../../../src/configuration-files/json-position.js';
import { readOpen } from '../../../src/files/processes.js';
import { isMissing } from '../../../src/files/system-error.js';
import { shellWord } from '../../../src/model/words.js';
import type { Drafts } from '../draft.js';
import type { FileKind } from './command.js';
import { mapList } from './list.js';

/** The limit for the file. Saved lists hold the whole environment of a shell for each process. */
const MAX_BYTES = 16 * 1024 * 1024;
const MOST_VALUES = 1_000_000;
const PEEK_BYTES = 8192;
const PROGRAM = /^\.[cm]?[jt]s$/;

/**
 * Reads the file and returns the drafts. `file`: an absolute path. Throws a ClientError when the file is no list of
 * pm2 in JSON.
 */
export async function readPm2(file: string, environment: string | undefined): Promise<Drafts> {
  refuseOtherForms(file);
  const value = await readJson(file);
  return mapList(value, { directory: dirname(file), cores: availableParallelism(), environment, kindOf });
}

function refuseOtherForms(file: string): void {
  const path = shellWord(file);
  const saved = 'or type "pm2 save" and import ~/.pm2/dump.pm2';
  if (PROGRAM.test(extname(file)))
    throw usageError(
      `${file} is a program, and an import runs none. Have node print it: node -e "console.log(JSON.stringify(require(process.argv[1])))" ${path} > pm2.json, and import pm2.json; ${saved}`,
    );
  if (/^\.ya?ml$/.test(extname(file))) throw usageError(`${file} is YAML: write it as JSON, ${saved}`);
}

async function readJson(file: string): Promise<unknown> {
  try {
    const status = await stat(file);
    if (!status.isFile()) throw failedError(`${file} is not a regular file`);
    if (status.size > MAX_BYTES) throw failedError(`${file} is larger than ${MAX_BYTES / 1024 / 1024} MiB`);
    return readJsonText(await readFile(file, 'utf8'), { mostValues: MOST_VALUES }).value;
  } catch (error) {
    if (error instanceof ClientError) throw error;
    if (error instanceof JsonTextError)
      throw failedError(`${file}:${error.line}:${error.column}: not valid JSON: ${error.message}`);
    if (isMissing(error)) throw notFoundError(`there is no file ${file}`);
    throw failedError(`${file} cannot be read: ${fileReason(error)}`);
  }
}

/** The kind of a file: binary when a zero byte is near its beginning. A path that is no file counts as missing. */
function kindOf(path: string): FileKind {
  const bytes = Buffer.alloc(PEEK_BYTES);
  const read = readOpen(path, (file) => readSync(file, bytes));
  if (read === undefined) return 'missing';
  return bytes.subarray(0, read).includes(0) ? 'binary' : 'text';
}
