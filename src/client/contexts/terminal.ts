/** Asks a person at the terminal. Questions go to stderr, because stdout is for results. */
import { Writable } from 'node:stream';
import { wrapText } from '../../model/plain/wrap-text.js';

export interface Terminal {
  /** True when a person can answer at this terminal. */
  readonly isInteractive: boolean;
  /** Prints one line on stderr. */
  say(line: string): void;
  /** Returns the answer without its line end, or '' when the input has ended. */
  ask(question: string, options?: { readonly isSecret?: boolean }): Promise<string>;
}

/** Returns the terminal of this process. */
export function processTerminal(): Terminal {
  const { stdin: input, stderr: output } = process;
  return {
    isInteractive: input.isTTY === true && output.isTTY === true,
    say: (line) => {
      output.write(`${output.isTTY && output.columns > 0 ? wrapText(line, output.columns) : line}\n`);
    },
    ask: async (question, { isSecret = false } = {}) => {
      const { createInterface } = await import('node:readline');
      // Discard the echo of a secret answer, so that it is not shown.
      const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
      const lines = createInterface({ input, output: isSecret ? silent : output, terminal: true });
      // Print the question only after readline has turned off the terminal's own echo.
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
