/** The output of long-running commands: results go to stdout at the reader's pace, events go to stderr. */
import { plainLines } from '../../command-tree/printed-text.js';
import { toPlainText } from '../../telemetry/plain-text.js';
import { write } from '../print.js';

export interface LiveOutput {
  /** True: stdout shows colours. */
  readonly isColoured: boolean;
  /** Aborts when the caller stops waiting for the command. */
  readonly signal: AbortSignal;
  /** Resolves with false when nobody reads the output any more. Throws a ClientError when stdout cannot be written. */
  write(text: string): Promise<boolean>;
  /** Prints one line on stderr. */
  say(line: string): void;
  /** Prints lines on stderr. */
  show(text: string): void;
}

/** Returns the output on `stdout`. `say`: prints a line on stderr. */
export function liveOutput(
  stdout: NodeJS.WritableStream,
  say: (line: string) => void,
  isColoured: boolean,
): LiveOutput {
  return {
    isColoured,
    // A signal that never aborts: Ctrl-C ends the program directly.
    signal: new AbortController().signal,
    write: (text) => write(stdout, text),
    say: (line) => say(`drover: ${toPlainText(line)}`),
    show: (text) => say(plainLines(text).slice(0, -1)),
  };
}
