/** Logs on nodes, in memory, as `InstanceStreams` offers them. Tests write, rotate, disconnect and count readers. */
import type { InstanceStreams, LogOwner } from '../../../src/channel/services/instance-streams.js';
import { type LineTimes, timesWithin } from '../../../src/logs/line-times.js';
import type { LogBatch, LogPoint, LogPosition } from '../../../src/logs/log-batch.js';
import { DroverError } from '../../../src/model/errors.js';
import type { Installation } from '../../../src/runtime/installation/local-installation.js';
import { instanceRecord, placedOn } from '../control-plane/records.js';

/** The limits for a batch, as on a node. */
const MOST_LINES = 1000;
const MOST_CHARACTERS = 64 * 1024;

class NodeLog {
  readonly lines: string[] = [];
  /** The Unix second of each line. */
  readonly seconds: number[] = [];
  /** The number of the oldest line that is kept. */
  keptFrom = 1;
  /** A last line without its newline. `readLogs` counts and returns it; `followLogs` does not. */
  unfinished: string | undefined;
}

export class FakeNodeLogs
  implements Pick<InstanceStreams, 'readLogs' | 'followLogs' | 'readLogRange' | 'readLogTimes'>
{
  readonly #logs = new Map<string, NodeLog>();
  readonly #away = new Set<string>();
  readonly #wakes = new Set<() => void>();
  /** The Unix second of the lines that are written now. */
  second = 1_700_000_000;
  /** How often a caller asked for times. */
  timesAsked = 0;
  /** How many streams are open. `opened` has the positions at which all streams began. */
  open = 0;
  mostOpen = 0;
  readonly opened: LogPosition[] = [];

  on(nodeId: string): NodeLog {
    const log = this.#logs.get(nodeId) ?? new NodeLog();
    this.#logs.set(nodeId, log);
    return log;
  }

  write(nodeId: string, ...lines: string[]): void {
    const log = this.on(nodeId);
    for (const line of lines) {
      log.lines.push(line);
      log.seconds.push(this.second);
    }
    this.#wake();
  }

  /** Forgets the lines before the number `from`. */
  rotate(nodeId: string, from: number): void {
    this.on(nodeId).keptFrom = from;
  }

  disconnect(nodeId: string): void {
    this.#away.add(nodeId);
    this.#wake();
  }

  connect(nodeId: string): void {
    this.#away.delete(nodeId);
  }

  readLogs: InstanceStreams['readLogs'] = async (record, count) => {
    const log = this.#reach(record);
    const lines = [...log.lines, ...(log.unfinished === undefined ? [] : [log.unfinished])];
    return { lines: lines.slice(-count), totalLines: lines.length };
  };

  readLogRange: InstanceStreams['readLogRange'] = async (record, { since, until, lines }) => {
    const log = this.#reach(record);
    const total = log.lines.length + (log.unfinished === undefined ? 0 : 1);
    const second = (point: LogPoint): number =>
      'at' in point ? Math.floor(point.at / 1000) : this.second - ('ago' in point ? point.ago / 1000 : 0);
    const firstSince = (point: LogPoint): number => {
      if ('line' in point) return point.line;
      const index = log.seconds.findIndex((written) => written >= second(point));
      return index < 0 ? total + 1 : index + 1;
    };
    const lastUntil = (point: LogPoint): number =>
      'line' in point ? point.line : log.seconds.findLastIndex((written) => written <= second(point)) + 1;
    const first = Math.max(log.keptFrom, since === undefined ? 1 : firstSince(since));
    const last = Math.max(first - 1, Math.min(total, until === undefined ? total : lastUntil(until)));
    const firstLine = Math.max(first, last - lines + 1);
    const shown = [...log.lines, log.unfinished ?? ''].slice(firstLine - 1, last);
    return {
      first,
      last,
      firstLine,
      lines: shown,
      times: timesWithin(timesOf(log), firstLine, firstLine + shown.length - 1),
      untimedLines: 0,
      totalLines: total,
      isUnfinished: log.unfinished !== undefined,
    };
  };

  readLogTimes: InstanceStreams['readLogTimes'] = async (record, from, to) => {
    this.timesAsked++;
    return timesWithin(timesOf(this.#reach(record)), from, to);
  };

  async *followLogs(record: LogOwner, position: LogPosition, signal: AbortSignal): AsyncGenerator<LogBatch> {
    this.opened.push(position);
    this.open++;
    this.mostOpen = Math.max(this.mostOpen, this.open);
    try {
      const start = this.#reach(record);
      let next =
        'since' in position
          ? position.since
          : Math.max(start.keptFrom, start.lines.length + 1 - position.tail);
      while (!signal.aborted) {
        const { lines, keptFrom } = this.#reach(record);
        if (next < keptFrom) {
          yield { kind: 'gap', from: next, to: keptFrom - 1 };
          next = keptFrom;
        } else if (next <= lines.length) {
          const part = batchOf(lines, next - 1);
          yield { kind: 'lines', firstLine: next, lines: part };
          next += part.length;
        } else await this.#untilWoken(signal);
      }
    } finally {
      this.open--;
    }
  }

  #reach(record: LogOwner): NodeLog {
    const nodeId = record.placement?.nodeId ?? record.home?.nodeId ?? '';
    if (this.#away.has(nodeId))
      throw new DroverError('DRV_NODE_DISCONNECTED', `node ${nodeId} is not connected`);
    return this.on(nodeId);
  }

  #wake(): void {
    for (const wake of [...this.#wakes]) wake();
  }

  #untilWoken(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#wakes.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      this.#wakes.add(wake);
      signal.addEventListener('abort', wake);
    });
  }
}

function timesOf({ seconds }: NodeLog): LineTimes {
  return seconds.map((second, index) => [index + 1, second] as const);
}

function batchOf(lines: readonly string[], start: number): string[] {
  const batch: string[] = [];
  for (let characters = 0; batch.length < MOST_LINES; ) {
    const line = lines[start + batch.length];
    characters += line?.length ?? 0;
    if (line === undefined || (characters > MOST_CHARACTERS && batch.length > 0)) break;
    batch.push(line);
  }
  return batch;
}

/** An installation that also has logs for its instances. */
export function withLogs(installation: Installation, logs: FakeNodeLogs): Installation {
  return {
    ...installation,
    nextLogLine: async (id) => logs.on(id).lines.length + 1,
    followLogs: (id, position, signal) =>
      logs.followLogs(instanceRecord(id, { placement: placedOn(id) }), position, signal),
  };
}
