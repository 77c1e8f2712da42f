/**
 * Masters whose directories are views of one state, under edits, absences, crashes and old checkouts in any order: no
 * edit is overwritten unseen, and everything settles. `DROVER_PROPERTY_RUNS` makes longer runs.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  type Base,
  planView,
  type ViewPlan,
  type ViewStep,
} from '../../controllers/master/directories/plan.js';

const RUNS = Number(process.env.DROVER_PROPERTY_RUNS ?? 300);
const MASTERS = 3;
const ENOUGH_ROUNDS = 20;

interface Recorded {
  readonly hash: string;
  readonly by: number;
}

/** The state, and all that it ever held. */
class State {
  readonly records = new Map<string, Recorded>();
  readonly ever = new Set<string>();

  put(name: string, record: Recorded): void {
    this.records.set(name, record);
    this.ever.add(`${name} ${record.hash}`);
  }
}

/** One master's directory. */
class Directory {
  readonly files = new Map<string, string>();
  bases = new Map<string, Base>();
  seen = new Set<string>();

  constructor(
    readonly state: State,
    readonly index: number,
  ) {}

  plan(): ViewPlan {
    for (const name of this.files.keys()) this.seen.add(name);
    const { records } = this.state;
    const gone = [...this.seen].filter(
      (name) => !this.files.has(name) && records.get(name)?.by === this.index,
    );
    return planView({
      here: this.files,
      there: new Map([...records].map(([name, { hash }]) => [name, hash])),
      bases: this.bases,
      gone,
      waiting: new Set(),
      doRemovalsWait: false,
      confirmed: new Set(),
      isAlone: false,
      undecided: new Set(),
    });
  }

  /** Makes the first `most` changes; true when there was something to do. Between two of them anything may happen. */
  round(most = Number.POSITIVE_INFINITY): boolean {
    const { steps } = this.plan();
    for (const change of steps.flatMap((step) => this.#changesOf(step)).slice(0, most)) change();
    return steps.length > 0;
  }

  restart(): void {
    this.seen = new Set();
  }

  #changesOf(step: ViewStep): (() => void)[] {
    const { records } = this.state;
    switch (step.do) {
      case 'note':
        return [
          () => {
            for (const { name, base } of step.bases) this.#note(name, base);
          },
        ];
      case 'write-there':
        return step.changes.map(({ name, hash, expected }) => () => {
          expect(records.get(name)?.hash).toBe(expected);
          this.state.put(name, { hash, by: this.index });
          this.#note(name, { hash });
        });
      case 'remove-there':
        return step.removals.map(({ name, expected }) => () => {
          expect(records.get(name)).toEqual({ hash: expected, by: this.index });
          records.delete(name);
          this.#note(name, undefined);
        });
      case 'change-here':
        return [
          ...step.changes.map(({ name, hash, present }) => () => {
            this.#expectKnown(name, present);
            if (hash === undefined) this.files.delete(name);
            else this.files.set(name, hash);
          }),
          // All at once, after the last one.
          () => {
            for (const { name, hash } of step.changes)
              this.#note(name, hash === undefined ? undefined : { hash });
          },
        ];
      case 'tell-hindrance':
        return [];
      default:
        return step satisfies never;
    }
  }

  /** What goes was in the state once: nobody's work is lost. */
  #expectKnown(name: string, present: string | undefined): void {
    expect(this.files.get(name)).toBe(present);
    if (present !== undefined) expect(this.state.ever).toContain(`${name} ${present}`);
  }

  #note(name: string, base: Base | undefined): void {
    if (base === undefined) this.bases.delete(name);
    else this.bases.set(name, base);
  }
}

const master = fc.nat({ max: MASTERS - 1 });
const name = fc.constantFrom('x', 'y');
const event = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('edit' as const), master, name }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('delete' as const), master, name }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('api-put' as const), name }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('api-remove' as const), name }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('round' as const), master }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('crash' as const), master, steps: fc.nat({ max: 3 }) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restart' as const), master }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('empty' as const), master }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('keep' as const), master }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('old-checkout' as const), master }) },
);
type Event = typeof event extends fc.Arbitrary<infer T> ? T : never;

