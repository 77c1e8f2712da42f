/**
 * Sends a live log to one client, at the client's own pace. Near the end it sends the chunks in memory; further back it
 * reads the node's disk until it has caught up. It limits the memory that waits for the client.
 */
import type PQueue from 'p-queue';
import type { InstanceStreams } from '../../channel/services/instance-streams.js';
import { Bell } from '../../loop/bell.js';
import type { Clock } from '../../loop/clock.js';
import type { Outlet } from '../sockets/outlet.js';
import type { LiveLog, Notice } from './live-log.js';
import { LogChunk } from './live-log-chunk.js';
import type { LogOfNode } from './live-log-recent.js';

/** While more than this waits for the client, no further lines are sent. */
const MAX_BUFFERED_BYTES = 512 * 1024;
/** How long a client may read nothing before it loses its place among the readers from disk. */
const PLACE_MS = 5000;
/** How long a node may withhold lines that it should have. Then the node is asked again. */
const SILENCE_MS = 10_000;
const RETRY_MS = 500;

/**
 * The place where a client begins: `tail` lines before the end, or the line with the number `since`. `node`: `since`
 * counts in the log on that node; on another node the client begins with the first line.
 */
type LogStart = { readonly tail: number } | { readonly since: number; readonly node?: string | undefined };

/** The lines that a client wants. */
export interface LogRequest {
  readonly start: LogStart;
  /** The number of the last wanted line; undefined: the client follows the log until the instance is gone. */
  readonly last?: number | undefined;
  /** True: the times of the lines are asked for before a chunk is sent. */
  readonly isTimed: boolean;
}

/** The target of the lines, in the form that the client wants. No call throws when the sink has ended. */
export interface LogSink {
  /** Aborts when either side ends the sink. */
  readonly signal: AbortSignal;
  readonly outlet: Pick<Outlet, 'bufferedBytes' | 'whenDrained'>;
  /** Called before the lines of a node. `next`: the number of the first of these lines. */
  begin(nodeId: string, next: number): void;
  /** Sends the lines of a chunk from `from` on, before `to`. */
  send(chunk: LogChunk, from: number, to: number): void;
  /** Sends a text of Drover's own. */
  say(text: string): void;
  /** Ends the sink, because it has got everything. */
  end(reason: string): void;
  /** Ends the sink because of a fault of Drover. */
  fail(): void;
}

interface LogReaderOptions extends LogRequest {
  readonly sink: LogSink;
  readonly live: LiveLog;
  readonly streams: Pick<InstanceStreams, 'readLogs' | 'followLogs' | 'readLogTimes'>;
  readonly clock: Clock;
  /** Limits how many clients read from disk at once. */
  readonly places: PQueue;
}

export class LogReader {
  readonly #options: LogReaderOptions;
  #log: LogOfNode | undefined;
  /** The number of the next line to send. */
  #next = 1;
  /** For each node, the number of the next line when the client left the node's log. */
  readonly #stops = new Map<string, number>();
  #told: Notice | undefined;
  /** True: the first gap is not shown, because the client asked for the last lines only. */
  #skipsGap: boolean;

  constructor(options: LogReaderOptions) {
    this.#options = options;
    this.#skipsGap = 'tail' in options.start;
  }

