/**
 * Keeps instances encoded for clients: the bytes of each one, and of the whole list. Only what changed is encoded
 * again. While an instance is ONLINE its `lastHeartbeat` follows the beats of its node.
 */
import type { BeatBook } from '../../channel/master/beat-book.js';
import { type InstanceInfo, type InstanceRecord, toInstanceInfo } from '../../model/instance.js';
import type { MirrorReader } from '../../store/mirror.js';

/** Cannot occur inside an encoded string, where each quote has a backslash before it. */
const HEARTBEAT = '"lastHeartbeat":';
const COMMA = 0x2c;
const OPEN = 0x5b;
const CLOSE = 0x5d;

/** One visible instance. It is encoded when it is first asked for. */
interface Slot {
  record: InstanceRecord;
  isGone: boolean;
  /** Null after a change of the record. Never written to once it was returned. */
  bytes: Buffer | null;
  heartbeat: number;
  /** Where the digits of the heartbeat begin in `bytes`. */
  digitsAt: number;
  /** The `beats.tick` at which `heartbeat` was looked up. */
  tick: number;
}

export interface InstanceViewOptions {
  readonly instances: MirrorReader<InstanceRecord>;
  /** `tick` grows with every beat. Encoded heartbeats are right as long as it is the same. */
  readonly beats: Pick<BeatBook, 'lastBeatAt' | 'tick'>;
}

export class InstanceView {
  readonly #beats: InstanceViewOptions['beats'];
  readonly #unsubscribe: () => void;
  readonly #slots = new Map<string, Slot>();
  /** In order of creation, then id, unless `#isOrderStale`. It may hold removed slots until the next list. */
  #order: Slot[] = [];
  #isOrderStale = true;
  /** Null: an instance has changed since the list was encoded. */
  #list: Buffer | null = null;
  #listTick = 0;

  constructor({ instances, beats }: InstanceViewOptions) {
    this.#beats = beats;
    for (const [id, { value }] of instances.entries()) this.#take(id, value);
    this.#unsubscribe = instances.onChange((id, after) => this.#take(id, after?.value));
  }

  /** The record of an instance; undefined: there is none, or it is being removed. */
  record(id: string): InstanceRecord | undefined {
    return this.#slots.get(id)?.record;
  }

  /** The encoded InstanceInfo; undefined like `record`. The caller must not write to the bytes. */
  get(id: string): Buffer | undefined {
    const slot = this.#slots.get(id);
    if (slot === undefined) return undefined;
    this.#refresh(slot);
    return slot.bytes ?? undefined;
  }

  /** The encoded array of all instances, by `createdAt`, then id. The caller must not write to the bytes. */
  list(): Buffer {
    const { tick } = this.#beats;
    if (this.#list !== null && this.#listTick === tick) return this.#list;
    this.#putInOrder();
    let isChanged = this.#list === null;
    for (const slot of this.#order) isChanged = this.#refresh(slot) || isChanged;
    if (this.#list === null || isChanged) this.#list = joinArray(this.#order);
    this.#listTick = tick;
    return this.#list;
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
    this.#list = null;
    const slot = this.#slots.get(id);
    const isVisible = record !== undefined && record.desired.goal !== 'remove';
    if (slot !== undefined && isVisible && slot.record.createdAt === record.createdAt) {
      slot.record = record;
      slot.bytes = null;
      return;
    }
    if (slot !== undefined) this.#drop(id, slot);
    if (isVisible) this.#add(id, record);
  }

  #add(id: string, record: InstanceRecord): void {
    const slot: Slot = { record, isGone: false, bytes: null, heartbeat: 0, digitsAt: 0, tick: 0 };
    this.#slots.set(id, slot);
    this.#order.push(slot);
    this.#isOrderStale = true;
  }

  #drop(id: string, slot: Slot): void {
    slot.isGone = true;
    this.#slots.delete(id);
    this.#isOrderStale = true;
  }

  #putInOrder(): void {
    if (!this.#isOrderStale) return;
    this.#order = this.#order.filter((slot) => !slot.isGone).sort(byCreation);
    this.#isOrderStale = false;
  }

  /** Encodes record and heartbeat where they changed. Returns true when the bytes are new. */
  #refresh(slot: Slot): boolean {
    const { tick } = this.#beats;
    if (slot.bytes !== null && slot.tick === tick) return false;
    const heartbeat = this.#heartbeatOf(slot.record);
    slot.tick = tick;
    if (slot.bytes !== null && slot.heartbeat === heartbeat) return false;
    slot.bytes = withHeartbeat(slot, heartbeat) ?? encode(slot, heartbeat);
    slot.heartbeat = heartbeat;
    return true;
  }

  #heartbeatOf({ placement, status }: InstanceRecord): number {
    if (placement === null || status.state !== 'ONLINE') return status.lastHeartbeat;
    return Math.max(status.lastHeartbeat, this.#beats.lastBeatAt(placement.nodeId) ?? 0);
  }
}

function encode(slot: Slot, heartbeat: number): Buffer {
  const bytes = Buffer.from(JSON.stringify(toInstanceInfo(slot.record, heartbeat)));
  slot.digitsAt = bytes.indexOf(HEARTBEAT) + HEARTBEAT.length;
  return bytes;
}

/**
 * Copies the bytes with another heartbeat, because a beat changes nothing else. Undefined when the new digits do
 * not fit.
 */
function withHeartbeat(slot: Slot, heartbeat: number): Buffer | undefined {
  const digits = String(heartbeat);
  if (slot.bytes === null || digits.length !== String(slot.heartbeat).length) return undefined;
  const bytes = Buffer.from(slot.bytes);
  bytes.write(digits, slot.digitsAt, 'latin1');
  return bytes;
}

function byCreation(a: Slot, b: Slot): number {
  if (a.record.createdAt !== b.record.createdAt) return a.record.createdAt - b.record.createdAt;
  return a.record.id < b.record.id ? -1 : 1;
}

function joinArray(slots: readonly Slot[]): Buffer {
  const length = slots.reduce((sum, { bytes }) => sum + (bytes?.length ?? 0) + 1, slots.length === 0 ? 2 : 1);
  const list = Buffer.allocUnsafeSlow(length);
  let offset = list.writeUInt8(OPEN, 0);
  for (const { bytes } of slots) {
    if (offset > 1) offset = list.writeUInt8(COMMA, offset);
    offset += bytes?.copy(list, offset) ?? 0;
  }
  list.writeUInt8(CLOSE, offset);
  return list;
}
