/**
 * Reads `extensions/`: the existing extensions, their modules and their settings. It refuses files that another user
 * could have planted, and settings that another user could read. It runs none of the code.
 */
import type { Stats } from 'node:fs';
import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { fileReason } from '../configuration-files/file-reason.js';
import { JsonTextError, readJsonText } from '../configuration-files/json-position.js';
import { isMissing } from '../files/system-error.js';
import { DroverError } from '../model/errors.js';
import { nameSchema } from '../model/names.js';
import { secretsIn } from './setting-secrets.js';

const MAX_JSON_BYTES = 1024 * 1024;
const ENTRIES = ['index.js', 'index.mjs'];
const SETTINGS = 'config.json';

/** The parts of a `package.json` that Drover uses. */
const packageSchema = z.looseObject({
  main: z.string().optional().catch(undefined),
  exports: z.unknown().optional(),
  version: z.string().max(64).optional().catch(undefined),
  description: z.string().max(500).optional().catch(undefined),
});
const conditionsSchema = z.object({ import: z.string() }).or(z.object({ default: z.string() }));

export interface ExtensionModule {
  /** The absolute real paths of the extension's directory and of its entry (`file`). */
  readonly directory: string;
  readonly file: string;
  readonly version: string | undefined;
  readonly description: string | undefined;
}

/**
 * The names of the directories and links to directories, sorted, without hidden ones. Throws DRV_EXTENSION_FAILED when
 * another user could have put them there.
 */
export async function listExtensions(directory: string): Promise<string[]> {
  const status = await statOf(directory);
  if (status === undefined) return [];
  refuseForeign('extensions/', status);
  const entries = await readdir(directory, { withFileTypes: true }).catch((error: unknown) => {
    throw refused(`extensions/ cannot be read: ${fileReason(error)}`);
  });
  return entries
    .filter((entry) => (entry.isDirectory() || entry.isSymbolicLink()) && !entry.name.startsWith('.'))
    .map(({ name }) => name)
    .sort();
}

/** Checks the id of an extension. Throws DRV_EXTENSION_FAILED when no extension can have this id. */
export function checkId(id: string): void {
  const parsed = nameSchema.safeParse(id);
  if (!parsed.success)
    throw refused(`the folder's name ${parsed.error.issues[0]?.message ?? 'is not valid'}`);
}

/**
 * The module of the extension in `directory`; undefined: it has no module. A link is followed, because the owner of
 * `extensions/` made it; its target is checked like everything else.
 */
export async function findModule(directory: string): Promise<ExtensionModule | undefined> {
  const real = await realpath(directory).catch((error: unknown) => {
    throw refused(`the folder cannot be read: ${fileReason(error)}`);
  });
  refuseForeign('the folder', await stat(real));
  const parsed = packageSchema.safeParse((await readJson(real, 'package.json'))?.value ?? {});
  if (!parsed.success) throw refused('package.json is not an object');
  const { main, exports, version, description } = parsed.data;
  const named = entryOf(exports) ?? main;
  for (const entry of named === undefined ? ENTRIES : [named]) {
    const file = join(real, entry);
    if (!file.startsWith(`${real}/`)) throw refused(`package.json: ${entry} lies outside of the folder`);
    const status = await statOf(file);
    if (status?.isFile() === true) {
      refuseForeign(entry, status);
      return { directory: real, file, version, description };
    }
    if (named !== undefined) throw refused(`package.json names ${entry}, which is not a file`);
  }
  return undefined;
}

/**
 * The content of `config.json`; undefined: the file does not exist. Throws DRV_EXTENSION_FAILED, with no value in the
 * message.
 */
export async function readSettings(directory: string): Promise<unknown> {
  const found = await readJson(directory, SETTINGS);
  if (found === undefined) return undefined;
  const [secret] = secretsIn(found.value);
  const mode = found.status.mode & 0o777;
  if (secret !== undefined && (mode & 0o077) !== 0)
    throw refused(
      `${SETTINGS} holds a secret (${secret.field}) and has mode ${mode.toString(8)}: other users can read it; run chmod 600 on it`,
    );
  return found.value;
}

async function readJson(
  directory: string,
  name: string,
): Promise<{ readonly value: unknown; readonly status: Stats } | undefined> {
  const file = join(directory, name);
  const status = await statOf(file);
  if (status === undefined) return undefined;
  if (!status.isFile()) throw refused(`${name} is not a file`);
  if (status.size > MAX_JSON_BYTES) throw refused(`${name} is larger than ${MAX_JSON_BYTES / 1024} KiB`);
  refuseForeign(name, status);
  try {
    return { value: readJsonText(await readFile(file, 'utf8')).value, status };
  } catch (error) {
    if (error instanceof JsonTextError)
      throw refused(`${name}:${error.line}:${error.column}: not valid JSON`);
    throw refused(`${name} cannot be read: ${fileReason(error)}`);
  }
}

/** The entry that `exports` names for an import of the package itself. */
function entryOf(exports: unknown): string | undefined {
  if (typeof exports === 'string') return exports;
  if (exports === null || typeof exports !== 'object') return undefined;
  if ('.' in exports) return entryOf(exports['.']);
  const conditions = conditionsSchema.safeParse(exports);
  if (!conditions.success) return undefined;
  return 'import' in conditions.data ? conditions.data.import : conditions.data.default;
}

async function statOf(file: string): Promise<Stats | undefined> {
  return await stat(file).catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    throw refused(`${file.slice(file.lastIndexOf('/') + 1)} cannot be read: ${fileReason(error)}`);
  });
}

/** Refuses a file that another user could write, because it would run with the daemon's rights. */
function refuseForeign(what: string, { uid, mode }: Stats): void {
  const own = process.getuid?.();
  if (uid !== own && uid !== 0)
    throw refused(`${what} belongs to user ${uid}, neither to the user that runs Drover nor to root`);
  if ((mode & 0o002) !== 0) throw refused(`${what} can be written by every user; run chmod o-w on it`);
}

function refused(what: string): DroverError {
  return new DroverError('DRV_EXTENSION_FAILED', what);
}
