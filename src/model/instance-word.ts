/** One word for how an instance does, from its record alone. Counted for each configuration, the words make its health. */
import { hasFailed, hasFinished, type InstanceRecord, isServing, type Reason } from './instance.js';

/** The part of an instance in the health of its configuration (`src/explain/health.ts`). */
export type InstanceWord =
  /** It runs and does its work. */
  | 'online'
  /** It ends again and again and has not been up for 60 s since, cannot be started or get ready, or is not alive. */
  | 'failing'
  /** No node takes it. */
  | 'unplaced'
  /** It waits for other configurations. */
  | 'waiting'
  /** It has ended for good, with an exit code, by a signal, or at its time-out. */
  | 'failed'
  /** It has done its work. */
  | 'finished'
  /** A static instance that was stopped on request: it keeps its slot. */
  | 'resting'
  /** It was told to stop and keeps no slot. */
  | 'ending'
  /** It is on its way, or its node is away. */
  | 'starting';

/** Reasons that no second try mends by itself, or that nobody asked for, so that even a first one is told. */
export const CANNOT_START: ReadonlySet<Reason | null> = new Set([
  'start-failed',
  'not-ready',
  'not-alive',
  'install-failed',
  'template-missing',
  'secret-missing',
  'port-busy',
  'runtime-unavailable',
]);

export function wordOf(record: InstanceRecord): InstanceWord {
  const { desired, placement, status } = record;
  const { reason } = status;
  if (hasFailed(record) && status.keepsFailing !== true) return 'failed';
  if (desired.goal !== 'run') return record.static ? 'resting' : 'ending';
  // While its node is lost, nothing is known of the instance, and another one has taken its slot.
  if (status.keepsFailing === true && reason !== 'node-lost') return 'failing';
  if (hasFinished(record)) return 'finished';
  if (placement === null && (reason === 'no-node-fits' || reason === 'template-missing')) return 'unplaced';
  if (placement === null && reason === 'waits-for') return 'waiting';
  if (isServing(record) && reason !== 'not-alive') return 'online';
  return CANNOT_START.has(reason) ? 'failing' : 'starting';
}
