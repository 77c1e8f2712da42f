/**
 * What this node should hold, as the master last said. It is kept on the node's own disk, so that the node goes on
 * without its master. The feed writes it; the wrapper's reconcilers read it.
 */
import { z } from 'zod';
import { type Assignment, assignmentSchema, type MessageOf } from '../channel/protocol/messages.js';
import { type Configuration, configurationSchema } from '../model/configuration.js';
import type { WriteBehind } from './write-behind.js';

const ASSIGNMENTS = 'assignments/';
const REVISIONS = 'revisions/';
const MASTER = 'master';

const masterSchema = z.object({ nodeId: z.string(), address: z.string(), port: z.int(), apiPort: z.int() });
export type MasterAddress = z.output<typeof masterSchema>;

export interface Desired {
  readonly assignment: Assignment;
  readonly configuration: Configuration;
}

export class DesiredCopy {
  readonly #disk: WriteBehind;
  readonly #assignments = new Map<string, Assignment>();
  readonly #revisions = new Map<string, Configuration>();
  #isConfirmed = false;
  #master: MasterAddress | undefined;
  readonly #listeners: ((id: string) => void)[] = [];

  constructor(disk: WriteBehind) {
    this.#disk = disk;
  }

  /** Reads what an earlier run kept. Call once, before the feed starts. */
  async load(): Promise<void> {
    for (const { key, value } of await this.#disk.load(REVISIONS))
      this.#revisions.set(key.slice(REVISIONS.length), configurationSchema.parse(value));
    for (const { value } of await this.#disk.load(ASSIGNMENTS)) {
      const assignment = assignmentSchema.parse(value);
      this.#assignments.set(assignment.id, assignment);
    }
    for (const { value } of await this.#disk.load(MASTER)) this.#master = masterSchema.parse(value);
  }

  /** Adds a listener, which hears that the desired state of `id` changed. */
  onChange(listener: (id: string) => void): void {
    this.#listeners.push(listener);
  }

  get(id: string): Desired | undefined {
    const assignment = this.#assignments.get(id);
    const configuration = assignment && this.#revisions.get(assignment.revision);
    return assignment === undefined || configuration === undefined
      ? undefined
      : { assignment, configuration };
  }

  /** True when the node should hold this instance, even while the content of its revision is missing. */
  has(id: string): boolean {
    return this.#assignments.has(id);
  }

  ids(): IterableIterator<string> {
    return this.#assignments.keys();
  }

  /**
   * True once a master has said, in this run of the daemon, everything that this node should hold. Before that, an
   * instance that is missing here may only have missed the disk, and must not be ended.
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

  /** The assignments whose revision's content is here too. */
  held(): readonly Assignment[] {
    return [...this.#assignments.values()].filter(({ revision }) => this.#revisions.has(revision));
  }

  applySnapshot(snapshot: MessageOf<'snapshot'>): void {
    const held = new Set([...snapshot.assignments.map(({ id }) => id), ...(snapshot.unchanged ?? [])]);
    const dropped = [...this.#assignments.keys()].filter((id) => !held.has(id));
    this.#isConfirmed = true;
    this.#apply(snapshot.assignments, dropped, snapshot.revisions);
    // Only here: within a connection the master sends the content of a revision once, and relies on it.
    this.#collectRevisions();
  }

  applyDelta(delta: MessageOf<'delta'>): void {
    this.#apply(delta.put, delta.drop, delta.revisions);
  }

  /** Resolves when all that was applied is on disk. */
  commit(): Promise<void> {
    return this.#disk.written();
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
      this.#assignments.set(assignment.id, assignment);
      this.#disk.put(ASSIGNMENTS + assignment.id, assignment);
    }
    for (const id of drop) {
      this.#assignments.delete(id);
      this.#disk.put(ASSIGNMENTS + id, undefined);
    }
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
