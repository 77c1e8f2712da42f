/**
 * The wrapper's end of the channel: connects, says hello, beats, takes the feed into the desired copy, sends
 * reports until they are acknowledged, and connects again with a growing delay when the connection ends.
 */
import { Backoff } from '../loop/backoff.js';
import type { Clock, TimerHandle } from '../loop/clock.js';
import { messageOf } from '../model/errors.js';
import type { NodeCapacity, RuntimeOffer } from '../model/node.js';
import type { Logger } from '../telemetry/logger.js';
import { BEAT_EVERY_MS } from './beat-book.js';
import { CallPeer, type Service } from './calls.js';
import { type Frame, type MessageOf, PROTOCOL_VERSION, type Report } from './messages.js';
import type { Transport } from './transport.js';

const RECONNECT_KEY = 'master';

/** Where the feed goes: the desired copy. `commit` resolves when all that was applied is on disk. */
export interface FeedSink {
  applySnapshot(snapshot: MessageOf<'snapshot'>): void;
  applyDelta(delta: MessageOf<'delta'>): void;
  commit(): Promise<void>;
}

/** Where reports come from: the status outbox. */
export interface ReportSource {
  /** Reports not sent on this connection yet; called when `onReady` fired. */
  take(sequence: number): readonly Report[];
  acknowledge(sequence: number): void;
  /** A new connection: everything is to be said again. */
  restart(): void;
  onReady(listener: () => void): void;
}

export interface LinkOptions {
  readonly nodeId: string;
  readonly clusterName: string;
  readonly address: string;
  readonly version: string;
  readonly capacity: NodeCapacity;
  readonly offers: () => readonly RuntimeOffer[];
  readonly connect: () => Promise<Transport>;
  readonly feed: FeedSink;
  readonly reports: ReportSource;
  readonly services: ReadonlyMap<string, Service>;
  readonly onWelcome: (master: MessageOf<'welcome'>['master']) => void;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
}

interface Connection {
  readonly transport: Transport;
  readonly calls: CallPeer;
  isWelcome: boolean;
  fedSequence: number;
  reportSequence: number;
  beatTimer: TimerHandle | undefined;
}

export class Link {
  readonly #options: LinkOptions;
  readonly #backoff: Backoff;
  #connection: Connection | undefined;
  #retry: TimerHandle | undefined;
  #isStopped = false;

  constructor(options: LinkOptions) {
    this.#options = options;
    this.#backoff = new Backoff(options.random, { baseMs: 100, maxMs: 10_000 });
    options.reports.onReady(() => this.#sendReports());
  }

  start(): void {
    this.#connect();
  }

  /** `willReturn`: tells the master that this node's instances stay and that it will be back. */
  stop(willReturn: boolean): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#retry?.cancel();
    const connection = this.#connection;
    if (connection === undefined) return;
    if (willReturn) connection.transport.send({ type: 'bye' });
    connection.transport.close(willReturn ? 'the node stops and will be back' : 'the node stops');
  }

  /** Asks the master for bytes. Throws DRV_CHANNEL_CLOSED when there is no connection. */
  get calls(): CallPeer | undefined {
    return this.#connection?.isWelcome === true ? this.#connection.calls : undefined;
  }

  /** Tells the master that what this node can run has changed. */
  sendOffer(): void {
    if (this.#connection?.isWelcome !== true) return;
    this.#connection.transport.send({ type: 'offer', runtimes: [...this.#options.offers()] });
  }

  #connect(): void {
    if (this.#isStopped) return;
    this.#options
      .connect()
      .then((transport) => this.#open(transport))
      .catch((error: unknown) => this.#reconnectLater(messageOf(error)));
  }

  #open(transport: Transport): void {
    if (this.#isStopped) {
      transport.close('the node stops');
      return;
    }
    const connection: Connection = {
      transport,
      calls: new CallPeer(transport, this.#options.services),
      isWelcome: false,
      fedSequence: 0,
      reportSequence: 0,
      beatTimer: undefined,
    };
    this.#connection = connection;
    transport.onClose((reason) => this.#closed(connection, reason));
    transport.onFrame((frame) => this.#handle(connection, frame));
    const { nodeId, clusterName, address, version, capacity, offers } = this.#options;
    transport.send({
      type: 'hello',
      protocol: PROTOCOL_VERSION,
      nodeId,
      clusterName,
      address,
      version,
      capacity,
      runtimes: [...offers()],
    });
  }

  #handle(connection: Connection, frame: Frame): void {
    const { message } = frame;
    if (connection.calls.handle(frame)) return;
    switch (message.type) {
      case 'welcome':
        this.#welcomed(connection, message);
        return;
      case 'refused':
        this.#options.logger.error(
          { reason: message.reason },
          `the master refused this node: ${message.reason}`,
        );
        return;
      case 'snapshot':
        // Not before: a master whose disk is full welcomes and then hangs up.
        this.#backoff.clear(RECONNECT_KEY);
        this.#feed(connection, message.sequence, () => this.#options.feed.applySnapshot(message));
        return;
      case 'delta':
        if (message.sequence !== connection.fedSequence + 1) connection.transport.close('a gap in the feed');
        else this.#feed(connection, message.sequence, () => this.#options.feed.applyDelta(message));
        return;
      case 'status-acknowledged':
        this.#options.reports.acknowledge(message.sequence);
        return;
      default:
        connection.transport.close(`unexpected message ${message.type}`);
    }
  }

  #welcomed(connection: Connection, welcome: MessageOf<'welcome'>): void {
    connection.isWelcome = true;
    this.#options.onWelcome(welcome.master);
    this.#beatLater(connection);
    this.#options.reports.restart();
    this.#sendReports();
  }

  #feed(connection: Connection, sequence: number, apply: () => void): void {
    connection.fedSequence = sequence;
    apply();
    this.#options.feed
      .commit()
      .then(() => connection.transport.send({ type: 'fed', sequence }))
      .catch((error: unknown) =>
        this.#options.logger.error({ err: error }, 'the desired state could not be kept on disk'),
      );
  }

  #sendReports(): void {
    const connection = this.#connection;
    if (connection?.isWelcome !== true) return;
    const sequence = connection.reportSequence + 1;
    const reports = this.#options.reports.take(sequence);
    if (reports.length === 0) return;
    connection.reportSequence = sequence;
    connection.transport.send({ type: 'status', sequence, reports: [...reports] });
  }

  #beatLater(connection: Connection): void {
    connection.beatTimer = this.#options.clock.setTimer(BEAT_EVERY_MS, () => {
      if (!connection.transport.isOpen) return;
      connection.transport.send({ type: 'beat' });
      this.#beatLater(connection);
    });
  }

  #closed(connection: Connection, reason: string): void {
    connection.beatTimer?.cancel();
    connection.calls.close(reason);
    if (this.#connection !== connection) return;
    this.#connection = undefined;
    this.#reconnectLater(reason);
  }

  #reconnectLater(reason: string): void {
    if (this.#isStopped) return;
    const delayMs = this.#backoff.next(RECONNECT_KEY);
    this.#options.logger.warn(
      { reason, delayMs },
      `no connection to the master: ${reason}; trying again in ${Math.round(delayMs)} ms`,
    );
    this.#retry = this.#options.clock.setTimer(delayMs, () => this.#connect());
  }
}
