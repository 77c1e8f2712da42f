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
  type Base,
  type ChangeHere,
  type ChangeThere,
  isConflict,
  planView,
  type RemovalThere,
  type ViewConflict,
  type ViewFacts,
  type ViewStep,
  verdictOf,
} from './plan.js';

/** What both sides have now. */
export interface Observation extends Omit<ViewFacts, 'bases' | 'deleted'> {
  readonly standing: Standing;
  /** Names whose present record this directory had brought. */
  readonly brought: (name: string) => boolean;
  /**
   * Whether somebody asked to remove it. Of so many that are gone at once that it is hardly meant, the others wait for
   * that. Absent: they do not wait, and are written here again.
   */
  readonly isConfirmed?: (name: string) => boolean;
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
  /** Names whose removal waits to be confirmed. */
  readonly waiting: ReadonlySet<string>;
}

/**
 * `standing`: what it was planned from. The directory may be another one when it is done. The last step tells what
 * hindered a change here: it is not to hinder what goes there.
 */
type Step = (ViewStep | { readonly do: 'tell-hindrance' }) & { readonly standing: Standing };

const NOBODY: ReadonlySet<string> = new Set();
/** So few may be deleted at once, whatever part of all they are. */
const MOST_DELETED_AT_ONCE = 3;
/** Each conflict is lost to a write that succeeded; far more than follow each other. */
const MOST_CONFLICTS = 100;

export class DirectoryView implements Reconciler<Judged, Step>, Part {
  readonly name: string;
  readonly #options: DirectoryViewOptions;
  readonly #controller: Controller<Judged, Step>;
  /** What this process saw in the directory, and what waited when the last one ended. */
  #seen = new Set<string>();
  #seenIn: string | undefined;
  /** Gone here with most others; what they said stays until somebody confirms it. */
  #waiting: ReadonlySet<string> = new Set();
  #refusal: unknown;
  #hindrance: { readonly error: unknown } | undefined;
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

  /** Names whose removal waits to be confirmed, in order. */
  waiting(): readonly string[] {
    this.observe();
    return [...this.#waiting].sort();
  }

  /** Whether the state has something else of a name than the directory, and keeps it: that is in force. */
  isBehind(name: string): boolean {
    const facts = this.observe();
    if (facts === undefined || facts.undecided.has(name)) return false;
    const verdict = verdictOf(facts, name);
    return verdict === 'write-here' || isConflict(verdict);
  }

  /** Resolves when there is nothing to do but for conflicts. Throws what hinders it; it goes on trying all the same. */
  async follow(): Promise<void> {
    for (let tries = 0; tries < MOST_CONFLICTS; tries++) {
      this.#refusal = undefined;
      this.#controller.specChanged(this.name);
      await this.#controller.whenIdle();
      const facts = this.observe();
      if (facts === undefined || this.plan(facts).steps.length === 0) return;
      if (this.#isStopped) throw new DroverError('DRV_NOT_READY', 'the master is stopping');
      if (this.#refusal !== undefined) throw this.#refusal;
    }
    throw new DroverError('DRV_STORE_CONFLICT', `${this.name} change faster than they can be written`);
  }

  observe(): Judged | undefined {
    const { tree, bases } = this.#options;
    const observation = tree.observe();
    if (observation === undefined) return undefined;
    const { brought, isConfirmed, ...sides } = observation;
    const { here, standing, undecided } = sides;
    if (this.#seenIn !== standing.directory) {
      this.#waiting = bases.waiting(standing);
      this.#seen = new Set(this.#waiting);
    }
    this.#seenIn = standing.directory;
    for (const name of here.keys()) this.#seen.add(name);
    const gone = [...this.#seen].filter((name) => !here.has(name) && !undecided.has(name) && brought(name));
    const unasked = gone.filter((name) => isConfirmed?.(name) !== true);
    // So many at once are hardly meant, such as those of an emptied directory.
    const isMeant = unasked.length <= MOST_DELETED_AT_ONCE || unasked.length <= here.size;
    const kept = new Set(unasked.filter((name) => !isMeant || this.#waiting.has(name)));
    this.#waiting = isConfirmed === undefined ? NOBODY : kept;
    return {
      ...sides,
      undecided: new Set([...undecided, ...this.#waiting]),
      waiting: this.#waiting,
      bases: bases.of(standing),
      deleted: new Set(gone.filter((name) => !kept.has(name))),
    };
  }

  plan(facts: Judged): Plan<Step> {
    const { steps } = planView(facts);
    // Over a restart too, what waits is neither removed nor written here again.
    const isWaitNoted = isSame(this.#options.bases.waiting(facts.standing), facts.waiting);
    const noted: readonly ViewStep[] = isWaitNoted ? steps : [{ do: 'note', bases: [] }, ...steps];
    const all = noted.length === 0 ? [] : [...noted, { do: 'tell-hindrance' } as const];
    return { steps: all.map((step) => ({ ...step, standing: facts.standing })) };
  }

  async perform(step: Step): Promise<void> {
    try {
      await this.#perform(step);
    } catch (error) {
      if (error instanceof DroverError && error.code !== 'DRV_STORE_CONFLICT') this.#refusal = error;
      throw error;
    }
  }

  async #perform(step: Step): Promise<void> {
    const { tree } = this.#options;
    const { standing } = step;
    switch (step.do) {
      case 'note':
        return this.#note(standing, step.bases);
      case 'write-there':
        await tree.writeThere(step.changes);
        // Before anybody else's change of it is looked at: what is here is that one's base.
        return this.#note(
          standing,
          step.changes.map(({ name, hash }) => ({ name, base: { hash } })),
        );
      case 'remove-there':
        await tree.removeThere(step.removals);
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

  /** Notes what was done at once: an edit from then on is one of what was written. Resolves with the first failure. */
  async #changeHere(
    standing: Standing,
    changes: readonly ChangeHere[],
  ): Promise<{ readonly error: unknown } | undefined> {
    const { logger } = this.#options;
    const done: Note[] = [];
    const failures: { readonly error: unknown }[] = [];
    for (const { name, hash, present } of changes) {
      try {
        await this.#write({ name, hash, present });
        done.push({ name, base: this.#baseAfter({ name, hash, present }) });
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

  async #note(standing: Standing, notes: readonly Note[]): Promise<void> {
    const { bases } = this.#options;
    const waiting = standing.directory === this.#seenIn ? this.#waiting : bases.waiting(standing);
    await bases.note(standing, notes, waiting);
  }

  /** What says a removed name still, such as a second file, is no new one: its base stays, and a person decides. */
  #baseAfter({ name, hash, present }: ChangeHere): Base | undefined {
    const isLeft = hash === undefined && this.#options.tree.observe()?.here.has(name) === true;
    const agreed = isLeft ? present : hash;
    return agreed === undefined ? undefined : { hash: agreed };
  }

  async #write({ name, hash, present }: ChangeHere): Promise<void> {
    const { tree } = this.#options;
    if (hash !== undefined) await tree.writeHere(name, hash, present);
    else if (present !== undefined) await tree.removeHere(name, present);
  }
}

function isSame(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && [...a].every((name) => b.has(name));
}
