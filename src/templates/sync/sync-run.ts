/** One sync to the cluster: its progress on each node, kept until the next sync. */
import type { Clock } from '../../loop/clock.js';
import type { ClusterSyncReport, NodeSync, TreeResult } from '../../model/template.js';

const MAX_PROBLEMS = 10;

interface Progress {
  state: NodeSync['state'];
  trees: number;
  had: number;
  fetched: number;
  failed: number;
  bytes: number;
  files: number;
  /** The start, in monotonic milliseconds. */
  readonly startedAt: number;
  endedAt: number | undefined;
  readonly problems: string[];
}

export class SyncRun {
  readonly templates: readonly string[];
  readonly nodes: readonly string[];
  readonly #pattern: string;
  readonly #clock: Clock;
  readonly #at: number;
  readonly #leftOut: string[] = [];
  readonly #progress: ReadonlyMap<string, Progress>;
  readonly #listeners = new Set<() => void>();

  constructor(
    what: {
      readonly pattern: string;
      readonly templates: readonly string[];
      readonly nodes: readonly string[];
    },
    clock: Clock,
  ) {
    this.#pattern = what.pattern;
    this.templates = what.templates;
    this.nodes = what.nodes;
    this.#clock = clock;
    this.#at = clock.now();
    const startedAt = clock.monotonic();
    this.#progress = new Map(what.nodes.map((nodeId) => [nodeId, notBegun(startedAt)]));
  }

  /** Calls `listener` when a node has ended its part. Returns the function that unsubscribes. */
  readonly onProgress = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** The progress so far. */
  readonly report = (): ClusterSyncReport => ({
    pattern: this.#pattern,
    at: this.#at,
    templates: [...this.templates],
    leftOut: [...this.#leftOut],
    isOver: [...this.#progress.values()].every(({ endedAt }) => endedAt !== undefined),
    nodes: [...this.#progress].map(([nodeId, progress]) => this.#nodeSync(nodeId, progress)),
  });

  /** Notes a template that cannot be sent. */
  leaveOut(template: string, why: string): void {
    this.#leftOut.push(`${template}: ${why}`);
  }

  begin(nodeId: string, trees: number): void {
    const progress = this.#progress.get(nodeId);
    if (progress === undefined) return;
    progress.state = 'fetching';
    progress.trees = trees;
  }

  note(nodeId: string, { outcome, bytes, files, problem }: TreeResult): void {
    const progress = this.#progress.get(nodeId);
    if (progress === undefined) return;
    progress[outcome]++;
    progress.bytes += bytes;
    progress.files += files;
    if (problem !== null) addProblem(progress, problem);
  }

  /** Ends a node's part. `problem`: why the node still lacks trees. */
  end(nodeId: string, problem?: string): NodeSync | undefined {
    const progress = this.#progress.get(nodeId);
    if (progress === undefined || progress.endedAt !== undefined) return undefined;
    progress.endedAt = this.#clock.monotonic();
    if (problem !== undefined) addProblem(progress, problem);
    const isComplete = progress.had + progress.fetched === progress.trees && problem === undefined;
    progress.state = isComplete ? 'done' : 'failed';
    for (const listener of this.#listeners) listener();
    return this.#nodeSync(nodeId, progress);
  }

  #nodeSync(nodeId: string, { startedAt, endedAt, problems, ...counts }: Progress): NodeSync {
    const durationMs = Math.round((endedAt ?? this.#clock.monotonic()) - startedAt);
    return { nodeId, ...counts, durationMs, problems: [...problems] };
  }
}

function notBegun(startedAt: number): Progress {
  const counts = { trees: 0, had: 0, fetched: 0, failed: 0, bytes: 0, files: 0 };
  return { state: 'waiting', ...counts, startedAt, endedAt: undefined, problems: [] };
}

function addProblem({ problems }: Progress, problem: string): void {
  if (problems.length < MAX_PROBLEMS && !problems.includes(problem)) problems.push(problem);
}
