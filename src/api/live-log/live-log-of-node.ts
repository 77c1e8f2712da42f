/**
 * The log of one instance on one node. When an instance moves, its next node begins another log, with numbers from
 * 1.
 */
import type { InstanceRecord } from '../../model/instance.js';
import type { RecentLines } from './live-log-recent.js';

export interface LogOfNode {
  readonly nodeId: string;
  /** The latest record that places the instance on this node, even when the instance has moved since. */
  record: InstanceRecord;
  readonly recent: RecentLines;
  /** How many lines the log had when it was opened last. */
  total: number;
  /** The line that tells readers of the preceding log why this one began. */
  readonly reason: string;
  /** True: the log gets no more lines. */
  isOver: boolean;
  /** The log that follows this one. */
  successor: LogOfNode | undefined;
}
