/** Connects to the API of one master, over HTTP or HTTPS. Nothing is loaded, read or opened before the first call. */
import type { Agent, ClientRequest, IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import type { Agent as TlsAgent } from 'node:https';
import { Readable } from 'node:stream';
import type { ConnectionOptions } from 'node:tls';
import type { WebSocket } from 'ws';
import type { CallOptions } from '../../command-tree/runs/api-calls.js';
import { hasFileCode } from '../../files/system-error.js';
import { remembered } from '../../loop/remembered.js';
import { NotTakenError, readAnswer, refuseForeign, retryAfterOf } from './answers.js';
import { boundConnect, openApiSocket } from './api-socket.js';
import type { Answer, ApiConnection, StreamedAnswer, StreamOptions } from './connection.js';
import { electionPatience } from './election-patience.js';
import { cutFailure, failureOf, lateAnswer } from './failures.js';
import { readKey } from './key-source.js';
import type { Target } from './target.js';
import { tlsOptionsOf } from './trust.js';

const CONNECT_MS = 10_000;
const ANSWER_MS = 60_000;

export interface HttpConnectionOptions {
  /** The version of this program, for the master's log. */
  readonly version: string;
  /** The time limit for a connection with its handshake, in milliseconds. Default: 10 s. */
  readonly connectMs?: number;
  /** The time limit for the answer that opens a socket, in milliseconds. Default: 60 s. */
  readonly answerMs?: number;
  /**
   * Called with one line when a request waits for the masters to elect a leader. Absent: the request fails at once
   * instead.
   */
  readonly sayWaits?: (line: string) => void;
}

interface Call {
  readonly method: string;
  readonly path: string;
  readonly headers: OutgoingHttpHeaders;
  readonly body: string | Readable | undefined;
  /** The time limit until the head of the answer; 0: no limit. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

interface Transport {
  readonly request: typeof import('node:http').request;
  readonly agent: Agent | TlsAgent;
  readonly tls: ConnectionOptions;
}

export class HttpConnection implements ApiConnection {
  readonly name: string;
  readonly url: string;
  readonly mayAskPerson: boolean;
  readonly #target: Target;
  readonly #options: HttpConnectionOptions;
  readonly #prepare = remembered(() => this.#makeTransport());
  readonly #readKey = remembered(() => readKey(this.#target.key));

  constructor(target: Target, options: HttpConnectionOptions) {
    this.#target = target;
    this.#options = options;
    this.name = target.name;
    this.url = target.url;
    this.mayAskPerson = target.key.kind === 'command';
  }

  async request(
    method: string,
    path: string,
    body?: unknown,
    { timeoutMs = ANSWER_MS, signal, headers: more }: CallOptions = {},
  ): Promise<Answer> {
    // Read the key before the time limit starts, since a person may be asked for a password.
    await this.#readKey();
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(lateAnswer(this.#target, timeoutMs)), timeoutMs);
    const ends = signal === undefined ? late.signal : AbortSignal.any([signal, late.signal]);
    const json = body === undefined ? undefined : JSON.stringify(body);
    const headers: OutgoingHttpHeaders = {
      ...more,
      accept: 'application/json',
      ...(json !== undefined && {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(json),
      }),
    };
    try {
      const response = await this.#send({ method, path, headers, body: json, timeoutMs: 0, signal: ends });
      return await readAnswer(this.#target, response).catch((error: unknown) => {
        throw ends.aborted ? ends.reason : error;
      });
    } catch (error) {
      if (ends.aborted) throw ends.reason;
      throw await failureOf(error, this.#target, method !== 'GET');
    } finally {
      clearTimeout(timer);
    }
  }

  async stream(
    method: string,
    path: string,
    { body, contentType = 'application/octet-stream', signal }: StreamOptions = {},
  ): Promise<StreamedAnswer> {
    const headers: OutgoingHttpHeaders = {
      accept: '*/*',
      ...(body !== undefined && { 'content-type': contentType }),
    };
    let bodyError: Error | undefined;
    body?.once('error', (error) => {
      bodyError = error;
    });
    try {
      // No limit while a body is sent: the answer comes only after the whole body.
      const timeoutMs = body === undefined ? ANSWER_MS : 0;
      const response = await this.#send({ method, path, headers, body, timeoutMs, signal });
      const { statusCode: status = 0, headers: answered } = response;
      return { status, headers: answered, body: this.#readable(response, signal) };
    } catch (error) {
      if (signal?.aborted === true) throw signal.reason;
      throw bodyError ?? (await failureOf(error, this.#target, method !== 'GET'));
    }
  }

  async openSocket(
    path: string,
    signal?: AbortSignal,
    sayWaits = this.#options.sayWaits,
  ): Promise<WebSocket> {
    try {
      signal?.throwIfAborted();
      const [{ tls }, key] = await Promise.all([this.#prepare(), this.#readKey()]);
      const { connectMs = CONNECT_MS, answerMs = ANSWER_MS } = this.#options;
      const [target, headers] = [this.#target, this.#headers(key)];
      const call = { target, path, tls, headers, connectMs, answerMs, signal };
      const again = electionPatience(this.#options.sayWaits && sayWaits, signal);
      for (;;) {
        const opened = await openApiSocket(call).catch((error: unknown) => {
          if (error instanceof NotTakenError) return error;
          throw error;
        });
        if (!(opened instanceof NotTakenError)) return opened;
        if (!(await again(opened.retryAfterMs))) throw opened;
      }
    } catch (error) {
      if (signal?.aborted === true) throw signal.reason;
      throw await failureOf(error, this.#target);
    }
  }

  /**
   * Sends a request, and sends it again while the masters elect a leader. Resolves with the head of the answer.
   * Throws a ClientError for an answer that cannot come from the API.
   */
  async #send(call: Call): Promise<IncomingMessage> {
    call.signal?.throwIfAborted();
    const [{ request, agent }, key] = await Promise.all([this.#prepare(), this.#readKey()]);
    const { method, path, signal, headers } = call;
    const start = (): ClientRequest =>
      request(`${this.url}/api${path}`, {
        agent,
        method,
        headers: { ...headers, ...this.#headers(key) },
        ...(signal !== undefined && { signal }),
      });
    const again = electionPatience(this.#options.sayWaits, signal);
    for (;;) {
      const response = await this.#answerOf(start, call);
      try {
        refuseForeign(this.#target, response);
      } catch (error) {
        response.destroy();
        throw error;
      }
      // Never repeat a request whose body is a stream: the stream is already used up.
      const retryAfterMs = call.body instanceof Readable ? undefined : retryAfterOf(response);
      if (retryAfterMs === undefined || !(await again(retryAfterMs))) return response;
      response.resume();
    }
  }

  async #answerOf(start: () => ClientRequest, call: Call): Promise<IncomingMessage> {
    const request = start();
    try {
      return await this.#headOf(request, call);
    } catch (error) {
      // The master closed a kept connection just as it was used again. Only a request that changes nothing may be
      // repeated.
      const isStale =
        request.reusedSocket && isReset(error) && call.method === 'GET' && call.body === undefined;
      if (!isStale || call.signal?.aborted === true) throw error;
      return await this.#headOf(start(), call);
    }
  }

  #headOf(request: ClientRequest, { body, timeoutMs }: Call): Promise<IncomingMessage> {
    boundConnect(request, this.#target, this.#options.connectMs ?? CONNECT_MS);
    const late =
      timeoutMs === 0
        ? undefined
        : setTimeout(() => request.destroy(lateAnswer(this.#target, timeoutMs)), timeoutMs);
    const head = new Promise<IncomingMessage>((resolve, reject) => {
      request.once('response', resolve);
      // Keep the listener: an answer may arrive while the body is still being sent, and sending then fails.
      request.on('error', reject);
      if (body instanceof Readable) {
        body.once('error', (error) => request.destroy(error));
        body.pipe(request);
      } else request.end(body);
    });
    return head.finally(() => clearTimeout(late));
  }

  /** Returns the body as a stream that fails with a ClientError. */
  #readable(response: IncomingMessage, signal: AbortSignal | undefined): Readable {
    const target = this.#target;
    async function* read(): AsyncGenerator<Buffer> {
      try {
        yield* response;
      } catch (error) {
        if (signal?.aborted === true) throw signal.reason;
        throw isReset(error) ? cutFailure(target, false, error) : await failureOf(error, target);
      }
    }
    const body = Readable.from(read(), { objectMode: false });
    // A body closed before its first read never enters `read`, so the response must be destroyed here.
    body.once('close', () => response.destroy());
    return body;
  }

  #headers(key: string): OutgoingHttpHeaders {
    return { authorization: `Bearer ${key}`, 'user-agent': `drover/${this.#options.version}` };
  }

  async #makeTransport(): Promise<Transport> {
    if (!this.url.startsWith('https:')) {
      const { Agent: PlainAgent, request } = await import('node:http');
      return { request, agent: new PlainAgent({ keepAlive: true }), tls: {} };
    }
    const [{ Agent: SecureAgent, request }, tls] = await Promise.all([
      import('node:https'),
      tlsOptionsOf(this.#target.trust),
    ]);
    return { request, agent: new SecureAgent({ ...tls, keepAlive: true }), tls };
  }
}

function isReset(error: unknown): boolean {
  const isCut = hasFileCode(error, 'ECONNRESET', 'EPIPE');
  return isCut || (error instanceof Error && error.message === 'aborted');
}
