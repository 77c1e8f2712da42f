/**
 * The readiness checks under way on a node, at most one per instance. The supervisor begins and ends them; a check that
 * holds ends by itself.
 */
import type { Readiness } from '../../model/readiness.js';
import { type ReadinessTarget, type ReadinessWorld, untilReady } from './readiness-check.js';

export interface ReadinessChecksOptions extends ReadinessWorld {
  /** Called once for each check that holds; not called for a check that was ended. */
  readonly onReady: (id: string, run: number) => void;
}

interface Check {
  readonly run: number;
  readonly readiness: Readiness;
  readonly abort: AbortController;
  readonly done: Promise<void>;
  /** The problem that the last try found; null: no try has ended. */
  problem: string | null;
}

export class ReadinessChecks {
  readonly #options: ReadinessChecksOptions;
  readonly #checks = new Map<string, Check>();

  constructor(options: ReadinessChecksOptions) {
    this.#options = options;
  }

  /** The number of the instance's run that is being checked; null: none. */
  runOf(id: string): number | null {
    return this.#checks.get(id)?.run ?? null;
  }

  /** The readiness that the check under way waits for; undefined: no check. */
  asksFor(id: string): Readiness | undefined {
    return this.#checks.get(id)?.readiness;
  }

  /** The problem that the last try found, in words that a client may read; null: unknown yet. */
  problemOf(id: string): string | null {
    return this.#checks.get(id)?.problem ?? null;
  }

  /** Begins the check of a run. A check of another run of the instance ends; a check of the same run goes on. */
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

  /** Ends all checks, and waits until each has closed its sockets and files. Idempotent. */
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
