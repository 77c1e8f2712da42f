/**
 * The daemon's side of its connection to the owner: one handshake, then requests with answers, and exits as events. A
 * link is a single connection; the runtime decides about the next connection.
 */
import { connect, type Socket } from 'node:net';
import { DroverError, isErrorCode, messageOf } from '../../model/errors.js';
import { publicMessage } from '../../model/public-message.js';
import { unavailable } from '../failures.js';
import type { LaunchOptions, OwnerKind } from './owner-launch.js';
import { parseOwnerMessage } from './owner-messages.js';
import {
  encodeFrame,
  FrameReader,
  OWNER_PROTOCOL,
  type OwnerExit,
  type OwnerHeld,
  type OwnerMessage,
  type OwnerRequest,
  type OwnerRun,
} from './protocol.js';

/**
 * How long to wait for an answer, which usually takes milliseconds. A stopped or stuck owner must not hang its callers.
 */
const ANSWER_TIMEOUT_MS = 10_000;
const MOST_UNSENT_BYTES = 16 * 1024 * 1024;

export interface LinkOptions extends Pick<LaunchOptions, 'socketPath' | 'rootId' | 'clock'> {
  readonly kind: Pick<OwnerKind, 'title' | 'startTimeoutMs'>;
  readonly onExit: (run: OwnerRun, exit: OwnerExit) => void;
  /**
   * Called once when the connection breaks after a successful handshake; not after `close`. `replaced`: another daemon
   * took over.
   */
  readonly onBroken: (replaced: boolean) => void;
}

type Unnumbered<T> = T extends { readonly id: number } ? Omit<T, 'id'> : never;
type LinkRequest = Unnumbered<OwnerRequest>;
type Done = Extract<OwnerMessage, { type: 'done' }>;

interface Pending {
  readonly resolve: (answer: Done) => void;
  readonly reject: (error: DroverError) => void;
}

export class OwnerLink {
  readonly #socket: Socket;
  readonly #options: LinkOptions;
  readonly #pending = new Map<number, Pending>();
  #nextId = 1;
  #welcome: { resolve: (held: readonly OwnerHeld[]) => void; reject: (error: unknown) => void } | undefined;
  #isReplaced = false;
  #isClosed = false;

  /**
   * Connects and shakes hands. `held`: all runs that the owner holds. `nobody`: no owner listens. `hung-up`: the owner
   * left instead of answering. Throws DRV_RUNTIME_UNAVAILABLE for other failures.
   */
  static async connect(
    options: LinkOptions,
  ): Promise<{ link: OwnerLink; held: readonly OwnerHeld[] } | 'nobody' | 'hung-up'> {
    const socket = await open(options);
    if (typeof socket === 'string') return socket;
    const link = new OwnerLink(socket, options);
    const held = await link.#shakeHands();
    return held === undefined ? 'hung-up' : { link, held };
  }

