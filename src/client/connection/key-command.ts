/** Runs the key command of a context, such as that of a password store. No shell is used. */
import { spawn } from 'node:child_process';
import { ClientError, EXIT } from '../../command-tree/runs/client-error.js';
import { reasonOf } from './private-text.js';

/** Long, because a person may have to unlock a password store first. */
const TIMEOUT_MS = 120_000;
const MAX_BYTES = 64 * 1024;

/** Runs the command and returns its output. */
export function runKeyCommand(words: readonly string[]): Promise<string> {
  const [program = '', ...parameters] = words;
  return new Promise((resolve, reject) => {
    const fail = (problem: string): void =>
      reject(new ClientError(EXIT.failed, `the key command ${program} ${problem}`));
    const child = spawn(program, parameters, { stdio: ['inherit', 'pipe', 'inherit'] });
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      fail(`did not end within ${TIMEOUT_MS / 1000} s`);
    }, TIMEOUT_MS);
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (more: string) => {
      text += more;
      if (text.length <= MAX_BYTES) return;
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
