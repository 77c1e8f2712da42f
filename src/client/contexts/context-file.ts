/**
 * The file of contexts, `~/.config/drover/contexts.json`. Only its user can read it, since it may hold keys.
 * Writers take turns by a lock and replace the whole file. Fields written by other versions are kept. An invalid
 * context does not affect the others.
 */
import { closeSync, openSync } from 'node:fs';
import { mkdir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { ClientError, EXIT, failedError, usageError } from '../../command-tree/runs/client-error.js';
import { lockOpenFile } from '../../files/lock-open-file.js';
import { ownUser } from '../../files/own-user.js';
import { replaceFile } from '../../files/replace-file.js';
import { isMissing } from '../../files/system-error.js';
import { readPrivateText, systemFailure } from '../connection/private-text.js';

export type Fields = Readonly<Record<string, unknown>>;

export interface StoredContexts {
  /** Name of the current context; null: none. */
  readonly current: string | null;
  /** The raw entries of the file: `context.ts` parses them. */
  readonly contexts: ReadonlyMap<string, unknown>;
}

/** How long a writer waits for another writer, which holds the lock only for milliseconds. */
const LOCK_MS = 30_000;

/** Returns an absolute path, or undefined when neither XDG_CONFIG_HOME nor HOME is one. */
export function contextsPathOf(environment: NodeJS.ProcessEnv): string | undefined {
  const { XDG_CONFIG_HOME: configurations, HOME: home } = environment;
  // Ignore a relative path: the XDG specification requires it.
  if (configurations !== undefined && isAbsolute(configurations))
    return join(configurations, 'drover', 'contexts.json');
  return home !== undefined && isAbsolute(home)
    ? join(home, '.config', 'drover', 'contexts.json')
    : undefined;
}

export class ContextFile {
  /** The path of the file of contexts; undefined without a home directory. */
  readonly path: string | undefined;

  constructor(environment: NodeJS.ProcessEnv) {
    this.path = contextsPathOf(environment);
  }

  /** Returns no contexts when there is no file or no home directory. Throws a ClientError. */
  async read(): Promise<StoredContexts> {
    if (this.path === undefined) return { current: null, contexts: new Map() };
    return contextsOf(await readFields(this.path), this.path);
  }

  /**
   * Replaces the file with the result of `change`. Processes take turns, so no change is lost. Resolves when the file
   * is on disk. Throws a ClientError; the file is then unchanged.
   */
  async change(change: (stored: StoredContexts) => StoredContexts): Promise<void> {
    const path = await this.#prepare();
    const lock = await takeLock(`${path}.lock`);
    try {
      const fields = await readFields(path);
      const { current, contexts } = change(contextsOf(fields, path));
      const { current: _former, contexts: _all, ...unknown } = fields;
      const changed = {
        ...unknown,
        ...(current !== null && { current }),
        contexts: Object.fromEntries(contexts),
      };
      await replaceFile(path, `${JSON.stringify(changed, null, 2)}\n`);
    } catch (error) {
      if (error instanceof ClientError) throw error;
      throw systemFailure(`${path} cannot be written`, error);
    } finally {
      closeSync(lock);
    }
  }

  /** Creates the directory. Returns the real path of the file, so that a link to it is kept. */
  async #prepare(): Promise<string> {
    if (this.path === undefined) throw homeless();
    const directory = dirname(this.path);
    try {
      await mkdir(directory, { recursive: true, mode: 0o700 });
      await refuseOthers(this.path);
      return await realpath(this.path).catch(async (error: unknown) => {
        if (!isMissing(error)) throw error;
        return join(await realpath(directory), basename(this.path ?? ''));
      });
    } catch (error) {
      if (error instanceof ClientError) throw error;
      throw systemFailure(`${directory} cannot be used`, error);
    }
  }
}

/** A file written by root would lock its owner out, so refuse to write another user's file. */
async function refuseOthers(path: string): Promise<void> {
  const { uid, username } = ownUser();
  const owner = await stat(path).then(
    (status) => status.uid,
    () => uid,
  );
  if (owner !== uid)
    throw failedError(`${path} belongs to user ${owner}, not to ${username}: run this as that user`);
}

/** Returns the error for a command that needs the file of contexts when there is no home directory. */
export function homeless(): ClientError {
  return usageError(
    'there is no place for contexts: set HOME or XDG_CONFIG_HOME, or name the master by DROVER_URL and DROVER_KEY_FILE',
  );
}

async function readFields(path: string): Promise<Fields> {
  const text = await readPrivateText('the file of contexts', path);
  if (text === undefined || text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    if (isFields(value)) return value;
  } catch (error) {
    throw invalid(path, `is not valid JSON${placeOf(error, text)}`);
  }
  throw invalid(path, 'must hold an object');
}

function contextsOf({ current, contexts = {} }: Fields, path: string): StoredContexts {
  if (!isFields(contexts)) throw invalid(path, 'must have an object as "contexts"');
  return {
    current: typeof current === 'string' ? current : null,
    contexts: new Map(Object.entries(contexts)),
  };
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns only the line of the fault: the parser's own message quotes the text, which may be a key. */
function placeOf(error: unknown, text: string): string {
  const [, position] = /at position (\d+)/.exec(error instanceof Error ? error.message : '') ?? [];
  return position === undefined ? '' : ` in line ${text.slice(0, Number(position)).split('\n').length}`;
}

function invalid(path: string, problem: string): ClientError {
  return failedError(`${path} ${problem}: mend it, or remove it and add the contexts again`);
}

/**
 * Returns the open lock file; closing it releases the lock. The file is never removed, because its removal could
 * release another process's lock.
 */
async function takeLock(path: string): Promise<number> {
  const file = openLock(path);
  try {
    if (await lockOpenFile(file, LOCK_MS)) return file;
    throw new ClientError(EXIT.timedOut, `another drover holds ${path}: try again when it has ended`);
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

function openLock(path: string): number {
  try {
    return openSync(path, 'a', 0o600);
  } catch (error) {
    throw systemFailure(`${path} cannot be written`, error);
  }
}
