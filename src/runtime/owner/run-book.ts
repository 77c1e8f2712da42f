/**
 * The daemon's copy of the owner's runs. The owner's welcome and events keep it up to date, so that the owner need not
 * be asked.
 */
import { keepLatest } from '../../model/plain/keep-latest.js';
import type { Exit, LogPlace } from '../../model/run/past-exit.js';
import type { Leader } from '../instance-processes.js';
import { type Held, keyOf, type ProcessIdentity, type RunId } from '../runtime.js';
import type { OwnerExit, OwnerHeld, OwnerProcess, OwnerRun } from './protocol.js';

/**
 * How many acknowledged runs are remembered: their processes may outlive the leader, and callers may still ask for
 * them.
 */
const REMEMBERED_RUNS = 1000;

interface Entry {
  readonly run: RunId;
  readonly leader: Omit<Leader, 'exitedAtTicks'> | null;
  readonly exit: Exit | null;
  readonly exitedAtTicks: number | null;
  /** Where the run's output begins in the log; unknown for a run that this daemon started. */
  readonly outputFrom?: LogPlace | undefined;
}

export class RunBook {
  readonly #bootId: string;
  readonly #held = new Map<string, Entry>();
  readonly #acknowledged = new Map<string, Leader>();

  constructor(bootId: string) {
    this.#bootId = bootId;
  }

  /**
   * Takes the owner's list at a handshake, and returns the new exits. Exits that a dead owner reported stay until they
   * are acknowledged. A live run that this owner does not hold ended with its owner.
   */
  replace(held: readonly OwnerHeld[], at: number): { run: RunId; exit: Exit }[] {
    const alive = this.liveRuns();
    for (const one of held) {
      if (one.pid !== 0) this.started(one, one);
      if (one.exit !== null) this.exited(one, one.exit);
    }
    const present = new Set(held.map(keyOf));
    const lost: Exit = { code: null, signal: 'SIGHUP', at };
    for (const run of alive) if (!present.has(keyOf(run))) this.#end(run, lost);
    return alive.flatMap((run) => {
      const exit = this.#held.get(keyOf(run))?.exit ?? null;
      return exit === null ? [] : [{ run, exit }];
    });
  }

  started(
    run: OwnerRun,
    { pid, startTime, session, outputFrom }: OwnerProcess & Pick<OwnerHeld, 'outputFrom'>,
  ): ProcessIdentity {
    const identity = { pid, startTime, bootId: this.#bootId };
    const leader = { identity, session };
    const known = this.#held.get(keyOf(run));
    // Keep a noted exit: a command that ends at once may have exited before this call.
    this.#held.set(keyOf(run), {
      exit: null,
      exitedAtTicks: null,
      ...known,
      run: runOf(run),
      leader,
      outputFrom,
    });
    return identity;
  }

  exited(run: OwnerRun, { ticks, output, ...how }: OwnerExit): Exit {
    const exit: Exit = { ...how, ...(output !== undefined && { output }) };
    this.#end(run, exit, ticks);
    return exit;
  }

  /** Called when the owner is gone: records that every live run, and the `others`, ended by the hang-up. */
  loseAll(others: readonly RunId[], at: number): void {
    const exit: Exit = { code: null, signal: 'SIGHUP', at };
    for (const run of this.liveRuns()) this.#end(run, exit);
    for (const run of others) if (!this.#held.has(keyOf(run))) this.#end(run, exit);
  }

  #end(run: RunId, exit: Exit, exitedAtTicks: number | null = null): void {
    const leader = this.#held.get(keyOf(run))?.leader ?? null;
    this.#held.set(keyOf(run), { run: runOf(run), leader, exit, exitedAtTicks });
  }

  acknowledge(run: RunId): void {
    const entry = this.#held.get(keyOf(run));
    if (entry === undefined || entry.exit === null) return;
    this.#held.delete(keyOf(run));
    const { leader, exitedAtTicks } = entry;
    if (leader !== null)
      keepLatest(this.#acknowledged, REMEMBERED_RUNS, keyOf(run), { ...leader, exitedAtTicks });
  }

  wasAcknowledged(run: RunId): boolean {
    return this.#acknowledged.has(keyOf(run));
  }

  isLive(run: RunId): boolean {
    return this.#held.get(keyOf(run))?.exit === null;
  }

  /** The process that leads the run; known for a while after its exit was acknowledged. */
  leaderOf(run: RunId): Leader | undefined {
    const entry = this.#held.get(keyOf(run));
    if (entry === undefined || entry.leader === null) return this.#acknowledged.get(keyOf(run));
    return { ...entry.leader, exitedAtTicks: entry.exitedAtTicks };
  }

  liveRuns(): RunId[] {
    return [...this.#held.values()].filter((entry) => entry.exit === null).map((entry) => entry.run);
  }

  all(): Held[] {
    return [...this.#held.values()].flatMap(toHeld);
  }
}

function toHeld({ run, leader, exit, outputFrom }: Entry): Held[] {
  const identity = leader?.identity ?? null;
  if (exit !== null) return [{ ...run, process: identity, exit }];
  return identity === null ? [] : [{ ...run, process: identity, exit: null, outputFrom }];
}

function runOf({ instanceId, run }: RunId): RunId {
  return { instanceId, run };
}
