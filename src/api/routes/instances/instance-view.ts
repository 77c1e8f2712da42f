/**
 * Keeps instances encoded for clients: the text of each one, and the list of all in pieces. Only changed parts are
 * encoded again. While an instance is ONLINE its `lastHeartbeat` follows the beats of its node.
 */

import type { Access } from '../../../access/access.js';
import type { BeatBook } from '../../../channel/master/beat-book.js';
import type { LogOwner } from '../../../channel/services/instance-streams.js';
import {
  byAge,
  heartbeatOf,
  type InstanceInfo,
  type InstanceRecord,
  toInstanceInfo,
} from '../../../model/instance.js';
import { keepLatest } from '../../../model/plain/keep-latest.js';
import { unknownInstance } from '../../../model/unknown.js';
import type { StateRecords } from '../../../state/master-state.js';

/**
 * The key of the heartbeat. An encoded string cannot contain it, because each quote in a string has a backslash before
 * it.
 */
const HEARTBEAT = '"lastHeartbeat":';
const OPEN = Buffer.from('[');
const CLOSE = Buffer.from(']');
/** The end of an id after which a piece of the list ends: 1 of 216 ids has it, so a piece is about 100 kB. */
const LAST_OF_PIECE = /[a-f]a$/;

/** How many removed instances are known. */
const MOST_REMOVED = 1000;

/** A visible instance. It is encoded at the first question for it. */
interface Slot {
  record: InstanceRecord;
  isGone: boolean;
  /** The encoded instance; null after a change of the record. */
  text: string | null;
  heartbeat: number;
  /** The place in `text` where the digits of the heartbeat begin. */
  digitsAt: number;
  /** The `beats.tick` at which `heartbeat` was looked up. */
  tick: number;
  /** The piece of the list with this instance; undefined until the next list. */
  piece: Piece | undefined;
}

/**
 * Neighbours in the list. When an instance changes, only its piece is encoded again. A new instance changes no other
 * piece.
 */
interface Piece {
  readonly slots: readonly Slot[];
  /**
   * The encoded instances, with a comma before each. Null: an instance of the piece has changed. Callers may hold the
   * bytes, so bytes are never changed.
   */
  bytes: Buffer | null;
}

interface InstanceViewOptions extends Pick<StateRecords, 'instances' | 'events'> {
  /** `tick` grows with every beat. An encoded heartbeat is right as long as `tick` is the same. */
  readonly beats: Pick<BeatBook, 'lastBeatAt' | 'tick'>;
}

export class InstanceView {
  readonly #events: InstanceViewOptions['events'];
  readonly #beats: InstanceViewOptions['beats'];
  readonly #unsubscribe: () => void;
  readonly #slots = new Map<string, Slot>();
  /** The last records of the instances that were removed last, by id: their nodes keep the logs for a while. */
  readonly #removed = new Map<string, InstanceRecord>();
  /**
   * The slots in order of creation, then id, unless `#isOrderStale`. Removed slots may stay in it until the next list.
   */
  #order: Slot[] = [];
  #isOrderStale = true;
  /** All slots of `#order`, in order. */
  #pieces: readonly Piece[] = [];
  #tick = 0;

  constructor({ instances, events, beats }: InstanceViewOptions) {
    this.#events = events;
    this.#beats = beats;
    for (const [id, { value }] of instances.entries()) this.#take(id, value);
    this.#unsubscribe = instances.onChange((id, after) => this.#take(id, after?.value));
  }

  /** The record of an instance; undefined: there is none, or it is being removed. */
  record(id: string): InstanceRecord | undefined {
    return this.#slots.get(id)?.record;
  }

  /** The record of an instance. Throws DRV_INSTANCE_UNKNOWN where `record` is undefined. */
  visible(id: string): InstanceRecord {
    const record = this.record(id);
    if (record === undefined) throw unknownInstance(id);
    return record;
  }

