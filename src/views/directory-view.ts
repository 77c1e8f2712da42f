/**
 * Keeps one kind of directory of a master (configurations, templates) and the state in line, both ways, on a store
 * that masters share. plan.ts decides; a `ViewTree` knows the files and the records.
 */
import type { Clock } from '../loop/clock.js';
import { Controller } from '../loop/controller.js';
import type { Part } from '../loop/lifecycle.js';
import { Conflict, type Plan, type Reconciler } from '../loop/reconciler.js';
import { DroverError, messageOf } from '../model/errors.js';
import type { Logger } from '../telemetry/logger.js';
import { RepeatedLog } from '../telemetry/repeated-log.js';
import type { Bases, Note, Standing } from './bases.js';
import {
  type ChangeHere,
  type ChangeThere,
  planView,
  type RemovalThere,
  type ViewConflict,
  type ViewFacts,
  type ViewStep,
} from './plan.js';

/** What both sides have now. */
export interface Observation extends Omit<ViewFacts, 'bases' | 'deleted'> {
  readonly standing: Standing;
  /** Names whose present record this directory had brought. */
  readonly brought: (name: string) => boolean;
}

/** The files and the records of one kind. Effects throw `Conflict` or DRV_STORE_CONFLICT where a side has changed. */
export interface ViewTree {
  /** Undefined: nothing may be concluded now, such as from a directory that cannot be read. */
  observe(): Observation | undefined;
  /** `present`: what the directory must have for it; undefined: nothing. */
  writeHere(name: string, hash: string, present: string | undefined): Promise<void>;
  removeHere(name: string, present: string): Promise<void>;
  /** Resolves when `observe` shows it. */
  writeThere(changes: readonly ChangeThere[]): Promise<void>;
  removeThere(removals: readonly RemovalThere[]): Promise<void>;
}

export interface DirectoryViewOptions {
  /** Of what, for logs: `configurations`. */
  readonly name: string;
  readonly tree: ViewTree;
  readonly bases: Bases;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
}

interface Judged extends ViewFacts {
  readonly standing: Standing;
}

/** So few may be deleted at once, whatever part of all they are. */
const MOST_DELETED_AT_ONCE = 3;
/** Each conflict is lost to a write that succeeded; far more than follow each other. */
const MOST_CONFLICTS = 100;

export class DirectoryView implements Reconciler<Judged, ViewStep>, Part {
  readonly name: string;
  readonly #options: DirectoryViewOptions;
  readonly #controller: Controller<Judged, ViewStep>;
  /** What this process saw in the directory. */
  #seen = new Set<string>();
  #seenIn: string | undefined;
  #standing: Standing | undefined;
  #refusal: unknown;
  #isStopped = false;

  constructor(options: DirectoryViewOptions) {
    const { name, clock, random, logger } = options;
    this.name = name;
    this.#options = options;
    const failures = new RepeatedLog(logger, () => clock.monotonic());
    this.#controller = new Controller({
      reconciler: this,
      clock,
      random,
      trace: () => undefined,
      onError: (_key, error, retryInMs) =>
        failures.error(messageOf(error), `${name} do not agree with the state; trying again`, {
          err: error,
          retryInMs,
        }),
    });
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

  /** A side may have changed. */
  wake(): void {
    this.#controller.enqueue(this.name);
  }

  /** What waits for a person. */
  conflicts(): readonly ViewConflict[] {
    const facts = this.observe();
    return facts === undefined ? [] : planView(facts).conflicts;
  }

  /** Resolves when there is nothing to do but for conflicts. Throws what hinders it; it goes on trying all the same. */
  async follow(): Promise<void> {
    for (let tries = 0; tries < MOST_CONFLICTS; tries++) {
      this.#refusal = undefined;
      this.#controller.specChanged(this.name);
      await this.#controller.whenIdle();
      const facts = this.observe();
      if (facts === undefined || planView(facts).steps.length === 0) return;
      if (this.#isStopped) throw new DroverError('DRV_NOT_READY', 'the master is stopping');
      if (this.#refusal !== undefined) throw this.#refusal;
    }
    throw new DroverError('DRV_STORE_CONFLICT', `${this.name} change faster than they can be written`);
  }

  observe(): Judged | undefined {
    const { tree, bases } = this.#options;
    const observation = tree.observe();
    if (observation === undefined) return undefined;
    const { brought, ...sides } = observation;
    const { here, standing, undecided } = sides;
    if (this.#seenIn !== standing.directory) this.#seen = new Set();
    this.#seenIn = standing.directory;
    for (const name of here.keys()) this.#seen.add(name);
    const gone = [...this.#seen].filter((name) => !here.has(name) && !undecided.has(name) && brought(name));
    // So many at once are hardly meant, such as those of an emptied directory.
    const isMeant = gone.length <= MOST_DELETED_AT_ONCE || gone.length <= here.size;
    this.#standing = standing;
    return { ...sides, bases: bases.of(standing), deleted: new Set(isMeant ? gone : []) };
  }

  plan(facts: Judged): Plan<ViewStep> {
    return { steps: planView(facts).steps };
  }

  async perform(step: ViewStep): Promise<void> {
    try {
      await this.#perform(step);
    } catch (error) {
      if (error instanceof DroverError && error.code !== 'DRV_STORE_CONFLICT') this.#refusal = error;
      throw error;
    }
  }

  async #perform(step: ViewStep): Promise<void> {
    const { tree } = this.#options;
    switch (step.do) {
      case 'note':
        return this.#note(step.bases);
      case 'write-there':
        await tree.writeThere(step.changes);
        // Before anybody else's change of it is looked at: what is here is that one's base.
        return this.#note(step.changes.map(({ name, hash }) => ({ name, base: { hash } })));
      case 'remove-there':
        await tree.removeThere(step.removals);
        return this.#note(step.removals.map(({ name }) => ({ name, base: undefined })));
      case 'change-here':
        return this.#changeHere(step.changes);
      default:
        return step satisfies never;
    }
  }

  /** Notes what was done at once: an edit from then on is one of what was written. Throws the first failure. */
  async #changeHere(changes: readonly ChangeHere[]): Promise<void> {
    const { logger } = this.#options;
    const done: Note[] = [];
    const failures: unknown[] = [];
    for (const { name, hash, present } of changes) {
      try {
        await this.#write({ name, hash, present });
        done.push({ name, base: hash === undefined ? undefined : { hash } });
        logger.info(
          { [this.name]: name },
          `${this.name}: ${name} ${hash === undefined ? 'removed' : 'written'} here, as the state says`,
        );
      } catch (error) {
        failures.push(error);
      }
    }
    if (done.length > 0) await this.#note(done);
    const [failure] = failures.toSorted(
      (a, b) => Number(a instanceof Conflict) - Number(b instanceof Conflict),
    );
    if (failure !== undefined) throw failure;
  }

  async #write({ name, hash, present }: ChangeHere): Promise<void> {
    const { tree } = this.#options;
    if (hash !== undefined) await tree.writeHere(name, hash, present);
    else if (present !== undefined) await tree.removeHere(name, present);
  }

  async #note(bases: readonly Note[]): Promise<void> {
    if (this.#standing !== undefined) await this.#options.bases.note(this.#standing, bases);
  }
}
