/**
 * All clients of the change stream. Changes gather for 100 ms and go out in one round. No client has a queue: a slow
 * client keeps its place, and when its connection has drained it gets the newest entries from there on.
 */

import { randomUUID } from 'node:crypto';
import type { Clock, TimerHandle } from '../../loop/clock.js';
import { DroverError, invalidRequest, messageOf } from '../../model/errors.js';
import { cutToBytes } from '../../model/words.js';
import type { Logger } from '../../telemetry/logger.js';
import type { ApiDependencies } from '../dependencies.js';
import type { LiveLogs } from '../live-log/live-logs.js';
import type { InstanceView } from '../routes/instances/instance-view.js';
import { MessagePacket } from '../sockets/message-packet.js';
import { type FilterName, Topic } from './topic.js';
import { topicSources } from './topic-sources.js';
import type { Sight } from './watch-filter.js';
import { BEAT_TEXT, type LogOptions, logOptionsSchema } from './watch-messages.js';
import { WatchRound } from './watch-round.js';
import { instanceOfLog, logSinkOf } from './watched-log.js';
import { type Subscription, Watcher, type WatchSink } from './watcher.js';

/** Each client gets at most one frame in this time. */
const ROUND_MS = 100;
/** How long clients are served before other work may run. */
const TURN_MS = 5;
/**
 * How often is looked for quiet clients. A beat comes after two quiet looks: after 10 to 15 s, and clients wait for 20 s.
 */
const LOOK_MS = 5000;
const LOOKS_BEFORE_BEAT = 2;
const MAX_NAME_BYTES = 64;
/** How many earlier lines a client gets by default, as on the socket of a live log. */
const DEFAULT_TAIL = 100;
const BEAT = new MessagePacket([BEAT_TEXT]);

/** A subscription of a topic or of a log. */
interface AnySubscription extends Subscription {
  readonly log?: LogOptions | undefined;
}

export class Watchers {
  /** A new id in each run of the master. A reader that resumes learns from the id whether its place is still valid. */
  readonly #epoch = randomUUID();
  readonly #clock: Clock;
  readonly #logger: Pick<Logger, 'error'>;
  readonly #liveLogs: LiveLogs;
  readonly #view: InstanceView;
  readonly #topics = new Map<string, Topic>();
  readonly #watchers = new Set<Watcher>();
  /** The clients to be served, in order. */
  readonly #due = new Set<Watcher>();
  #round = new WatchRound(this.#epoch, []);
  #roundAt = Number.NEGATIVE_INFINITY;
  #nextRound: TimerHandle | undefined;
  #beat: TimerHandle | undefined;
  #isServing = false;

  constructor(dependencies: ApiDependencies, liveLogs: LiveLogs, view: InstanceView) {
    this.#clock = dependencies.clock;
    this.#logger = dependencies.logger;
    this.#liveLogs = liveLogs;
    this.#view = view;
    for (const [name, source] of Object.entries(topicSources(dependencies, view)))
      this.#topics.set(name, new Topic(name, source, () => this.#planRound()));
  }

