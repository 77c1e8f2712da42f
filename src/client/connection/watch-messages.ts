/** The messages of the change stream as a client reads them. The master may be newer: what is not known is passed over. */
import { ClientError, EXIT } from '../../command-tree/runs/client-error.js';

/** Where a reader stands in a topic: it has everything up to that revision. */
export interface Position {
  readonly epoch: string;
  readonly revision: number;
}

export type WatchMessage =
  /** Made by the client: the connection is open, and each topic begins or goes on. */
  | { readonly type: 'open'; readonly isAgain: boolean }
  | {
      readonly type: 'snapshot';
      readonly topic: string;
      readonly position: Position;
      /** Forget what is known of the topic. */
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
    }
  /** The lines that follow are of the log on that node. */
  | { readonly type: 'log'; readonly topic: string; readonly node: string; readonly next: number }
  | {
      readonly type: 'lines';
      readonly topic: string;
      readonly first: number;
      readonly lines: readonly string[];
      /** Undefined: not asked for. Null: not known. */
      readonly times: readonly (string | null)[] | undefined;
    }
  | { readonly type: 'gap'; readonly topic: string; readonly first: number; readonly last: number }
  | { readonly type: 'note'; readonly topic: string; readonly text: string }
  | { readonly type: 'end'; readonly topic: string; readonly reason: string }
  | {
      readonly type: 'error';
      readonly topic: string | undefined;
      readonly error: string;
      readonly code: string;
    };

export type EntryMessage = Extract<WatchMessage, { type: 'snapshot' | 'changes' }>;

type Fields = Readonly<Record<string, unknown>>;

/** The messages of one frame. Throws a ClientError when it is none of the change stream. */
export function parseFrame(text: string): WatchMessage[] {
  let frame: unknown;
  try {
    frame = JSON.parse(text);
  } catch {
    // Said below.
  }
  if (!Array.isArray(frame))
    throw new ClientError(EXIT.failed, 'the master sends what is no message of the change stream');
  return frame.filter(isFields).flatMap((message) => messageOf(message) ?? []);
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
