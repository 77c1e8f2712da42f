/** The log of one instance on one node. An instance that moves begins a new one, with numbers from 1. */
import type { InstanceRecord } from '../../model/instance.js';
import type { RecentLines } from './live-log-recent.js';

export interface LogOfNode {
  readonly nodeId: string;
  /** As it was placed on that node, whatever became of it. */
  record: InstanceRecord;
  readonly recent: RecentLines;
  /** Lines that there were when it was opened last. */
  total: number;
  /** Why it was begun, told to who read the one before. */
  readonly reason: string;
  /** Nothing is added to it any more. */
  isOver: boolean;
  /** The one after it. */
  successor: LogOfNode | undefined;
}
