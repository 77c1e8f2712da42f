/**
 * The desired state of this node, as the master last sent it. The copy is on the node's own disk, so that the node
 * works without its master. The feed writes the copy; the wrapper's reconcilers read it.
 */
import { z } from 'zod';
import {
  type Assignment,
  assignmentSchema,
  type MasterAddress,
  type MessageOf,
  masterAddressSchema,
} from '../channel/protocol/messages.js';
import type { FeedSink, Seen } from '../channel/wrapper/link.js';
import { maskedTexts } from '../logs/value-mask.js';
import { type Configuration, configurationSchema } from '../model/configuration.js';
import type { NodeSecrets, SecretValues } from './node-secrets.js';
import type { WriteBehind } from './write-behind.js';

const ASSIGNMENTS = 'assignments/';
const REVISIONS = 'revisions/';
const MASTER = 'master';
const SEEN = 'seen';
const LINE = 'line';

export interface Desired {
  readonly assignment: Assignment;
  readonly configuration: Configuration;
  /** The values of its secrets, as last read for a start. Absent: it has none. */
  readonly secrets?: SecretValues | undefined;
}

/** The values that are covered in the log of an instance. */
export function hiddenValuesOf(desired: Desired | undefined): readonly string[] {
  return desired?.configuration.maskSecrets === false ? [] : maskedTexts(desired?.secrets?.values() ?? []);
}

/**
 * `isAccepted`: true while this node accepts a master whose store is older than what the node has seen. The first
 * snapshot sets it to false.
 */
export interface OlderMaster {
  isAccepted: boolean;
}

export class DesiredCopy implements FeedSink {
  readonly #disk: WriteBehind;
  readonly #secrets: NodeSecrets;
  readonly #older: OlderMaster | undefined;
  readonly #assignments = new Map<string, Assignment>();
  readonly #revisions = new Map<string, Configuration>();
  /** Ids of assignments that this node cannot read, and ids that the master named without an assignment. */
  readonly #leftAlone = new Set<string>();
  #isConfirmed = false;
  #master: MasterAddress | undefined;
  #seen: number | undefined;
  #line = 0;
  readonly #listeners: ((id: string) => void)[] = [];
  readonly #snapshotListeners: ((isFirst: boolean) => void)[] = [];

  /** `older` absent: the node refuses a master whose store is older than what the node has seen. */
  constructor(disk: WriteBehind, secrets: NodeSecrets, older?: OlderMaster) {
    this.#disk = disk;
    this.#secrets = secrets;
    this.#older = older;
  }

