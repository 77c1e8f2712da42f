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
import { fieldsOf, MessageWriter } from './protobuf.js';

const EVENT_DELETE = 1;
const COMPARE_CREATE = 1;
const COMPARE_MOD = 2;
const ALARMS: readonly (Alarm | undefined)[] = [undefined, 'NOSPACE', 'CORRUPT'];

export function encodeRange({ key, end, limit, revision }: RangeRequest): MessageWriter {
  const message = new MessageWriter().text(1, key);
  if (end !== undefined) message.text(2, end);
  if (limit !== undefined) message.number(3, limit);
  if (revision !== undefined) message.number(4, revision);
  return message;
}

export function encodeTransaction(request: TransactionRequest): MessageWriter {
  const message = new MessageWriter();
  for (const comparison of request.comparisons) message.message(1, encodeComparison(comparison));
  for (const change of request.changes) message.message(2, encodeChange(change));
  for (const key of request.otherwiseRead)
    message.message(3, new MessageWriter().message(1, encodeRange({ key })));
  return message;
}

export function encodeLeaseGrant(id: number, seconds: number): MessageWriter {
  return new MessageWriter().number(1, seconds).number(2, id);
}

/** A request whose only field, number 1, is the id of a lease, or a revision. */
export function encodeNumber(value: number): MessageWriter {
  return new MessageWriter().number(1, value);
}

export function encodeAuthenticate(user: string, password: string): MessageWriter {
  return new MessageWriter().text(1, user).text(2, password);
}

/** A request that begins a watch. Large revisions come in fragments, because an answer has a greatest size. */
export function encodeWatch(range: { key: string; end: string; revision: number }): MessageWriter {
  const { key, end, revision } = range;
  const create = new MessageWriter().text(1, key).text(2, end).number(3, revision).number(8, true);
  return new MessageWriter().message(1, create);
}

/** A request for a sign of life of the watch. */
export function encodeProgressRequest(): MessageWriter {
  return new MessageWriter().message(3, new MessageWriter());
}

export function decodeRange(message: Buffer): RangeAnswer {
  const entries: KeyValue[] = [];
  let hasMore = false;
  let revision = 0;
  for (const { number, value, bytes } of fieldsOf(message)) {
    if (number === 1) revision = revisionOf(bytes);
    else if (number === 2) entries.push(decodeKeyValue(bytes));
    else if (number === 3) hasMore = value !== 0;
  }
  return { entries, hasMore, revision };
}

export function decodeTransaction(message: Buffer): TransactionAnswer {
  const read: KeyValue[] = [];
  let isDone = false;
  let revision = 0;
  for (const { number, value, bytes } of fieldsOf(message)) {
    if (number === 1) revision = revisionOf(bytes);
    else if (number === 2) isDone = value !== 0;
    else if (number === 3)
      for (const response of fieldsOf(bytes))
        if (response.number === 1) read.push(...decodeRange(response.bytes).entries);
  }
  return { isDone, revision, read };
}

/** The seconds left of a renewed lease. */
export function decodeLeaseSeconds(message: Buffer): number {
  return numberIn(message, 3);
}

export function decodeToken(message: Buffer): string {
  for (const { number, bytes } of fieldsOf(message)) if (number === 2) return bytes.toString();
  return '';
}

export function decodeStatus(message: Buffer): MemberStatus {
  let version = '';
  for (const { number, bytes } of fieldsOf(message)) if (number === 2) version = bytes.toString();
  const databaseBytes = numberIn(message, 3);
  return { version, databaseBytes, databaseBytesInUse: numberIn(message, 9) || databaseBytes };
}

export function decodeAlarms(message: Buffer): Alarm[] {
  const alarms: Alarm[] = [];
  for (const { number, bytes } of fieldsOf(message))
    if (number === 2) alarms.push(ALARMS[numberIn(bytes, 2)] ?? 'UNKNOWN');
  return alarms;
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

export function decodeWatch(message: Buffer): WatchAnswer {
  const events: KeyEvent[] = [];
  const numbers = new Map<number, number>();
  let revision = 0;
  let cancelReason = '';
  for (const { number, value, bytes } of fieldsOf(message)) {
    if (number === 1) revision = revisionOf(bytes);
    else if (number === 11) events.push(decodeEvent(bytes));
    else if (number === 6) cancelReason = bytes.toString();
    else numbers.set(number, value);
  }
  const isSet = (number: number): boolean => (numbers.get(number) ?? 0) !== 0;
  return {
    revision,
    isCreated: isSet(3),
    isCanceled: isSet(4),
    compactRevision: numbers.get(5) ?? 0,
    isFragment: isSet(7),
    cancelReason,
    events,
  };
}

function encodeComparison({ key, field, is }: Comparison): MessageWriter {
  const target = field === 'createRevision' ? COMPARE_CREATE : COMPARE_MOD;
  const union = field === 'createRevision' ? 5 : 6;
  return new MessageWriter().number(1, 0).number(2, target).text(3, key).number(union, is);
}

function encodeChange(change: KeyChange): MessageWriter {
  const body = new MessageWriter().text(1, change.key);
  if (change.do === 'delete') return new MessageWriter().message(3, body);
  body.bytes(2, change.value);
  if (change.lease !== undefined) body.number(3, change.lease);
  return new MessageWriter().message(2, body);
}

function decodeKeyValue(message: Buffer): KeyValue {
  let key = '';
  let content = Buffer.alloc(0);
  let createRevision = 0;
  let modRevision = 0;
  for (const { number, value, bytes } of fieldsOf(message)) {
    if (number === 1) key = bytes.toString('latin1');
    else if (number === 2) createRevision = value;
    else if (number === 3) modRevision = value;
    // Copy the value: a view would keep the whole answer in memory.
    else if (number === 5) content = Buffer.from(bytes);
  }
  return { key, value: content, createRevision, modRevision };
}

function decodeEvent(message: Buffer): KeyEvent {
  let type = 0;
  let entry: KeyValue | undefined;
  for (const { number, value, bytes } of fieldsOf(message)) {
    if (number === 1) type = value;
    else if (number === 2) entry = decodeKeyValue(bytes);
  }
  const { key = '', value, createRevision = 0, modRevision = 0 } = entry ?? {};
  return { key, value: type === EVENT_DELETE ? undefined : value, createRevision, modRevision };
}

function revisionOf(header: Buffer): number {
  return numberIn(header, 3);
}

function numberIn(message: Buffer, wanted: number): number {
  for (const { number, value } of fieldsOf(message)) if (number === wanted) return value;
  return 0;
}
