/** What ends a command of the client: one line for stderr, and the exit code that says its kind to scripts. */

/** Documented in docs/client.md. 0 is success. */
export const EXIT = {
  failed: 1,
  /** Nothing failed: `diff` or `plan` with `--detailed-exitcode` found changes. */
  changes: 2,
  notFound: 3,
  denied: 4,
  conflict: 5,
  timedOut: 6,
  unreachable: 7,
  usage: 64,
} as const;

export class ClientError extends Error {
  override readonly name = 'ClientError';
  readonly exitCode: number;

  /** `message`: one line without the name of the program, and never a key. */
  constructor(exitCode: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }
}

/** True when the same may succeed later: the master could not be reached, or did not answer in time. */
export function isTransient(error: unknown): error is ClientError {
  return (
    error instanceof ClientError && (error.exitCode === EXIT.unreachable || error.exitCode === EXIT.timedOut)
  );
}
