/** The messages of the change stream, as docs/api.md#watch describes them. */
import type { ClusterNodeDetail, Configuration, Instance, Rollout } from '../api/api-types.js';

/** What each topic's entries are. */
export interface Topics {
  readonly instances: Instance;
  readonly configurations: {
    readonly name: string;
    readonly file: string;
    readonly revision: string;
    readonly configuration: Configuration;
  };
  readonly nodes: Omit<ClusterNodeDetail, 'instances' | 'lastBeat' | 'usage'>;
  readonly templates: { readonly group: string; readonly name: string; readonly storage: string };
  readonly rollouts: Rollout;
  readonly usage: {
    readonly instance: string;
    readonly configuration: string;
    readonly node: string;
    readonly cpuSeconds: number;
    /** 100 = one core; null: measured only once so far. */
    readonly cpuPercent: number | null;
    readonly memoryBytes: number;
    readonly processes: number;
  };
}
export type TopicName = keyof Topics;

interface Position {
  readonly epoch: string;
  readonly revision: number;
}

export interface SnapshotMessage extends Position {
  readonly type: 'snapshot';
  readonly topic: string;
  readonly first: boolean;
  readonly last: boolean;
  readonly put: readonly unknown[];
}

export interface ChangesMessage extends Position {
  readonly type: 'changes';
  readonly topic: string;
  readonly put: readonly unknown[];
  readonly gone: readonly string[];
}

/** Of a topic `log:<id>`. */
export type LogMessage =
  /** Before the lines on a node: `next` is the number of the first of them. */
  | { readonly type: 'log'; readonly topic: string; readonly node: string; readonly next: number }
  | {
      readonly type: 'lines';
      readonly topic: string;
      /** Number of the first line. */
      readonly first: number;
      readonly lines: readonly string[];
      /** With `timestamps`; null: not known. */
      readonly times?: readonly (string | null)[];
    }
  | { readonly type: 'gap'; readonly topic: string; readonly first: number; readonly last: number }
  | { readonly type: 'note'; readonly topic: string; readonly text: string }
  | { readonly type: 'end'; readonly topic: string; readonly reason: string };

export type TopicMessage = SnapshotMessage | ChangesMessage | LogMessage;
export type WatchMessage =
  | TopicMessage
  | { readonly type: 'beat' }
  | { readonly type: 'error'; readonly error: string };

/** What a client sends to begin; `topic` is in `subscribe`. */
export interface SubscribeRequest {
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
    /** With `since`: the number is of the log on this node. */
    readonly node?: string;
    readonly timestamps?: boolean;
    readonly ansi?: boolean;
  };
}
