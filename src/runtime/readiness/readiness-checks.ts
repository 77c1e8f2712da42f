/**
 * The readiness checks under way on a node, at most one per instance. The supervisor begins and ends them. A check
 * that holds ends by itself.
 */
import type { Readiness } from '../../model/readiness.js';
import { type ReadinessTarget, type ReadinessWorld, untilReady } from './readiness-check.js';

export interface ReadinessChecksOptions extends ReadinessWorld {
  /** Called once for each check that holds; not for one that was ended. */
  readonly onReady: (id: string, run: number) => void;
}

interface Check {
  readonly run: number;
  readonly readiness: Readiness;
  readonly abort: AbortController;
  readonly done: Promise<void>;
  /** The finding of the last try; null: no try has ended. */
  problem: string | null;
}

export class ReadinessChecks {
  readonly #options: ReadinessChecksOptions;
  readonly #checks = new Map<string, Check>();

  constructor(options: ReadinessChecksOptions) {
    this.#options = options;
  }

  /** The run of the instance that is being checked; null: none. */
  runOf(id: string): number | null {
    return this.#checks.get(id)?.run ?? null;
  }

  /** What the check under way asks for; undefined: none is. */
  asksFor(id: string): Readiness | undefined {
    return this.#checks.get(id)?.readiness;
  }

  /** Why the last try did not hold, in words that a client may read; null: unknown yet. */
  problemOf(id: string): string | null {
    return this.#checks.get(id)?.problem ?? null;
  }

  /** Begins the check of a run. A check of another run of the instance ends; one of the same run goes on. */
  begin(target: ReadinessTarget): void {
    const { instanceId, run, readiness } = target;
    if (this.runOf(instanceId) === run) return;
    this.end(instanceId);
    const abort = new AbortController();
    const done = this.#check(target, abort.signal);
    const check: Check = { run, readiness, abort, problem: null, done };
    this.#checks.set(instanceId, check);
  }

  /** Ends the check. Repeatable. */
  end(id: string): void {
    const check = this.#checks.get(id);
    this.#checks.delete(id);
    check?.abort.abort();
  }

  /** Ends all checks, and waits until none has anything open. Idempotent. */
  async stop(): Promise<void> {
    const pending = [...this.#checks.values()];
    this.#checks.clear();
    for (const { abort } of pending) abort.abort();
    await Promise.all(pending.map(({ done }) => done));
  }

  async #check(target: ReadinessTarget, signal: AbortSignal): Promise<void> {
    const { instanceId, run } = target;
    const note = (problem: string): void => {
      const check = this.#checks.get(instanceId);
      if (check?.run === run) check.problem = problem;
    };
    const isReady = await untilReady(target, this.#options, note, signal);
    if (!isReady || this.runOf(instanceId) !== run) return;
    this.#checks.delete(instanceId);
    this.#options.onReady(instanceId, run);
  }
}
