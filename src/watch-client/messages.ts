/**
 * The messages of the change stream (docs/api.md#watch) as the client and the dashboard read them. The master may be
 * newer than the reader, so the reader ignores unknown messages and fields.
 */

/** The place of a reader in a topic: the reader has everything up to this revision. */
export interface Position {
  readonly epoch: string;
  readonly revision: number;
}

/** A message with entries of a topic. */
export type EntryMessage =
  | {
      readonly type: 'snapshot';
      readonly topic: string;
      readonly position: Position;
      /** True: a new snapshot begins, which replaces all known entries of the topic. */
      readonly isFirst: boolean;
      readonly isLast: boolean;
      readonly put: readonly unknown[];
    }
  | {
      readonly type: 'changes';
      readonly topic: string;
      readonly position: Position;
      readonly put: readonly unknown[];
      readonly gone: readonly string[];
    };

/** A message of a topic `log:<id>`. */
export type LogMessage =
  /**
   * Announces that the lines after this message come from the log on `node`. `next`: the number of the first of
   * these lines.
   */
  | { readonly type: 'log'; readonly topic: string; readonly node: string; readonly next: number }
  | {
      readonly type: 'lines';
      readonly topic: string;
      /** The number of the first line. */
      readonly first: number;
      readonly lines: readonly string[];
      /** When each line was written; null: not known. Undefined: the reader did not ask for times. */
      readonly times: readonly (string | null)[] | undefined;
    }
  | { readonly type: 'gap'; readonly topic: string; readonly first: number; readonly last: number }
  | { readonly type: 'note'; readonly topic: string; readonly text: string }
  | { readonly type: 'end'; readonly topic: string; readonly reason: string };

export type TopicMessage = EntryMessage | LogMessage;
export type WatchMessage =
  | TopicMessage
  | {
      readonly type: 'error';
      readonly topic: string | undefined;
      readonly error: string;
      readonly code: string;
    };

/** The message that begins a topic. */
export interface SubscribeRequest {
  /** The name of the topic. */
  readonly subscribe: string;
  readonly filter?: {
    readonly configuration?: readonly string[];
    readonly node?: readonly string[];
    readonly state?: readonly string[];
  };
  readonly resume?: Position;
  readonly log?: {
    readonly tail?: number;
    readonly since?: number;
    /** The node whose line numbers `since` refers to. */
    readonly node?: string | undefined;
    readonly timestamps?: boolean;
    readonly ansi?: boolean;
  };
}

type Fields = Readonly<Record<string, unknown>>;

/** The messages of one frame, without heartbeats. Undefined: the text is no frame of the change stream. */
export function parseFrame(text: string): WatchMessage[] | undefined {
  let frame: unknown;
  try {
    frame = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!Array.isArray(frame)) return undefined;
  return frame.filter(isFields).flatMap((message) => messageOf(message) ?? []);
}

export function isEntryMessage(message: { readonly type: string }): message is EntryMessage {
  return message.type === 'snapshot' || message.type === 'changes';
}

function messageOf(message: Fields): WatchMessage | undefined {
  const { type } = message;
  const topic = text(message.topic);
  const lines = list(message.lines).map(text);
  const position = { epoch: text(message.epoch), revision: number(message.revision) };
  const put = list(message.put);
  switch (type) {
    case 'snapshot':
      return { type, topic, position, put, isFirst: message.first === true, isLast: message.last === true };
    case 'changes':
      return { type, topic, position, put, gone: list(message.gone).map(text) };
    case 'log':
      return { type, topic, node: text(message.node), next: number(message.next) };
    case 'lines': {
      const times = message.times === undefined ? undefined : list(message.times).map(timeOf);
      return { type, topic, first: number(message.first), lines, times };
    }
    case 'gap':
      return { type, topic, first: number(message.first), last: number(message.last) };
    case 'note':
      return { type, topic, text: text(message.text) };
    case 'end':
      return { type, topic, reason: text(message.reason) };
    case 'error':
      return {
        type,
        topic: topic === '' ? undefined : topic,
        error: text(message.error),
        code: text(message.code),
      };
    default:
      return undefined;
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null;
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function number(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function timeOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
