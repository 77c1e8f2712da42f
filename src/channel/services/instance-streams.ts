/**
 * Logs, standard input and signals of an instance, over the channel. The wrapper's half answers; the master's half asks the node
 * that has the instance. Neither changes state.
 */
import { z } from 'zod';
import type { LineTimes } from '../../logs/line-times.js';
import type { LogBatch, LogPosition } from '../../logs/log-batch.js';
import type { LogRange } from '../../logs/log-range.js';
import type { FoundLines, LogSearchQuery } from '../../logs/search/log-search.js';
import { KeyedTurns } from '../../loop/keyed-turns.js';
import { DroverError, nodeDisconnected } from '../../model/errors.js';
import type { InstanceRecord } from '../../model/instance.js';
import { instanceIdSchema } from '../../model/names.js';
import type { SendableSignal } from '../../model/plain/sendable-signals.js';
import { type StopTo, sendableSignalSchema, stopToSchema } from '../../model/stopping.js';
import type { CallPeer, Services } from '../protocol/calls.js';
import { MOST_LONG_ANSWER_BYTES } from '../protocol/frame-codec.js';
import {
  askForRange,
  askForTimes,
  type LogPart,
  type LogRangeReader,
  logRangeServices,
  NO_LOG,
} from './log-ranges.js';
import { askForSearch, logSearchServices } from './log-search.js';

const READ_LOGS = 'read-logs';
const FOLLOW_LOGS = 'follow-logs';
const WRITE_STDIN = 'write-stdin';
const SEND_SIGNAL = 'send-signal';
const MOST_LINES = 1000;
/** The most bytes of JSON in an answer. When the lines are longer, the oldest are left out. */
export const MOST_LOG_ANSWER_BYTES = 4 * 1024 * 1024;
/** The most bytes of JSON for one character of a string. */
const LONGEST_ESCAPE = 6;

const readLogsSchema = z.object({ id: instanceIdSchema, lines: z.int().min(1).max(MOST_LINES) });
const followLogsSchema = z.object({
  id: instanceIdSchema,
  position: z.union([
    z.strictObject({ tail: z.int().min(0).max(1000) }),
    z.strictObject({ since: z.int().min(1) }),
  ]),
});
/** The most lines of a batch of a followed log, more than a node sends. */
const MOST_BATCH_LINES = 10_000;
/** The first line of a chunk of a followed log. The lines of the log follow it as text. */
const headSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('lines'), firstLine: z.int().min(1) }),
  z.object({ kind: z.literal('gap'), from: z.int().min(1), to: z.int().min(1) }),
]);
const linesSchema = z.object({ lines: z.array(z.string()).max(MOST_LINES), totalLines: z.int().min(0) });
const writeStdinSchema = z.object({ id: instanceIdSchema });
const sendSignalSchema = z.object({ id: instanceIdSchema, signal: sendableSignalSchema, to: stopToSchema });

export type LogLines = z.output<typeof linesSchema>;

/** The wrapper's half: answers the calls of `InstanceStreams`. */
export function instanceServices(
  node: LogRangeReader & {
    readLogs(id: string, lines: number): Promise<LogLines>;
    followLogs(id: string, position: LogPosition, signal: AbortSignal): AsyncIterable<LogBatch>;
    searchLog(id: string, query: LogSearchQuery, signal: AbortSignal): Promise<FoundLines>;
    /** Throws DRV_INSTANCE_NOT_RUNNING and the runtime's errors. */
    writeStdin(id: string, bytes: Buffer): Promise<void>;
    /** Throws DRV_INSTANCE_NOT_RUNNING and the runtime's errors. */
    sendSignal(id: string, signal: SendableSignal, to: StopTo): Promise<void>;
  },
): Services {
  return {
    ...logSearchServices((id, query, signal) => node.searchLog(id, query, signal)),
    ...logRangeServices(node, newestWithin),
    [READ_LOGS]: async (parameters) => {
      const { id, lines } = readLogsSchema.parse(parameters);
      const found = await node.readLogs(id, lines);
      return { ...found, lines: newestWithin(found.lines) };
    },
    [FOLLOW_LOGS]: async function* (parameters, { signal }) {
      const { id, position } = followLogsSchema.parse(parameters);
      for await (const batch of node.followLogs(id, position, signal)) yield encodeBatch(batch);
    },
    [WRITE_STDIN]: async (parameters, { body }) => {
      const { id } = writeStdinSchema.parse(parameters);
      await node.writeStdin(id, body ?? Buffer.alloc(0));
    },
    [SEND_SIGNAL]: async (parameters) => {
      const { id, signal, to } = sendSignalSchema.parse(parameters);
      await node.sendSignal(id, signal, to);
    },
  };
}

/** The master's half. Throws DRV_NODE_DISCONNECTED, and the errors in the node's answers. */
export class InstanceStreams {
  readonly #callsOf: (nodeId: string) => CallPeer;
  /** Reads of a node's logs come one after the other, because each answer takes several times its size in memory. */
  readonly #turns = new KeyedTurns();

  constructor(callsOf: (nodeId: string) => CallPeer) {
    this.#callsOf = callsOf;
  }

