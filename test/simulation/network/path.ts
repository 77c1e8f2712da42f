/** The way between a node and the master, and the messages on it. */
import type { Message } from '../../../src/channel/protocol/messages.js';
import type { Life } from '../machine/life.js';
import type { Random } from '../random.js';
import type { Scheduler } from '../scheduler.js';
import type { Trace } from '../trace.js';

/** `up`: from the node to the master. */
export type Direction = 'up' | 'down';

/** What the path between one node and one master does to packets. */
export interface Path {
  readonly nodeId: string;
  readonly masterId: string;
  /** How many cuts last. */
  readonly cut: Record<Direction, number>;
  /** Packets take from half of this to all of it; now and then much longer. */
  latencyMs: number;
}

/** What goes wrong with single messages, each with its probability, beside what happens to connections and machines. */
export interface Disorder {
  /** Messages of this kind, and with each the connection that it was sent on. */
  readonly lose?: { readonly kind: Message['type']; readonly probability: number };
  /** Comes twice; a connection rules that out, and a proxy may do it all the same. */
  readonly repeat?: number;
  /** Is overtaken; likewise. */
  readonly reorder?: number;
}

/** What all paths share. */
export interface PathOptions {
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly trace: Trace;
  readonly disorder: Disorder;
}

export interface Payload {
  readonly text: string;
  readonly body: Buffer | undefined;
}

export type Packet = Payload | { readonly close: string };

/** One connection over a path. */
export interface ConnectionOptions extends PathOptions {
  readonly path: Path;
  readonly isLocal: boolean;
  readonly node: Life;
  readonly master: Life;
  readonly onSend: (message: Message) => void;
  /** The machine that the direction leads to has no power. */
  isOff(direction: Direction): boolean;
}
