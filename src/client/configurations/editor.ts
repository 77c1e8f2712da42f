/** Finds the person's editor, and runs it on a file. */
import { spawn } from 'node:child_process';
import { parseArgsStringToArgv } from 'string-argv';
import { failedError } from '../../command-tree/runs/client-error.js';
import { endText } from '../../model/words.js';
import { reasonOf } from '../connection/private-text.js';

const DEFAULT = 'vi';

/** Opens a file in the editor; resolves when the editor exits with 0. Throws a ClientError. */
export type OpenEditor = (path: string) => Promise<void>;

/** Returns the editor of `VISUAL`, else of `EDITOR`. The value may hold options: `code --wait`. No shell is used. */
export function editorOf(environment: NodeJS.ProcessEnv): OpenEditor {
  const source = ['VISUAL', 'EDITOR'].find((name) => (environment[name] ?? '').trim() !== '');
  const text = source === undefined ? DEFAULT : (environment[source] ?? DEFAULT);
  const [program = DEFAULT, ...parameters] = parseArgsStringToArgv(text);
  const named = source === undefined ? 'neither VISUAL nor EDITOR is set' : `${source} names it`;
  return async (path) => {
    // Ignore Ctrl-C while the editor runs: the terminal sends it to every program, and it is meant for the editor.
    const ignore = (): void => {};
    process.on('SIGINT', ignore);
    try {
      await new Promise<void>((resolve, reject) => {
        const fail = (problem: string, cause?: Error): void =>
          reject(failedError(`the editor ${program} ${problem}`, { cause }));
        const child = spawn(program, [...parameters, path], { stdio: 'inherit' });
        child.once('error', (error) => fail(`cannot be started: ${reasonOf(error)} (${named})`, error));
        child.once('close', (code, signal) => (code === 0 ? resolve() : fail(endText({ code, signal }))));
      });
    } finally {
      process.removeListener('SIGINT', ignore);
    }
  };
}
