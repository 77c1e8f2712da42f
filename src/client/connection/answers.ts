/** Reads answers of the API, and recognizes answers that a proxy made instead. */
import type { IncomingMessage } from 'node:http';
import { apiFailureOf, ClientError, exitCodeOf, failedError } from '../../command-tree/runs/client-error.js';
import { readWhole } from '../../files/read-whole.js';
import type { ErrorCode } from '../../model/errors.js';
import { NOT_TAKEN } from '../../model/plain/not-taken.js';
import { cutText } from '../../model/words.js';
import { toPlainText } from '../../telemetry/plain-text.js';
import type { Answer } from './connection.js';
import { placeOf, unreachable } from './failures.js';
import type { Target } from './target.js';

/** The largest answer that is held in memory. Larger ones are streamed. */
const MAX_BYTES = 256 * 1024 * 1024;
const MOST_CHARS = 1000;
const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\b/i;
/** The code with which a TLS master answers a request made without TLS. */
const TLS_REQUIRED: ErrorCode = 'DRV_TLS_REQUIRED';
const LONGEST_WAIT_S = 10;

type Place = Pick<Target, 'name' | 'url'>;

/**
 * Throws a ClientError for an answer that cannot come from the API: a redirect, or a page for browsers. Reads no body.
 */
export function refuseForeign(target: Place, { statusCode = 0, headers }: IncomingMessage): void {
  const { location, 'content-type': type = '' } = headers;
  if (statusCode >= 300 && statusCode < 400 && location !== undefined)
    throw unreachable(
      target,
      `it redirects to ${plain(location)}, which is not followed, since the key would go along: if that is the master, use its address`,
    );
  if (/^text\/html\b/i.test(type))
    throw unreachable(
      target,
      `it answers with a web page (status ${statusCode}), so it is not Drover's API, or a proxy before it has no connection: check the address`,
    );
}

/**
 * Returns the pause in milliseconds before a request may be repeated, when the master refused it because there is no
 * leader. Undefined for any other answer: the master may have carried the request out.
 */
export function retryAfterOf({
  statusCode,
  headers,
}: Pick<IncomingMessage, 'statusCode' | 'headers'>): number | undefined {
  const { [NOT_TAKEN]: mark, 'retry-after': seconds = '' } = headers;
  if (statusCode !== 503 || mark === undefined || !/^\d+$/.test(seconds)) return undefined;
  return Math.min(Number(seconds), LONGEST_WAIT_S) * 1000;
}

/** The master refused a WebSocket because there is no leader. */
export class NotTakenError extends ClientError {
  readonly retryAfterMs: number;

  constructor({ exitCode, message }: ClientError, retryAfterMs: number) {
    super(exitCode, message);
    this.retryAfterMs = retryAfterMs;
  }
}

/** Reads the whole body. Throws a ClientError, or the error of the connection. */
export async function readAnswer(target: Place, response: IncomingMessage): Promise<Answer> {
  const { statusCode: status = 0, headers } = response;
  const tooLong = `the answer of ${placeOf(target)} is larger than 256 MiB`;
  const bytes = await readWhole(response, MAX_BYTES, () => failedError(tooLong));
  if (bytes.length === 0) return { status, headers, body: undefined };
  const text = bytes.toString('utf8');
  if (!JSON_TYPE.test(headers['content-type'] ?? '')) return { status, headers, body: text };
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch (cause) {
    throw unreachable(target, `its answer says that it is JSON and is not (status ${status})`, cause);
  }
  const { code, error = '' } = apiFailureOf(body) ?? {};
  if (code === TLS_REQUIRED && target.url.startsWith('http:')) throw unreachable(target, plain(error));
  return { status, headers, body };
}

/**
 * Returns the error to throw for a failed request, with the server's own sentence and the exit code of its status.
 * Returns undefined for a status below 400.
 */
export function refusalOf(
  target: Place,
  { status, body }: Pick<Answer, 'status' | 'body'>,
): ClientError | undefined {
  if (status < 400) return undefined;
  const exitCode = exitCodeOf(status);
  const failure = apiFailureOf(body);
  const said = failure && plain(failure.error);
  if (status === 401)
    return new ClientError(exitCode, `${placeOf(target)} refuses the key: ${said ?? 'it is not valid'}`);
  return new ClientError(exitCode, said ?? `${placeOf(target)} answers with status ${status}`);
}

function plain(text: string): string {
  return cutText(toPlainText(text.replace(/\s+/g, ' ')), MOST_CHARS);
}
