/**
 * What one kind of directory of a master (configurations, templates) and the engine that brings it in line with the
 * records know of each other. The engine is `controllers/master/directories`.
 */
import type { Part } from '../loop/lifecycle.js';

/** By name, what one side has: a hash that names a content. A `Map`, or a look into the records. */
export interface Contents {
  get(name: string): string | undefined;
  keys(): Iterable<string>;
  readonly size: number;
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

/** A compare-and-set of the records. `expected` undefined: there must be nothing. */
export interface ChangeThere {
  readonly name: string;
  readonly hash: string;
  readonly expected: string | undefined;
}

export interface RemovalThere {
  readonly name: string;
  readonly expected: string;
}

/** Which directory, and how far the records are. */
export interface Standing {
  readonly directory: string;
  readonly revision: number;
}

/** What both sides have now. */
export interface Observation {
  /** The directory. */
  readonly here: Contents;
  /** The records. */
  readonly there: Contents;
  /** Names that cannot be judged now: a broken file, a write under way, a record that cannot be read. */
  readonly undecided: ReadonlySet<string>;
  readonly standing: Standing;
  /** True for a name whose present record this directory had brought. */
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

/** Names that somebody asked to remove. */
export type Confirmed = ReadonlySet<string> | 'all';

/** Keeps a directory and its records in line. Its answers are those of its last decision: asking changes nothing. */
export interface DirectoryFollower extends Part {
  /** A side may have changed. */
  wake(): void;
  /**
   * Resolves when there is nothing to do but for conflicts. Throws what hinders it; it goes on trying all the same.
   * `confirmed`: what goes without a further word, however much it is.
   */
  follow(confirmed?: Confirmed): Promise<void>;
  /** Names that wait for a person. */
  conflicts(): readonly ViewConflict[];
  /** Names whose removal waits to be confirmed, in order. */
  waiting(): readonly string[];
  /** Whether the records have something else of a name than the directory, and keep it: that is in force. */
  isBehind(name: string): boolean;
}

/** How a view writes the records: the leader has the store, any other master asks the leader. */
export interface RecordDoor<Edit> {
  /**
   * Writes the edits in one transaction. Resolves with its revision. Throws DRV_STORE_CONFLICT when a record is at another revision, and
   * what hinders the write.
   */
  write(edits: readonly Edit[]): Promise<number>;
}
