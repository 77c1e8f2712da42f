/**
 * The pieces that readers get in one round: the changes of the topics up to their ends when the round began. Readers at
 * the same place share a piece, and readers with the same pieces share their bytes.
 */
import { MessagePacket } from '../sockets/message-packet.js';
import type { Topic } from './topic.js';
import type { WatchFilter } from './watch-filter.js';
import { changesText, snapshotText } from './watch-messages.js';

/** How many characters of entries a piece may reach before it ends. */
const MOST_CHARS = 256 * 1024;
/**
 * How many characters a round keeps for later readers. A round lasts until something changes, and each filter makes
 * pieces of its own. This limit keeps clients from filling the memory of a quiet cluster.
 */
const MOST_KEPT_CHARS = 16 * 1024 * 1024;

/** A reader's position in one topic. */
export interface Reading {
  readonly topic: Topic;
  readonly filter: WatchFilter;
  /** The place up to which everything was sent. */
  place: number;
  /**
   * The end of the topic when the reader last had everything. When an entry has changed twice since then, it is not
   * known in which form the reader has the entry, because the order keeps only the preceding change.
   */
  knownTo: number;
  /** Set until the reader has all entries that existed when it came. */
  snapshot: Snapshot | undefined;
  /**
   * The end of the topic when the reader resumed. Set until the reader's first message, which it gets even if nothing
   * has changed.
   */
  resumedTo: number | undefined;
}

interface Snapshot {
  /** The end of the topic when the reader came. */
  readonly to: number;
  /** Why the reader could not resume; undefined: the reader did not ask to resume. */
  readonly reason: string | undefined;
}

export interface Piece {
  /** The key of the piece, unique in its round. */
  readonly key: string;
  /** The message; undefined: the piece holds nothing that the reader must hear of. */
  readonly text: string | undefined;
  /** The place of the reader after the piece. */
  readonly place: number;
  /** True when the reader, with this piece, has everything that existed when the piece was made. */
  readonly isComplete: boolean;
}

export class WatchRound {
  readonly #epoch: string;
  readonly #ends: ReadonlyMap<Topic, number>;
  readonly #pieces = new Map<string, Piece>();
  readonly #packets = new Map<string, MessagePacket>();
  #keptChars = 0;

  constructor(epoch: string, topics: Iterable<Topic>) {
    this.#epoch = epoch;
    this.#ends = new Map([...topics].map((topic) => [topic, topic.order.end]));
  }

  /** How many characters are kept for later readers. */
  get keptChars(): number {
    return this.#keptChars;
  }

  /** The next piece for a reader; undefined: the reader has everything of this round. */
  next(reading: Reading): Piece | undefined {
    const { topic, filter, place, knownTo, snapshot, resumedTo } = reading;
    const to = snapshot?.to ?? resumedTo ?? this.#ends.get(topic) ?? 0;
    if (place >= to && snapshot === undefined && resumedTo === undefined) return undefined;
    const part = snapshot === undefined ? '' : `${snapshot.to} ${snapshot.reason}`;
    const key = `${topic.name} ${place} ${knownTo} ${part} ${resumedTo} ${filter.key}`;
    const known = this.#pieces.get(key);
    if (known !== undefined) return known;
    const piece = { key, ...this.#compose(reading, to) };
    this.#makeRoom(key.length + (piece.text?.length ?? 0));
    this.#pieces.set(key, piece);
    return piece;
  }

  packetOf(pieces: readonly Piece[]): MessagePacket {
    const key = pieces.map((piece) => piece.key).join('\n');
    const known = this.#packets.get(key);
    if (known !== undefined) return known;
    const texts = pieces.flatMap(({ text }) => text ?? []);
    const packet = new MessagePacket(texts);
    this.#makeRoom(texts.reduce((sum, text) => sum + text.length, key.length));
    this.#packets.set(key, packet);
    return packet;
  }

  /** Forgets all kept pieces when they exceed the limit. The next reader that needs a piece makes it again. */
  #makeRoom(chars: number): void {
    this.#keptChars += chars;
    if (this.#keptChars <= MOST_KEPT_CHARS) return;
    this.#pieces.clear();
    this.#packets.clear();
    this.#keptChars = chars;
  }

  #compose(
    { topic, filter, place: from, knownTo, snapshot, resumedTo }: Reading,
    to: number,
  ): Omit<Piece, 'key'> {
    const put: string[] = [];
    const gone: string[] = [];
    let chars = 0;
    let place = to;
    for (const placed of topic.order.after(from, to)) {
      const { id, traits } = placed;
      const text =
        traits !== undefined && filter.matches(traits)
          ? topic.source.textOf(id, filter.isRestricted)
          : undefined;
      if (text !== undefined) put.push(text);
      else if (snapshot === undefined && filter.mayHold(placed, knownTo)) gone.push(id);
      chars += text?.length ?? id.length;
      if (chars < MOST_CHARS) continue;
      place = placed.place;
      break;
    }
    const isComplete = place === topic.order.end;
    const head = { topic: topic.name, epoch: this.#epoch, revision: place };
    if (snapshot !== undefined) {
      const part = { isFirst: from === 0, isLast: place === to, reason: snapshot.reason };
      return { text: snapshotText(head, put, part), place, isComplete };
    }
    const isEmpty = put.length === 0 && gone.length === 0 && resumedTo === undefined;
    return { text: isEmpty ? undefined : changesText(head, put, gone), place, isComplete };
  }
}
