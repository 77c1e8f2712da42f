/**
 * The newest lines of a log, in memory, for all clients that have read nearly to the end. It gathers lines into
 * chunks for a few milliseconds, and drops the oldest at its bounds. Older lines are read from the node's disk.
 */
import type { LogBatch } from '../../logs/log-batch.js';
import type { Clock, TimerHandle } from '../../loop/clock.js';
import { bytesOf, LogChunk } from './live-log-chunk.js';

/** How long lines that follow each other quickly are gathered into one chunk. */
const GATHER_MS = 10;
const MAX_CHUNK_BYTES = 64 * 1024;
const MAX_BYTES = 1024 * 1024;
const MAX_CHUNKS = 1000;

export interface RecentLinesOptions {
  /** Number of the next line. */
  readonly first: number;
  readonly clock: Clock;
  /** Called when there are new chunks. */
  readonly onMore: () => void;
}

export class RecentLines {
  readonly #options: RecentLinesOptions;
  readonly #chunks: LogChunk[] = [];
  #bytes = 0;
  #gathered: string[] = [];
  #gatheredBytes = 0;
  /** Number of the first line after the chunks. */
  #next: number;
  #flushedAt = Number.NEGATIVE_INFINITY;
  #timer: TimerHandle | undefined;

  constructor(options: RecentLinesOptions) {
    this.#options = options;
    this.#next = options.first;
  }

  /** Number of the oldest line in memory, or of the next one when there is none. */
  get first(): number {
    return this.#chunks[0]?.first ?? this.#next;
  }

  /** Number of the line after the last chunk. */
  get next(): number {
    return this.#next;
  }

  /** Number of the line after the newest that was taken. */
  get received(): number {
    return this.#next + this.#gathered.length;
  }

  /** Takes the next batch. Lines that it took before are left out; a hole before the batch becomes a gap. */
  take(batch: LogBatch): void {
    const { received } = this;
    if (batch.kind === 'gap') {
      this.#takeGap(Math.max(batch.from, received), batch.to);
      return;
    }
    if (batch.firstLine > received) this.#takeGap(received, batch.firstLine - 1);
    for (const line of batch.lines.slice(Math.max(0, received - batch.firstLine))) {
      this.#gathered.push(line);
      this.#gatheredBytes += bytesOf(line);
      if (this.#gatheredBytes >= MAX_CHUNK_BYTES) this.flush();
    }
    this.#flushInTime();
  }

  /** The chunk that holds line `number`; undefined: it is not in memory. */
  chunkAt(number: number): LogChunk | undefined {
    return this.#chunks.findLast(({ first, next }) => first <= number && number < next);
  }

  /** Makes a chunk of the lines gathered so far. */
  flush(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    if (this.#gathered.length === 0) return;
    const lines = this.#gathered;
    this.#gathered = [];
    this.#gatheredBytes = 0;
    this.#flushedAt = this.#options.clock.monotonic();
    this.#add(new LogChunk({ kind: 'lines', firstLine: this.#next, lines }));
    this.#options.onMore();
  }

  #takeGap(from: number, to: number): void {
    if (to < from) return;
    this.flush();
    this.#add(new LogChunk({ kind: 'gap', from, to }));
    this.#options.onMore();
  }

  /** Makes a chunk at once after a pause, else when the time to gather is over. */
  #flushInTime(): void {
    if (this.#timer !== undefined || this.#gathered.length === 0) return;
    const waitMs = this.#flushedAt + GATHER_MS - this.#options.clock.monotonic();
    if (waitMs <= 0) this.flush();
    else this.#timer = this.#options.clock.setTimer(waitMs, () => this.flush());
  }

  #add(chunk: LogChunk): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.bytes;
    this.#next = chunk.next;
    while (this.#chunks.length > 1 && (this.#bytes > MAX_BYTES || this.#chunks.length > MAX_CHUNKS))
      this.#bytes -= this.#chunks.shift()?.bytes ?? 0;
  }
}
