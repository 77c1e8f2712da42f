/**
 * What this node knows of each instance that it holds or held: its process, its last exit, how often it failed.
 * Kept on disk, so that the next daemon takes up exactly the processes that are ours. The installer and the
 * supervisor write it (see the field table in controllers/README.md); everything else reads it.
 */
import { z } from 'zod';
import type { PortProtocol } from '../channel/messages.js';
import type { reasonSchema } from '../model/instance.js';
import { instanceIdSchema, nameSchema } from '../model/names.js';
import { pastRunSchema } from '../model/past-exit.js';
import type { WriteBehind } from './write-behind.js';

const HANDLES = 'handles/';

const processSchema = z.object({ pid: z.int(), startTime: z.number(), bootId: z.string() });
const exitSchema = z.object({ code: z.int().nullable(), signal: z.string().nullable(), at: z.number() });

/** The part that outlives the daemon. */
const keptSchema = z.object({
  id: instanceIdSchema,
  configurationName: nameSchema,
  static: z.boolean(),
  runtime: nameSchema,
  /** Number of the current or last start; 0: never started here. */
  run: z.int(),
  /** The working directory is complete and fresh for start number `run + 1`. */
  isPrepared: z.boolean(),
  /** The live process of `run`, or null. */
  process: processSchema.nullable(),
  /** How the last process ended. */
  exit: exitSchema.nullable(),
  /** The last ends, newest first, for `instance why`. Handles of earlier versions have none. */
  exits: z.array(pastRunSchema).readonly().default([]),
  /** Restarts after exits that nobody asked for, over the instance's life. */
  restarts: z.int(),
  /** Failures in a row (exits before 60 s, failed installs and starts); decides the delay before the next try. */
  streak: z.int(),
  /** The restart request that was acted on. */
  restartToken: z.int(),
});

const KEPT_FIELDS = keptSchema.keyof().options;

/** Why the next start does not happen now. */
export interface Problem {
  readonly reason: z.output<typeof reasonSchema>;
  readonly message: string;
  readonly busyPort: number | null;
  readonly busyProtocol?: PortProtocol;
}

/** The ladder of a stop under way; starts over when the daemon does. */
export interface Stopping {
  /** Monotonic ms at which the last signal was sent. */
  readonly signalledAt: number;
  readonly signal: NodeJS.Signals;
  /** Monotonic ms at which the stop began. */
  readonly since: number;
}

export type Handle = Readonly<z.output<typeof keptSchema>> & {
  /** Monotonic ms at which the process was started or adopted. */
  readonly upSince: number | null;
  /** Monotonic ms before which it is not started again; null: at once. */
  readonly notBefore: number | null;
  /** The delay that `notBefore` was made from, for the message. */
  readonly delayMs: number;
  readonly problem: Problem | null;
  readonly stopping: Stopping | null;
  /** The runtime was asked to start `run` and has not answered. */
  readonly isStarting: boolean;
  /** Something of the last run (group members, strays) may still live and must be ended before a start. */
  readonly hasRemains: boolean;
  /** Monotonic ms at which remains were last looked for. */
  readonly remainsCheckedAt: number | null;
  /** The working directory was removed on request. */
  readonly isCleared: boolean;
};

/** A handle for an instance that this node starts to hold. */
export function newHandle(
  facts: Pick<Handle, 'id' | 'configurationName' | 'static' | 'runtime' | 'restartToken'>,
): Handle {
  return {
    id: facts.id,
    configurationName: facts.configurationName,
    static: facts.static,
    runtime: facts.runtime,
    run: 0,
    isPrepared: false,
    process: null,
    exit: null,
    exits: [],
    restarts: 0,
    streak: 0,
    restartToken: facts.restartToken,
    upSince: null,
    notBefore: null,
    delayMs: 0,
    problem: null,
    stopping: null,
    isStarting: false,
    hasRemains: false,
    remainsCheckedAt: null,
    isCleared: false,
  };
}

export class HandleBook {
  readonly #disk: WriteBehind;
  readonly #handles = new Map<string, Handle>();
  readonly #listeners: ((id: string) => void)[] = [];

  constructor(disk: WriteBehind) {
    this.#disk = disk;
  }

  /** Reads what was kept. Call once, before the reconcilers start. */
  async load(): Promise<void> {
    for (const { value } of await this.#disk.load(HANDLES)) {
      const kept = keptSchema.parse(value);
      this.#handles.set(kept.id, { ...newHandle(kept), ...kept });
    }
  }

  /** A handle changed or went. */
  onChange(listener: (id: string) => void): void {
    this.#listeners.push(listener);
  }

  get(id: string): Handle | undefined {
    return this.#handles.get(id);
  }

  values(): IterableIterator<Handle> {
    return this.#handles.values();
  }

  put(handle: Handle): void {
    const before = this.#handles.get(handle.id);
    this.#handles.set(handle.id, handle);
    if (before === undefined || !isSameKept(before, handle))
      this.#disk.put(HANDLES + handle.id, keptOf(handle));
    this.#tell(handle.id);
  }

  /** Changes some fields of a handle that exists; without one nothing happens. */
  change(id: string, fields: Partial<Handle>): void {
    const handle = this.#handles.get(id);
    if (handle !== undefined) this.put({ ...handle, ...fields });
  }

  remove(id: string): void {
    if (!this.#handles.delete(id)) return;
    this.#disk.put(HANDLES + id, undefined);
    this.#tell(id);
  }

  #tell(id: string): void {
    for (const listener of this.#listeners) listener(id);
  }
}

/** The fields of `keptSchema`. Written out: every change of a handle comes through here. */
function keptOf(handle: Handle): z.output<typeof keptSchema> {
  return {
    id: handle.id,
    configurationName: handle.configurationName,
    static: handle.static,
    runtime: handle.runtime,
    run: handle.run,
    isPrepared: handle.isPrepared,
    process: handle.process,
    exit: handle.exit,
    exits: handle.exits,
    restarts: handle.restarts,
    streak: handle.streak,
    restartToken: handle.restartToken,
  };
}

/** Handles are replaced, never mutated, so nested values compare by identity. */
function isSameKept(a: Handle, b: Handle): boolean {
  return KEPT_FIELDS.every((field) => a[field] === b[field]);
}
