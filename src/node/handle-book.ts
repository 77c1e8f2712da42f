/**
 * What this node knows of each instance that it holds or held: its process, its last exit, its failures. It is kept on
 * disk, so that the next daemon takes up exactly its own processes. The installer and the supervisor write it (see the
 * field table in controllers/README.md); all others read it.
 */
import { z } from 'zod';
import { type PortProtocol, resolvedTemplateSchema } from '../channel/protocol/messages.js';
import type { Clock } from '../loop/clock.js';
import type { reasonSchema } from '../model/instance.js';
import { instanceIdSchema, nameSchema } from '../model/names.js';
import { pastRunSchema } from '../model/run/past-exit.js';
import { runIdentitySchema } from '../model/run/run-identity.js';
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

/** The result of the readiness check of one run. */
const readinessSchema = z.object({
  run: z.int(),
  /** False: not in time, but it may still become ready. */
  isReady: z.boolean(),
  /** Why it was not ready in time, in words. */
  problem: z.string().nullable(),
});

/** The last complete install of an instance that has templates. */
const installedSchema = z.object({
  /** The restart request that it answered. */
  restartToken: z.int(),
  /** What it was made from; each has a digest. */
  templates: z.array(resolvedTemplateSchema).readonly(),
  /** Why newer ones that the node knew of could not be had, for a person; null: there were none. */
  behind: z.string().nullable(),
});

/** The fields that outlive the daemon. */
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
  /** When the start of `run` was asked for, Unix milliseconds; null: not known, as in older handles. */
  begunAt: z.number().nullable().default(null),
  /** The end of the last process. */
  exit: exitSchema.nullable(),
  /** The last ends, newest first, for `instance why`. Older handles omit it. */
  exits: z.array(pastRunSchema).readonly().default([]),
  /** Restarts after unrequested exits, over the instance's life. */
  restarts: z.int(),
  /** Failures in a row (exits before 60 s, failed installs and starts); decides the delay before the next try. */
  streak: z.int(),
  /** The restart request that the node has acted on. */
  restartToken: z.int(),
  /**
   * How it is stopped, even when its configuration is unknown by now. Older handles omit this field and those below.
   */
  stop: stopSettingsSchema.default(DEFAULT_STOP),
  /** The stop ladder under way, or null. */
  stopping: stopBegunSchema.nullable().default(null),
  /** Its last process ended by itself, and no restart has been asked for since. */
  hasEnded: z.boolean().default(false),
  /** The master was told that its restart policy does not start it again. */
  hasFinished: z.boolean().default(false),
  /** Null while the check goes on, and for runs without one. */
  readiness: readinessSchema.nullable().default(null),
  /** What its last install found without effect, for a person; null: nothing. */
  warning: z.string().nullable().default(null),
  /** Number of the first line in its log that `run` wrote. Kept where readiness asks for a line. */
  logFrom: z.int().default(1),
  /** The port that `run` was started with, or null. Absent: unknown, as in older handles. */
  port: z.int().nullable().optional(),
  /** Null before the first install, and without templates. */
  installed: installedSchema.readonly().nullable().default(null),
});

type Kept = z.output<typeof keptSchema>;

const KEPT_FIELDS = keptSchema.keyof().options;

/** The reason why the next start does not happen now. */
export interface Problem {
  readonly reason: z.output<typeof reasonSchema>;
  readonly message: string;
  readonly busyPort: number | null;
  readonly busyProtocol?: PortProtocol;
  /** With `install-failed`: the tree that could not be fetched. */
  readonly digest?: string;
}

/** The stop ladder under way. */
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
  /** The delay behind `notBefore`, for the message. */
  readonly delayMs: number;
  readonly problem: Problem | null;
  readonly stopping: Stopping | null;
  /** The runtime was asked to start `run` and has not answered yet. */
  readonly isStarting: boolean;
  /** What a long start is doing, in words; null when the runtime has said nothing. */
  readonly progress: string | null;
  /** The start under way is not wanted any more, and its runtime was told so. */
  readonly isStartCancelled: boolean;
  /** Remains of the last run may still live and must be ended before a start. */
  readonly hasRemains: boolean;
  /** Monotonic ms of the last look for remains. */
  readonly remainsCheckedAt: number | null;
  /** The working directory was removed on request. */
  readonly isCleared: boolean;
};

