/** Asks a person at the terminal. Questions go to stderr: stdout is for results. */
import { Writable } from 'node:stream';

export interface Terminal {
  /** True when a person can answer at this terminal. */
  readonly isInteractive: boolean;
  /** Prints one line on stderr. */
  say(line: string): void;
  /** The answer without its end of line; '' when the input has ended. */
  ask(question: string, options?: { readonly isSecret?: boolean }): Promise<string>;
}

/** Returns the terminal of this process. */
export function processTerminal(): Terminal {
  const { stdin: input, stderr: output } = process;
  return {
    isInteractive: input.isTTY === true && output.isTTY === true,
    say: (line) => {
      output.write(`${line}\n`);
    },
    ask: async (question, { isSecret = false } = {}) => {
      const { createInterface } = await import('node:readline');
      // What is typed is not shown when nothing of it is written.
      const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
      const lines = createInterface({ input, output: isSecret ? silent : output, terminal: true });
      // Only now: before it the terminal itself shows what is typed.
      output.write(question);
      lines.once('SIGINT', () => {
        output.write('\n');
        process.kill(process.pid, 'SIGINT');
      });
      const answer = await new Promise<string>((resolve) => {
        lines.once('line', resolve);
        lines.once('close', () => resolve(''));
      });
      lines.close();
      if (isSecret) output.write('\n');
      return answer;
    },
  };
}
