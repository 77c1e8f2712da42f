/**
 * The interface between one kind of directory of a master (configurations, templates) and the engine that keeps
 * directory and records in line. The engine is `controllers/master/directories`.
 */
import type { Part } from '../loop/lifecycle.js';

/** The contents of one side, by name: a hash names each content. A `Map`, or a view of the records. */
export interface Contents {
  get(name: string): string | undefined;
  keys(): Iterable<string>;
  readonly size: number;
}

export type ConflictKind =
  /** Both this directory and another master, or the API, changed it since they agreed. */
  | 'both-changed'
  /** It was removed elsewhere, and changed here. */
  | 'removed-there'
  /** The base is unknown: nothing says what this directory began with. */
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

/** The identity of the directory, and the revision of the records. */
export interface Standing {
  readonly directory: string;
  readonly revision: number;
}

/** The present contents of both sides. */
export interface Observation {
  /** The contents of the directory. */
  readonly here: Contents;
  /** The records. */
  readonly there: Contents;
  /** Names that cannot be judged now: a broken file, a write under way, a record that cannot be read. */
  readonly undecided: ReadonlySet<string>;
  readonly standing: Standing;
  /** True for a name whose present record came from this directory. */
  readonly brought: (name: string) => boolean;
}

/**
 * The files and the records of one kind. Writes throw `Conflict` or DRV_STORE_CONFLICT when a side has changed
 * meanwhile.
 */
export interface ViewTree {
  /** Undefined: nothing can be concluded now, such as when the directory cannot be read. */
  observe(): Observation | undefined;
  /** `present`: the content that the directory must have for the name; undefined: none. */
  writeHere(name: string, hash: string, present: string | undefined): Promise<void>;
  removeHere(name: string, present: string): Promise<void>;
  /** Resolves when `observe` shows the changes. */
  writeThere(changes: readonly ChangeThere[]): Promise<void>;
  removeThere(removals: readonly RemovalThere[]): Promise<void>;
}

/** Names that somebody asked to remove. */
export type Confirmed = ReadonlySet<string> | 'all';

/** Keeps a directory and its records in line. Its answers come from its last decision: asking changes nothing. */
export interface DirectoryFollower extends Part {
  /** Called when a side may have changed. */
  wake(): void;
  /**
   * Resolves when only conflicts are left. Throws the error that hinders it, but goes on trying. `confirmed`: the names
   * that may be removed, however many.
   */
  follow(confirmed?: Confirmed): Promise<void>;
  /** Names in conflict, which wait for a person. */
  conflicts(): readonly ViewConflict[];
  /** Names whose removal waits to be confirmed, in order. */
  waiting(): readonly string[];
  /** Whether the records have another content than the directory, and stay so: then the record is in force. */
  isBehind(name: string): boolean;
}

/** The way of a view to write records: the leader writes the store, any other master asks the leader. */
export interface RecordDoor<Edit> {
  /**
   * Writes the edits in one transaction; resolves with its revision. Throws DRV_STORE_CONFLICT when a record has
   * another revision, and any error of the write.
   */
  write(edits: readonly Edit[]): Promise<number>;
}