class World {
  readonly state = new State();
  readonly directories = Array.from({ length: MASTERS }, (_, index) => new Directory(this.state, index));
  readonly #checkouts = new Map<number, ReadonlyMap<string, string>>();
  #edits = 0;

  apply(happened: Event): void {
    if (happened.do === 'api-put') {
      this.state.put(happened.name, { hash: `api ${++this.#edits}`, by: -1 });
      return;
    }
    if (happened.do === 'api-remove') {
      this.state.records.delete(happened.name);
      return;
    }
    const directory = this.directories[happened.master];
    if (directory === undefined) throw new Error('no such master');
    switch (happened.do) {
      case 'edit':
        directory.files.set(happened.name, `of ${happened.master}: ${++this.#edits}`);
        return;
      case 'delete':
        directory.files.delete(happened.name);
        return;
      case 'round':
        directory.round();
        return;
      case 'crash':
        directory.round(happened.steps);
        directory.restart();
        return;
      case 'restart':
        directory.restart();
        return;
      case 'empty':
        directory.files.clear();
        directory.restart();
        return;
      case 'keep':
        this.#checkouts.set(happened.master, new Map(directory.files));
        return;
      case 'old-checkout':
        directory.files.clear();
        for (const [file, hash] of this.#checkouts.get(happened.master) ?? [])
          directory.files.set(file, hash);
        directory.bases = new Map();
        directory.restart();
        return;
      default:
        happened satisfies never;
    }
  }

  /** Everybody looks until nobody has anything to do. */
  settle(): void {
    for (let round = 0; round < ENOUGH_ROUNDS; round++) {
      const isBusy = this.directories.map((directory) => directory.round());
      if (!isBusy.includes(true)) return;
    }
    throw new Error('it never settles');
  }

  expectAgreement(): void {
    for (const directory of this.directories) {
      const inConflict = new Set(directory.plan().conflicts.map((conflict) => conflict.name));
      for (const one of ['x', 'y'])
        if (!inConflict.has(one)) expect(directory.files.get(one)).toBe(this.state.records.get(one)?.hash);
    }
  }

  /** What the operator is told to do: takes what is in force, by deleting the file. */
  resolve(): void {
    for (const directory of this.directories)
      for (const conflict of directory.plan().conflicts) directory.files.delete(conflict.name);
  }
}

it('views overwrite nobody’s edit, settle, and agree once conflicts are resolved', () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 40 }), (events) => {
      const world = new World();
      for (const happened of events) world.apply(happened);
      world.settle();
      world.expectAgreement();
      world.resolve();
      world.settle();
      world.expectAgreement();
      for (const directory of world.directories) expect(directory.plan().conflicts).toEqual([]);
    }),
    { numRuns: RUNS },
  );
});

it.each([2, 3])('an edit on any of %i masters reaches all, in every order of looks', (count) => {
  for (const first of Array(count).keys())
    for (const order of permutations([...Array(count).keys()])) {
      const world = new World();
      world.apply({ do: 'edit', master: first, name: 'x' });
      for (const one of order) world.apply({ do: 'round', master: one });
      world.settle();
      world.expectAgreement();
      expect(world.state.records.get('x')?.by).toBe(first);
    }
});

it.each([2, 3])(
  'of edits on all of %i masters at once the first is taken, and the others are conflicts',
  (count) => {
    for (const order of permutations([...Array(count).keys()])) {
      const world = new World();
      world.apply({ do: 'edit', master: 0, name: 'x' });
      world.settle();
      for (const one of order) world.apply({ do: 'edit', master: one, name: 'x' });
      const edits = world.directories.map(({ files }) => files.get('x'));
      for (const one of order) world.apply({ do: 'round', master: one });
      world.settle();
      const [winner] = order;
      expect(world.state.records.get('x')?.by).toBe(winner);
      expect(world.directories.slice(0, count).map(({ files }) => files.get('x'))).toEqual(
        edits.slice(0, count),
      );
      for (const one of order)
        expect(world.directories[one]?.plan().conflicts).toEqual(
          one === winner ? [] : [{ name: 'x', kind: 'both-changed' }],
        );
    }
  },
);

function permutations(items: readonly number[]): number[][] {
  if (items.length < 2) return [[...items]];
  return items.flatMap((item) =>
    permutations(items.filter((other) => other !== item)).map((rest) => [item, ...rest]),
  );
}
