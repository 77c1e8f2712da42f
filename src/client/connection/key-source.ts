/** The sources of a connection's key. A key never appears in arguments, messages or logs. */
import { spawn } from 'node:child_process';
import { failedError } from '../../command-tree/runs/client-error.js';
import { readPrivateText, reasonOf } from './private-text.js';

export type KeySource =
  /** `from` names the source of the key in messages, such as `DROVER_KEY`. */
  | { readonly kind: 'text'; readonly key: string; readonly from: string }
  | { readonly kind: 'file'; readonly path: string }
  /** A program and its parameters; the program prints the key. */
  | { readonly kind: 'command'; readonly words: readonly string[] };

/** Long, because a person may have to unlock a password store first. */
const COMMAND_MS = 120_000;
/** The most that a key command may print. */
const MAX_CHARS = 64 * 1024;
/** Only visible characters are allowed, because the key is sent in a header. */
const KEY = /^[\x21-\x7e]{8,512}$/;

/** Reads the key from its file or command, again at each call. Throws a ClientError that does not contain the key. */
export async function readKey(source: KeySource): Promise<string> {
  switch (source.kind) {
    case 'text':
      return checkKey(source.key, source.from);
    case 'file':
      return checkKey(await readKeyFile(source.path), `the key file ${source.path}`);
    case 'command':
      return checkKey(await runKeyCommand(source.words), `the output of the key command ${source.words[0]}`);
  }
}

/** Returns the key in `text`, without blanks around it. `from` begins the error message. */
export function checkKey(text: string, from: string): string {
  const key = text.trim();
  if (KEY.test(key)) return key;
  const problem = key === '' ? 'is empty' : 'is no key: one line is expected, of the form drv_...';
  throw failedError(`${from} ${problem}`);
}

/** Runs the key command of a context, such as that of a password store, and returns its output. No shell is used. */
function runKeyCommand([program = '', ...parameters]: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const fail = (problem: string): void => reject(failedError(`the key command ${program} ${problem}`));
    const child = spawn(program, parameters, { stdio: ['inherit', 'pipe', 'inherit'] });
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      fail(`did not end within ${COMMAND_MS / 1000} s`);
    }, COMMAND_MS);
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (more: string) => {
      text += more;
      if (text.length <= MAX_CHARS) return;
      child.kill('SIGKILL');
      fail('prints more than a key');
    });
    child.once('error', (error) => {
      clearTimeout(timer);
      fail(`cannot be started: ${reasonOf(error)}`);
    });
    child.once('close', (code, signal) => {
      clearTimeout(timer);
      if (code === 0) resolve(text);
      else fail(code === null ? `was ended by ${signal}` : `ended with exit code ${code}`);
    });
  });
}

async function readKeyFile(path: string): Promise<string> {
  const text = await readPrivateText('the key file', path);
  if (text === undefined) throw failedError(`the key file ${path} does not exist`);
  return text;
}
