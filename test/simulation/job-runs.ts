/**
 * Judges runs of jobs: one run for a key, one start for each try that its job allows, on one node, and a time-out only
 * when its time is over. Two processes at once for a run are two of one instance, which `Invariants` judges.
 */
import type { InstanceRecord } from '../../src/model/instance.js';
import type { StartSpec } from '../../src/runtime/runtime.js';
import type { RecordBook } from './record-book.js';

interface Surroundings {
  readonly now: () => number;
  readonly fullUntil: (nodeId: string) => number;
  readonly mayBePast: (at: number) => boolean;
}

/** The starts of a run since it was last asked to start. */
interface Starts {
  readonly token: number;
  readonly nodeId: string;
  readonly firstAt: number;
  lastAt: number;
  count: number;
  /** Its node was ended by its operator, and starts what it ended. */
  isExcused: boolean;
}

export class JobRuns {
  readonly #book: RecordBook;
  readonly #around: Surroundings;
  readonly #starts = new Map<string, Starts>();
  readonly #started = new Map<string, number>();
  /** How many starts a content of the run has allowed, at most: its node may not have heard of a later one. */
  readonly #allowed = new Map<string, number>();
  readonly #idOf = new Map<string, string>();

  constructor(book: RecordBook, around: Surroundings) {
    this.#book = book;
    this.#around = around;
  }

  /** How many times a run was started. */
  startsOf(id: string): number {
    return this.#started.get(id) ?? 0;
  }

  /** A client was told that the run with this key has this id. */
  answered(key: string, id: string): string | undefined {
    const other = this.#idOf.get(key) ?? id;
    this.#idOf.set(key, id);
    if (other !== id) return `the runs ${other} and ${id} have one key, ${key}`;
    return this.#book.everSeen.includes(id) ? undefined : `the run ${id} was told of, but not recorded`;
  }

  /** More starts of a run may follow than its job allows. */
  excuse(id: string): void {
    const starts = this.#starts.get(id);
    if (starts !== undefined) starts.isExcused = true;
  }

  started(nodeId: string, { instanceId: id }: StartSpec, token: number): string | undefined {
    const record = this.#book.instances.get(id);
    if (record?.job === undefined) return undefined;
    const now = this.#around.now();
    this.#started.set(id, this.startsOf(id) + 1);
    const before = this.#starts.get(id);
    const isSame = before?.token === token;
    const starts = isSame ? before : { token, nodeId, firstAt: now, lastAt: now, count: 0, isExcused: false };
    this.#starts.set(id, starts);
    starts.count++;
    starts.lastAt = now;
    if (starts.nodeId !== nodeId)
      return `the run ${id} was started on ${starts.nodeId}, and now on ${nodeId}`;
    // A node that cannot write does not know any more, when it is killed, what it has done.
    if (starts.isExcused || this.#around.fullUntil(nodeId) >= starts.firstAt) return undefined;
    const allowed = this.#allowed.get(id) ?? 0;
    return starts.count > allowed
      ? `the run ${id} is started ${starts.count} times, and ${allowed} are allowed`
      : undefined;
  }

  changed(before: InstanceRecord | undefined, after: InstanceRecord): string | undefined {
    const { id, job, replaces, desired, status } = after;
    const { restartPolicy, job: shape } = this.#book.revisions.get(after.revision) ?? {};
    const allowed = restartPolicy === 'never' ? 1 : 1 + (shape?.retries ?? Number.POSITIVE_INFINITY);
    this.#allowed.set(id, Math.max(allowed, this.#allowed.get(id) ?? 0));
    if (before === undefined) {
      const isOfRun = this.#book.instances.get(replaces ?? '')?.job !== undefined;
      if (isOfRun) return `${id} repeats the run ${replaces}`;
      const twin = [...this.#book.instances.values()].find(
        (other) => other.id !== id && job?.key !== undefined && other.job?.key === job.key,
      );
      return twin && `the runs ${twin.id} and ${id} have one key, ${job?.key}`;
    }
    const isTimedOut = desired.stoppedBy === 'timeout' && before.desired.stoppedBy !== 'timeout';
    if (!isTimedOut) return undefined;
    const overAt =
      (status.startedAt ?? Number.POSITIVE_INFINITY) +
      (job?.timeoutSeconds ?? Number.POSITIVE_INFINITY) * 1000;
    const hasLived = this.#around.now() - (this.#starts.get(id)?.lastAt ?? 0);
    const isOver = hasLived >= (job?.timeoutSeconds ?? 0) * 1000 || this.#around.mayBePast(overAt);
    return isOver ? undefined : `the run ${id} is ended before its time-out`;
  }
}
