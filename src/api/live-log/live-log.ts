/**
 * The live log of one instance, for all clients that follow it. It keeps one stream from the instance's node, resumes
 * it where it broke off, and begins another when the instance moves. It never waits for a client: each reads at its own
 * pace (`LogReader`).
 */
import { logNodeOf } from '../../channel/services/instance-streams.js';
import { backoffMs } from '../../loop/backoff.js';
import { Bell } from '../../loop/bell.js';
import type { TimerHandle } from '../../loop/clock.js';
import { DroverError, messageOf } from '../../model/errors.js';
import type { InstanceRecord } from '../../model/instance.js';
import type { ApiDependencies } from '../dependencies.js';
import { type LogOfNode, RecentLines } from './live-log-recent.js';

/** How many earlier lines are read when the log begins anew. */
const MOST_AHEAD = 1000;
const RETRY = { baseMs: 250, maxMs: 5000 };
/** How long to wait for the last lines of an instance that is gone. */
const SETTLE_MS = 1000;
/** How long the output of an instance is followed during its removal: the time of a usual stop, and a little more. */
const REMOVAL_MS = 15_000;

/** A line about a condition, such as a node that is away. Each client gets it once while the condition lasts. */
export interface Notice {
  readonly text: string;
}

export class LiveLog {
  /** Rings when there are new lines, and when a getter below changes. */
  readonly changed = new Bell();
  readonly id: string;
  readonly #dependencies: ApiDependencies;
  readonly #first: InstanceRecord;
  readonly #ahead: number;
  readonly #closing = new AbortController();
  readonly #poked = new Bell();
  #stream: AbortController | undefined;
  #current: LogOfNode | undefined;
  #notice: Notice | undefined;
  #isRemoved = false;
  #isSettling = false;
  #removal: TimerHandle | undefined;
  #isRemovalLate = false;
  #failures = 0;

  /** `ahead`: how many earlier lines the first client wants. */
  constructor(dependencies: ApiDependencies, record: InstanceRecord, ahead: number) {
    this.#dependencies = dependencies;
    this.#first = record;
    this.#ahead = ahead;
    this.id = record.id;
  }

  /** The present log; undefined until the instance's node was first reached. */
  get current(): LogOfNode | undefined {
    return this.#current;
  }

  get notice(): Notice | undefined {
    return this.#notice;
  }

  /** True when `current` gets no more lines: the instance is gone, or `close` was called after the last client left. */
  get isRemoved(): boolean {
    return this.#isRemoved;
  }

  /** Follows the log until `close`, or until the instance is gone. Never rejects. */
  async run(): Promise<void> {
    const { signal } = this.#closing;
    for (let record = this.#record(); record !== undefined && !signal.aborted; record = this.#record()) {
      const nodeId = logNodeOf(record);
      if (nodeId === undefined) await this.#poked.wait(signal);
      else await this.#attempt(record, nodeId);
    }
    if (this.#current !== undefined) this.#current.isOver = true;
    this.#isRemoved = true;
    this.changed.ring();
  }

  /** Called when the instance has another node or is gone, and when the condition of a node has changed. */
  poke(): void {
    this.#boundRemoval();
    const log = this.#current;
    if (log !== undefined && this.#stream !== undefined) {
      if (this.#hasLeft(log)) void this.#settle(log, this.#stream);
      const isLost = this.#dependencies.nodes.get(log.nodeId)?.value.condition === 'lost';
      if (isLost) this.#announce(away(log.nodeId));
      else this.#notice = undefined;
    }
    this.#poked.ring();
  }

  /** Ends the stream and `run`. Idempotent. */
  close(): void {
    this.#closing.abort();
    this.#stream?.abort();
    this.#removal?.cancel();
  }

  /**
   * The record of the instance to follow. Undefined when the instance is gone, even if another instance has its id now.
   * Also undefined when the instance is being removed and its node is away or takes too long.
   */
  #record(): InstanceRecord | undefined {
    const now = this.#kept();
    if (now?.desired.goal !== 'remove') return now;
    const nodeId = logNodeOf(now);
    const node = nodeId === undefined ? undefined : this.#dependencies.nodes.get(nodeId);
    return this.#isRemovalLate || node?.value.condition !== 'connected' ? undefined : now;
  }

  #kept(): InstanceRecord | undefined {
    const now = this.#dependencies.instances.get(this.id)?.value;
    return now?.createdAt === this.#first.createdAt ? now : undefined;
  }

