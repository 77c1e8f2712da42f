/**
 * The error that ends a failed command: one line for a person, and an exit code that tells scripts the kind of
 * failure.
 */
import type { ErrorCode } from '../../model/errors.js';

export const ENDPOINT_UNKNOWN: ErrorCode = 'DRV_ENDPOINT_UNKNOWN';

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
  /** All is written, but a rollout holds a content back: `plan` and `apply` say so. */
  heldBack: 8,
  usage: 64,
} as const;

const EXIT_BY_STATUS: Readonly<Record<number, number>> = {
  401: EXIT.denied,
  403: EXIT.denied,
  404: EXIT.notFound,
  408: EXIT.timedOut,
  409: EXIT.conflict,
  412: EXIT.conflict,
  502: EXIT.unreachable,
  503: EXIT.unreachable,
  504: EXIT.timedOut,
};

/** The exit code of a command that the API refuses with this status. */
export function exitCodeOf(status: number): number {
  return EXIT_BY_STATUS[status] ?? EXIT.failed;
}

type ClientErrorOptions = ErrorOptions & { readonly code?: string | undefined };

/** `message`: one line without the name of the program, and never a key. */
export class ClientError extends Error {
  override readonly name = 'ClientError';
  readonly exitCode: number;
  /** The error code of the API's answer. Undefined: the error does not come from the API, or the master is older. */
  readonly code: string | undefined;

  constructor(exitCode: number, message: string, { code, ...options }: ClientErrorOptions = {}) {
    super(message, options);
    this.exitCode = exitCode;
    this.code = code;
  }
}

const errorOf =
  (exitCode: number) =>
  (message: string, options?: ClientErrorOptions): ClientError =>
    new ClientError(exitCode, message, options);

/** The error for wrong arguments or options. */
export const usageError = errorOf(EXIT.usage);
export const failedError = errorOf(EXIT.failed);
export const notFoundError = errorOf(EXIT.notFound);
export const conflictError = errorOf(EXIT.conflict);

/** True when the same call may succeed later: the master could not be reached, or did not answer in time. */
export function isTransient(error: unknown): error is ClientError {
  return (
    error instanceof ClientError && (error.exitCode === EXIT.unreachable || error.exitCode === EXIT.timedOut)
  );
}

/** The answer; undefined when the master cannot be reached now. Throws every other error. */
export async function unlessTransient<T>(answer: Promise<T>): Promise<T | undefined> {
  return answer.catch((error: unknown) => {
    if (isTransient(error)) return undefined;
    throw error;
  });
}

/** Reads the error answer of the API; undefined: the body is something else. */
export function apiFailureOf(
  body: unknown,
): { readonly error: string; readonly code: string | undefined } | undefined {
  if (typeof body !== 'object' || body === null || !('error' in body)) return undefined;
  const { error } = body;
  if (typeof error !== 'string' || error === '') return undefined;
  return { error, code: 'code' in body && typeof body.code === 'string' ? body.code : undefined };
}

/** True when the master does not have the endpoint: it is older than the program that asks. */
export function isEndpointMissing(status: number, body: unknown): boolean {
  return status === 405 || apiFailureOf(body)?.code === ENDPOINT_UNKNOWN;
}
