/** Runs the readiness checks, and notes their results in the handles. */
import { portNumber } from '../../../src/model/fields/ports.js';
import { readinessText, type Readiness as Wanted } from '../../../src/model/readiness.js';
import { fieldsOf, nameOf } from '../../../src/node/handle.js';
import type { Finding } from '../../../src/runtime/readiness/port-check.js';
import { type ReadinessTarget, untilReady } from '../../../src/runtime/readiness/readiness-check.js';
import type { NodeParts } from '../parts.js';
import { listenerOf } from './port-look.js';

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
export type CheckFacts = Pick<Check, 'run' | 'wanted' | 'begunAt'>;

export class Readiness {
  readonly #parts: NodeParts;
  /** The checks under way, at most one per instance. A check that succeeds ends by itself. */
  readonly #checks = new Map<string, Check>();

  constructor(parts: NodeParts) {
    this.#parts = parts;
  }

  /** The check under way, or null. */
  of(id: string): CheckFacts | null {
    return this.#checks.get(id) ?? null;
  }

  /** Begins the check of a run; a check of an earlier run ends. Throws Conflict when the run has ended. */
  check(id: string, run: number): void {
    const { logFrom } = this.#parts.handles.requireUp(id, run);
    const { assignment, configuration } = this.#parts.desired.get(id) ?? {};
    const readiness = configuration?.readiness;
    if (readiness === undefined || this.of(id)?.run === run) return;
    const { port = null, ports, hostAddress = '' } = assignment ?? {};
    this.#abort(id);
    const checked = configuration?.sharePort && portNumber(readiness.tcpPort ?? '', { port, ports });
    const ownSocket = checked == null ? undefined : () => this.#ownSocket(id, run, checked);
    const target = { instanceId: id, run, readiness, port, ports, hostAddress, logFrom, ownSocket };
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
    const handle = handles.requireUp(id, run);
    const { assignment, configuration } = desired.get(id) ?? {};
    if (configuration?.readiness === undefined) return;
    const problem = this.#checks.get(id)?.problem ?? null;
    handles.change(id, { readiness: { run, isReady: false, problem } });
    const what = readinessText(configuration.readiness, assignment ?? {});
    const text = `is not ready after ${configuration.readiness.timeoutSeconds} s: still waiting for ${what}`;
    logger.warn({ ...fieldsOf(handle), problem }, `${nameOf(handle)} ${text}`);
  }

  /** Ends all checks, and waits until each is over. Idempotent. */
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

  /** Whether the run listens, where the others of its configuration listen, too. */
  async #ownSocket(id: string, run: number, port: number): Promise<Finding> {
    const handle = this.#parts.handles.get(id);
    if (handle?.run !== run) return 'it has ended';
    const finding = await listenerOf(this.#parts, handle, port).catch(() => 'unknown' as const);
    return typeof finding === 'string' ? null : 'it does not listen on it itself';
  }

  async #check(target: ReadinessTarget, signal: AbortSignal): Promise<void> {
    const { instanceId: id, run } = target;
    const note = (problem: string): void => {
      const check = this.#checks.get(id);
      if (check?.run === run) check.problem = problem;
    };
    const isReady = await untilReady(target, this.#parts, note, signal);
    if (!isReady || this.of(id)?.run !== run) return;
    this.#checks.delete(id);
    const { handles, logger } = this.#parts;
    const handle = handles.get(id);
    if (handle?.run !== run || handle.phase.is !== 'up') return;
    logger.info(fieldsOf(handle), `${nameOf(handle)} is ready`);
    handles.change(id, { readiness: { run, isReady: true, problem: null } });
  }
}
