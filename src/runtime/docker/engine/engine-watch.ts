/**
 * Keeps a connection to the engine's events while there are containers to watch. After each connect the earlier changes
 * are looked up; later changes arrive as events. Nothing is polled.
 */
import { z } from 'zod';
import { Backoff } from '../../../loop/backoff.js';
import { pause } from '../../../loop/pause.js';
import { DroverError, messageOf } from '../../../model/errors.js';
import type { Ambient } from '../../../telemetry/ambient.js';
import { unavailable } from '../../failures.js';
import type { Engine } from './engine.js';
import { jsonLines } from './json-lines.js';

const eventSchema = z.object({
  Action: z.string(),
  Actor: z.object({ ID: z.string(), Attributes: z.record(z.string(), z.string()).default({}) }),
});

/** The delays before an engine is asked again, so that a hung engine is never asked in a loop. */
export const ENGINE_RETRY = { baseMs: 200, maxMs: 10_000 };
/** The engine's names for the removal of a container. */
const REMOVALS = new Set(['destroy', 'remove']);

export type EngineEvent =
  | { readonly kind: 'ended'; readonly containerId: string; readonly exitCode: number | undefined }
  | { readonly kind: 'removed'; readonly containerId: string };

interface EngineWatchOptions extends Ambient {
  readonly engine: Engine;
  readonly rootId: string;
  /** Looks up what happened before the connection. Events that arrive meanwhile wait. */
  readonly onConnected: () => Promise<void>;
  readonly onEvent: (event: EngineEvent) => void;
  readonly random: () => number;
}

export class EngineWatch {
  readonly #options: EngineWatchOptions;
  readonly #backoff: Backoff;
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;
  #succeed: () => void = () => undefined;
  #reject: (error: unknown) => void = () => undefined;
  /** The present attempt to connect, for all who wait for it. */
  #attempt = this.#newAttempt();
  #isBroken = false;

  constructor(options: EngineWatchOptions) {
    this.#options = options;
    this.#backoff = new Backoff(options.random, ENGINE_RETRY);
  }

  /**
   * Begins to connect, once. Resolves when the connection is open and earlier changes were looked up. Rejects with
   * DRV_RUNTIME_UNAVAILABLE when the present attempt fails; further attempts follow until `stop`.
   */
  async connected(): Promise<void> {
    this.#running ??= this.#run();
    await this.#attempt;
  }

  /**
   * Stops watching. Resolves when no more events are read. The caller closes the engine first, which ends the stream
   * of events. Idempotent.
   */
  async stop(): Promise<void> {
    this.#stop.abort();
    this.#fail(unavailable('this runtime was released'));
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        await this.#listen(signal);
      } catch (error) {
        if (signal.aborted) return;
        this.#sayBroken(error);
        this.#fail(error);
      }
      await pause(this.#options.clock, this.#backoff.next(), signal);
      if (!signal.aborted) this.#attempt = this.#newAttempt();
    }
  }

  async #listen(signal: AbortSignal): Promise<void> {
    const { engine, rootId, onConnected, onEvent, logger } = this.#options;
    // Open the stream before the look-up, so that no change between the two is missed.
    const stream = await engine.events(rootId, signal);
    await onConnected();
    if (this.#isBroken) logger.info('the container engine answers again');
    this.#isBroken = false;
    this.#backoff.clear();
    this.#succeed();
    try {
      for await (const line of jsonLines(stream)) {
        const event = toEvent(line);
        if (event !== undefined) onEvent(event);
      }
    } finally {
      stream.destroy();
    }
    throw unavailable('the container engine closed the connection');
  }

  #newAttempt(): Promise<void> {
    const attempt = new Promise<void>((resolve, reject) => {
      this.#succeed = resolve;
      this.#reject = reject;
    });
    // Mark the rejection as handled, because nobody may be waiting for this attempt.
    attempt.catch(() => undefined);
    return attempt;
  }

  /** Fails the present attempt, also for callers that come before the next attempt begins. */
  #fail(error: unknown): void {
    const reason = DroverError.is(error, 'DRV_RUNTIME_UNAVAILABLE')
      ? error
      : unavailable(messageOf(error), error);
    this.#reject(reason);
    this.#attempt = Promise.reject(reason);
    this.#attempt.catch(() => undefined);
  }

  #sayBroken(error: unknown): void {
    const { logger } = this.#options;
    if (this.#isBroken) logger.debug({ err: error }, 'the container engine cannot be reached');
    else
      logger.warn(
        { reason: messageOf(error) },
        `the container engine cannot be reached; its instances are taken up when it answers: ${messageOf(error)}`,
      );
    this.#isBroken = true;
  }
}

function toEvent(line: unknown): EngineEvent | undefined {
  const { Action, Actor } = eventSchema.parse(line);
  if (REMOVALS.has(Action)) return { kind: 'removed', containerId: Actor.ID };
  if (Action !== 'die') return undefined;
  const exitCode = Number(Actor.Attributes.exitCode ?? Number.NaN);
  return {
    kind: 'ended',
    containerId: Actor.ID,
    exitCode: Number.isInteger(exitCode) ? exitCode : undefined,
  };
}
