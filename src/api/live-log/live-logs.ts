/** The live logs that clients follow: one log for each instance, shared by its clients. Made by the API server. */

import PQueue from 'p-queue';
import { logNodeOf } from '../../channel/services/instance-streams.js';
import { messageOf } from '../../model/errors.js';
import type { InstanceRecord } from '../../model/instance.js';
import type { ApiDependencies } from '../dependencies.js';
import { LiveLog } from './live-log.js';
import { LogReader, type LogRequest, type LogSink } from './live-log-reader.js';

/** How many clients may read from disk at once, each with its own stream. Other clients wait for a place. */
const MAX_FROM_DISK = 64;
/** How many earlier lines to read for a first client that resumes: such a client is probably not far behind. */
const RESUME_AHEAD = 100;

interface Followed {
  readonly live: LiveLog;
  readonly createdAt: number;
  clients: number;
}

export class LiveLogs {
  readonly #dependencies: ApiDependencies;
  readonly #followed = new Map<string, Set<Followed>>();
  readonly #places = new PQueue({ concurrency: MAX_FROM_DISK });
  readonly #unsubscribe: readonly (() => void)[];

  constructor(dependencies: ApiDependencies) {
    this.#dependencies = dependencies;
    const { instances, nodes } = dependencies;
    this.#unsubscribe = [
      instances.onChange((id, after, before) => {
        const isSame =
          after !== undefined &&
          before !== undefined &&
          logNodeOf(after.value) === logNodeOf(before.value) &&
          after.value.desired.goal === before.value.desired.goal;
        if (!isSame) this.#poke(id);
      }),
      nodes.onChange((_id, after, before) => {
        if (after?.value.condition === before?.value.condition) return;
        for (const id of [...this.#followed.keys()]) this.#poke(id);
      }),
    ];
  }

  /** Serves `sink` until it ends. Returns at once. */
  attach(sink: LogSink, record: InstanceRecord, request: LogRequest): void {
    const { streams, clock, logger } = this.#dependencies;
    const { start } = request;
    const followed = this.#follow(record, 'tail' in start ? start.tail : RESUME_AHEAD);
    followed.clients++;
    const { live } = followed;
    new LogReader({ sink, live, ...request, streams, clock, places: this.#places })
      .run()
      .catch((error: unknown) => {
        const fields = { err: error, instance: record.id };
        logger.error(fields, `a client of a live log could not be served: ${messageOf(error)}`);
        sink.fail();
      })
      .finally(() => this.#leave(record.id, followed));
  }

  /** Ends all logs. Idempotent. */
  close(): void {
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    for (const set of this.#followed.values()) for (const { live } of set) live.close();
  }

  #follow(record: InstanceRecord, ahead: number): Followed {
    const { id, createdAt } = record;
    const set = this.#followed.get(id) ?? new Set();
    const known = [...set].find((entry) => entry.createdAt === createdAt && !entry.live.isRemoved);
    if (known !== undefined) return known;
    const followed = { live: new LiveLog(this.#dependencies, record, ahead), createdAt, clients: 0 };
    this.#followed.set(id, set.add(followed));
    void followed.live.run();
    return followed;
  }

  #leave(id: string, followed: Followed): void {
    followed.clients--;
    if (followed.clients > 0) return;
    followed.live.close();
    const set = this.#followed.get(id);
    set?.delete(followed);
    if (set?.size === 0) this.#followed.delete(id);
  }

  #poke(id: string): void {
    for (const { live } of this.#followed.get(id) ?? []) live.poke();
  }
}
