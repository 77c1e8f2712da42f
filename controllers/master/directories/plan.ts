/**
 * Decides how a master's directory and the records follow each other. A change on one side is copied to the other side if
 * that side still equals the base: the content on which both last agreed. Pure.
 *
 * `here` is the directory, `there` are the records; a hash names what each has of a name.
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
 *
 * A directory that is an input, such as a clone of git, is never written: where a row says "here", nothing is done. Git
 * decides first: a file of a later commit than the record's is written there, and one of an earlier commit changes
 * nothing.
 *
 * Nobody else writes the records of the only master. So they are the bases, no row is a conflict, and nothing is
 * written here.
 */
import { isDeepStrictEqual } from 'node:util';
import type {
  ChangeThere,
  Confirmed,
  ConflictKind,
  Contents,
  RemovalThere,
  SideOrder,
  ViewConflict,
} from '../../../src/views/view.js';

/** The content of a name on both sides when they last agreed. */
export interface Base {
  readonly hash: string;
  /**
   * The content that is now being written here. It counts as the base, too, because the process may end after
   * it wrote the content and before it noted the new base.
   */
  readonly next?: string | undefined;
}

/** The base noted while a new name is being written here. It equals no hash. */
const NOTHING = '';
/** The most removals at once that never need a confirmation, whatever share of all names they are. */
const MOST_DELETED_AT_ONCE = 3;

export interface ViewFacts {
  readonly here: Contents;
  readonly there: Contents;
  readonly bases: ReadonlyMap<string, Base>;
  /** True when only this directory brings records. */
  readonly isAlone: boolean;
  /** The order of both sides by git. Undefined: the directory is written, too. */
  readonly order?: ((name: string) => SideOrder | undefined) | undefined;
  /** Names that have vanished here, and that this directory had brought into the records. */
  readonly gone: readonly string[];
  /** Names whose removal waited to be confirmed. */
  readonly waiting: ReadonlySet<string>;
  /** True when many removals at once wait for confirmation; false when their files are written here again. */
  readonly doRemovalsWait: boolean;
  readonly confirmed: Confirmed;
  /** Names that cannot be judged now: a broken file, a write under way, or a record that cannot be read. */
  readonly undecided: ReadonlySet<string>;
}

/** A change in the directory, made only while the directory still has the content `present` (undefined: no file). */
export interface ChangeHere {
  readonly name: string;
  /** The content to write; undefined: remove it. */
  readonly hash: string | undefined;
  readonly present: string | undefined;
}

export type ViewStep =
  /** Notes bases, all in one write of their file. `base` undefined: neither side has the name. */
  | { readonly do: 'note'; readonly bases: readonly Note[]; readonly waiting: ReadonlySet<string> }
  | { readonly do: 'write-there'; readonly changes: readonly ChangeThere[] }
  | { readonly do: 'remove-there'; readonly removals: readonly RemovalThere[] }
  /** Makes each change on its own: a failed change does not hinder the others. */
  | { readonly do: 'change-here'; readonly changes: readonly ChangeHere[] }
  /** Rethrows a failed change of the directory. It comes last, so that it does not hinder writes to the records. */
  | { readonly do: 'tell-hindrance' };

export interface Note {
  readonly name: string;
  /** The new base; undefined: neither side has the name. */
  readonly base: Base | undefined;
}

export interface ViewPlan {
  readonly steps: readonly ViewStep[];
  readonly conflicts: readonly ViewConflict[];
  /** Names whose removal waits for confirmation: their records stay in force, and no files are written for them. */
  readonly waiting: ReadonlySet<string>;
}

/** The decision about a single name. */
type Verdict =
  | 'settled'
  | 'agree'
  | 'write-here'
  | 'remove-here'
  | 'write-there'
  | 'remove-there'
  | ConflictKind;

interface Sides {
  readonly here: string | undefined;
  readonly base: Base | undefined;
  readonly there: string | undefined;
  readonly isDeleted: boolean;
}

/** The verdict by the table at the top of this file. */
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

/** The verdict on one name, whether or not its removal waits. `isDeleted`: its file was removed on purpose. */
export function verdictOf(
  { here, bases, there, isAlone, order }: Pick<ViewFacts, 'here' | 'bases' | 'there' | 'isAlone' | 'order'>,
  name: string,
  isDeleted = false,
): Verdict {
  const present = there.get(name);
  const base = isAlone ? baseOf(present) : bases.get(name);
  const verdict = judge({ here: here.get(name), base, there: present, isDeleted });
  if (isAlone) return verdict === 'write-here' ? 'settled' : verdict;
  const sides = order?.(name);
  return sides === undefined ? verdict : byOrder(verdict, sides, { here: here.get(name), isDeleted });
}

