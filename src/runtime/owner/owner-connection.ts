/**
 * The daemon's connection to the root's owner: requests with answers, and exits as events. It connects by itself,
 * starts an owner when none runs, and finds out whether a broken connection means that the owner died. It knows nothing
 * of single instances.
 */
import { connect, type Socket } from 'node:net';
import { type DroverError, messageOf, sentError } from '../../model/errors.js';
import { publicMessage } from '../../model/public-message.js';
import type { Logger } from '../../telemetry/logger.js';
import { unavailable } from '../failures.js';
import { type LaunchOptions, launchOwner, ownerLockName } from './owner-launch.js';
import { parseOwnerMessage } from './owner-messages.js';
import { isSeatTaken } from './owner-seat.js';
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

/** How many times an owner is tried: between the end of one owner and the start of the next, connections may fail. */
const MOST_ATTEMPTS = 5;
const RETRY_MS = 20;
const PATIENCE_MS = 3000;
/**
 * How long to wait for an answer, which usually takes milliseconds. A stopped or stuck owner must not hang its callers.
 */
const ANSWER_TIMEOUT_MS = 10_000;
const MOST_UNSENT_BYTES = 16 * 1024 * 1024;

interface OwnerConnectionOptions extends LaunchOptions {
  readonly logger: Logger;
  readonly onExit: (run: OwnerRun, exit: OwnerExit) => void;
  /** Called at every new connection with the runs that the owner holds, before the owner is asked anything else. */
  readonly onConnected: (held: readonly OwnerHeld[]) => void;
  /**
   * Called when the owner is dead. No start begins until it resolves. Absent: nothing is lost with an owner, and a new
   * owner is started at once to take over its runs.
   */
  readonly onDead?: () => Promise<void>;
}

type Unnumbered<T> = T extends { readonly id: number } ? Omit<T, 'id'> : never;
type Done = Extract<OwnerMessage, { type: 'done' }>;

/** A caller that waits for the owner's welcome, or for the answer to a request. */
interface Waiting<T> {
  readonly resolve: (answer: T) => void;
  readonly reject: (error: unknown) => void;
}

/** One socket, from the handshake on. */
interface Link {
  readonly socket: Socket;
  /** The requests under way, by number. */
  readonly requests: Map<number, Waiting<Done>>;
  /** Undefined once the owner has welcomed this daemon. */
  welcome: Waiting<readonly OwnerHeld[]> | undefined;
  /** True when another daemon took over the owner. */
  isReplaced: boolean;
}

export class OwnerConnection {
  readonly #options: OwnerConnectionOptions;
  #link: Link | undefined;
  #nextId = 1;
  /** The connection attempt or recovery under way; all callers wait for the same one. True: connected. */
  #attempt: Promise<boolean> | undefined;
  /** The reason why the owner must not be used any more. */
  #ended: string | undefined;

  constructor(options: OwnerConnectionOptions) {
    this.#options = options;
  }

  /** Connects to a running owner. False: no owner runs. Throws DRV_RUNTIME_UNAVAILABLE. */
  async find(): Promise<boolean> {
    return this.#link !== undefined || (await this.#once(() => this.#connect()));
  }

  /** Connects to the owner, which is started if necessary. Throws DRV_RUNTIME_UNAVAILABLE. */
  async reach(): Promise<void> {
    for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
      if (await this.find()) return;
      await launchOwner(this.#options);
    }
    const { title, name } = this.#options.kind;
    throw unavailable(`${title} starts but does not serve; see ${name}.log beside its socket`);
  }

