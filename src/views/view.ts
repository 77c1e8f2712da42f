/**
 * The interface between one kind of directory of a master (configurations, templates) and the engine that keeps
 * directory and records in line. The engine is `controllers/master/directories`.
 */
import type { Part } from '../loop/lifecycle.js';

/**
 * The contents of one side, the directory or the records: the hash of each content, by name. A `Map`, or a view of
 * the records.
 */
export interface Contents {
  get(name: string): string | undefined;
  keys(): Iterable<string>;
  readonly size: number;
}

export type ConflictKind =
  /**
   * The content changed on both sides since they last agreed: in this directory, and through another master or the
   * API.
   */
  | 'both-changed'
  /** The content was removed elsewhere, and changed in this directory. */
  | 'removed-there'
  /** The base is unknown, so nothing tells which side has changed. */
  | 'unknown-base';

export interface ViewConflict {
  readonly name: string;
  readonly kind: ConflictKind;
}

/**
 * A change of a record by compare-and-set. `expected`: the hash that the record must have now; undefined: there must
 * be no record.
 */
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
  /** The contents of the records. */
  readonly there: Contents;
  /** Names that cannot be judged now: a broken file, a write under way, a record that cannot be read. */
  readonly undecided: ReadonlySet<string>;
  readonly standing: Standing;
  /** True for a name whose present record came from this directory. */
  readonly brought: (name: string) => boolean;
  /** The order of both sides by git, for a name that is an input and never written here. Undefined: it is written. */
  readonly order?: (name: string) => SideOrder | undefined;
}

/**
 * `newer`: the directory is at a commit after the one that brought the record. `behind`: it is at an earlier commit, or
 * was not pulled as far. `unknown`: git does not tell, or the two have parted.
 */
export type SideOrder = 'newer' | 'behind' | 'unknown';

/**
 * The files and the records of one kind. Writes throw `Conflict` or DRV_STORE_CONFLICT when a side has changed
 * meanwhile.
 */
export interface ViewTree {
  /** Looks at both sides. Undefined: nothing can be concluded now, such as when the directory cannot be read. */
  observe(): Observation | undefined;
  /**
   * Writes a content into the directory. `present`: the hash that the directory must have for the name now;
   * undefined: no content.
   */
  writeHere(name: string, hash: string, present: string | undefined): Promise<void>;
  removeHere(name: string, present: string): Promise<void>;
  /** Changes records. Resolves when `observe` shows the changes. */
  writeThere(changes: readonly ChangeThere[]): Promise<void>;
  removeThere(removals: readonly RemovalThere[]): Promise<void>;
}

/** The names whose removal somebody has asked for. */
export type Confirmed = ReadonlySet<string> | 'all';

/** Keeps a directory and its records in line. Its answers come from its last decision: asking changes nothing. */
export interface DirectoryFollower extends Part {
  /** Called when a side may have changed. */
  wake(): void;
  /**
   * Resolves when only conflicts are left. Throws the error that prevents this; the follower goes on trying.
   * `confirmed`: the names that may be removed, however many.
   */
  follow(confirmed?: Confirmed): Promise<void>;
  /** Names in conflict, which wait for a person. */
  conflicts(): readonly ViewConflict[];
  /** Names whose removal waits to be confirmed, in order. */
  waiting(): readonly string[];
  /** True when the record stays in force although the directory has another content for this name. */
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
