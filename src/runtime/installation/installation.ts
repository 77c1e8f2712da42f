/** The work of a wrapper on this machine for one instance, beside running it. */
import type { CallPeer } from '../../channel/protocol/calls.js';
import type { MasterAddress } from '../../channel/protocol/messages.js';
import type { LogLines } from '../../channel/services/instance-streams.js';
import type { LineTimes } from '../../logs/line-times.js';
import type { LogBatch, LogPosition } from '../../logs/log-batch.js';
import type { LogRange, LogRangeQuery } from '../../logs/log-range.js';
import type { FoundLines, LogSearchQuery } from '../../logs/search/log-search.js';
import type { SpanLines } from '../../logs/span-lines.js';
import type { LogPlace, OutputSpan } from '../../model/run/past-exit.js';
import type { FetchCost } from '../../model/template.js';
import type { Desired } from '../../node/desired-copy.js';
import type { StartSpec } from '../runtime.js';

/** `LocalInstallation` in the daemon; simulations have fakes. */
export interface Installation {
  isCached(digest: string): boolean;
  /** Brings a tree into the cache; asks the master through `calls`. */
  fetch(digest: string, calls: CallPeer | undefined, signal: AbortSignal): Promise<FetchCost | undefined>;
  /** Makes the working directory completely or not at all. Resolves with warnings. */
  install(
    desired: Desired,
    master: MasterAddress | undefined,
    signal: AbortSignal,
  ): Promise<readonly string[]>;
  launchSpec(desired: Desired, run: number, master: MasterAddress | undefined): StartSpec;
  remove(id: string): Promise<void>;
  /** The ids of the instances that have a working directory. */
  directories(): Promise<readonly string[]>;
  /** The bytes of the files in working directories. Directories that cannot be counted are left out. */
  directorySizes(ids: readonly string[]): Promise<ReadonlyMap<string, number>>;
  checkPort(port: number): Promise<{ free: true } | { free: false; protocol: 'tcp' | 'udp' }>;
  readLogs(id: string, lines: number): Promise<LogLines>;
  /** A part of the log, by time or line number. */
  readLogRange(id: string, query: Omit<LogRangeQuery, 'now'>): Promise<LogRange>;
  /** The times at which the lines from `from` to `to` were written. */
  readLogTimes(id: string, from: number, to: number): Promise<LineTimes>;
  /** The log from `position` on, then live, until `signal` aborts. */
  followLogs(id: string, position: LogPosition, signal: AbortSignal): AsyncIterable<LogBatch>;
  /** The lines of the log that match a pattern, the newest first. */
  searchLog(id: string, query: LogSearchQuery, signal: AbortSignal): Promise<FoundLines>;
  /** The number of the first line that a run started now would write. */
  nextLogLine(id: string): Promise<number>;
  /** The number of the line that begins at `place`. */
  logLineAt(id: string, place: LogPlace): Promise<number>;
  /** The last lines of a single run. */
  readOutput(id: string, span: OutputSpan, lines: number): Promise<SpanLines>;
}