  /** Reads the copy of an earlier daemon. Call once, before the feed starts. */
  async load(): Promise<void> {
    const disk = this.#disk;
    await this.#secrets.load();
    for (const [hash, content] of (await disk.load(REVISIONS, configurationSchema)).readable)
      this.#revisions.set(hash, content);
    const assignments = await disk.load(ASSIGNMENTS, assignmentSchema);
    for (const [id, assignment] of assignments.readable) this.#assignments.set(id, assignment);
    for (const id of assignments.unreadable.keys()) this.#leftAlone.add(id);
    [this.#master] = (await disk.load(MASTER, masterAddressSchema)).readable.values();
    [this.#seen] = (await disk.load(SEEN, z.int())).readable.values();
    [this.#line = 0] = (await disk.load(LINE, z.int())).readable.values();
  }

  /** Adds a listener that is called when the desired state of `id` changed. */
  onChange(listener: (id: string) => void): void {
    this.#listeners.push(listener);
  }

  /**
   * Adds a listener that is called after a snapshot. `isFirst`: the snapshot is the first one in this run of the
   * daemon.
   */
  onSnapshot(listener: (isFirst: boolean) => void): void {
    this.#snapshotListeners.push(listener);
  }

  get(id: string): Desired | undefined {
    const assignment = this.#assignments.get(id);
    const configuration = assignment && this.#revisions.get(assignment.revision);
    if (assignment === undefined || configuration === undefined) return undefined;
    const secrets = this.#secrets.used(id);
    if (assignment.environment === undefined) return { assignment, configuration, secrets };
    const environmentVariables = { ...configuration.environmentVariables, ...assignment.environment };
    return { assignment, configuration: { ...configuration, environmentVariables }, secrets };
  }

  /**
   * Resolves when the desired state of `id` is on disk, or cannot be written now. Call it before a start: a daemon that
   * adopts the run needs its stop and readiness settings.
   */
  async keep(id: string): Promise<void> {
    const { revision } = this.#assignments.get(id) ?? {};
    await this.#disk.tryToWrite([ASSIGNMENTS + id, REVISIONS + revision]);
  }

  /** True when the node should hold this instance, even while its assignment or the content of its revision is missing. */
  has(id: string): boolean {
    return this.#assignments.has(id) || this.#leftAlone.has(id);
  }

  /** The id of every instance that `has` knows. */
  *ids(): Generator<string> {
    yield* this.#assignments.keys();
    yield* this.#leftAlone;
  }

  /**
   * True once a master has named, in this run of the daemon, all instances of this node. Before that, an instance
   * without an assignment must not be ended: its assignment may only be missing on disk.
   */
  get isConfirmed(): boolean {
    return this.#isConfirmed;
  }

  get master(): MasterAddress | undefined {
    return this.#master;
  }

  setMaster(master: MasterAddress): void {
    this.#master = master;
    this.#disk.put(MASTER, master);
  }

  /**
   * The newest applied revision of the master's store; undefined: no master has named a revision, or any store is
   * accepted.
   */
  seen(): Seen | undefined {
    if (this.#seen === undefined || this.#older?.isAccepted === true) return undefined;
    return { revision: this.#seen, line: this.#line };
  }

  /** The assignments for which this node also has the content of the revision, and the secrets. */
  held(): readonly Assignment[] {
    return [...this.#assignments.values()].filter(
      (assignment) =>
        this.#revisions.has(assignment.revision) && this.#secrets.lacking(assignment).length === 0,
    );
  }

  applySnapshot(snapshot: MessageOf<'snapshot'>): void {
    const isFirst = !this.#isConfirmed;
    const held = new Set([...snapshot.assignments.map(({ id }) => id), ...(snapshot.unchanged ?? [])]);
    const dropped = [...this.#assignments.keys(), ...this.#leftAlone].filter((id) => !held.has(id));
    this.#isConfirmed = true;
    this.#leftAlone.clear();
    for (const id of snapshot.unchanged ?? []) if (!this.#assignments.has(id)) this.#leftAlone.add(id);
    const { line = 0 } = snapshot;
    if (line !== this.#line) this.#disk.put(LINE, line);
    this.#line = line;
    this.#saw(snapshot.store);
    this.#secrets.take(snapshot.secrets);
    this.#apply(snapshot.assignments, dropped, snapshot.revisions);
    // Remove unused revisions only after a snapshot: the master sends a content once in a connection and expects this
    // node to keep it.
    this.#collectRevisions();
    if (this.#older !== undefined) this.#older.isAccepted = false;
    for (const listener of this.#snapshotListeners) listener(isFirst);
  }

  applyDelta(delta: MessageOf<'delta'>): void {
    this.#saw(delta.store);
    this.#secrets.take(delta.secrets);
    this.#apply(delta.put, delta.drop, delta.revisions);
  }

  #saw(revision: number): void {
    if (revision === this.#seen) return;
    this.#seen = revision;
    this.#disk.put(SEEN, revision);
  }

  #apply(
    put: readonly Assignment[],
    drop: readonly string[],
    revisions: Readonly<Record<string, Configuration>>,
  ): void {
    for (const [hash, content] of Object.entries(revisions)) {
      this.#revisions.set(hash, content);
      this.#disk.put(REVISIONS + hash, content);
    }
    for (const assignment of put) {
      this.#leftAlone.delete(assignment.id);
      this.#assignments.set(assignment.id, assignment);
      this.#disk.put(ASSIGNMENTS + assignment.id, assignment);
    }
    for (const id of drop) {
      this.#leftAlone.delete(id);
      this.#assignments.delete(id);
      this.#disk.put(ASSIGNMENTS + id, undefined);
    }
    this.#secrets.collect(this.#assignments.values());
    for (const id of [...put.map((assignment) => assignment.id), ...drop])
      for (const listener of this.#listeners) listener(id);
  }

  #collectRevisions(): void {
    const used = new Set([...this.#assignments.values()].map(({ revision }) => revision));
    for (const hash of this.#revisions.keys()) {
      if (used.has(hash)) continue;
      this.#revisions.delete(hash);
      this.#disk.put(REVISIONS + hash, undefined);
    }
  }
}
