/** One client of the change stream: the topics that it follows, and its place in each. */
import { setMaxListeners } from 'node:events';
import { type DroverError, invalidRequest } from '../../model/errors.js';
import type { MessagePacket } from '../sockets/message-packet.js';
import type { Outlet } from '../sockets/outlet.js';
import type { Topic } from './topic.js';
import { type FilterOptions, type Sight, WatchFilter } from './watch-filter.js';
import type { Position } from './watch-messages.js';
import type { Piece, Reading, WatchRound } from './watch-round.js';

/** The receiver of the messages. No call throws when the receiver is closed. */
export interface WatchSink {
  readonly outlet: Pick<Outlet, 'signal' | 'bufferedBytes' | 'whenDrained'>;
  send(packet: MessagePacket): void;
  /** Ends the sink because of a fault of Drover. */
  fail(): void;
}

/** While more than this waits for the client, no further messages are sent. */
const MAX_BUFFERED_BYTES = 256 * 1024;

export interface Subscription {
  readonly filter?: FilterOptions | undefined;
  readonly resume?: Position | undefined;
}

/** How many logs one client may follow. */
const MOST_LOGS = 16;

export class Watcher {
  readonly sink: WatchSink;
  /** The sight of the client: the configurations that it may see. */
  readonly sight: Sight;
  /** True while the watcher waits for its sink to drain. */
  isWaiting = false;
  /** How often the hub has looked since the last message. The look right after a message does not count. */
  quietLooks = 0;
  readonly #epoch: string;
  readonly #followed = new Map<Topic, Reading>();
  readonly #logs = new Map<string, AbortController>();

  constructor(sink: WatchSink, sight: Sight, epoch: string) {
    // Each log that the client follows adds a listener, and Node would warn from the 11th on.
    setMaxListeners(0, sink.outlet.signal);
    this.sink = sink;
    this.sight = sight;
    this.#epoch = epoch;
  }

  /** Subscribes to a topic; replaces an earlier subscription to that topic. Throws DRV_REQUEST_INVALID. */
  subscribe(topic: Topic, { filter = {}, resume }: Subscription): void {
    for (const name of ['configuration', 'node', 'state'] as const)
      if (filter[name] !== undefined && !topic.source.filters.includes(name))
        throw unknownFilter(topic, name);
    topic.open();
    const { order } = topic;
    const reason = resume === undefined ? undefined : this.#objection(topic, resume);
    const isResumed = resume !== undefined && reason === undefined;
    this.#followed.set(topic, {
      topic,
      filter: new WatchFilter(filter, this.sight),
      place: isResumed ? resume.revision : 0,
      knownTo: 0,
      snapshot: isResumed ? undefined : { to: order.end, reason },
      resumedTo: isResumed ? order.end : undefined,
    });
  }

  unsubscribe(topic: Topic): void {
    this.#followed.delete(topic);
  }

  /**
   * Opens the log of a topic. The returned controller ends the log; `closeLog` and the end of the client abort it.
   * Throws DRV_REQUEST_INVALID.
   */
  openLog(topic: string): AbortController {
    this.closeLog(topic);
    if (this.#logs.size >= MOST_LOGS)
      throw invalidRequest(`a client follows ${MOST_LOGS} logs at most: unsubscribe from one`);
    const ending = new AbortController();
    const { signal } = this.sink.outlet;
    signal.addEventListener('abort', () => ending.abort(), { once: true, signal: ending.signal });
    ending.signal.addEventListener('abort', () => this.#logs.delete(topic), { once: true });
    this.#logs.set(topic, ending);
    return ending;
  }

  /** Ends the log of a topic. Idempotent. */
  closeLog(topic: string): void {
    this.#logs.get(topic)?.abort();
  }

  get isFull(): boolean {
    return this.sink.outlet.bufferedBytes > MAX_BUFFERED_BYTES;
  }

  /** The next messages of a round, limited in size; undefined: the client has all messages of that round. */
  take(round: WatchRound): MessagePacket | undefined {
    const pieces: Piece[] = [];
    for (const following of this.#followed.values()) {
      const piece = nextPiece(following, round);
      if (piece !== undefined) pieces.push(piece);
    }
    return pieces.length === 0 ? undefined : round.packetOf(pieces);
  }

  #objection({ order }: Topic, { epoch, revision }: Position): string | undefined {
    if (epoch !== this.#epoch) return 'the master has started anew since that revision';
    return order.holdsAllAfter(revision) ? undefined : 'what ended since that revision is not known any more';
  }
}

/** The next piece that holds a message. Moves the reader past that piece. */
function nextPiece(following: Reading, round: WatchRound): Piece | undefined {
  const { order } = following.topic;
  if (!order.holdsAllAfter(following.snapshot?.to ?? following.place)) {
    following.place = 0;
    following.knownTo = 0;
    following.snapshot = {
      to: order.end,
      reason: 'it was too slow: what ended meanwhile is not known any more',
    };
  }
  for (let piece = round.next(following); piece !== undefined; piece = round.next(following)) {
    following.place = piece.place;
    if (piece.isComplete) following.knownTo = piece.place;
    following.resumedTo = undefined;
    if (following.snapshot !== undefined && piece.place >= following.snapshot.to)
      following.snapshot = undefined;
    if (piece.text !== undefined) return piece;
  }
  return undefined;
}

function unknownFilter({ name, source: { filters } }: Topic, filter: string): DroverError {
  const known = filters.length === 0 ? 'it takes none' : `it takes ${filters.join(', ')}`;
  return invalidRequest(`${name} cannot be filtered by ${filter}: ${known}`);
}
