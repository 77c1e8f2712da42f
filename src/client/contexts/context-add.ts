/** `drover context add`: checks the given values, asks for missing ones, and stores the context. */
import { isAbsolute, resolve } from 'node:path';
import { parseArgsStringToArgv } from 'string-argv';
import { conflictError, usageError } from '../../command-tree/runs/client-error.js';
import { checkKey, type KeySource, readKey } from '../connection/key-source.js';
import { clearText, isInClear, parseMasterUrl } from '../connection/master-url.js';
import { readCertificates, type Trust } from '../connection/trust.js';
import { checkContextName, entryOf } from './context.js';
import { ContextFile, homeless } from './context-file.js';
import { trustServer } from './pin.js';
import type { Terminal } from './terminal.js';

export interface AddOptions {
  readonly url: string;
  /** `-`: the key is read from standard input. */
  readonly keyFile?: string | undefined;
  readonly keyCommand?: string | undefined;
  readonly ca?: string | undefined;
  readonly fingerprint?: string | undefined;
}

interface AddSurroundings {
  readonly environment: NodeJS.ProcessEnv;
  readonly directory: string;
  readonly terminal: Terminal;
  /** Returns all of standard input. */
  readInput(): Promise<string>;
}

/**
 * Adds the context; the first context becomes the current one. With TLS and without `ca` the master must be running,
 * because its certificate is read. Throws a ClientError; nothing is then stored.
 */
export async function addContext(
  name: string,
  options: AddOptions,
  surroundings: AddSurroundings,
): Promise<{ readonly url: string; readonly isCurrent: boolean }> {
  checkContextName(name);
  const url = parseMasterUrl(options.url, '--url');
  const file = new ContextFile(surroundings.environment);
  // Fail before asking questions: the file for the answers would be in the home directory, which is missing.
  if (file.path === undefined) throw homeless();
  refuseDouble(name, (await file.read()).contexts);
  const trust = await trustOf(name, url, options, surroundings);
  if (isInClear(url)) surroundings.terminal.say(clearText(url));
  const key = await keyOf(options, surroundings);
  const entry = entryOf({ url, key, trust });
  let isCurrent = false;
  await file.change(({ current, contexts }) => {
    refuseDouble(name, contexts);
    isCurrent = current === null || !contexts.has(current);
    return { current: isCurrent ? name : current, contexts: new Map(contexts).set(name, entry) };
  });
  return { url, isCurrent };
}

function refuseDouble(name: string, contexts: ReadonlyMap<string, unknown>): void {
  if (!contexts.has(name)) return;
  throw conflictError(`there is a context ${name} already: remove it first (drover context remove ${name})`);
}

async function trustOf(
  name: string,
  url: string,
  { ca, fingerprint }: AddOptions,
  { directory, terminal }: AddSurroundings,
): Promise<Trust> {
  if (ca !== undefined && fingerprint !== undefined) throw usageError('give --ca or --fingerprint, not both');
  if (!url.startsWith('https:')) {
    if (ca === undefined && fingerprint === undefined) return { kind: 'system' };
    throw usageError('--ca and --fingerprint are for an address with https://');
  }
  if (ca === undefined) return trustServer({ name, url }, fingerprint, terminal);
  const path = resolve(directory, ca);
  await readCertificates(path, '--ca');
  return { kind: 'file', path, from: '--ca' };
}

async function keyOf(
  { keyFile, keyCommand }: AddOptions,
  { directory, terminal, readInput }: AddSurroundings,
): Promise<KeySource> {
  if (keyFile !== undefined && keyCommand !== undefined)
    throw usageError('give --key-file or --key-command, not both');
  if (keyCommand !== undefined) return commandOf(keyCommand, directory);
  if (keyFile === '-') return given(await readInput(), 'the key on standard input');
  if (keyFile !== undefined) {
    const source: KeySource = { kind: 'file', path: resolve(directory, keyFile) };
    // Read the key once, to refuse a faulty source now rather than at the first command.
    await readKey(source);
    return source;
  }
  if (!terminal.isInteractive)
    throw usageError(
      'give the key: --key-file FILE, --key-file - for standard input, or --key-command COMMAND',
    );
  return given(await terminal.ask('Key (it is not shown): ', { isSecret: true }), 'what was typed');
}

function given(text: string, from: string): KeySource {
  return { kind: 'text', key: checkKey(text, from), from };
}

/** Make the path of a program absolute, so that the command works from every directory. */
function commandOf(text: string, directory: string): KeySource {
  const [program = '', ...parameters] = parseArgsStringToArgv(text);
  if (program === '') throw usageError('--key-command must name a program');
  const isPath = program.includes('/') && !isAbsolute(program);
  return { kind: 'command', words: [isPath ? resolve(directory, program) : program, ...parameters] };
}
