/**
 * Calls Drover's API with the token of the session. It knows no route: a screen names the path and the type of the
 * answer. The screen imports that type from where the server declares it.
 */

/** A call that the API refused or did not answer. `message` is written for the operator. */
export class ApiFailure extends Error {
  /** The HTTP status; 0: no answer came. */
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = 'ApiFailure';
    this.status = status;
  }
}

interface ApiOptions {
  /** The address of the API with a slash at its end, such as `http://127.0.0.1:7000/api/`. */
  readonly base: string;
  readonly token: () => string | null;
  /** Called when the API no longer accepts the token; `reason` is the API's sentence. */
  readonly onRefused: (reason: string) => void;
  readonly fetch?: typeof fetch;
}

export interface CallOptions {
  /** The query of the call. A value of undefined is left out. */
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  /** A value that is sent as JSON, or a Blob or bytes that are sent as they are. */
  readonly body?: unknown;
  readonly signal?: AbortSignal;
  /**
   * A token in place of the session's, for the sign-in; '': no token. When the API refuses this token, no session
   * ends.
   */
  readonly token?: string;
  /** More headers, such as `If-Match`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** A function in place of `fetch`: an upload uses one that reports its progress. */
  readonly call?: (url: URL, request: RequestInit) => Promise<Response>;
}

const NO_ANSWER =
  'Drover does not answer. Check that it runs and that this computer reaches it, then try again.';

const NOT_ACCEPTED =
  'Drover does not accept this key, code or session. It may be mistyped, used, deleted, or of another cluster.';

export class Api {
  readonly #options: ApiOptions;
  readonly get = this.#caller('GET');
  readonly post = this.#caller('POST');
  readonly put = this.#caller('PUT');
  readonly patch = this.#caller('PATCH');
  readonly delete = this.#caller('DELETE');

  constructor(options: ApiOptions) {
    this.#options = options;
  }

  /** The address of a path below the API, for sockets and downloads. */
  url(path: string, query: CallOptions['query'] = {}): URL {
    const url = new URL(path.replace(/^\//, ''), this.#options.base);
    for (const [name, value] of Object.entries(query))
      if (value !== undefined) url.searchParams.set(name, String(value));
    return url;
  }

  /**
   * Calls any method and returns the response, for bytes and headers. Throws ApiFailure when the status is no success,
   * and the reason of `signal` when that aborts.
   */
  async send(method: string, path: string, options: CallOptions = {}): Promise<Response> {
    const held = this.#options.token();
    const request = this.#request(method, options);
    const call = options.call ?? this.#options.fetch ?? fetch;
    const response = await call(this.url(path, options.query), request).catch((error: unknown) => {
      options.signal?.throwIfAborted();
      throw new ApiFailure(0, NO_ANSWER + detailOf(error));
    });
    if (response.ok) return response;
    const failure = new ApiFailure(response.status, await sentenceOf(response));
    // The token may have changed since the call began. Then the refusal is about the old token, and the present
    // session goes on.
    const isHeld = held !== null && options.token === undefined && this.#options.token() === held;
    if (response.status === 401 && isHeld) this.#options.onRefused(failure.message);
    throw failure;
  }

  #request(method: string, options: CallOptions): RequestInit {
    const { body, signal, token = this.#options.token() ?? '' } = options;
    const isBytes = body instanceof Blob || body instanceof ArrayBuffer || body instanceof Uint8Array;
    const headers = new Headers(options.headers);
    if (token !== '') headers.set('authorization', `Bearer ${token}`);
    if (body !== undefined)
      headers.set('content-type', isBytes ? 'application/octet-stream' : 'application/json');
    return {
      method,
      headers,
      credentials: 'omit',
      ...(signal !== undefined && { signal }),
      ...(body !== undefined && {
        body: isBytes ? (body as NonNullable<RequestInit['body']>) : JSON.stringify(body),
      }),
    };
  }

  /** Makes the function that calls a path with this method, and reads the answer as JSON. */
  #caller(method: string) {
    return async <T>(path: string, options?: CallOptions): Promise<T> => {
      const text = await (await this.send(method, path, options)).text();
      // An empty body becomes undefined, which the caller's T has to allow.
      return (text === '' ? undefined : JSON.parse(text)) as T;
    };
  }
}

/** A path whose parts are encoded: `apiPath('instances', id)` is `/instances/a1f1so`. */
export function apiPath(...parts: readonly string[]): string {
  return parts.map((part) => `/${encodeURIComponent(part)}`).join('');
}

/** Returns the answer of a call; null: the API answers that the thing does not exist. */
export async function ifThere<T>(call: Promise<T>): Promise<T | null> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof ApiFailure && error.status === 404) return null;
    throw error;
  }
}

async function sentenceOf(response: Response): Promise<string> {
  if (response.status === 401) return whyRefused(response.headers.get('www-authenticate') ?? '');
  const text = await response.text().catch(() => '');
  try {
    const { error }: { readonly error?: unknown } = JSON.parse(text);
    if (typeof error === 'string' && error !== '') return error;
  } catch {
    // The body is no JSON, so the answer comes from a proxy.
  }
  return `The answer was ${response.status} ${response.statusText}, and not from Drover. A proxy may stand between.`;
}

/**
 * The reason of a 401. The API says in a header that a key or session has ended; for a wrong token it gives no reason.
 */
function whyRefused(challenge: string): string {
  const hint = /error_description="([^"]+)"/.exec(challenge)?.[1];
  return hint === undefined ? NOT_ACCEPTED : `${hint.charAt(0).toUpperCase()}${hint.slice(1)}.`;
}

function detailOf(error: unknown): string {
  return error instanceof Error && !(error instanceof TypeError) ? ` (${error.message})` : '';
}
