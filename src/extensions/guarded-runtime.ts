/**
 * Wraps a runtime of an extension for the wrapper. An error of the runtime makes the runtime unavailable or fails a
 * single step. It never prevents the start or the end of the node.
 */
import { z } from 'zod';
import type { Clock } from '../loop/clock.js';
import { withDeadline } from '../loop/deadline.js';
import type { MaybePromise } from '../loop/maybe-promise.js';
import { DroverError, messageOf } from '../model/errors.js';
import type { RuntimeOffer } from '../model/node.js';
import { problemOf } from '../model/public-message.js';
import { exitSchema } from '../model/run/past-exit.js';
import { type RunIdentity, runIdentitySchema } from '../model/run/run-identity.js';
import type { StopTo } from '../model/stopping.js';
import type { ExitListener, Held, RunId, Runtime, StartSpec } from '../runtime/runtime.js';
import type { ExtensionGuard } from './extension-guard.js';

const PROBE_LIMIT_MS = 10_000;
const CALL_LIMIT_MS = 60_000;
const RELEASE_LIMIT_MS = 5000;

const runSchema = z.object({ instanceId: z.string(), run: z.int() });
const heldSchema = z.array(
  z.union([
    runSchema.extend({ process: runIdentitySchema, exit: z.null() }),
    runSchema.extend({ process: runIdentitySchema.nullable(), exit: exitSchema }),
  ]),
);
const offerSchema = z.object({
  available: z.boolean(),
  version: z.string().nullable().default(null),
  reason: z.string().nullable().default(null),
});

export class GuardedRuntime implements Runtime {
  readonly key: string;
  readonly #inner: Runtime;
  readonly #guard: ExtensionGuard;
  readonly #clock: Clock;

  constructor(inner: Runtime, guard: ExtensionGuard, clock: Clock) {
    this.key = inner.key;
    this.#inner = inner;
    this.#guard = guard;
    this.#clock = clock;
  }

  async probe(): Promise<RuntimeOffer> {
    try {
      const offer = await this.#bounded('probe', PROBE_LIMIT_MS, () => this.#inner.probe());
      return { ...offerSchema.parse(offer), key: this.key };
    } catch (error) {
      return { key: this.key, available: false, version: null, reason: messageOf(error) };
    }
  }

  async start(spec: StartSpec): Promise<RunIdentity> {
    return this.#answer('start', runIdentitySchema, () => this.#inner.start(spec));
  }

  async adopt(): Promise<readonly Held[]> {
    return this.#answer('adopt', heldSchema, () => this.#inner.adopt());
  }

  async list(): Promise<readonly Held[]> {
    return this.#answer('list', heldSchema, () => this.#inner.list());
  }

  /** A runtime of an extension sends the signal as it sees fit: its main processes are not asked for. */
  async signal(run: RunId, signal: NodeJS.Signals, to?: StopTo): Promise<readonly []> {
    await this.#bounded('signal', CALL_LIMIT_MS, () => this.#inner.signal(run, signal, to));
    return [];
  }

  async isAlive(run: RunId): Promise<boolean> {
    return await this.#bounded('isAlive', CALL_LIMIT_MS, () => this.#inner.isAlive(run));
  }

  /** False means "unknown", so it also stands for a failure. */
  isGroupGone(run: RunId): boolean {
    try {
      return this.#guard.callNow(() => this.#inner.isGroupGone(run)) === true;
    } catch (error) {
      this.#guard.report(error);
      return false;
    }
  }

  async write(run: RunId, bytes: Buffer): Promise<void> {
    await this.#bounded('write', CALL_LIMIT_MS, () => this.#inner.write(run, bytes));
  }

  async acknowledge(run: RunId): Promise<void> {
    await this.#bounded('acknowledge', CALL_LIMIT_MS, () => this.#inner.acknowledge(run));
  }

  onExit(listener: ExitListener): () => void {
    return this.#subscribe(() => this.#inner.onExit((run, exit) => this.#tellExit(listener, run, exit)));
  }

  onLost(listener: () => void): () => void {
    return this.#subscribe(() => this.#inner.onLost(() => this.#guard.outside(listener)));
  }

  async release(): Promise<void> {
    try {
      await this.#bounded('release', RELEASE_LIMIT_MS, () => this.#inner.release());
    } catch (error) {
      this.#guard.report(error);
    }
  }

  #tellExit(listener: ExitListener, run: unknown, exit: unknown): void {
    const ended = z.object({ run: runSchema, exit: exitSchema }).safeParse({ run, exit });
    if (ended.success) this.#guard.outside(() => listener(ended.data.run, ended.data.exit));
    else
      this.#guard.report(
        new Error('it reported an invalid exit; expected { instanceId, run }, { code, signal, at }'),
      );
  }

  #subscribe(subscribe: () => () => void): () => void {
    try {
      const unsubscribe: unknown = this.#guard.callNow(subscribe);
      return () => {
        if (typeof unsubscribe === 'function') unsubscribe();
      };
    } catch (error) {
      this.#guard.report(error);
      return () => undefined;
    }
  }

  /** The answer of the runtime, checked within the guard, so that a wrong answer is told as its fault. */
  #answer<T>(what: string, schema: z.ZodType<T>, work: () => unknown): Promise<T> {
    return this.#bounded(what, CALL_LIMIT_MS, async () => {
      const { data, error } = schema.safeParse(await work());
      if (error !== undefined) throw new Error(`its answer to ${what} is not valid: ${problemOf(error)}`);
      return data as T;
    });
  }

  async #bounded<T>(what: string, limitMs: number, work: () => MaybePromise<T>): Promise<T> {
    const clock = this.#clock;
    const expired = (): Error =>
      new DroverError(
        'DRV_RUNTIME_UNAVAILABLE',
        `runtime ${this.key} did not answer ${what} within ${limitMs / 1000} s`,
      );
    const signal = new AbortController().signal;
    try {
      return await withDeadline({ limitMs, clock, signal, expired }, () => this.#guard.call(work));
    } catch (error) {
      if (error instanceof DroverError) throw error;
      const code = what === 'start' ? 'DRV_RUNTIME_START_FAILED' : 'DRV_RUNTIME_UNAVAILABLE';
      throw new DroverError(code, `runtime ${this.key}: ${messageOf(error)}`, { cause: error });
    }
  }
}