  /** Starts the time limit for the last output of an instance that is being removed. */
  #boundRemoval(): void {
    if (this.#removal !== undefined || this.#kept()?.desired.goal !== 'remove') return;
    this.#removal = this.#dependencies.clock.setTimer(REMOVAL_MS, () => {
      this.#isRemovalLate = true;
      this.poke();
    });
  }

  #hasLeft(log: LogOfNode): boolean {
    const record = this.#record();
    if (record === undefined) return true;
    const nodeId = logNodeOf(record);
    return nodeId !== undefined && nodeId !== log.nodeId;
  }

  /** Follows one stream to its end, and waits before the next. */
  async #attempt(record: InstanceRecord, nodeId: string): Promise<void> {
    const { signal } = this.#closing;
    try {
      await this.#follow(record, nodeId);
    } catch (error) {
      if (signal.aborted) return;
      this.#announce(this.#describe(error, nodeId));
    }
    const now = this.#record();
    if (signal.aborted || now === undefined || logNodeOf(now) !== nodeId) return;
    const ms = backoffMs(this.#failures++, RETRY);
    await this.#poked.wait(signal, { clock: this.#dependencies.clock, ms });
  }

  async #follow(record: InstanceRecord, nodeId: string): Promise<void> {
    const { streams } = this.#dependencies;
    const { totalLines } = await streams.readLogs(record, 1);
    if (this.#closing.signal.aborted) return;
    const log = this.#open(record, nodeId, totalLines);
    const stream = new AbortController();
    this.#stream = stream;
    this.#failures = 0;
    this.#notice = undefined;
    this.changed.ring();
    // Look at the record again: the instance may have moved while the node was being asked.
    this.poke();
    try {
      const position = { since: log.recent.next };
      for await (const batch of streams.followLogs(log.record, position, stream.signal))
        log.recent.take(batch);
    } finally {
      this.#stream = undefined;
      this.#isSettling = false;
      stream.abort();
    }
  }

  /** The log on `nodeId`: the present log if the node still has that log, otherwise a new log. */
  #open(record: InstanceRecord, nodeId: string, total: number): LogOfNode {
    const before = this.#current;
    if (before?.nodeId === nodeId && before.recent.next <= total + 1) {
      before.record = record;
      before.total = total;
      return before;
    }
    const ahead = before === undefined ? this.#ahead : MOST_AHEAD;
    const first = Math.max(1, total + 1 - ahead);
    const recent = new RecentLines(first, () => this.changed.ring());
    const where =
      before?.nodeId === nodeId ? 'begins anew' : `is on node ${nodeId} now, where it begins anew`;
    const reason = `[drover] the log of instance ${this.id} ${where}`;
    const log: LogOfNode = { nodeId, record, recent, total, reason, isOver: false, successor: undefined };
    this.#current = log;
    if (before !== undefined) {
      before.isOver = true;
      before.successor = log;
    }
    return log;
  }

  /** Waits for the last lines of a log, and then ends its stream, because the log gets no more. */
  async #settle(log: LogOfNode, stream: AbortController): Promise<void> {
    if (this.#isSettling) return;
    this.#isSettling = true;
    const { streams, clock } = this.#dependencies;
    const end = await streams.readLogs(log.record, 1).catch(() => undefined);
    const late = new AbortController();
    const timer = clock.setTimer(SETTLE_MS, () => late.abort());
    while (end !== undefined && log.recent.next <= end.totalLines && !late.signal.aborted) {
      if (stream.signal.aborted) break;
      await this.changed.wait(late.signal);
    }
    timer.cancel();
    // The stream never sends a last line without a newline, so `readLogs` supplies that line.
    const line = end?.lines.at(-1);
    if (end !== undefined && line !== undefined && log.recent.next === end.totalLines && !log.isOver)
      log.recent.take({ kind: 'lines', firstLine: end.totalLines, lines: [line] });
    stream.abort();
  }

  #announce(text: string): void {
    if (this.#notice?.text === text) return;
    this.#notice = { text };
    this.changed.ring();
  }

  #describe(error: unknown, nodeId: string): string {
    if (DroverError.is(error, 'DRV_NODE_DISCONNECTED') || DroverError.is(error, 'DRV_CHANNEL_CLOSED'))
      return away(nodeId);
    const { logger } = this.#dependencies;
    const fields = { err: error, instance: this.id, node: nodeId };
    logger.warn(fields, `the log of instance ${this.id} cannot be followed: ${messageOf(error)}`);
    return `[drover] the log cannot be read on node ${nodeId} now: it goes on when it can`;
  }
}

function away(nodeId: string): string {
  return `[drover] node ${nodeId} is not connected: the log goes on when it is back`;
}