  /** Runs until the sink has ended. Ends the sink when it has got all wanted lines, or all lines that exist. */
  async run(): Promise<void> {
    const { sink, live, last = Number.POSITIVE_INFINITY } = this.#options;
    const { signal } = sink;
    while (!signal.aborted) {
      if (this.#log === undefined) this.#begin();
      const log = this.#log;
      if (this.#next > last) sink.end(`line ${last} was the last one that was asked for`);
      else if (sink.outlet.bufferedBytes > MAX_BUFFERED_BYTES) await sink.outlet.whenDrained();
      else if (log !== undefined && this.#next < log.recent.first) await this.#catchUp(log);
      else if (log?.recent.chunkAt(this.#next) !== undefined) await this.#sendRecent(log);
      else if (log?.successor !== undefined) this.#moveOn(log, log.successor);
      else if (live.isRemoved) sink.end(`instance ${live.id} was removed`);
      else {
        this.#tell();
        await live.changed.wait(signal);
      }
    }
  }

  #begin(): void {
    const { live, start, sink } = this.#options;
    const log = live.current;
    if (log === undefined) return;
    this.#log = log;
    const end = Math.max(log.total + 1, log.recent.next);
    if ('tail' in start) this.#next = Math.max(1, end - start.tail);
    else if (start.node !== undefined && start.node !== log.nodeId) sink.say(log.reason);
    else if (start.since <= end) this.#next = start.since;
    else
      sink.say(
        `[drover] line ${start.since} is not there: the log ends at line ${end - 1}, it is shown from its first`,
      );
    sink.begin(log.nodeId, this.#next);
  }

  /**
   * Goes on with the next log, whose numbers begin again. A client that asked for a part of the log gets no more lines.
   */
  #moveOn(from: LogOfNode, to: LogOfNode): void {
    const { last, sink } = this.#options;
    if (last !== undefined) {
      sink.end(`the log begins anew on node ${to.nodeId}, before line ${last}`);
      return;
    }
    this.#stops.set(from.nodeId, this.#next);
    const stop = this.#stops.get(to.nodeId) ?? 1;
    const isSame = to.nodeId !== from.nodeId && stop > 1 && stop <= to.total + 1;
    this.#next = isSame ? stop : 1;
    this.#log = to;
    sink.say(to.reason);
    sink.begin(to.nodeId, this.#next);
  }

  #tell(): void {
    const { live, sink } = this.#options;
    const { notice } = live;
    if (notice !== undefined && notice !== this.#told) sink.say(notice.text);
    this.#told = notice;
  }

  /** Sends the lines in memory, as many as the limit allows. */
  async #sendRecent(log: LogOfNode): Promise<void> {
    const { sink } = this.#options;
    while (sink.outlet.bufferedBytes <= MAX_BUFFERED_BYTES && !sink.signal.aborted) {
      const chunk = log.recent.chunkAt(this.#next);
      if (chunk === undefined) return;
      if (this.#options.isTimed) await this.#learnTimes(chunk, log);
      this.#send(chunk);
    }
  }

  #send(chunk: LogChunk): void {
    const { sink, last = Number.POSITIVE_INFINITY } = this.#options;
    const from = Math.max(this.#next, chunk.first);
    const to = Math.min(chunk.next, last + 1);
    if (from >= chunk.next) return;
    const isSkipped = from >= to || (chunk.isGap && this.#skipsGap);
    if (!isSkipped) sink.send(chunk, from, to);
    this.#skipsGap = false;
    this.#next = chunk.next;
  }

  #learnTimes(chunk: LogChunk, { record }: LogOfNode): Promise<void> {
    const { streams } = this.#options;
    return chunk.learnTimes((from, to) => streams.readLogTimes(record, from, to));
  }

  async #catchUp(log: LogOfNode): Promise<void> {
    const { places, sink, live, clock } = this.#options;
    const { signal } = sink;
    const before = this.#next;
    // The promise rejects only when the sink closes while the client waits for its place.
    const isRead = await places.add(() => this.#readFromDisk(log), { signal }).catch(() => false);
    if (signal.aborted || isRead || this.#next > before) return;
    if (log.isOver) this.#giveUp(log);
    else {
      this.#tell();
      await live.changed.wait(signal, { clock, ms: RETRY_MS });
    }
  }

  /** Skips lines that cannot be read any more, because the log is over and its node does not answer. */
  #giveUp(log: LogOfNode): void {
    const { sink } = this.#options;
    const last = log.recent.first - 1;
    sink.say(`[drover] lines ${this.#next} to ${last} on node ${log.nodeId} cannot be read any more`);
    this.#next = last + 1;
  }

  /**
   * Reads until the client has caught up or reads no more. Returns false when the node did not send lines that it
   * should have.
   */
  async #readFromDisk(log: LogOfNode): Promise<boolean> {
    const { streams, sink, clock } = this.#options;
    const ending = new AbortController();
    const end = (): void => ending.abort();
    sink.signal.addEventListener('abort', end);
    let silence = clock.setTimer(SILENCE_MS, end);
    try {
      for await (const batch of streams.followLogs(log.record, { since: this.#next }, ending.signal)) {
        silence.cancel();
        const chunk = new LogChunk(batch);
        if (this.#options.isTimed) await this.#learnTimes(chunk, log);
        this.#send(chunk);
        if (this.#next >= log.recent.first || !(await this.#isDrained())) return true;
        silence = clock.setTimer(SILENCE_MS, end);
      }
      return false;
    } catch {
      // Send no message here: the live log's own stream fails too, and tells the clients.
      return false;
    } finally {
      silence.cancel();
      sink.signal.removeEventListener('abort', end);
      end();
    }
  }

  async #isDrained(): Promise<boolean> {
    const { sink, clock } = this.#options;
    if (sink.outlet.bufferedBytes <= MAX_BUFFERED_BYTES) return !sink.signal.aborted;
    const drained = new Bell();
    void sink.outlet.whenDrained().then(() => drained.ring());
    await drained.wait(sink.signal, { clock, ms: PLACE_MS });
    return sink.outlet.bufferedBytes <= MAX_BUFFERED_BYTES && !sink.signal.aborted;
  }
}
