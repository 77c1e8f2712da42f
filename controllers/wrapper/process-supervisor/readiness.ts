/** Runs the readiness checks, and notes their results in the handles. */
import { isDeepStrictEqual } from 'node:util';
import { Conflict } from '../../../src/loop/reconciler.js';
import { readinessText, type Readiness as Wanted } from '../../../src/model/readiness.js';
import { type ReadinessTarget, untilReady } from '../../../src/runtime/readiness/readiness-check.js';
import type { NodeParts } from '../parts.js';

interface Check {
  readonly run: number;
  readonly wanted: Wanted;
  /** Monotonic ms. */
  readonly begunAt: number;
  readonly abort: AbortController;
  readonly done: Promise<void>;
  /** The problem that the last try found, in words that clients may read; null: no try has ended. */
  problem: string | null;
}

export class Readiness {
  readonly #parts: NodeParts;
  /** The checks under way, at most one per instance. A check that succeeds ends by itself. */
  readonly #checks = new Map<string, Check>();

  constructor(parts: NodeParts) {
    this.#parts = parts;
  }

  /** The run whose check is under way, or null. */
  checkedRun(id: string): number | null {
    return this.#checks.get(id)?.run ?? null;
  }

  /** When the check under way began, monotonic ms, or null. */
  begunAt(id: string): number | null {
    return this.#checks.get(id)?.begunAt ?? null;
  }

  /** True when the configuration now asks for another check than the one under way. */
  isOutdated(id: string): boolean {
    const asked = this.#checks.get(id)?.wanted;
    const wanted = this.#parts.desired.get(id)?.configuration.readiness;
    return asked !== undefined && wanted !== undefined && !isDeepStrictEqual(asked, wanted);
  }

  /**
   * Begins the check of a run; a check of an earlier run ends. Throws Conflict when the run has ended, or when its
   * configuration asks for no check.
   */
  check(id: string, run: number): void {
    const { desired, handles } = this.#parts;
    const handle = handles.get(id);
    const wanted = desired.get(id);
    const readiness = wanted?.configuration.readiness;
    if (readiness === undefined || handle?.run !== run || handle.phase.is !== 'up')
      throw new Conflict(`instance ${id} changed before it was looked whether it is ready`);
    const { port = null, ports, hostAddress = '' } = wanted?.assignment ?? {};
    if (this.checkedRun(id) === run) return;
    this.#abort(id);
    const target = { instanceId: id, run, readiness, port, ports, hostAddress, logFrom: handle.logFrom };
    const abort = new AbortController();
    const done = this.#check(target, abort.signal);
    const begunAt = this.#parts.clock.monotonic();
    this.#checks.set(id, { run, wanted: readiness, begunAt, abort, done, problem: null });
  }

  /** Ends the check of a run, and forgets that the run was late for it. Repeatable. */
  end(id: string): void {
    this.#abort(id);
    const { handles } = this.#parts;
    if (handles.get(id)?.readiness?.isReady === false) handles.change(id, { readiness: null });
  }

  /** Notes that the run was not ready in time. The check goes on, because the run may still become ready. */
  noteLate(id: string, run: number): void {
    const { desired, handles, logger } = this.#parts;
    const handle = handles.get(id);
    const wanted = desired.get(id);
    const readiness = wanted?.configuration.readiness;
    if (readiness === undefined || handle?.run !== run)
      throw new Conflict(`run ${run} of ${id} is no longer waited for`);
    const problem = this.#checks.get(id)?.problem ?? null;
    handles.change(id, { readiness: { run, isReady: false, problem } });
    const what = readinessText(readiness, wanted?.assignment ?? {});
    logger.warn(
      { instance: id, configuration: handle.configurationName, run, problem },
      `${id} (${handle.configurationName}) is not ready after ${readiness.timeoutSeconds} s: still waiting for ${what}`,
    );
  }

  /** Ends all checks, and waits until each has closed its sockets and files. Idempotent. */
  async stop(): Promise<void> {
    const pending = [...this.#checks.values()];
    this.#checks.clear();
    for (const { abort } of pending) abort.abort();
    await Promise.all(pending.map(({ done }) => done));
  }

  #abort(id: string): void {
    const check = this.#checks.get(id);
    this.#checks.delete(id);
    check?.abort.abort();
  }

  async #check(target: ReadinessTarget, signal: AbortSignal): Promise<void> {
    const { instanceId: id, run } = target;
    const note = (problem: string): void => {
      const check = this.#checks.get(id);
      if (check?.run === run) check.problem = problem;
    };
    const isReady = await untilReady(target, this.#parts, note, signal);
    if (!isReady || this.checkedRun(id) !== run) return;
    this.#checks.delete(id);
    const { handles, logger } = this.#parts;
    const handle = handles.get(id);
    if (handle?.run !== run || handle.phase.is !== 'up') return;
    logger.info(
      { instance: id, configuration: handle.configurationName, run },
      `${id} (${handle.configurationName}) is ready`,
    );
    handles.change(id, { readiness: { run, isReady: true, problem: null } });
  }
}