  private constructor(socket: Socket, options: LinkOptions) {
    this.#socket = socket;
    this.#options = options;
    const frames = new FrameReader();
    socket.on('data', (chunk) => {
      try {
        for (const { message } of frames.push(chunk)) this.#receive(parseOwnerMessage(message));
      } catch (error) {
        socket.destroy(new Error(`the owner sent what this version does not know: ${messageOf(error)}`));
      }
    });
    // Ignore the error: the close event follows, and handles the broken connection.
    socket.on('error', () => undefined);
    socket.on('close', () => this.#onClose());
  }

  /**
   * Sends a request and resolves with its answer. Throws the owner's error, or DRV_RUNTIME_UNAVAILABLE when the
   * connection ends or the owner does not answer.
   */
  request(request: LinkRequest, body?: Buffer): Promise<Done> {
    if (this.#isClosed) return Promise.reject(this.#lost());
    if (this.#socket.writableLength > MOST_UNSENT_BYTES)
      return Promise.reject(unavailable(`${this.#title} does not take any more requests; try again`));
    const id = this.#nextId++;
    const patienceMs = request.type === 'start' ? this.#options.kind.startTimeoutMs : ANSWER_TIMEOUT_MS;
    const timeout = this.#options.clock.setTimer(patienceMs, () => this.#socket.destroy());
    const answer = new Promise<Done>((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      this.#socket.write(encodeFrame({ ...request, id }, body));
    });
    return answer.finally(() => timeout.cancel());
  }

  /** Closes the connection and fails the requests under way. Resolves when it is closed. Idempotent. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const closed = new Promise((resolve) => this.#socket.once('close', resolve));
    this.#socket.destroy();
    await closed;
  }

  /** Says hello and resolves with the owner's runs; undefined: the owner left instead of answering. */
  #shakeHands(): Promise<readonly OwnerHeld[] | undefined> {
    const { clock, rootId } = this.#options;
    const timeout = clock.setTimer(ANSWER_TIMEOUT_MS, () => {
      this.#welcome?.reject(unavailable(`${this.#title} does not answer; is it stopped? (SIGCONT wakes it)`));
      this.#socket.destroy();
    });
    const answer = new Promise<readonly OwnerHeld[] | undefined>((resolve, reject) => {
      this.#welcome = { resolve, reject };
      this.#socket.once('close', () => resolve(undefined));
    });
    this.#socket.write(encodeFrame({ type: 'hello', protocol: OWNER_PROTOCOL, rootId }));
    return answer.finally(() => {
      timeout.cancel();
    });
  }

  #receive(message: OwnerMessage): void {
    switch (message.type) {
      case 'welcome':
        this.#welcome?.resolve(message.held);
        this.#welcome = undefined;
        return;
      case 'refused':
        this.#welcome?.reject(
          unavailable(
            `${this.#title} (pid ${message.pid}) cannot be used: ${message.reason}, this Drover speaks protocol ` +
              `${OWNER_PROTOCOL}; use the version that started it, or stop its instances with that version first`,
          ),
        );
        return;
      case 'replaced':
        this.#isReplaced = true;
        return;
      case 'exit':
        this.#options.onExit({ instanceId: message.instanceId, run: message.run }, message.exit);
        return;
      case 'done':
        this.#take(message.id)?.resolve(message);
        return;
      case 'failed': {
        const code = isErrorCode(message.code) ? message.code : 'DRV_INTERNAL';
        this.#take(message.id)?.reject(new DroverError(code, message.message));
        return;
      }
      default:
      // The other messages come only on the connections of attached terminals.
    }
  }

  get #title(): string {
    return this.#options.kind.title;
  }

  #lost(): DroverError {
    return unavailable(`the connection to ${this.#title} ended`);
  }

  #take(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    return pending;
  }

  #onClose(): void {
    const isOurs = this.#isClosed;
    this.#isClosed = true;
    for (const { reject } of this.#pending.values()) reject(this.#lost());
    this.#pending.clear();
    // While the welcome is awaited, the link is not up yet: `connect` reports the failure.
    if (!isOurs && this.#welcome === undefined) this.#options.onBroken(this.#isReplaced);
  }
}

/** `nobody`: no owner listens. `hung-up`: an owner listened, and ended before it took the connection. */
function open({ socketPath, kind }: LinkOptions): Promise<Socket | 'nobody' | 'hung-up'> {
  return new Promise((resolve, reject) => {
    const socket = connect(socketPath);
    socket.once('error', (error) => {
      const code = 'code' in error ? error.code : undefined;
      if (code === 'ENOENT' || code === 'ECONNREFUSED') resolve('nobody');
      else if (code === 'ECONNRESET' || code === 'EPIPE') resolve('hung-up');
      else reject(unavailable(`cannot reach ${kind.title}: ${publicMessage(error)}`));
    });
    socket.once('connect', () => resolve(socket));
  });
}
