/**
 * The log of one instance on one node. When an instance moves, its next node begins another log, with numbers from
 * 1.
 */
import type { InstanceRecord } from '../../model/instance.js';
import type { RecentLines } from './live-log-recent.js';

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
