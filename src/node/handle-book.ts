/** The handles of this node, kept on disk so that the next daemon takes over exactly its own processes. */
import type { Clock } from '../loop/clock.js';
import { Conflict } from '../loop/reconciler.js';
import {
  AT_ONCE,
  changed,
  type Handle,
  isPrepared,
  newHandle,
  type Phase,
  processOf,
  sharedFieldsOf,
  stoppingOf,
} from './handle.js';
import { type HandleRecord, handleRecordSchema } from './handle-record.js';
import type { WriteBehind } from './write-behind.js';

const HANDLES = 'handles/';
const RECORD_FIELDS = handleRecordSchema.keyof().options;
/** The fields that a handle and its record share. */
const SHARED_FIELDS = handleRecordSchema
  .omit({ isPrepared: true, process: true, stopping: true, hasEnded: true, hasFinished: true })
  .keyof().options;

export class HandleBook {
  readonly #disk: WriteBehind;
  readonly #handles = new Map<string, Handle>();
  readonly #listeners: ((id: string) => void)[] = [];

  constructor(disk: WriteBehind) {
    this.#disk = disk;
  }

  /**
   * Reads the handles of an earlier daemon. From a handle that does not decode, takes the readable fields. Call once,
   * before the reconcilers start.
   */
  async load(clock: Clock): Promise<void> {
    const { readable, unreadable } = await this.#disk.load(HANDLES, handleRecordSchema);
    for (const kept of readable.values()) this.#handles.set(kept.id, handleOf(kept, clock));
    for (const [id, value] of unreadable) {
      const kept = leftOf(id, value);
      // Skip a handle with too few readable fields: adoption then makes one from what a runtime reports.
      if (kept !== undefined) this.#handles.set(id, handleOf(kept, clock));
    }
  }

  /** Adds a listener that is called when a handle changed or was removed. */
  onChange(listener: (id: string) => void): void {
    this.#listeners.push(listener);
  }

  get(id: string): Handle | undefined {
    return this.#handles.get(id);
  }

  /** The handle of a run that is up. Throws Conflict when the run is over. */
  requireUp(id: string, run: number): Handle {
    const handle = this.#handles.get(id);
    if (handle?.run === run && handle.phase.is === 'up') return handle;
    throw new Conflict(`run ${run} of ${id} has ended`);
  }

  values(): IterableIterator<Handle> {
    return this.#handles.values();
  }

  /**
   * Resolves when every change of a handle is on disk, or cannot be written now. Call it before an action that the node
   * must remember after a kill.
   */
  async keep(): Promise<void> {
    await this.#disk.tryToWrite();
  }

  put(handle: Handle): void {
    const before = this.#handles.get(handle.id);
    if (before === handle) return;
    this.#handles.set(handle.id, handle);
    if (before === undefined || !isSameKept(before, handle))
      this.#disk.put(HANDLES + handle.id, recordOf(handle));
    this.#tell(handle.id);
  }

  /** Changes some fields of a handle. Does nothing when the handle does not exist. */
  change(id: string, fields: Partial<Omit<Handle, 'id' | 'phase'>>): void {
    this.move(id, (handle) => changed(handle, fields));
  }

  /**
   * Replaces a handle by the result of `step`, a function of `handle.ts`. Does nothing when the handle does not exist.
   */
  move(id: string, step: (handle: Handle) => Handle): void {
    const handle = this.#handles.get(id);
    if (handle !== undefined) this.put(step(handle));
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

function handleOf(kept: HandleRecord, clock: Clock): Handle {
  const { isPrepared, process, stopping, hasEnded, hasFinished, ...fields } = kept;
  const end = !hasEnded ? 'asked' : hasFinished ? 'final' : 'unasked';
  return { ...fields, end, phase: phaseOf(kept, clock) };
}

function phaseOf({ isPrepared, process, stopping: begun }: HandleRecord, clock: Clock): Phase {
  // Use the wall clock, because two daemons share no other clock. A clock that was set back only makes a stop longer.
  const since = clock.monotonic() - Math.max(0, clock.now() - (begun?.begunAt ?? 0));
  const stopping = begun && { ...begun, since, signalledAt: since };
  if (process !== null) return { is: 'up', process, since: null, stopping };
  if (stopping !== null) return { is: 'stopped', stopping };
  return { is: 'down', directory: isPrepared ? 'prepared' : 'stale', next: AT_ONCE };
}

/** The record made from the readable fields of a stored handle. Undefined: too few fields are readable. */
function leftOf(id: string, value: unknown): HandleRecord | undefined {
  // Assume `static` for an unknown instance, so that none of its files is deleted.
  const unknown = newHandle({ id, configurationName: 'unknown', static: true, runtime: '', restartToken: 0 });
  const fields: Record<string, unknown> = recordOf(unknown);
  for (const field of RECORD_FIELDS) {
    const { success, data } = handleRecordSchema.shape[field].safeParse(Reflect.get(Object(value), field));
    if (success) fields[field] = data;
  }
  return handleRecordSchema.safeParse({ ...fields, id }).data;
}

function recordOf(handle: Handle): HandleRecord {
  return Object.assign(sharedFieldsOf(handle), {
    isPrepared: isPrepared(handle),
    process: processOf(handle),
    stopping: begunOf(handle),
    hasEnded: handle.end !== 'asked',
    hasFinished: handle.end === 'final',
  });
}

/** A stop that has reached nothing yet begins anew under the next daemon. */
function begunOf(handle: Handle): HandleRecord['stopping'] {
  const { signal = 'none', begunAt = 0, mains = [] } = stoppingOf(handle) ?? {};
  if (signal === 'none') return null;
  return { signal, begunAt, ...(mains.length > 0 && { mains }) };
}

/** A look at the main processes changes nothing of what is kept. */
function isSameStop(a: Handle, b: Handle): boolean {
  const [before, after] = [stoppingOf(a), stoppingOf(b)];
  return (
    before?.signal === after?.signal && before?.begunAt === after?.begunAt && before?.mains === after?.mains
  );
}

/** Handles are replaced, never mutated, so nested values compare by identity. */
function isSameKept(a: Handle, b: Handle): boolean {
  const isSamePhase =
    a.phase === b.phase ||
    (isPrepared(a) === isPrepared(b) && processOf(a) === processOf(b) && isSameStop(a, b));
  return isSamePhase && a.end === b.end && SHARED_FIELDS.every((field) => a[field] === b[field]);
}