  /** Reads the last lines; an instance without a node has no lines. */
  async readLogs(record: LogOwner, lines: number): Promise<LogLines> {
    const nodeId = logNodeOf(record);
    if (nodeId === undefined) return { lines: [], totalLines: 0 };
    const question = { id: record.id, lines };
    return await this.#turns.run(nodeId, async () =>
      linesSchema.parse(
        await this.#callsOf(nodeId).call(READ_LOGS, question, { mostBytes: MOST_LONG_ANSWER_BYTES }),
      ),
    );
  }

  /** Reads a part of the log, which is empty for an instance without a node. */
  async readLogRange(record: LogOwner, part: LogPart): Promise<LogRange> {
    const nodeId = logNodeOf(record);
    if (nodeId === undefined) return NO_LOG;
    return await this.#turns.run(nodeId, () => askForRange(this.#callsOf(nodeId), record.id, part));
  }

  /** Searches the log. Throws DRV_LOG_SEARCH_LIMIT. */
  async searchLog(record: InstanceRecord, query: LogSearchQuery): Promise<FoundLines> {
    const nodeId = logNodeOf(record);
    if (nodeId === undefined) return { lines: [], next: null };
    return askForSearch(this.#callsOf(nodeId), { ...query, id: record.id });
  }

  /** The times at which the lines from `from` to `to` were written, 10,000 lines at most. */
  async readLogTimes(record: InstanceRecord, from: number, to: number): Promise<LineTimes> {
    const nodeId = logNodeOf(record);
    const question = { id: record.id, from, to };
    return nodeId === undefined ? [] : askForTimes(this.#callsOf(nodeId), question);
  }

  /**
   * Yields the log from `position` on (`tail` 0 to 1000, `since` from 1), then live, until `signal` aborts. While the
   * reader does not read, at most half a MiB is under way to it. Throws DRV_NODE_DISCONNECTED, at the start or later,
   * also when the instance has no node yet.
   */
  async *followLogs(
    record: InstanceRecord,
    position: LogPosition,
    signal: AbortSignal,
  ): AsyncGenerator<LogBatch> {
    const nodeId = logNodeOf(record);
    if (nodeId === undefined)
      throw nodeDisconnected(`instance ${record.id} has no node yet; follow its log when it has one`);
    try {
      const chunks = this.#callsOf(nodeId).stream(FOLLOW_LOGS, { id: record.id, position }, signal);
      for await (const chunk of chunks) {
        if (signal.aborted) return;
        yield decodeBatch(chunk);
      }
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof DroverError) || error.code !== 'DRV_CHANNEL_CLOSED') throw error;
      throw nodeDisconnected(
        `node ${nodeId} went away while the log of ${record.id} was followed; go on when it is back`,
      );
    }
  }

  async writeStdin(record: InstanceRecord, bytes: Buffer): Promise<void> {
    await this.#callsTo(record).call(WRITE_STDIN, { id: record.id }, { body: bytes });
  }

  async sendSignal(record: InstanceRecord, signal: SendableSignal, to: StopTo): Promise<void> {
    await this.#callsTo(record).call(SEND_SIGNAL, { id: record.id, signal, to });
  }

  #callsTo({ id, placement }: InstanceRecord): CallPeer {
    if (placement === null)
      throw new DroverError('DRV_INSTANCE_NOT_RUNNING', `instance ${id} is not running: it has no node yet`);
    return this.#callsOf(placement.nodeId);
  }
}

function encodeBatch(batch: LogBatch): Buffer {
  if (batch.kind === 'gap') return Buffer.from(JSON.stringify(batch));
  const { lines, ...head } = batch;
  return Buffer.from(`${JSON.stringify(head)}\n${lines.join('\n')}`);
}

/** Reads a chunk. Throws when the other side sent something else. */
export function decodeBatch(chunk: Buffer): LogBatch {
  const [first = '', ...lines] = chunk.toString('utf8').split('\n', MOST_BATCH_LINES + 2);
  if (lines.length > MOST_BATCH_LINES)
    throw new RangeError(`a batch of a log has more than ${MOST_BATCH_LINES} lines`);
  const head = headSchema.parse(JSON.parse(first));
  return head.kind === 'gap' ? head : { ...head, lines };
}

/** The newest lines whose JSON fits into an answer. */
function newestWithin(lines: readonly string[]): readonly string[] {
  const chars = lines.reduce((sum, line) => sum + line.length + 1, 0);
  if (chars * LONGEST_ESCAPE <= MOST_LOG_ANSWER_BYTES) return lines;
  let bytes = 0;
  const oldest = lines.findLastIndex((line) => {
    bytes += Buffer.byteLength(JSON.stringify(line)) + 1;
    return bytes > MOST_LOG_ANSWER_BYTES;
  });
  return lines.slice(oldest + 1);
}

/** An instance, or what is known of one that was removed. */
export type LogOwner = Pick<InstanceRecord, 'id' | 'home'> & Partial<Pick<InstanceRecord, 'placement'>>;

/** The node that has an instance's log. The log stays there when the instance has ended. */
export function logNodeOf({ placement, home }: LogOwner): string | undefined {
  return placement?.nodeId ?? home?.nodeId;
}