  /**
   * As `visible`, and what is known of an instance that was removed: its node keeps the log for a while. The
   * events name the node of an instance that was removed before this master started.
   */
  withLog(id: string): LogOwner {
    const known = this.#removed.get(id) ?? this.record(id);
    if (known !== undefined) return known;
    const events = [...this.#events.entries()].map(([, { value }]) => value);
    const told = events.findLast(({ kind, instances }) => kind !== 'moved' && instances.includes(id));
    if (told?.node == null) throw unknownInstance(id);
    return { id, home: { nodeId: told.node, port: null } };
  }

  /** The encoded InstanceInfo; undefined like `record`. */
  get(id: string): string | undefined {
    const slot = this.#slots.get(id);
    return slot === undefined ? undefined : this.#textOf(slot);
  }

  /**
   * The encoded array of the instances that `access` sees (absent: all), by `createdAt`, then id. The array is made of
   * the bytes of all returned pieces together. The caller must not write to them.
   */
  list(access?: Pick<Access, 'configurations' | 'sees'>): readonly Buffer[] {
    this.#putInOrder();
    this.#noteBeats();
    if (access !== undefined && access.configurations !== null) return this.#listSeen(access);
    const encoded = this.#pieces.map((piece) => this.#bytesOf(piece));
    const [first, ...others] = encoded;
    return first === undefined ? [OPEN, CLOSE] : [OPEN, first.subarray(1), ...others, CLOSE];
  }

  #listSeen(access: Pick<Access, 'sees'>): readonly Buffer[] {
    const seen = this.#order.filter(({ record, isGone }) => !isGone && access.sees(record.configurationName));
    return [OPEN, Buffer.from(seen.map((slot) => this.#textOf(slot)).join(',')), CLOSE];
  }

  /** The instances that are placed on a node, by `createdAt`, then id. */
  onNode(nodeId: string): InstanceInfo[] {
    this.#putInOrder();
    return this.#order
      .filter(({ record, isGone }) => !isGone && record.placement?.nodeId === nodeId)
      .map(({ record }) => toInstanceInfo(record, this.#heartbeatOf(record)));
  }

  /** Stops following the records. Idempotent. */
  close(): void {
    this.#unsubscribe();
  }

  #take(id: string, record: InstanceRecord | undefined): void {
    const slot = this.#slots.get(id);
    const isVisible = record !== undefined && record.desired.goal !== 'remove';
    if (slot !== undefined && isVisible && slot.record.createdAt === record.createdAt) {
      slot.record = record;
      forget(slot);
      return;
    }
    if (slot !== undefined) this.#drop(id, slot);
    if (isVisible) this.#add(id, record);
  }

  #add(id: string, record: InstanceRecord): void {
    const slot: Slot = {
      record,
      isGone: false,
      text: null,
      heartbeat: 0,
      digitsAt: 0,
      tick: 0,
      piece: undefined,
    };
    this.#slots.set(id, slot);
    this.#removed.delete(id);
    this.#order.push(slot);
    this.#isOrderStale = true;
  }

  #drop(id: string, slot: Slot): void {
    slot.isGone = true;
    keepLatest(this.#removed, MOST_REMOVED, id, slot.record);
    this.#slots.delete(id);
    this.#isOrderStale = true;
  }

  #putInOrder(): void {
    if (!this.#isOrderStale) return;
    this.#order = this.#order.filter((slot) => !slot.isGone).sort((a, b) => byAge(a.record, b.record));
    this.#pieces = piecesOf(this.#order);
    this.#isOrderStale = false;
  }

  #noteBeats(): void {
    const { tick } = this.#beats;
    if (this.#tick === tick) return;
    this.#tick = tick;
    for (const slot of this.#order) if (slot.text !== null) this.#textOf(slot);
  }

  #bytesOf(piece: Piece): Buffer {
    piece.bytes ??= Buffer.from(piece.slots.map((slot) => `,${this.#textOf(slot)}`).join(''));
    return piece.bytes;
  }

  /** The text of an instance. Record and heartbeat are encoded again if they have changed. */
  #textOf(slot: Slot): string {
    const { tick } = this.#beats;
    if (slot.text !== null && slot.tick === tick) return slot.text;
    const heartbeat = this.#heartbeatOf(slot.record);
    slot.tick = tick;
    if (slot.text !== null && slot.heartbeat === heartbeat) return slot.text;
    const text = slot.text === null ? encode(slot, heartbeat) : withHeartbeat(slot.text, slot, heartbeat);
    slot.text = text;
    slot.heartbeat = heartbeat;
    if (slot.piece !== undefined) slot.piece.bytes = null;
    return text;
  }

  #heartbeatOf(record: InstanceRecord): number {
    return heartbeatOf(record, this.#beats.lastBeatAt(record.placement?.nodeId ?? ''));
  }
}

function forget(slot: Slot): void {
  slot.text = null;
  if (slot.piece !== undefined) slot.piece.bytes = null;
}

function encode(slot: Slot, heartbeat: number): string {
  const text = JSON.stringify(toInstanceInfo(slot.record, heartbeat));
  slot.digitsAt = text.indexOf(HEARTBEAT) + HEARTBEAT.length;
  return text;
}

/** The text with another heartbeat; a beat changes nothing else. */
function withHeartbeat(text: string, { digitsAt, heartbeat: before }: Slot, heartbeat: number): string {
  return text.slice(0, digitsAt) + String(heartbeat) + text.slice(digitsAt + String(before).length);
}

/** Cuts the list into pieces. A piece with the same slots as before stays as it is. */
function piecesOf(order: readonly Slot[]): readonly Piece[] {
  const pieces: Piece[] = [];
  let from = 0;
  for (const [index, { record }] of order.entries()) {
    if (index + 1 < order.length && !LAST_OF_PIECE.test(record.id)) continue;
    pieces.push(pieceOf(order.slice(from, index + 1)));
    from = index + 1;
  }
  return pieces;
}

function pieceOf(slots: readonly Slot[]): Piece {
  const before = slots[0]?.piece;
  if (before?.slots.length === slots.length && slots.every((slot, index) => slot === before.slots[index]))
    return before;
  const piece: Piece = { slots, bytes: null };
  for (const slot of slots) slot.piece = piece;
  return piece;
}
