/** The terminal of this process, read and written byte by byte. */

export interface RawTerminal {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  /** Passes every key to the reader from now on, and turns off the echo. */
  takeOver(): void;
  /** Restores the terminal. Further calls do nothing. */
  giveBack(): void;
  size(): { readonly columns: number; readonly rows: number };
  /** Calls `listener` at each change of the size. Returns a function that removes the listener. */
  onResize(listener: () => void): () => void;
  /** Calls `listener` before a signal ends the process. Returns a function that removes the listener. */
  onEnd(listener: () => void): () => void;
}

const ENDS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;
const USUAL = { columns: 80, rows: 24 };

/** Returns undefined when standard input or standard output is not a terminal. */
export function processRawTerminal(): RawTerminal | undefined {
  const { stdin: input, stdout: output } = process;
  if (!input.isTTY || !output.isTTY) return undefined;
  return {
    input,
    output,
    takeOver: () => {
      input.setRawMode(true);
      input.resume();
    },
    giveBack: () => {
      input.setRawMode(false);
      input.pause();
    },
    // Some terminals report a size of 0 because they do not know it.
    size: () => ({ columns: output.columns || USUAL.columns, rows: output.rows || USUAL.rows }),
    onResize: (listener) => {
      output.on('resize', listener);
      return () => output.off('resize', listener);
    },
    onEnd: (listener) => {
      const handlers = ENDS.map((signal) => {
        const end = (): void => {
          listener();
          process.off(signal, end);
          process.kill(process.pid, signal);
        };
        process.on(signal, end);
        return { signal, end };
      });
      return () => {
        for (const { signal, end } of handlers) process.off(signal, end);
      };
    },
  };
}
