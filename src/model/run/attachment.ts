/**
 * A terminal that somebody has attached to a run, as every level sees it: the owner that holds the run, the runtime,
 * the node and the master pass on the same few things.
 */

export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

/**
 * Why an attached terminal ended. `exited`: the run did. `left`: somebody on the node detached it, or its tool ended
 * it. `too-slow`: too much output waited for a reader that does not read. `lost`: the way to the run broke.
 */
export type AttachEndReason = 'exited' | 'left' | 'too-slow' | 'lost';

export type AttachEvent =
  | { readonly kind: 'output'; readonly bytes: Buffer }
  /** Some input was not taken. The terminal stays attached. */
  | { readonly kind: 'refused'; readonly message: string }
  /** Always the last one. */
  | { readonly kind: 'ended'; readonly reason: AttachEndReason; readonly message: string };

export interface Attachment {
  /**
   * The program's terminal passes on every byte as it is (process, docker). So Enter is a line feed, output ends its
   * lines with a line feed alone, and nothing is echoed unless the program does it.
   */
  readonly isTransparent: boolean;

  /** Everything from the first screen on. Read once. A reader that stands still stops nothing but itself. */
  events(): AsyncGenerator<AttachEvent>;

  /**
   * Gives bytes to the program as they are. What it does not take comes back as the event `refused`. Resolves when more
   * may be written. Never rejects.
   */
  write(bytes: Buffer): Promise<void>;

  resize(size: TerminalSize): void;

  /** Detaches. The run goes on. Idempotent. */
  close(): void;
}

/** What fits into all of `sizes`, of which there is one at least. */
export function smallestOf(sizes: readonly TerminalSize[]): TerminalSize {
  return {
    columns: Math.min(...sizes.map(({ columns }) => columns)),
    rows: Math.min(...sizes.map(({ rows }) => rows)),
  };
}
