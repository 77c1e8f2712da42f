/**
 * Keeps the last events in the store, from the changes of the master's records. An event is written within a second, so
 * a master that is killed may lose the events of its last second; the records themselves are written at once.
 */

import type { TimerHandle } from '../../../src/loop/clock.js';
import { type EventRecord, MAX_EVENTS, type NewEvent } from '../../../src/model/event.js';
import type { StateRecords } from '../../../src/state/master-state.js';
import { eventKey } from '../../../src/store/keys.js';
import type { MirrorReader } from '../../../src/store/mirror.js';
import type { Operation } from '../../../src/store/store.js';
import { inSteps } from '../../../src/store/transaction.js';
import type { Ambient } from '../../../src/telemetry/ambient.js';
import {
  eventsOfHistory,
  eventsOfInstance,
  eventsOfNode,
  eventsOfRollout,
  eventsOfTimetable,
  fold,
  foldKeyOf,
  recordOf,
} from './plan.js';

const WRITE_AFTER_MS = 1000;
const RETRY_AFTER_MS = 10_000;
const ID_DIGITS = 12;

interface EventRecorderOptions extends Ambient {
  readonly state: Pick<
    StateRecords,
    'store' | 'events' | 'instances' | 'configurations' | 'histories' | 'nodes' | 'rollouts' | 'timetables'
  >;
  /** Aborts at the end of the term. */
  readonly ending: AbortSignal;
}

interface Kept {
  readonly id: string;
  readonly record: EventRecord;
}

export class EventRecorder {
  readonly #options: EventRecorderOptions;
  /** The newest event of each fold key, the latest last. At most `MAX_EVENTS`. */
  readonly #latest = new Map<string, Kept>();
  /** The events that are not written yet, by id. */
  #unwritten = new Map<string, EventRecord>();
  #lastId = 0;
  #timer: TimerHandle | undefined;
  #write: Promise<void> = Promise.resolve();

  constructor(options: EventRecorderOptions) {
    this.#options = options;
  }

  start(): void {
    const { state, ending } = this.#options;
    const { instances, configurations, histories, nodes, rollouts } = state;
    for (const [id, { value }] of [...state.events.entries()].sort(
      ([, a], [, b]) => a.value.until - b.value.until,
    )) {
      this.#keep(foldKeyOf(value), { id, record: value });
      this.#lastId = Math.max(this.#lastId, Number(id));
    }
    const follow = <T>(
      mirror: MirrorReader<T>,
      eventsOf: (id: string, before: T | undefined, after: T | undefined) => readonly NewEvent[],
    ): void =>
      void mirror.onChange((id, after, before) => {
        for (const event of eventsOf(id, before?.value, after?.value)) this.note(event);
      }, ending);
    const nodeOf = (id: string): string | undefined => {
      const record = instances.get(id)?.value;
      return record?.placement?.nodeId ?? record?.home?.nodeId;
    };
    follow(instances, (_id, before, after) => eventsOfInstance(before, after, nodeOf));
    follow(rollouts, (_name, before, after) => eventsOfRollout(before, after));
    follow(state.timetables, eventsOfTimetable);
    follow(nodes, eventsOfNode);
    follow(histories, eventsOfHistory);
    follow(configurations, (configuration, _before, after) =>
      after === undefined ? [{ kind: 'deleted', configuration }] : [],
    );
  }

  /** Takes an event that no record shows, such as what a person did. */
  note(event: NewEvent): void {
    const { clock, ending } = this.#options;
    if (ending.aborted) return;
    const next = recordOf(event, clock.now());
    const key = foldKeyOf(next);
    const known = this.#latest.get(key);
    const folded = known && fold(known.record, next);
    const id =
      known !== undefined && folded !== undefined
        ? known.id
        : String(++this.#lastId).padStart(ID_DIGITS, '0');
    const record = folded ?? next;
    this.#keep(key, { id, record });
    this.#unwritten.set(id, record);
    this.#flushIn(WRITE_AFTER_MS);
  }

  /** Writes what is left. Idempotent. */
  async stop(): Promise<void> {
    this.#flush();
    await this.#write;
  }

  #keep(key: string, kept: Kept): void {
    this.#latest.delete(key);
    this.#latest.set(key, kept);
    if (this.#latest.size > MAX_EVENTS)
      for (const oldest of this.#latest.keys()) {
        this.#latest.delete(oldest);
        break;
      }
  }

  /** After the term nothing is written: this master may lead again by then, and its new recorder gives the ids. */
  #flushIn(ms: number): void {
    const { clock, ending } = this.#options;
    this.#timer ??= clock.setTimer(ms, () => {
      if (!ending.aborted) this.#flush();
    });
  }

  #flush(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#write = this.#write.then(() => this.#put());
  }

  /** Writes what is there now. A webhook passes an event over that appears after a later one. */
  async #put(): Promise<void> {
    const { store } = this.#options.state;
    const told = this.#unwritten;
    this.#unwritten = new Map();
    try {
      for (const step of inSteps(this.#operations(told))) await store.transact(step);
    } catch (error) {
      const { logger, ending } = this.#options;
      if (ending.aborted) return;
      logger.warn({ err: error }, 'the latest events could not be written, and are tried again');
      // Events that came meanwhile are newer.
      this.#unwritten = new Map([...[...told].slice(-MAX_EVENTS), ...this.#unwritten]);
      this.#flushIn(RETRY_AFTER_MS);
    }
  }

  #operations(told: ReadonlyMap<string, EventRecord>): Operation[] {
    const all = new Map(
      [...this.#options.state.events.entries()].map(([id, { value }]) => [id, value.until]),
    );
    for (const [id, { until }] of told) all.set(id, until);
    const over = [...all].sort(([, a], [, b]) => a - b).slice(0, Math.max(0, all.size - MAX_EVENTS));
    const gone = new Set(over.map(([id]) => id));
    return [
      ...[...gone].map((id) => ({ do: 'remove' as const, key: eventKey(id) })),
      ...[...told].flatMap(([id, value]) =>
        gone.has(id) ? [] : [{ do: 'put' as const, key: eventKey(id), value }],
      ),
    ];
  }
}
