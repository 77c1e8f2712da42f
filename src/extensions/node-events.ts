/**
 * Turns changes of the master's mirrors into events, and hands them to the listeners of extensions, each through a queue
 * of its own.
 */

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../loop/clock.js';
import { withDeadline } from '../loop/deadline.js';
import type { ConfigurationRecord } from '../model/configuration.js';
import type { InstanceRecord } from '../model/instance.js';
import type { NodeRecord } from '../model/node.js';
import type { MirrorReader } from '../store/mirror.js';
import type { NodeEvent, NodeEventListener } from './extension.js';

export interface EventSources {
  readonly instances: Pick<MirrorReader<InstanceRecord>, 'onChange'>;
  readonly configurations: Pick<MirrorReader<ConfigurationRecord>, 'onChange'>;
  readonly nodes: Pick<MirrorReader<NodeRecord>, 'onChange'>;
}

/**
 * Emits events for all changes. Call it before the mirrors start, so that existing records give events too. Returns the
 * function that unsubscribes.
 */
export function followEvents(
  { instances, configurations, nodes }: EventSources,
  emit: (event: NodeEvent) => void,
): () => void {
  const unsubscribe = [
    instances.onChange((instanceId, after, before) => {
      const record = after?.value ?? before?.value;
      const from = before?.value.status.state ?? null;
      const to = after?.value.status.state ?? null;
      if (record === undefined || from === to) return;
      emit({ type: 'instance-state', instanceId, configurationName: record.configurationName, from, to });
    }),
    nodes.onChange((nodeId, after, before) => {
      const condition = after?.value.condition;
      if (condition !== undefined && condition !== before?.value.condition)
        emit({ type: 'node-condition', nodeId, condition });
    }),
    configurations.onChange((name, after, before) => {
      const change = after === undefined ? 'removed' : before === undefined ? 'added' : 'changed';
      if (before?.value.hash !== after?.value.hash) emit({ type: 'configuration', name, change });
    }),
  ];
  return () => {
    for (const end of unsubscribe) end();
  };
}

const MAX_WAITING = 10_000;
const BATCH = 500;
/** How long the next event waits for a listener's answer. */
const ANSWER_LIMIT_MS = 30_000;
/** How long events are handed over in one turn of the event loop. */
const TURN_MS = 10;

interface EventQueueOptions {
  readonly listener: NodeEventListener;
  readonly clock: Clock;
  /** Called when the listener threw, rejected or hung. */
  readonly onFault: (error: unknown) => void;
  /** Called with the number of dropped events since the last call. Events are dropped when too many wait. */
  readonly onDropped: (count: number) => void;
}

export class EventQueue {
  readonly #options: EventQueueOptions;
  readonly #stopped = new AbortController();
  #waiting: NodeEvent[] = [];
  #dropped = 0;
  #isRunning = false;

  constructor(options: EventQueueOptions) {
    this.#options = options;
  }

  add(event: NodeEvent): void {
    if (this.#stopped.signal.aborted) return;
    if (this.#waiting.length >= MAX_WAITING) {
      // Drop half at once: dropping only the oldest for each new event would move all others every time.
      const kept = this.#waiting.slice(MAX_WAITING / 2);
      this.#dropped += this.#waiting.length - kept.length;
      this.#waiting = kept;
    }
    this.#waiting.push(event);
    if (!this.#isRunning) void this.#run();
  }

  /** Drops waiting events. Idempotent. */
  stop(): void {
    this.#stopped.abort();
    this.#waiting = [];
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    await nextTurn();
    while (this.#waiting.length > 0) await this.#handOver(this.#waiting.splice(0, BATCH));
    this.#isRunning = false;
  }

  async #handOver(batch: readonly NodeEvent[]): Promise<void> {
    const { clock, onDropped } = this.#options;
    if (this.#dropped > 0) onDropped(this.#dropped);
    this.#dropped = 0;
    let turnEndsAt = clock.monotonic() + TURN_MS;
    for (const event of batch) {
      if (this.#stopped.signal.aborted) return;
      await this.#handOne(event);
      if (clock.monotonic() < turnEndsAt) continue;
      await nextTurn();
      turnEndsAt = clock.monotonic() + TURN_MS;
    }
  }

  async #handOne(event: NodeEvent): Promise<void> {
    const { listener, clock, onFault } = this.#options;
    const expired = (): Error =>
      new Error(`a listener did not answer within ${ANSWER_LIMIT_MS / 1000} s and is not waited for`);
    const { signal } = this.#stopped;
    try {
      const answer: unknown = listener(event);
      if (answer instanceof Promise)
        await withDeadline({ limitMs: ANSWER_LIMIT_MS, clock, signal, expired }, () => answer);
    } catch (error) {
      if (!signal.aborted) onFault(error);
    }
  }
}
