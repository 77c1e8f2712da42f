/**
 * The wrapper's end of the channel. It connects, says hello, beats, passes the feed to the desired copy, and sends
 * reports until they are acknowledged. When the connection ends, it connects again after a growing delay.
 */

import { Backoff } from '../../loop/backoff.js';
import type { TimerHandle } from '../../loop/clock.js';
import { NODE_FIELDS } from '../../model/configuration.js';
import { DroverError, messageOf } from '../../model/errors.js';
import type { NodeCapacity, RuntimeOffer } from '../../model/node.js';
import { type InstanceUsage, toUsageSample } from '../../model/run/instance-usage.js';
import type { Ambient } from '../../telemetry/ambient.js';
import { RepeatedLog } from '../../telemetry/repeated-log.js';
import { hashAssignment } from '../protocol/assignment-hash.js';
import { CallPeer, type Services } from '../protocol/calls.js';
import {
  type Assignment,
  BEAT_EVERY_MS,
  BOUNDS,
  type Frame,
  type MessageOf,
  PROTOCOL_VERSION,
  type Report,
} from '../protocol/messages.js';
import type { Transport } from '../protocol/transport.js';
import type { KnownMasters } from './known-masters.js';

const FIRST_RETRY_MS = 100;
/**
 * Shorter than the shortest nodeTimeoutMs: a master that comes back must hear from all its nodes before it calls them
 * lost.
 */
const MAX_RECONNECT_MS = 3000;
/**
 * The longest delay after a refusal, which usually lasts until an operator acts. The first delays are short, because
 * the master may not have noticed yet that the node's former connection is gone.
 */
const MAX_REFUSED_MS = 30_000;

/** The revision of a master's store that a node has seen. */
export interface Seen {
  readonly revision: number;
  /** The line of the store (`StoreLine`). */
  readonly line: number;
}

/** Takes the feed. The desired copy implements it. */
export interface FeedSink {
  applySnapshot(snapshot: MessageOf<'snapshot'>): void;
  applyDelta(delta: MessageOf<'delta'>): void;
  /** The assignments in this node's copy of its desired state. */
  held(): readonly Assignment[];
  /**
   * The newest revision of the master's store that was applied, and that store's line. Undefined: no revision was
   * applied, or the node accepts any store.
   */
  seen(): Seen | undefined;
}

/** Gives the reports to send. The status outbox implements it. */
interface ReportSource {
  /** The reports that were not sent on this connection yet. Called after `onReady` has fired. */
  take(sequence: number): readonly Report[];
  acknowledge(sequence: number): void;
  /** Called when a new connection has begun: every report is due again. */
  restart(): void;
  onReady(listener: () => void): void;
}

export interface LinkOptions extends Ambient {
  readonly nodeId: string;
  readonly clusterName: string;
  readonly address: string;
  readonly version: string;
  readonly capacity: NodeCapacity;
  readonly offers: () => readonly RuntimeOffer[];
  /** The reason why limits of RAM and CPU are not enforced on this node; null: they are enforced. */
  readonly advisoryLimits?: string | null | undefined;
  /**
   * Opens a connection. Throws DRV_JOIN_REFUSED when the master refuses this node and a person must change something.
   */
  readonly connect: (signal: AbortSignal) => Promise<Transport>;
  /** Called at each DRV_JOIN_REFUSED. Answers true when the node ends because of it; otherwise the link tries again. */
  readonly onRefused?: (reason: string) => boolean;
  readonly feed: FeedSink;
  readonly reports: ReportSource;
  readonly services: Services;
  readonly onWelcome: (master: MessageOf<'welcome'>['master']) => void;
  /** The masters of a cluster that may have several masters. Absent: the master is in this process. */
  readonly masters?: Pick<KnownMasters, 'welcomed' | 'pointed' | 'fruitless'>;
  readonly random: () => number;
}

interface Connection {
  readonly transport: Transport;
  readonly calls: CallPeer;
  isWelcome: boolean;
  refusal: MessageOf<'refused'> | undefined;
  /** True when the master does not lead, and has named the leader. */
  hasPointed: boolean;
  fedSequence: number;
  reportSequence: number;
  beatTimer: TimerHandle | undefined;
}