  /**
   * Sends a request and resolves with its answer; starts the owner if necessary. Throws the owner's error, or
   * DRV_RUNTIME_UNAVAILABLE when the connection ends or the owner does not answer.
   */
  async request(request: Unnumbered<OwnerRequest>, body?: Buffer): Promise<Done> {
    await this.reach();
    const { clock, kind } = this.#options;
    if (this.#link === undefined) throw this.#lost();
    const { socket, requests } = this.#link;
    if (socket.writableLength > MOST_UNSENT_BYTES)
      throw unavailable(`${kind.title} does not take any more requests; try again`);
    const id = this.#nextId++;
    const patienceMs = request.type === 'start' ? kind.startTimeoutMs : ANSWER_TIMEOUT_MS;
    const timeout = clock.setTimer(patienceMs, () => socket.destroy());
    const answer = new Promise<Done>((resolve, reject) => {
      requests.set(id, { resolve, reject });
      socket.write(encodeFrame({ ...request, id }, body));
    });
    return await answer.finally(() => timeout.cancel());
  }

  /** Disconnects from the owner, which keeps running. The requests under way fail. Idempotent. */
  async release(): Promise<void> {
    this.#ended ??= 'it was released';
    await this.#attempt?.catch(() => undefined);
    const link = this.#link;
    this.#link = undefined;
    if (link === undefined) return;
    const closed = new Promise((resolve) => link.socket.once('close', resolve));
    link.socket.destroy();
    await closed;
  }

  async #once(work: () => Promise<boolean>): Promise<boolean> {
    if (this.#ended !== undefined) throw unavailable(`this runtime cannot be used any more: ${this.#ended}`);
    this.#attempt ??= work().finally(() => {
      this.#attempt = undefined;
    });
    return await this.#attempt;
  }

  /**
   * Connects to a live owner. False only when certainly no owner lives: the caller then ends the processes that an owner
   * would hold.
   */
  async #connect(): Promise<boolean> {
    const { clock, kind } = this.#options;
    for (const giveUpAt = clock.monotonic() + PATIENCE_MS; clock.monotonic() < giveUpAt; ) {
      const socket = await open(this.#options);
      if (typeof socket === 'object' && (await this.#shakeHands(socket))) return true;
      if (socket === 'nobody' && !(await isSeatTaken(ownerLockName(this.#options)))) return false;
      // The owner is just starting, just leaving, or makes its socket again.
      await new Promise<void>((resolve) => clock.setTimer(RETRY_MS, resolve));
    }
    throw unavailable(
      `${kind.title} of this root lives but cannot be reached; see ${kind.name}.log beside its socket`,
    );
  }

  /** Says hello and takes the owner's runs. False: the owner left instead of answering. */
  async #shakeHands(socket: Socket): Promise<boolean> {
    const { clock, rootId, kind } = this.#options;
    const link: Link = { socket, requests: new Map(), welcome: undefined, isReplaced: false };
    const frames = new FrameReader();
    socket.on('data', (chunk) => {
      try {
        for (const { message } of frames.push(chunk)) this.#receive(link, parseOwnerMessage(message));
      } catch (error) {
        socket.destroy(new Error(`the owner sent what this version does not know: ${messageOf(error)}`));
      }
    });
    // Ignore the error: the close event follows, and handles the broken connection.
    socket.on('error', () => undefined);
    socket.on('close', () => this.#onClose(link));
    const timeout = clock.setTimer(ANSWER_TIMEOUT_MS, () => {
      link.welcome?.reject(unavailable(`${kind.title} does not answer; is it stopped? (SIGCONT wakes it)`));
      socket.destroy();
    });
    const welcomed = new Promise<readonly OwnerHeld[] | undefined>((resolve, reject) => {
      link.welcome = { resolve, reject };
      socket.once('close', () => resolve(undefined));
    });
    socket.write(encodeFrame({ type: 'hello', protocol: OWNER_PROTOCOL, rootId }));
    const held = await welcomed.finally(() => timeout.cancel());
    if (held === undefined) return false;
    this.#link = link;
    this.#options.onConnected(held);
    return true;
  }

  #receive(link: Link, message: OwnerMessage): void {
    switch (message.type) {
      case 'welcome':
        link.welcome?.resolve(message.held);
        link.welcome = undefined;
        return;
      case 'refused':
        link.welcome?.reject(
          unavailable(
            `${this.#options.kind.title} (pid ${message.pid}) cannot be used: ${message.reason}, this Drover speaks ` +
              `protocol ${OWNER_PROTOCOL}; use the version that started it, or stop its instances with that version first`,
          ),
        );
        return;
      case 'replaced':
        link.isReplaced = true;
        return;
      case 'exit':
        this.#options.onExit({ instanceId: message.instanceId, run: message.run }, message.exit);
        return;
      case 'done':
        link.requests.get(message.id)?.resolve(message);
        link.requests.delete(message.id);
        return;
      case 'failed':
        link.requests.get(message.id)?.reject(sentError(message, 'DRV_INTERNAL'));
        link.requests.delete(message.id);
        return;
      default:
      // The other messages come only on the connections of attached terminals.
    }
  }

  /** Fails the requests under way. Connects again, unless this daemon has disconnected or the link never stood. */
  #onClose({ requests, welcome, isReplaced }: Link): void {
    const { kind, logger } = this.#options;
    for (const { reject } of requests.values()) reject(this.#lost());
    requests.clear();
    if (welcome !== undefined) return;
    this.#link = undefined;
    if (isReplaced) this.#ended ??= `another daemon took over ${kind.title}`;
    if (this.#ended !== undefined) return;
    this.#once(() => this.#recover()).catch((error: unknown) =>
      logger.error({ reason: messageOf(error) }, `${kind.title} cannot be reached`),
    );
  }

  async #recover(): Promise<boolean> {
    if (await this.#connect()) return true;
    const { onDead, logger, kind } = this.#options;
    if (onDead !== undefined) {
      await onDead();
      return false;
    }
    logger.warn(`${kind.title} died; starting it again, its instances go on`);
    return await this.#relaunch();
  }

  /** Starts an owner again, several times if necessary: the cause that ended one owner may end the next as well. */
  async #relaunch(): Promise<boolean> {
    for (let attempt = 1; ; attempt++)
      try {
        await launchOwner(this.#options);
        const isConnected = await this.#connect();
        if (isConnected || attempt === MOST_ATTEMPTS) return isConnected;
      } catch (error) {
        if (attempt === MOST_ATTEMPTS || this.#ended !== undefined) throw error;
      }
  }

  #lost(): DroverError {
    return unavailable(`the connection to ${this.#options.kind.title} ended`);
  }
}

/** `nobody`: no owner listens. `hung-up`: an owner listened, and ended before it took the connection. */
function open({ socketPath, kind }: LaunchOptions): Promise<Socket | 'nobody' | 'hung-up'> {
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