  /** The names of the topics. */
  get topics(): readonly string[] {
    return [...this.#topics.keys()];
  }

  /**
   * The filters that a topic supports. Throws DRV_REQUEST_INVALID when there is no such topic, or this reader may not
   * follow it.
   */
  filtersOf(topic: string, sight: Sight): readonly FilterName[] {
    return this.#topicOf(topic, sight).source.filters;
  }

  /** Serves `sink` until it ends. The client follows no topic until `subscribe`. */
  open(sink: WatchSink, sight: Sight): Watcher {
    const watcher = new Watcher(sink, sight, this.#epoch);
    this.#watchers.add(watcher);
    sink.outlet.signal.addEventListener('abort', () => this.#forget(watcher), { once: true });
    this.#beat ??= this.#clock.setTimer(LOOK_MS, () => this.#onBeat());
    return watcher;
  }

  /**
   * Subscribes a client to a topic. Throws DRV_REQUEST_INVALID when there is no such topic, or the topic does not
   * support a filter. Throws DRV_INSTANCE_UNKNOWN for the log of an unknown instance.
   */
  subscribe(watcher: Watcher, topic: string, { log, ...subscription }: AnySubscription): void {
    const id = instanceOfLog(topic);
    if (id !== undefined) {
      if (subscription.filter !== undefined || subscription.resume !== undefined)
        throw invalidRequest(
          `${topic} takes no filter and no resume: "log": {"since": NUMBER} goes on behind a line`,
        );
      this.#followLog(watcher, id, log ?? logOptionsSchema.parse({}));
      return;
    }
    if (log !== undefined) throw invalidRequest('"log" is for topics log:ID');
    watcher.subscribe(this.#topicOf(topic, watcher.sight), subscription);
    this.#serveSoon(watcher);
  }

  /** Ends a subscription. Throws DRV_REQUEST_INVALID when there is no such topic. */
  unsubscribe(watcher: Watcher, topic: string): void {
    if (instanceOfLog(topic) !== undefined) watcher.closeLog(topic);
    else watcher.unsubscribe(this.#topicOf(topic, watcher.sight));
  }

  /** Ends the topics. Idempotent. */
  close(): void {
    this.#nextRound?.cancel();
    this.#beat?.cancel();
    this.#watchers.clear();
    for (const topic of this.#topics.values()) topic.close();
  }

  #followLog(
    watcher: Watcher,
    id: string,
    { tail, since, node, timestamps: isTimed, ansi: isAnsi }: LogOptions,
  ): void {
    if (tail !== undefined && since !== undefined) throw invalidRequest('give one of tail and since');
    if (node !== undefined && since === undefined)
      throw invalidRequest('node is for since: the number of a line there');
    const record = this.#view.record(id);
    if (record === undefined || !watcher.sight.sees(record.configurationName))
      throw new DroverError('DRV_INSTANCE_UNKNOWN', `there is no instance ${cutToBytes(id, MAX_NAME_BYTES)}`);
    const topic = `log:${id}`;
    const start = since === undefined ? { tail: tail ?? DEFAULT_TAIL } : { since, node };
    const sink = logSinkOf(watcher.sink, { topic, isAnsi, isTimed }, watcher.openLog(topic));
    this.#liveLogs.attach(sink, record, { start, isTimed });
  }

  #topicOf(name: string, { configurations }: Sight): Topic {
    const topic = this.#topics.get(name);
    const shown = cutToBytes(name, MAX_NAME_BYTES);
    if (topic === undefined)
      throw invalidRequest(`there is no topic ${shown}: there are ${this.topics.join(', ')}, log:ID`);
    if (topic.source.isWhole === true && configurations !== null)
      throw invalidRequest(`${shown} are not for a key that is restricted to configurations`);
    return topic;
  }

  #forget(watcher: Watcher): void {
    this.#watchers.delete(watcher);
    this.#due.delete(watcher);
  }

  #planRound(): void {
    if (this.#nextRound !== undefined || this.#watchers.size === 0) return;
    const restMs = Math.max(0, this.#roundAt + ROUND_MS - this.#clock.monotonic());
    this.#nextRound = this.#clock.setTimer(restMs, () => this.#beginRound());
  }

  #beginRound(): void {
    this.#nextRound = undefined;
    this.#roundAt = this.#clock.monotonic();
    this.#round = new WatchRound(this.#epoch, this.#topics.values());
    for (const watcher of this.#watchers) this.#due.add(watcher);
    if (!this.#isServing) this.#serve();
  }

  #serveSoon(watcher: Watcher): void {
    this.#due.add(watcher);
    if (this.#isServing) return;
    this.#isServing = true;
    this.#clock.nextTurn(() => this.#serve());
  }

  /** Sends one packet each in turn to the clients that are due, until all have everything of this round. */
  #serve(): void {
    this.#isServing = true;
    const endsAt = performance.now() + TURN_MS;
    for (const watcher of this.#due) {
      this.#due.delete(watcher);
      // A client that has more to get is served again after the others.
      if (this.#attempt(watcher)) this.#due.add(watcher);
      if (performance.now() < endsAt) continue;
      this.#clock.nextTurn(() => this.#serve());
      return;
    }
    this.#isServing = false;
  }

  /** Sends the next packet of a client. Returns true when there may be more. A fault ends this client's stream only. */
  #attempt(watcher: Watcher): boolean {
    try {
      return this.#sendNext(watcher);
    } catch (error) {
      this.#logger.error(
        { err: error },
        `a client of the change stream could not be served: ${messageOf(error)}`,
      );
      this.#forget(watcher);
      watcher.sink.fail();
      return false;
    }
  }

  #sendNext(watcher: Watcher): boolean {
    if (watcher.isWaiting || watcher.sink.outlet.signal.aborted) return false;
    if (watcher.isFull) {
      this.#waitFor(watcher);
      return false;
    }
    const packet = watcher.take(this.#round);
    if (packet === undefined) return false;
    watcher.quietLooks = -1;
    watcher.sink.send(packet);
    return true;
  }

  #waitFor(watcher: Watcher): void {
    watcher.isWaiting = true;
    void watcher.sink.outlet.whenDrained().then(() => {
      watcher.isWaiting = false;
      if (this.#watchers.has(watcher)) this.#serveSoon(watcher);
    });
  }

  #onBeat(): void {
    this.#beat = undefined;
    if (this.#watchers.size === 0) return;
    for (const watcher of this.#watchers) {
      if (++watcher.quietLooks < LOOKS_BEFORE_BEAT) continue;
      watcher.quietLooks = 0;
      if (!watcher.isFull) watcher.sink.send(BEAT);
    }
    this.#beat = this.#clock.setTimer(LOOK_MS, () => this.#onBeat());
  }
}
