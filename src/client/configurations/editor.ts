/** The editor of a person: which one it is, and running it on a file. */
import { spawn } from 'node:child_process';
import { parseArgsStringToArgv } from 'string-argv';
import { ClientError, EXIT } from '../../command-tree/runs/client-error.js';
import { endText, systemReason } from '../../model/words.js';

const DEFAULT = 'vi';

export class Editor {
  readonly #words: readonly string[];
  /** Where it was named. */
  readonly #source: string | undefined;

  /** `VISUAL`, else `EDITOR`, may hold options: `code --wait`. */
  constructor(environment: NodeJS.ProcessEnv) {
    this.#source = ['VISUAL', 'EDITOR'].find((name) => (environment[name] ?? '').trim() !== '');
    const text = this.#source === undefined ? DEFAULT : (environment[this.#source] ?? DEFAULT);
    this.#words = parseArgsStringToArgv(text);
  }

  /** Resolves when the editor has ended well. There is no shell between. Throws a ClientError. */
  async open(path: string): Promise<void> {
    const [program = DEFAULT, ...parameters] = this.#words;
    // Ctrl-C is for the editor. It reaches all programs at the terminal.
    const ignore = (): void => {};
    process.on('SIGINT', ignore);
    try {
      await new Promise<void>((resolve, reject) => {
        const child = spawn(program, [...parameters, path], { stdio: 'inherit' });
        child.once('error', (error) => reject(this.#unstartable(program, error)));
        child.once('close', (code, signal) => {
          if (code === 0) resolve();
          else reject(new ClientError(EXIT.failed, `the editor ${program} ${endText({ code, signal })}`));
        });
      });
    } finally {
      process.removeListener('SIGINT', ignore);
    }
  }

  #unstartable(program: string, error: Error): ClientError {
    const named =
      this.#source === undefined ? 'neither VISUAL nor EDITOR is set' : `${this.#source} names it`;
    const reason = systemReason(error) ?? error.message;
    return new ClientError(EXIT.failed, `the editor ${program} cannot be started: ${reason} (${named})`, {
      cause: error,
    });
  }
}
