/**
 * A terminal that somebody has attached to a run, as types that the owner of the run, the runtime, the node
 * and the master share.
 */

export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

/**
 * Why an attached terminal ended. `exited`: the run has ended. `left`: somebody on the node detached it, or its tool
 * ended it. `too-slow`: too much output waited for the reader. `lost`: the connection to the run broke.
 */
export type AttachEndReason = 'exited' | 'left' | 'too-slow' | 'lost';

export type AttachEvent =
  | { readonly kind: 'output'; readonly bytes: Buffer }
  /** Some input was refused. The terminal stays attached. */
  | { readonly kind: 'refused'; readonly message: string }
  /** Always the last event. */
  | { readonly kind: 'ended'; readonly reason: AttachEndReason; readonly message: string };

export interface Attachment {
  /**
   * True when the program's terminal passes on every byte as it is (process, docker). So Enter is a line feed, output
   * ends its lines with a line feed alone, and only the program itself echoes.
   */
  readonly isTransparent: boolean;

  /** All events from the first screen on. Call once. A slow reader delays no other reader. */
  events(): AsyncGenerator<AttachEvent>;

  /**
   * Gives bytes to the program as they are. Refused input comes back as the event `refused`. Resolves when more may be
   * written. Never rejects.
   */
  write(bytes: Buffer): Promise<void>;

  resize(size: TerminalSize): void;

  /** Detaches the terminal. The run goes on. Idempotent. */
  close(): void;
}

/** The size that fits into all of `sizes`, which must not be empty. */
export function smallestOf(sizes: readonly TerminalSize[]): TerminalSize {
  return {
    columns: Math.min(...sizes.map(({ columns }) => columns)),
    rows: Math.min(...sizes.map(({ rows }) => rows)),
  };
}
