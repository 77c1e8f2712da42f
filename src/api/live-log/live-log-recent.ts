/**
 * The newest lines of a log, in memory, for all clients that have read nearly to the end. Each batch of the node
 * becomes one chunk. At the limits, the oldest chunks are dropped. Older lines are read from the node's disk.
 */
import type { LogBatch } from '../../logs/log-batch.js';
import type { InstanceRecord } from '../../model/instance.js';
import { LogChunk } from './live-log-chunk.js';

const MAX_BYTES = 1024 * 1024;
const MAX_CHUNKS = 1000;

/** The log of one instance on one node. When an instance moves, its next node begins another log, with numbers from 1. */
export interface LogOfNode {
  readonly nodeId: string;
  /** The latest record that places the instance on this node; it stays when the instance moves. */
  record: InstanceRecord;
  readonly recent: RecentLines;
  /** How many lines the log had when it was opened last. */
  total: number;
  /** The text that tells readers of the preceding log why this log began. */
  readonly reason: string;
  /** True when the log gets no more lines. */
  isOver: boolean;
  /** The log that comes after this log. */
  successor: LogOfNode | undefined;
}

export class RecentLines {
  readonly #onMore: () => void;
  readonly #chunks: LogChunk[] = [];
  #bytes = 0;
  #next: number;

  /** `first`: the number that the first line gets. `onMore` is called when there are new chunks. */
  constructor(first: number, onMore: () => void) {
    this.#onMore = onMore;
    this.#next = first;
  }

  /** The number of the oldest line in memory, or of the next line when there is none. */
  get first(): number {
    return this.#chunks[0]?.first ?? this.#next;
  }

  /** The number that the next line gets. */
  get next(): number {
    return this.#next;
  }

  /** Takes the next batch. Skips lines that are already here; lines that are missing before the batch become a gap. */
  take(batch: LogBatch): void {
    const before = this.#next;
    if (batch.kind === 'gap') this.#addGap(batch.to);
    else {
      this.#addGap(batch.firstLine - 1);
      const lines = batch.lines.slice(this.#next - batch.firstLine);
      if (lines.length > 0) this.#add(new LogChunk({ kind: 'lines', firstLine: this.#next, lines }));
    }
    if (this.#next > before) this.#onMore();
  }

  /** The chunk that holds the line of this number; undefined: the line is not in memory. */
  chunkAt(number: number): LogChunk | undefined {
    return this.#chunks.findLast(({ first, next }) => first <= number && number < next);
  }

  /** Adds the lines from the next one to `to` as a gap. */
  #addGap(to: number): void {
    if (to >= this.#next) this.#add(new LogChunk({ kind: 'gap', from: this.#next, to }));
  }

  #add(chunk: LogChunk): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.bytes;
    this.#next = chunk.next;
    while (this.#chunks.length > 1 && (this.#bytes > MAX_BYTES || this.#chunks.length > MAX_CHUNKS))
      this.#bytes -= this.#chunks.shift()?.bytes ?? 0;
  }
}
