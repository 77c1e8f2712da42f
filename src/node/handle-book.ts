/**
 * What this node knows of each instance that it holds or held: its process, its last exit, how often it failed.
 * Kept on disk, so that the next daemon takes up exactly the processes that are ours. The installer and the
 * supervisor write it (see the field table in controllers/README.md); everything else reads it.
 */
import { z } from 'zod';
import type { PortProtocol } from '../channel/protocol/messages.js';
import type { Clock } from '../loop/clock.js';
import type { reasonSchema } from '../model/instance.js';
import { instanceIdSchema, nameSchema } from '../model/names.js';
import { pastRunSchema } from '../model/past-exit.js';
import { runIdentitySchema } from '../model/run-identity.js';
import { DEFAULT_STOP, type StopSettings, stopSettingsSchema, stopSignalSchema } from '../model/stopping.js';
import type { WriteBehind } from './write-behind.js';

const HANDLES = 'handles/';

const exitSchema = z.object({
  code: z.int().nullable(),
  signal: z.string().nullable(),
  at: z.number(),
  /** What code and signal do not tell, in words. */
  cause: z.string().optional(),
});

const stopBegunSchema = z.object({
  /** The last signal that was sent; null: the stop command. */
  signal: stopSignalSchema.nullable(),
  /** Unix milliseconds at which the stop began. */
  begunAt: z.number(),
});

/** What the readiness check of one run has come to. */
const readinessSchema = z.object({
  run: z.int(),
  /** False: not in time, but it may still become ready. */
  isReady: z.boolean(),
  /** Why it was not ready in time, in words. */
  problem: z.string().nullable(),
});

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
  /** The live process or container of `run`, or null. */
  process: runIdentitySchema.nullable(),
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
  /** How it is stopped, also when its configuration is no longer known. Like those below absent in older handles. */
  stop: stopSettingsSchema.default(DEFAULT_STOP),
  /** The ladder of a stop under way. */
  stopping: stopBegunSchema.nullable().default(null),
  /** Its last process ended by itself, and nobody has asked for a restart since. */
  hasEnded: z.boolean().default(false),
  /** Of runs that are not checked, or whose check goes on, there is nothing here. */
  readiness: readinessSchema.nullable().default(null),
  /** Number of the first line in its log that `run` wrote; kept where readiness asks for a line. */
  logFrom: z.int().default(1),
});

const KEPT_FIELDS = keptSchema.keyof().options;

/** Why the next start does not happen now. */
export interface Problem {
  readonly reason: z.output<typeof reasonSchema>;
  readonly message: string;
  readonly busyPort: number | null;
  readonly busyProtocol?: PortProtocol;
}

/** The ladder of a stop under way. */
export interface Stopping extends Readonly<z.output<typeof stopBegunSchema>> {
  /** Monotonic ms at which the last signal was sent, or the stop command written. */
  readonly signalledAt: number;
  /** Monotonic ms at which the stop began. */
  readonly since: number;
}

export type Handle = Readonly<Omit<z.output<typeof keptSchema>, 'stopping'>> & {
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
  /** What a long start is doing, in words; null: nothing was said. */
  readonly progress: string | null;
  /** The start under way is no longer wanted, and its runtime was told so. */
  readonly isStartCancelled: boolean;
  /** Something of the last run (its remains) may still live and must be ended before a start. */
  readonly hasRemains: boolean;
  /** Monotonic ms at which remains were last looked for. */
  readonly remainsCheckedAt: number | null;
  /** The working directory was removed on request. */
  readonly isCleared: boolean;
};

/** A handle for an instance that this node starts to hold. */
export function newHandle(
  facts: Pick<Handle, 'id' | 'configurationName' | 'static' | 'runtime' | 'restartToken'> & {
    /** Default: without a stop command, SIGTERM, 10 s. */
    readonly stop?: StopSettings;
  },
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
    stop: facts.stop ?? DEFAULT_STOP,
    hasEnded: false,
    readiness: null,
    logFrom: 1,
    upSince: null,
    notBefore: null,
    delayMs: 0,
    problem: null,
    stopping: null,
    isStarting: false,
    progress: null,
    isStartCancelled: false,
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
  async load(clock: Clock): Promise<void> {
    for (const { value } of await this.#disk.load(HANDLES)) {
      const { stopping, ...kept } = keptSchema.parse(value);
      this.#handles.set(kept.id, { ...newHandle(kept), ...kept, stopping: resumed(stopping, clock) });
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

  /**
   * Resolves when all that this node was told and did is on its disk, or cannot be written now. For what must not be
   * forgotten by a kill once somebody acts on it.
   */
  async keep(): Promise<void> {
    await this.#disk.tryToWrite();
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

/** By the wall clock, which is all that daemons have in common; one that was set back only makes a stop longer. */
function resumed(begun: z.output<typeof stopBegunSchema> | null, clock: Clock): Stopping | null {
  if (begun === null) return null;
  const since = clock.monotonic() - Math.max(0, clock.now() - begun.begunAt);
  return { ...begun, since, signalledAt: since };
}

/** The fields of `keptSchema`. Written out: every change of a handle comes through here. */
function keptOf(handle: Handle): z.output<typeof keptSchema> {
  const { stopping } = handle;
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
    stop: handle.stop,
    stopping: stopping === null ? null : { signal: stopping.signal, begunAt: stopping.begunAt },
    hasEnded: handle.hasEnded,
    readiness: handle.readiness,
    logFrom: handle.logFrom,
  };
}

/** Handles are replaced, never mutated, so nested values compare by identity. */
function isSameKept(a: Handle, b: Handle): boolean {
  return KEPT_FIELDS.every((field) => a[field] === b[field]);
}