/** A handle for an instance that is new to this node. */
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
    begunAt: null,
    exit: null,
    exits: [],
    restarts: 0,
    streak: 0,
    restartToken: facts.restartToken,
    stop: facts.stop ?? DEFAULT_STOP,
    hasEnded: false,
    hasFinished: false,
    readiness: null,
    warning: null,
    logFrom: 1,
    installed: null,
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

  /**
   * Reads what an earlier run kept. Of a handle that does not decode it takes the fields that do. Call once, before the
   * reconcilers start.
   */
  async load(clock: Clock): Promise<void> {
    const { readable, unreadable } = await this.#disk.load(HANDLES, (value) => keptSchema.parse(value));
    for (const kept of readable.values()) this.#take(kept, clock);
    for (const [id, value] of unreadable) {
      const kept = leftOf(id, value);
      // Without one, adoption makes the handle of what a runtime holds.
      if (kept !== undefined) this.#take(kept, clock);
    }
  }

  #take({ stopping, ...kept }: Kept, clock: Clock): void {
    this.#handles.set(kept.id, { ...newHandle(kept), ...kept, stopping: resumed(stopping, clock) });
  }

  /** Adds a listener, which hears that a handle changed or went. */
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
   * Resolves when everything that this node was told and did is on its disk, or cannot be written now. Call it before
   * anything happens that a kill must not make the node forget.
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

  /** Changes some fields of a handle. Does nothing when there is none. */
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

/**
 * Computes with the wall clock, the only one that two daemons share. A clock that was set back only makes a stop
 * longer.
 */
function resumed(begun: z.output<typeof stopBegunSchema> | null, clock: Clock): Stopping | null {
  if (begun === null) return null;
  const since = clock.monotonic() - Math.max(0, clock.now() - begun.begunAt);
  return { ...begun, since, signalledAt: since };
}

/** The handle that the readable fields of a stored one make. Undefined: too little is left. */
function leftOf(id: string, value: unknown): Kept | undefined {
  // Static: nothing of an instance that is not known may be deleted.
  const unknown = newHandle({ id, configurationName: 'unknown', static: true, runtime: '', restartToken: 0 });
  const fields: Record<string, unknown> = keptOf(unknown);
  for (const field of KEPT_FIELDS) {
    const { success, data } = keptSchema.shape[field].safeParse(Reflect.get(Object(value), field));
    if (success) fields[field] = data;
  }
  return keptSchema.safeParse({ ...fields, id }).data;
}

/** The fields of `keptSchema`. Written out for speed: every change of a handle comes through here. */
function keptOf(handle: Handle): Kept {
  const { stopping } = handle;
  return {
    id: handle.id,
    configurationName: handle.configurationName,
    static: handle.static,
    runtime: handle.runtime,
    run: handle.run,
    isPrepared: handle.isPrepared,
    process: handle.process,
    begunAt: handle.begunAt,
    exit: handle.exit,
    exits: handle.exits,
    restarts: handle.restarts,
    streak: handle.streak,
    restartToken: handle.restartToken,
    stop: handle.stop,
    stopping: stopping === null ? null : { signal: stopping.signal, begunAt: stopping.begunAt },
    hasEnded: handle.hasEnded,
    hasFinished: handle.hasFinished,
    readiness: handle.readiness,
    warning: handle.warning,
    logFrom: handle.logFrom,
    port: handle.port,
    installed: handle.installed,
  };
}

/** Handles are replaced, never mutated, so nested values compare by identity. */
function isSameKept(a: Handle, b: Handle): boolean {
  return KEPT_FIELDS.every((field) => a[field] === b[field]);
}
