/** Asks another master of the cluster a question (`MasterDesk`), each on a connection of its own. */
import { type IncomingMessage, request } from 'node:http';
import type { Duplex } from 'node:stream';
import { z } from 'zod';
import type { MasterPeer } from '../../leadership/leadership.js';
import type { Clock } from '../../loop/clock.js';
import { withDeadline } from '../../loop/deadline.js';
import { DroverError, isErrorCode, messageOf } from '../../model/errors.js';

const ANSWER_MS = 10_000;
/** The longest pause between two pieces of a stream. */
const SILENCE_MS = 30_000;
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

const failureSchema = z.object({ code: z.string(), error: z.string() });

export interface Question {
  /** The name under which the other master's desk answers the question. */
  readonly name: string;
  /** The value that is sent as JSON. */
  readonly content: unknown;
  /** How long the answer may take. Default: 10 s. */
  readonly limitMs?: number;
}

export interface MasterCallsOptions {
  /** Opens a connection to the desk of a master. Throws DroverErrors. */
  readonly dial: (peer: MasterPeer, signal: AbortSignal) => Promise<Duplex>;
  readonly clock: Clock;
}

export class MasterCalls {
  readonly #options: MasterCallsOptions;

  constructor(options: MasterCallsOptions) {
    this.#options = options;
  }

  /**
   * Asks a question. Throws the error that the other master answers with, and DRV_CHANNEL_CLOSED when it does not
   * answer in time.
   */
  async ask(peer: MasterPeer, question: Question, signal: AbortSignal): Promise<unknown> {
    const { clock } = this.#options;
    const { limitMs = ANSWER_MS } = question;
    const expired = (): DroverError =>
      new DroverError('DRV_CHANNEL_CLOSED', `master ${peer.nodeId} did not answer in time`);
    return withDeadline({ clock, limitMs, signal, expired }, async (inner) =>
      readJson(bytesOf(peer, await this.#send(peer, question, AbortSignal.any([signal, inner])))),
    );
  }

  /** The bytes of an answer. Throws as `ask`. A connection that brings nothing for 30 s counts as closed. */
  async *bytes(peer: MasterPeer, question: Question, signal: AbortSignal): AsyncGenerator<Buffer> {
    const response = await this.#send(peer, question, signal);
    response.setTimeout(SILENCE_MS, () => response.destroy());
    yield* bytesOf(peer, response);
  }

  async #send(peer: MasterPeer, { name, content }: Question, signal: AbortSignal): Promise<IncomingMessage> {
    const connection = await this.#options.dial(peer, signal);
    const body = JSON.stringify(content);
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const outgoing = request({
        createConnection: () => connection,
        method: 'POST',
        path: `/${name}`,
        signal,
        headers: {
          Host: 'master',
          'Content-Type': 'application/json',
          'Content-Length': Buffer.byteLength(body),
          Connection: 'close',
        },
      });
      outgoing.on('response', resolve);
      outgoing.on('error', (error) => reject(hungUp(peer, error)));
      outgoing.end(body);
    });
    if (response.statusCode === 200) return response;
    const { data } = failureSchema.safeParse(await readJson(bytesOf(peer, response)));
    throw new DroverError(
      data !== undefined && isErrorCode(data.code) ? data.code : 'DRV_CHANNEL_CALL_FAILED',
      data?.error ?? `master ${peer.nodeId} answered with status ${response.statusCode}`,
    );
  }
}

/** The bytes of a response. Throws DRV_CHANNEL_CLOSED when it breaks off. */
async function* bytesOf(peer: MasterPeer, response: IncomingMessage): AsyncGenerator<Buffer> {
  try {
    yield* response;
  } catch (error) {
    throw hungUp(peer, error);
  } finally {
    response.destroy();
  }
}

function hungUp({ nodeId }: MasterPeer, error: unknown): DroverError {
  return new DroverError('DRV_CHANNEL_CLOSED', `master ${nodeId} hung up: ${messageOf(error)}`);
}

async function readJson(answer: AsyncIterable<Buffer>): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES)
      throw new DroverError('DRV_CHANNEL_CALL_FAILED', 'the answer of a master is too long');
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString());
  } catch {
    throw new DroverError('DRV_CHANNEL_CALL_FAILED', 'the answer of a master is no JSON');
  }
}
