/**
 * Keeps one kind of directory of a master (configurations, templates) and its records in line, both ways. plan.ts
 * decides; a `ViewTree` knows the files and the records.
 */
import { Controller } from '../../../src/loop/controller.js';
import { Conflict, type Plan, type Reconciler } from '../../../src/loop/reconciler.js';
import { DroverError, messageOf } from '../../../src/model/errors.js';
import type { Ambient } from '../../../src/telemetry/ambient.js';
import type { Metrics } from '../../../src/telemetry/metrics.js';
import { RepeatedLog } from '../../../src/telemetry/repeated-log.js';
import type {
  Confirmed,
  DirectoryFollower,
  Standing,
  ViewConflict,
  ViewTree,
} from '../../../src/views/view.js';
import type { Bases } from './bases.js';
import {
  type Base,
  type ChangeHere,
  isConflict,
  type Note,
  planView,
  type ViewFacts,
  type ViewPlan,
  type ViewStep,
  verdictOf,
} from './plan.js';

export interface DirectoryEngineOptions extends Ambient {
  /** The kind of the directory, for logs and metrics: `configurations`. */
  readonly name: string;
  readonly tree: ViewTree;
  readonly bases: Pick<Bases, 'note' | 'of' | 'open' | 'waiting'>;
  /** True when only this directory brings records. Default false. */
  readonly isAlone?: boolean;
  /** True when many removals at once wait to be confirmed. Default false: such names are written here again. */
  readonly doRemovalsWait?: boolean;
  /** Called with each step and after each round, because the engine's answers may have changed. */
  readonly onRound: () => void;
  readonly metrics: Pick<Metrics, 'addQueue' | 'trace'>;
  readonly random: () => number;
}

interface Facts extends ViewFacts {
  /**
   * The directory and the state that the plan was made from. While the plan is carried out, the directory may be
   * replaced.
   */
  readonly standing: Standing;
}

/**
 * The number of conflicts after which `follow` gives up. So many cannot follow each other in practice,
 * because each conflict means that another write succeeded.
 */
const MOST_CONFLICTS = 100;
const NOBODY: Confirmed = new Set();
const NOTHING_KNOWN: ViewPlan = { steps: [], conflicts: [], waiting: new Set() };

export class DirectoryEngine implements Reconciler<Facts, ViewStep>, DirectoryFollower {
  readonly name: string;
  readonly #options: DirectoryEngineOptions;
  readonly #controller: Controller<Facts, ViewStep>;
  /**
   * The names that Drover has seen in the directory since it started, and the names whose removal was still waiting
   * when Drover last stopped.
   */
  #seen = new Set<string>();
  #seenIn: string | undefined;
  /** The facts of the last observation; undefined: the observation was inconclusive. */
  #facts: Facts | undefined;
  /** The last decision. */
  #decided: ViewPlan = NOTHING_KNOWN;
  #refusal: unknown;
  #hindrance: { readonly error: unknown } | undefined;
  /** Names whose removal a caller of `follow` confirms. */
  #confirmed: Confirmed = NOBODY;
  #isStopped = false;

