/** etcd's messages, from its documented protocol (rpc.proto and kv.proto of API v3): the fields that Drover uses. */
import type {
  Alarm,
  Comparison,
  KeyChange,
  KeyEvent,
  KeyValue,
  MemberStatus,
  RangeAnswer,
  RangeRequest,
  TransactionAnswer,
  TransactionRequest,
} from '../etcd.js';
import { encodeFields, Message } from './protobuf.js';

const EVENT_DELETE = 1;
const COMPARE_EQUAL = 0;
/** The target of a comparison, and the field with its value. */
const COMPARISONS = {
  createRevision: { target: 1, union: 5 },
  modRevision: { target: 2, union: 6 },
} as const;
const ALARMS: readonly (Alarm | undefined)[] = [undefined, 'NOSPACE', 'CORRUPT'];

export function encodeRange({ key, end, limit, revision }: RangeRequest): Buffer {
  return encodeFields([1, key], [2, end], [3, limit], [4, revision]);
}

export function encodeTransaction({ comparisons, changes, otherwiseRead }: TransactionRequest): Buffer {
  return encodeFields(
    ...comparisons.map((comparison) => [1, encodeComparison(comparison)] as const),
    ...changes.map((change) => [2, encodeChange(change)] as const),
    ...otherwiseRead.map((key) => [3, encodeFields([1, encodeRange({ key })])] as const),
  );
}

export function encodeLeaseGrant(id: number, seconds: number): Buffer {
  return encodeFields([1, seconds], [2, id]);
}

/** A request whose only field, number 1, is the id of a lease, or a revision. */
export function encodeNumber(value: number): Buffer {
  return encodeFields([1, value]);
}

export function encodeAuthenticate(user: string, password: string): Buffer {
  return encodeFields([1, user], [2, password]);
}

/** A request that begins a watch. Large revisions come in fragments, because an answer has a greatest size. */
export function encodeWatch(range: { key: string; end: string; revision: number }): Buffer {
  const { key, end, revision } = range;
  return encodeFields([1, encodeFields([1, key], [2, end], [3, revision], [8, true])]);
}

/** A request for a sign of life of the watch. */
export function encodeProgressRequest(): Buffer {
  return encodeFields([3, encodeFields()]);
}

export function decodeRange(bytes: Buffer): RangeAnswer {
  const answer = new Message(bytes);
  return {
    entries: answer.all(2).map(decodeKeyValue),
    hasMore: answer.isSet(3),
    revision: revisionOf(answer),
  };
}

export function decodeTransaction(bytes: Buffer): TransactionAnswer {
  const answer = new Message(bytes);
  const ranges = answer.all(3).flatMap((response) => new Message(response).all(1).map(decodeRange));
  return {
    isDone: answer.isSet(2),
    revision: revisionOf(answer),
    read: ranges.flatMap(({ entries }) => entries),
  };
}

/** The seconds left of a renewed lease. */
export function decodeLeaseSeconds(bytes: Buffer): number {
  return new Message(bytes).number(3);
}

export function decodeToken(bytes: Buffer): string {
  return new Message(bytes).bytes(2).toString();
}

export function decodeStatus(bytes: Buffer): MemberStatus {
  const status = new Message(bytes);
  const databaseBytes = status.number(3);
  const version = status.bytes(2).toString();
  return { version, databaseBytes, databaseBytesInUse: status.number(9) || databaseBytes };
}

export function decodeAlarms(bytes: Buffer): Alarm[] {
  const alarms = new Message(bytes).all(2);
  return alarms.map((alarm) => ALARMS[new Message(alarm).number(2)] ?? 'UNKNOWN');
}

export interface WatchAnswer {
  /** The revision of the member that answers. */
  readonly revision: number;
  readonly isCreated: boolean;
  readonly isCanceled: boolean;
  readonly cancelReason: string;
  /** The revision up to which the requested events are compacted; 0: they are not compacted. */
  readonly compactRevision: number;
  /** True when the rest of the revision comes with the next answer. */
  readonly isFragment: boolean;
  readonly events: readonly KeyEvent[];
}

export function decodeWatch(bytes: Buffer): WatchAnswer {
  const answer = new Message(bytes);
  return {
    revision: revisionOf(answer),
    isCreated: answer.isSet(3),
    isCanceled: answer.isSet(4),
    compactRevision: answer.number(5),
    cancelReason: answer.bytes(6).toString(),
    isFragment: answer.isSet(7),
    events: answer.all(11).map(decodeEvent),
  };
}

function encodeComparison({ key, field, is }: Comparison): Buffer {
  const { target, union } = COMPARISONS[field];
  return encodeFields([1, COMPARE_EQUAL], [2, target], [3, key], [union, is]);
}

function encodeChange(change: KeyChange): Buffer {
  const { key } = change;
  if (change.do === 'delete') return encodeFields([3, encodeFields([1, key])]);
  return encodeFields([2, encodeFields([1, key], [2, change.value], [3, change.lease])]);
}

function decodeKeyValue(bytes: Buffer): KeyValue {
  const entry = new Message(bytes);
  return {
    key: entry.bytes(1).toString('latin1'),
    createRevision: entry.number(2),
    modRevision: entry.number(3),
    // Copy the value: a view would keep the whole answer in memory.
    value: Buffer.from(entry.bytes(5)),
  };
}

function decodeEvent(bytes: Buffer): KeyEvent {
  const event = new Message(bytes);
  const entry = decodeKeyValue(event.bytes(2));
  return event.number(1) === EVENT_DELETE ? { ...entry, value: undefined } : entry;
}

/** The revision in the header of an answer. */
function revisionOf(answer: Message): number {
  return new Message(answer.bytes(1)).number(3);
}