/** The verdict on an input, which git may change. */
function byOrder(
  verdict: Verdict,
  order: SideOrder,
  { here, isDeleted }: Pick<Sides, 'here' | 'isDeleted'>,
): Verdict {
  // A file that says the same by a later commit must later win over the commits before.
  if (order === 'newer' && here !== undefined) return 'write-there';
  if (order === 'newer' && isDeleted) return 'remove-there';
  if (verdict === 'write-here' || verdict === 'remove-here') return 'settled';
  const isChange = verdict !== 'settled' && verdict !== 'agree';
  return order === 'behind' && isChange ? 'settled' : verdict;
}

export function planView(facts: ViewFacts): ViewPlan {
  const { kept, deleted } = removalsOf(facts);
  const waiting = facts.doRemovalsWait ? kept : facts.waiting;
  const found = verdictsOf(facts, waiting, deleted);
  const agreed = found('agree').map((name) => ({ name, base: baseOf(facts.here.get(name)) }));
  const written = found('write-here').map((name) => changeHere(facts, name));
  const removed = found('remove-here').map((name) => changeHere(facts, name));
  const begun = written.map(({ name, hash, present = NOTHING }) => ({
    name,
    base: { hash: present, next: hash },
  }));
  const bases = [...agreed, ...begun];
  const changes = found('write-there').flatMap((name): ChangeThere[] => {
    const hash = facts.here.get(name);
    return hash === undefined ? [] : [{ name, hash, expected: facts.there.get(name) }];
  });
  const removals = found('remove-there').flatMap((name): RemovalThere[] => {
    const expected = facts.there.get(name);
    return expected === undefined ? [] : [{ name, expected }];
  });
  const changed = [...written, ...removed];
  return {
    steps: [
      // Note the waiting names, so that a restart neither removes them nor writes their files again.
      ...(bases.length > 0 || !isDeepStrictEqual(waiting, facts.waiting)
        ? [{ do: 'note', bases, waiting } as const]
        : []),
      // Change the directory first: writing the records may fail.
      ...(changed.length > 0 ? [{ do: 'change-here', changes: changed } as const] : []),
      // Write before removing, so that a content that changes its name is never missing in between.
      ...(changes.length > 0 ? [{ do: 'write-there', changes } as const] : []),
      ...(removals.length > 0 ? [{ do: 'remove-there', removals } as const] : []),
      ...(changed.length > 0 ? [{ do: 'tell-hindrance' } as const] : []),
    ],
    conflicts: CONFLICTS.flatMap((kind) => found(kind).map((name) => ({ name, kind }))),
    waiting,
  };
}

/**
 * Splits the vanished names into removals and names that wait. When so many vanish that it looks like a mistake, such
 * as in an emptied directory, a person must confirm it.
 */
function removalsOf({ gone, there, waiting, confirmed }: ViewFacts): {
  readonly kept: ReadonlySet<string>;
  readonly deleted: ReadonlySet<string>;
} {
  const unasked = confirmed === 'all' ? [] : gone.filter((name) => !confirmed.has(name));
  const isLarge = unasked.length > MOST_DELETED_AT_ONCE && unasked.length > there.size / 2;
  const kept = new Set(unasked.filter((name) => isLarge || waiting.has(name)));
  return { kept, deleted: new Set(gone.filter((name) => !kept.has(name))) };
}

function changeHere({ here, there }: ViewFacts, name: string): ChangeHere {
  return { name, hash: there.get(name), present: here.get(name) };
}

const CONFLICTS: readonly ConflictKind[] = ['both-changed', 'removed-there', 'unknown-base'];

export function isConflict(verdict: Verdict): verdict is ConflictKind {
  return CONFLICTS.some((kind) => kind === verdict);
}

/** The names of each verdict, in order of names. Most names are settled, and are not kept. */
function verdictsOf(
  facts: ViewFacts,
  waiting: ReadonlySet<string>,
  deleted: ReadonlySet<string>,
): (verdict: Verdict) => readonly string[] {
  const found = new Map<Verdict, string[]>();
  for (const name of new Set([...facts.here.keys(), ...facts.there.keys(), ...facts.bases.keys()])) {
    if (facts.undecided.has(name) || waiting.has(name)) continue;
    const verdict = verdictOf(facts, name, deleted.has(name));
    if (verdict === 'settled') continue;
    const names = found.get(verdict) ?? [];
    names.push(name);
    found.set(verdict, names);
  }
  return (verdict) => found.get(verdict)?.sort() ?? [];
}

function baseOf(hash: string | undefined): Base | undefined {
  return hash === undefined ? undefined : { hash };
}