  constructor(options: DirectoryEngineOptions) {
    const { name, clock, random, logger, metrics, onRound } = options;
    this.name = name;
    this.#options = options;
    const failures = new RepeatedLog(logger, clock, 'error');
    this.#controller = new Controller({
      reconciler: this,
      clock,
      random,
      trace: (event) => {
        metrics.trace(event);
        if (event.kind === 'round') onRound();
      },
      onError: (_key, error, retryInMs) =>
        failures.say(
          messageOf(error),
          `${name} do not agree with the state: ${messageOf(error)}; trying again`,
          { err: error, retryInMs },
        ),
    });
    metrics.addQueue(name, () => this.#controller.gauge());
  }

  async start(): Promise<void> {
    await this.#options.bases.open();
    this.#controller.start();
    this.wake();
  }

  stop(): Promise<void> {
    this.#isStopped = true;
    return this.#controller.stop();
  }

  wake(): void {
    this.#controller.enqueue(this.name);
  }

  conflicts(): readonly ViewConflict[] {
    return this.#decided.conflicts;
  }

  waiting(): readonly string[] {
    return [...this.#decided.waiting].sort();
  }

  isBehind(name: string): boolean {
    if (this.#facts === undefined || this.#facts.undecided.has(name)) return false;
    const verdict = verdictOf(this.#facts, name);
    return verdict === 'write-here' || isConflict(verdict);
  }

  /** The error of the last write; undefined: it succeeded, or nothing is left to write. */
  get refusal(): unknown {
    return this.#refusal;
  }

  async follow(confirmed: Confirmed = NOBODY): Promise<void> {
    this.#confirmed = confirmed;
    try {
      await this.#untilSettled();
    } finally {
      this.#confirmed = NOBODY;
    }
  }

  async #untilSettled(): Promise<void> {
    for (let tries = 0; tries < MOST_CONFLICTS; tries++) {
      this.#controller.specChanged(this.name);
      await this.#controller.whenIdle();
      if (this.#isStopped) throw new DroverError('DRV_NOT_READY', 'the master is stopping');
      if (this.#decided.steps.length === 0) return;
      if (this.#refusal !== undefined) throw this.#refusal;
    }
    throw new DroverError('DRV_STORE_CONFLICT', `${this.name} change faster than they can be written`);
  }

  observe(): Facts | undefined {
    const { tree, bases, isAlone = false, doRemovalsWait = false } = this.#options;
    const observation = tree.observe();
    if (observation === undefined) {
      this.#facts = undefined;
      this.#decided = { ...this.#decided, steps: [], conflicts: [] };
      return undefined;
    }
    const { here, there, undecided, standing, brought, order } = observation;
    const waiting = bases.waiting(standing);
    if (this.#seenIn !== standing.directory) this.#seen = new Set(waiting);
    this.#seenIn = standing.directory;
    for (const name of here.keys()) this.#seen.add(name);
    const known = bases.of(standing);
    // With one master, or an input that has a base, a name whose file vanished while no process ran is gone, too. So is a
    // name that a later commit removed.
    const had = (name: string): boolean => {
      if (isAlone || this.#seen.has(name)) return true;
      const sides = order?.(name);
      return sides === 'newer' || (sides !== undefined && known.has(name));
    };
    const gone = [...new Set(there.keys())].filter(
      (name) => here.get(name) === undefined && !undecided.has(name) && brought(name) && had(name),
    );
    this.#facts = {
      ...{ here, there, undecided, standing, waiting, gone, isAlone, doRemovalsWait, order },
      confirmed: this.#confirmed,
      bases: known,
    };
    return this.#facts;
  }

  plan(facts: Facts): Plan<ViewStep> {
    this.#decided = planView(facts);
    if (this.#decided.steps.length === 0) this.#refusal = undefined;
    return this.#decided;
  }

  async perform(step: ViewStep): Promise<void> {
    const { standing } = this.#facts ?? {};
    if (standing === undefined) return;
    // Report before the write, so that faults of files are known even while the store refuses writes.
    this.#options.onRound();
    try {
      await this.#perform(step, standing);
    } catch (error) {
      const isConflict = error instanceof Conflict || DroverError.is(error, 'DRV_STORE_CONFLICT');
      this.#refusal = isConflict ? undefined : error;
      throw error;
    }
  }

  async #perform(step: ViewStep, standing: Standing): Promise<void> {
    const { tree, bases } = this.#options;
    switch (step.do) {
      case 'note':
        return bases.note(standing, step.bases, step.waiting);
      case 'write-there':
        await tree.writeThere(step.changes);
        this.#refusal = undefined;
        // Note the base now: later changes are compared with what was just written.
        return this.#note(
          standing,
          step.changes.map(({ name, hash }) => ({ name, base: { hash } })),
        );
      case 'remove-there':
        await tree.removeThere(step.removals);
        this.#refusal = undefined;
        return this.#note(
          standing,
          step.removals.map(({ name }) => ({ name, base: undefined })),
        );
      case 'change-here':
        this.#hindrance = await this.#changeHere(standing, step.changes);
        return;
      case 'tell-hindrance': {
        const hindrance = this.#hindrance;
        this.#hindrance = undefined;
        if (hindrance !== undefined) throw hindrance.error;
        return;
      }
      default:
        return step satisfies never;
    }
  }

  /** Notes each written base at once, so that a later edit is compared with it. Resolves with the first failure. */
  async #changeHere(
    standing: Standing,
    changes: readonly ChangeHere[],
  ): Promise<{ readonly error: unknown } | undefined> {
    const { logger, tree } = this.#options;
    const done: Note[] = [];
    const failures: { readonly error: unknown }[] = [];
    for (const change of changes) {
      const { name, hash, present } = change;
      try {
        if (hash !== undefined) await tree.writeHere(name, hash, present);
        else if (present !== undefined) await tree.removeHere(name, present);
        done.push({ name, base: this.#baseAfter(change) });
        logger.info(
          { [this.name]: name },
          `${this.name}: ${name} ${hash === undefined ? 'removed' : 'written'} here, as the state says`,
        );
      } catch (error) {
        failures.push({ error });
      }
    }
    if (done.length > 0) await this.#note(standing, done);
    return failures.find(({ error }) => !(error instanceof Conflict)) ?? failures[0];
  }

  /** Notes bases, unless this is the only master: then the records are the bases. */
  async #note(standing: Standing, notes: readonly Note[]): Promise<void> {
    if (this.#options.isAlone !== true) await this.#options.bases.note(standing, notes);
  }

  /** The base after a change. If another file still holds a removed name, the base stays and a person decides. */
  #baseAfter({ name, hash, present }: ChangeHere): Base | undefined {
    const isLeft = hash === undefined && this.#options.tree.observe()?.here.get(name) !== undefined;
    const agreed = isLeft ? present : hash;
    return agreed === undefined ? undefined : { hash: agreed };
  }
}
