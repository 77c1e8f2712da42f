/**
 * Chooses the master of a command. The first of these sources that is present decides:
 *
 *   --context NAME or --root DIR
 *   DROVER_CONTEXT
 *   DROVER_URL with DROVER_KEY or DROVER_KEY_FILE, and DROVER_CA
 *   the master whose root holds the current directory
 *   the file's current context
 *
 * An unexpected choice is reported on stderr: a variable or a root in the place of the current context.
 */
import { resolve } from 'node:path';
import { ClientError, EXIT, usageError } from '../../command-tree/runs/client-error.js';
import type { KeySource } from '../connection/key-source.js';
import { clearText, isInClear, parseMasterUrl } from '../connection/master-url.js';
import type { Target } from '../connection/target.js';
import { targetOfContext } from './context.js';
import { ContextFile, homeless, type StoredContexts } from './context-file.js';
import { findOwnRoot, isKeyless, targetOfRoot } from './own-root.js';

/** The options that choose the master of a command. */
export interface TargetOptions {
  readonly context?: string | undefined;
  readonly root?: string | undefined;
}

export interface Surroundings {
  readonly environment: NodeJS.ProcessEnv;
  /** The current directory of the command. */
  readonly directory: string;
  /** Prints one line for a person, on stderr. */
  say(line: string): void;
}

/** Returns the target of a command without reading its key. Throws a ClientError. */
export async function chooseTarget(
  { context, root }: TargetOptions,
  surroundings: Surroundings,
): Promise<Target> {
  const { environment, directory, say } = surroundings;
  const file = new ContextFile(environment);
  if (context !== undefined && root !== undefined) throw usageError('give --context or --root, not both');
  if (root !== undefined) return targetOfRoot(resolve(directory, root));
  if (context !== undefined) return namedContext(await readAll(file), context);

  const { DROVER_CONTEXT: variable = '', DROVER_URL: url = '' } = environment;
  if (variable !== '') return variableTarget(variable, await readAll(file), surroundings);
  if (url !== '') {
    // An unreadable file is ignored here: the name is only for a message on stderr.
    const { current } = await file.read().catch(() => ({ current: null }));
    return environmentTarget(url, surroundings, current);
  }
  const ignored = URL_COMPANIONS.find((name) => (environment[name] ?? '') !== '');
  if (ignored !== undefined) say(`${ignored} has no effect without DROVER_URL`);
  return usualTarget(await file.read(), file, surroundings);
}

const URL_COMPANIONS = ['DROVER_KEY', 'DROVER_KEY_FILE', 'DROVER_CA'] as const;

function variableTarget(name: string, all: StoredContexts, { environment, say }: Surroundings): Target {
  const target = namedContext(all, name, 'DROVER_CONTEXT');
  if (all.current !== null && all.current !== name)
    say(`DROVER_CONTEXT chooses context ${name} in the place of the current one, ${all.current}`);
  if ((environment.DROVER_URL ?? '') !== '') say('DROVER_URL has no effect beside DROVER_CONTEXT');
  return target;
}

/** Returns the master whose root holds the current directory, or else the current context. */
async function usualTarget(
  all: StoredContexts,
  file: ContextFile,
  { directory, say }: Surroundings,
): Promise<Target> {
  const own = await findOwnRoot(directory);
  if (own !== undefined) {
    if (all.current !== null)
      say(`the master in ${own} is asked, not the current context: for that give --context ${all.current}`);
    return targetOfRoot(own);
  }
  if (all.current === null) throw noTarget(all, file, (await isKeyless(directory)) ? directory : undefined);
  return namedContext(all, all.current, 'the file of contexts');
}

async function readAll(file: ContextFile): Promise<StoredContexts> {
  if (file.path === undefined) throw homeless();
  return file.read();
}

function namedContext({ contexts }: StoredContexts, name: string, from?: string): Target {
  if (contexts.has(name)) return targetOfContext(name, contexts.get(name));
  throw unknownContext(name, contexts, EXIT.usage, from === undefined ? '' : `, which ${from} names`);
}

export function unknownContext(
  name: string,
  contexts: ReadonlyMap<string, unknown>,
  exitCode: number,
  more = '',
): ClientError {
  const known = contexts.size === 0 ? 'there are none' : `there are ${[...contexts.keys()].join(', ')}`;
  return new ClientError(exitCode, `there is no context ${name}${more}: ${known}`);
}

function environmentTarget(
  text: string,
  { environment, directory, say }: Surroundings,
  current: string | null,
): Target {
  const url = parseMasterUrl(text, 'DROVER_URL');
  const key = environmentKey(environment, directory);
  if (current !== null) say(`DROVER_URL chooses ${url} in the place of the current context, ${current}`);
  if (isInClear(url)) say(clearText(url));
  const { DROVER_CA: ca = '' } = environment;
  return {
    name: new URL(url).host,
    kind: 'environment',
    url,
    key,
    trust: ca === '' ? { kind: 'system' } : { kind: 'file', path: resolve(directory, ca), from: 'DROVER_CA' },
  };
}

function environmentKey(
  { DROVER_KEY: key = '', DROVER_KEY_FILE: file = '' }: NodeJS.ProcessEnv,
  directory: string,
): KeySource {
  if ((key === '') === (file === ''))
    throw usageError('DROVER_URL needs one of DROVER_KEY and DROVER_KEY_FILE');
  return key === ''
    ? { kind: 'file', path: resolve(directory, file) }
    : { kind: 'text', key, from: 'DROVER_KEY' };
}

function noTarget({ contexts }: StoredContexts, file: ContextFile, keyless: string | undefined): ClientError {
  const choose =
    contexts.size > 0
      ? `choose a context: drover context use NAME (${[...contexts.keys()].join(', ')})`
      : 'add a context: drover context add NAME --url https://...';
  const home = file.path === undefined ? ' (which needs HOME or XDG_CONFIG_HOME)' : '';
  const why =
    keyless === undefined
      ? 'no master is chosen'
      : `the node in ${keyless} has no data/admin.key, which a master makes at its first start`;
  return usageError(
    `${why}; ${choose}${home}, set DROVER_URL and DROVER_KEY_FILE, or give the root of a master with --root`,
  );
}
