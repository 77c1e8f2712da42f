/** Runs the readiness checks, and notes their results in the handles. */
import { isDeepStrictEqual } from 'node:util';
import { Conflict } from '../../../src/loop/reconciler.js';
import { readinessText } from '../../../src/model/readiness.js';
import { ReadinessChecks } from '../../../src/runtime/readiness/readiness-checks.js';
import type { NodeParts } from '../parts.js';

export class Readiness {
  readonly #parts: NodeParts;
  readonly #checks: ReadinessChecks;

  constructor(parts: NodeParts) {
    const { installation, clock } = parts;
    this.#parts = parts;
    this.#checks = new ReadinessChecks({
      followLogs: (id, position, signal) => installation.followLogs(id, position, signal),
      clock,
      onReady: (id, run) => this.#noteReady(id, run),
    });
  }

  /** The run whose check is under way, or null. */
  checkedRun(id: string): number | null {
    return this.#checks.runOf(id);
  }

  /** True when the check under way asks for something else than the configuration does by now. */
  isOutdated(id: string): boolean {
    const asked = this.#checks.asksFor(id);
    const wanted = this.#parts.desired.get(id)?.configuration.readiness;
    return asked !== undefined && wanted !== undefined && !isDeepStrictEqual(asked, wanted);
  }

  /** Begins the check of a run. Throws Conflict when the run has ended, or its configuration asks for no check. */
  check(id: string, run: number): void {
    const { desired, handles } = this.#parts;
    const handle = handles.get(id);
    const wanted = desired.get(id);
    const readiness = wanted?.configuration.readiness;
    if (readiness === undefined || handle?.run !== run || handle.phase.is !== 'up')
      throw new Conflict(`instance ${id} changed before it was looked whether it is ready`);
    const { port = null, hostAddress = '' } = wanted?.assignment ?? {};
    this.#checks.begin({ instanceId: id, run, readiness, port, hostAddress, logFrom: handle.logFrom });
  }

  /** Ends the check of a run, and forgets that the run was late for it. Repeatable. */
  end(id: string): void {
    this.#checks.end(id);
    const { handles } = this.#parts;
    if (handles.get(id)?.readiness?.isReady === false) handles.change(id, { readiness: null });
  }

  /** Notes that the run was not ready in time. The check goes on: it may still become ready. */
  noteLate(id: string, run: number): void {
    const { desired, handles, logger } = this.#parts;
    const handle = handles.get(id);
    const wanted = desired.get(id);
    const readiness = wanted?.configuration.readiness;
    if (readiness === undefined || handle?.run !== run)
      throw new Conflict(`run ${run} of ${id} is no longer waited for`);
    const problem = this.#checks.problemOf(id);
    handles.change(id, { readiness: { run, isReady: false, problem } });
    const what = readinessText(readiness, wanted?.assignment.port ?? null);
    logger.warn(
      { instance: id, configuration: handle.configurationName, run, problem },
      `${id} (${handle.configurationName}) is not ready after ${readiness.timeoutSeconds} s: still waiting for ${what}`,
    );
  }

  /** Ends all checks; the next daemon begins them anew. Idempotent. */
  stop(): Promise<void> {
    return this.#checks.stop();
  }

  #noteReady(id: string, run: number): void {
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
