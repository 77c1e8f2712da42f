/**
 * What a directory of a master and the state that masters share do to each other. The directory is a view: a change on
 * either side goes to the other one where that is as it was when both last agreed (the base). Pure.
 *
 * `here` is the directory, `there` is the state; a hash names what each has of a name.
 *
 *   here      base       there     what is done
 *   a         any        a         they agree: `a` is the base from now on
 *   nothing   any        b         b is written here: what is missing removes nothing
 *   deleted   b          b         it is removed there, where this directory had brought it
 *   a         a          b         b is written here; nothing there: it is removed here
 *   c         a          a         c is written there
 *   c         a          b         conflict: both changed; nothing there: it was removed there
 *   c         unknown    nothing   c is written there: it is new
 *   c         unknown    b         conflict: an old checkout, or made on both sides
 */

/** What a name had on both sides when they last agreed. */
export interface Base {
  readonly hash: string;
  /** What is being written here: it counts as the base too, because the process may end between file and base. */
  readonly next?: string | undefined;
}

/** The base of what is not here yet while it is being written. No hash is like it. */
const NOTHING = '';

export interface ViewFacts {
  /** By name, the hash of what the directory has. */
  readonly here: ReadonlyMap<string, string>;
  readonly there: ReadonlyMap<string, string>;
  readonly bases: ReadonlyMap<string, Base>;
  /** Names that this process saw here, that are gone, and that this directory had brought into the state. */
  readonly deleted: ReadonlySet<string>;
  /** Names that cannot be judged now: a broken file, a write under way, a record that cannot be read. */
  readonly undecided: ReadonlySet<string>;
}

export type ConflictKind =
  /** Another master, or the API, changed it since this directory had it, and so did this directory. */
  | 'both-changed'
  /** It was removed elsewhere, and changed here. */
  | 'removed-there'
  /** It is not known what this directory began with. */
  | 'unknown-base';

export interface ViewConflict {
  readonly name: string;
  readonly kind: ConflictKind;
}

/** A compare-and-set of the state. `expected` undefined: there must be nothing. */
export interface ChangeThere {
  readonly name: string;
  readonly hash: string;
  readonly expected: string | undefined;
}

export interface RemovalThere {
  readonly name: string;
  readonly expected: string;
}

/** A change of the directory. It is made only while that has `present`; undefined: nothing. */
export interface ChangeHere {
  readonly name: string;
  /** Undefined: it is removed. */
  readonly hash: string | undefined;
  readonly present: string | undefined;
}

export type ViewStep =
  /** All notes are one write of the file of bases. `base` undefined: there is nothing on either side. */
  | {
      readonly do: 'note';
      readonly bases: readonly { readonly name: string; readonly base: Base | undefined }[];
    }
  | { readonly do: 'write-there'; readonly changes: readonly ChangeThere[] }
  | { readonly do: 'remove-there'; readonly removals: readonly RemovalThere[] }
  /** Each change stands for itself: one that cannot be made hinders no other. */
  | { readonly do: 'change-here'; readonly changes: readonly ChangeHere[] };

export interface ViewPlan {
  readonly steps: readonly ViewStep[];
  readonly conflicts: readonly ViewConflict[];
}

/** What is to be done for one name. */
export type Verdict =
  | 'settled'
  | 'agree'
  | 'write-here'
  | 'remove-here'
  | 'write-there'
  | 'remove-there'
  | ConflictKind;

export interface Sides {
  readonly here: string | undefined;
  readonly base: Base | undefined;
  readonly there: string | undefined;
  readonly isDeleted: boolean;
}

/** One row of the table above. */
export function judge({ here, base, there, isDeleted }: Sides): Verdict {
  if (here === there) {
    const isNoted = base?.hash === here && base?.next === undefined;
    return isNoted ? 'settled' : 'agree';
  }
  if (here === undefined) return isDeleted && there === base?.hash ? 'remove-there' : 'write-here';
  if (base === undefined) return there === undefined ? 'write-there' : 'unknown-base';
  if (here === base.hash || here === base.next) return there === undefined ? 'remove-here' : 'write-here';
  if (there === base.hash) return 'write-there';
  return there === undefined ? 'removed-there' : 'both-changed';
}

export function verdictOf({ here, bases, there, deleted }: ViewFacts, name: string): Verdict {
  return judge({
    here: here.get(name),
    base: bases.get(name),
    there: there.get(name),
    isDeleted: deleted.has(name),
  });
}

export function planView(facts: ViewFacts): ViewPlan {
  const found = new Verdicts(facts);
  const agreed = found.of('agree').map((name) => ({ name, base: baseOf(facts.here.get(name)) }));
  const written = found.of('write-here').map((name) => changeHere(facts, name));
  const removed = found.of('remove-here').map((name) => changeHere(facts, name));
  const begun = written.map(({ name, hash, present = NOTHING }) => ({
    name,
    base: { hash: present, next: hash },
  }));
  const notes = [...agreed, ...begun];
  const changes = found.of('write-there').flatMap((name): ChangeThere[] => {
    const hash = facts.here.get(name);
    return hash === undefined ? [] : [{ name, hash, expected: facts.there.get(name) }];
  });
  const removals = found.of('remove-there').flatMap((name): RemovalThere[] => {
    const expected = facts.there.get(name);
    return expected === undefined ? [] : [{ name, expected }];
  });
  return {
    steps: [
      ...(notes.length > 0 ? [{ do: 'note', bases: notes } as const] : []),
      // First: the state may not be writable, or refuse what is here.
      ...(written.length + removed.length > 0
        ? [{ do: 'change-here', changes: [...written, ...removed] } as const]
        : []),
      // Before removals: what takes another name is never away in between.
      ...(changes.length > 0 ? [{ do: 'write-there', changes } as const] : []),
      ...(removals.length > 0 ? [{ do: 'remove-there', removals } as const] : []),
    ],
    conflicts: CONFLICTS.flatMap((kind) => found.of(kind).map((name) => ({ name, kind }))),
  };
}

function changeHere({ here, there }: ViewFacts, name: string): ChangeHere {
  return { name, hash: there.get(name), present: here.get(name) };
}

const CONFLICTS: readonly ConflictKind[] = ['both-changed', 'removed-there', 'unknown-base'];

export function isConflict(verdict: Verdict): verdict is ConflictKind {
  return CONFLICTS.some((kind) => kind === verdict);
}

/** The names of each verdict, in order of names. */
class Verdicts {
  readonly #names = new Map<Verdict, string[]>();

  constructor(facts: ViewFacts) {
    const { here, there, bases, undecided } = facts;
    const all = new Set([...here.keys(), ...there.keys(), ...bases.keys()]);
    for (const name of [...all].sort()) {
      if (undecided.has(name)) continue;
      const verdict = verdictOf(facts, name);
      const names = this.#names.get(verdict);
      if (names === undefined) this.#names.set(verdict, [name]);
      else names.push(name);
    }
  }

  of(verdict: Verdict): readonly string[] {
    return this.#names.get(verdict) ?? [];
  }
}

function baseOf(hash: string | undefined): Base | undefined {
  return hash === undefined ? undefined : { hash };
}