export class Link {
  readonly #options: LinkOptions;
  readonly #backoff: Backoff;
  readonly #refusedBackoff: Backoff;
  readonly #trouble: RepeatedLog;
  readonly #stopping = new AbortController();
  #connection: Connection | undefined;
  #retry: TimerHandle | undefined;
  /**
   * True when this try follows a master's pointer to the leader. Such a try is made at once; the try after it waits.
   */
  #isPointed = false;

  constructor(options: LinkOptions) {
    this.#options = options;
    this.#backoff = new Backoff(options.random, { baseMs: FIRST_RETRY_MS, maxMs: MAX_RECONNECT_MS });
    this.#refusedBackoff = new Backoff(options.random, { baseMs: FIRST_RETRY_MS, maxMs: MAX_REFUSED_MS });
    this.#trouble = new RepeatedLog(options.logger, options.clock);
    // Send the reports in the next turn, so that a restart after the end of a process begins before that end is
    // reported.
    options.reports.onReady(() => options.clock.nextTurn(() => this.#sendReports()));
  }

  start(): void {
    this.#connect();
  }

  /**
   * Ends the connection. `willReturn`: tells the master that the instances keep running and the node will connect
   * again.
   */
  stop(willReturn: boolean): void {
    if (this.#stopping.signal.aborted) return;
    this.#stopping.abort();
    this.#retry?.cancel();
    const connection = this.#connection;
    if (connection === undefined) return;
    if (willReturn) connection.transport.send({ type: 'bye' });
    connection.transport.close(willReturn ? 'the node stops and will be back' : 'the node stops');
  }

  /** The calls to the master; undefined while there is no connection. */
  get calls(): CallPeer | undefined {
    return this.#connection?.isWelcome === true ? this.#connection.calls : undefined;
  }

  /** Tells the master that the runtimes of this node have changed. */
  sendOffer(): void {
    if (this.#connection?.isWelcome !== true) return;
    this.#connection.transport.send({ type: 'offer', runtimes: [...this.#options.offers()] });
  }

  /** Sends all measured usage. A lost message is not repeated, because the next message replaces it. */
  sendUsage(usages: ReadonlyMap<string, InstanceUsage>): void {
    if (this.#connection?.isWelcome !== true) return;
    const samples = [...usages].map(([id, usage]) => toUsageSample(id, usage));
    this.#connection.transport.send({ type: 'usage', samples });
  }

  #connect(): void {
    if (this.#stopping.signal.aborted) return;
    this.#options
      .connect(this.#stopping.signal)
      .then((transport) => this.#open(transport))
      .catch((error: unknown) =>
        this.#reconnectLater(
          messageOf(error),
          DroverError.is(error, 'DRV_JOIN_REFUSED') ? { isFinal: true } : undefined,
        ),
      );
  }

  #open(transport: Transport): void {
    if (this.#stopping.signal.aborted) {
      transport.close('the node stops');
      return;
    }
    const connection: Connection = {
      transport,
      calls: new CallPeer(transport, this.#options.services),
      isWelcome: false,
      refusal: undefined,
      hasPointed: false,
      fedSequence: 0,
      reportSequence: 0,
      beatTimer: undefined,
    };
    this.#connection = connection;
    transport.onClose((reason) => this.#closed(connection, reason));
    transport.onFrame((frame) => this.#handle(connection, frame));
    const { nodeId, clusterName, address, version, capacity, offers, advisoryLimits } = this.#options;
    transport.send({
      type: 'hello',
      protocol: PROTOCOL_VERSION,
      nodeId,
      clusterName,
      address,
      version,
      capacity,
      runtimes: [...offers()],
      ...(advisoryLimits !== undefined && { advisoryLimits }),
      knows: [...NODE_FIELDS],
      ...this.#held(),
      ...this.#seen(),
    });
  }

  #seen(): Pick<MessageOf<'hello'>, 'seen' | 'line'> {
    const seen = this.#options.feed.seen();
    if (seen === undefined) return {};
    return { seen: seen.revision, ...(seen.line > 0 && { line: seen.line }) };
  }

  /**
   * The hashes of this node's assignments, for the hello. Empty when the hello has no room for all of them: the master
   * then sends the whole snapshot.
   */
  #held(): Pick<MessageOf<'hello'>, 'held'> {
    const held = this.#options.feed.held();
    if (held.length === 0 || held.length > BOUNDS.instances) return {};
    return {
      held: Object.fromEntries(held.map((assignment) => [assignment.id, hashAssignment(assignment)])),
    };
  }

  #handle(connection: Connection, frame: Frame): void {
    const { message } = frame;
    if (connection.calls.handle(frame)) return;
    switch (message.type) {
      case 'welcome':
        this.#welcomed(connection, message);
        return;
      case 'refused':
        // A `refused` that names a leader is a redirect, not a refusal.
        if (message.leader === undefined) connection.refusal = message;
        else this.#options.masters?.pointed(message);
        connection.hasPointed = message.leader != null;
        connection.transport.close(message.reason);
        return;
      case 'snapshot':
        // Refuse a second snapshot, which would end instances that came since the first. Refuse a snapshot before the
        // welcome, too: it would wake waiters that cannot ask anything yet, and the welcome does not wake them.
        if (!connection.isWelcome || connection.fedSequence !== 0) {
          connection.transport.close(
            connection.isWelcome ? 'a second snapshot' : 'a snapshot before the welcome',
          );
          return;
        }
        // Clear the delays only after a snapshot: a master with a full disk sends a welcome and then hangs up.
        this.#backoff.clear();
        this.#refusedBackoff.clear();
        this.#trouble.clear();
        connection.fedSequence = message.sequence;
        this.#options.feed.applySnapshot(message);
        return;
      case 'delta':
        if (message.sequence !== connection.fedSequence + 1) {
          connection.transport.close('a gap in the feed');
          return;
        }
        connection.fedSequence = message.sequence;
        this.#options.feed.applyDelta(message);
        return;
      case 'status-acknowledged':
        this.#options.reports.acknowledge(message.sequence);
        return;
      default:
        connection.transport.close(`unexpected message ${message.type}`);
    }
  }

  #welcomed(connection: Connection, welcome: MessageOf<'welcome'>): void {
    const objection = this.#options.masters?.welcomed(welcome);
    if (objection !== undefined) {
      connection.transport.close(objection);
      return;
    }
    connection.isWelcome = true;
    this.#options.onWelcome(welcome.master);
    // Send the first beat at once: the master has heard nothing since the hello.
    this.#beat(connection);
    this.#options.reports.restart();
    this.#sendReports();
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

  #beat(connection: Connection): void {
    if (!connection.transport.isOpen) return;
    connection.transport.send({ type: 'beat' });
    connection.beatTimer = this.#options.clock.setTimer(BEAT_EVERY_MS, () => this.#beat(connection));
  }

  #closed(connection: Connection, reason: string): void {
    connection.beatTimer?.cancel();
    connection.calls.close(reason);
    if (this.#connection !== connection) return;
    this.#connection = undefined;
    const hasToldNothing = connection.isWelcome && connection.fedSequence === 0;
    if (hasToldNothing || connection.refusal?.isBehind === true) this.#options.masters?.fruitless();
    // Follow only every second pointer without a delay, because two masters may point to each other.
    this.#isPointed = connection.hasPointed && !this.#isPointed;
    if (this.#isPointed && !this.#stopping.signal.aborted) this.#connect();
    else this.#reconnectLater(reason, connection.refusal);
  }

  #reconnectLater(reason: string, refusal?: Pick<MessageOf<'refused'>, 'isFinal' | 'isBehind'>): void {
    if (this.#stopping.signal.aborted) return;
    if (refusal?.isFinal === true && this.#options.onRefused?.(reason) === true) return;
    const isRefused = refusal !== undefined;
    // Retry soon when the master is only behind: it may catch up in a moment, or another master may lead.
    const isLasting = isRefused && refusal.isBehind !== true;
    const delayMs = (isLasting ? this.#refusedBackoff : this.#backoff).next();
    const what = isRefused ? 'the master refused this node' : 'no connection to the master';
    this.#trouble.say(
      `${what}: ${reason}`,
      `${what}: ${reason}; what it was told last goes on, and it tries again`,
      { reason, delayMs },
    );
    this.#retry = this.#options.clock.setTimer(delayMs, () => this.#connect());
  }
}
