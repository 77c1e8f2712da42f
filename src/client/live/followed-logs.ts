/**
 * Follows the log of one instance, or of all instances of a configuration, also over lost connections, restarts of
 * the master and moves to other nodes. Each log continues at the number of its next line.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { find, pathPart } from '../../command-tree/runs/api-calls.js';
import { failedError, isTransient } from '../../command-tree/runs/client-error.js';
import type { InstanceInfo } from '../../model/instance.js';
import type { EntryMessage, LogMessage, WatchMessage } from '../../watch-client/messages.js';
import { KEY_OF } from '../../watch-client/topics.js';
import { WatchedEntries } from '../../watch-client/watched-entries.js';
import type { ApiClient } from '../api-client.js';
import { type StreamMessage, WatchStream } from '../connection/watch-stream.js';
import type { LiveOutput } from './live-output.js';
import { type LogPart, type LogPiece, type LogPrinter, readLogPart } from './log-part.js';
import { isAtRest } from './states.js';

/** The most logs that a master sends over one connection. */
const MOST_LOGS = 16;
const RETRY_MS = 2000;
const LOG = 'log:';
const NOTE = /^\[drover\] /;

/** Where a log begins: with its last lines, or at a line number. */
export type LogStart = { readonly tail: number } | { readonly since: number };

interface FollowedLogsOptions {
  readonly api: ApiClient;
  readonly output: LiveOutput;
  readonly printer: LogPrinter;
  readonly configuration: string;
  /** The only instance to follow; undefined: all present and future instances of the configuration. */
  readonly instance: string | undefined;
  readonly timestamps: boolean;
  /** Where the logs of the first instances begin. Later instances are printed from their first line. */
  readonly starts: ReadonlyMap<string, LogStart>;
}

interface Followed {
  readonly watch: WatchStream;
  unsubscribe: () => void;
  readonly start: LogStart;
  /** Number of the next line to print; undefined until the master says where the log begins. */
  next: number | undefined;
  /** The node on which the next line is stored. */
  node: string | undefined;
  /** True when the connection was replaced after the last printed line. */
  isInterrupted: boolean;
  isOver: boolean;
}

export class FollowedLogs {
  readonly #options: FollowedLogsOptions;
  readonly #instances = new WatchedEntries(KEY_OF.instances);
  readonly #configurations = new WatchedEntries(KEY_OF.configurations);
  readonly #followed = new Map<string, Followed>();
  readonly #watches: WatchStream[] = [];
  readonly #ending = new AbortController();
  /** True while the single instance that is followed is not listed, though it may be there. */
  #isAwaiting = false;
  #failure: { readonly error: unknown } | undefined;

  constructor(options: FollowedLogsOptions) {
    this.#options = options;
  }

  /** Resolves when every log has ended, or nobody reads the output. Throws a ClientError. */
  async run(): Promise<void> {
    const { configuration, output } = this.#options;
    output.signal.addEventListener('abort', () => this.#ending.abort(), { once: true });
    const first = this.#addWatch(output.say);
    const filter = { filter: { configuration: [configuration] } };
    first.subscribe('configurations', () => filter);
    first.subscribe('instances', () => filter);
    await this.#read(first);
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  #addWatch(say: (line: string) => void): WatchStream {
    const watch = new WatchStream(this.#options.api.connection, say);
    this.#watches.push(watch);
    return watch;
  }

  /** Reads messages until the run ends. Never rejects: a failure ends the whole run. */
  async #read(watch: WatchStream): Promise<void> {
    try {
      for await (const message of watch.messages(this.#ending.signal)) {
        await this.#take(watch, message);
        if (this.#ending.signal.aborted) return;
      }
    } catch (error) {
      this.#failure ??= { error };
      this.#ending.abort();
    }
  }

  async #take(watch: WatchStream, message: StreamMessage): Promise<void> {
    switch (message.type) {
      case 'open':
        for (const followed of this.#followed.values())
          if (followed.watch === watch) followed.isInterrupted = message.isAgain;
        return;
      case 'snapshot':
      case 'changes':
        return this.#takeEntries(message);
      case 'error':
        return this.#takeError(message);
      default: {
        const id = message.topic.slice(LOG.length);
        const followed = this.#followed.get(id);
        if (followed !== undefined && !followed.isOver) await this.#takeLog(id, followed, message);
      }
    }
  }

  async #takeEntries(message: EntryMessage): Promise<void> {
    if (message.topic === 'configurations') this.#configurations.take(message);
    else {
      this.#instances.take(message);
      // Only the complete snapshot shows which instances were deleted.
      if (message.type === 'snapshot' && !message.isLast) return;
      for (const instance of this.#instances.values()) await this.#look(instance);
      // An instance in the list keeps its entry, or its log would be printed again. An instance that was deleted never
      // returns, so its entry can go.
      for (const [id, { isOver }] of this.#followed)
        if (isOver && this.#instances.get(id) === undefined) this.#followed.delete(id);
      const { instance } = this.#options;
      if (instance !== undefined && !this.#followed.has(instance) && !this.#isAwaiting)
        void this.#untilListed(instance);
    }
    this.#endIfOver();
  }

  /**
   * Waits for an instance that is not in the list: the list is that of the asked master, which may be behind the leader
   * that answered for the instance. Ends the run when the instance is gone. Never rejects.
   */
  async #untilListed(id: string): Promise<void> {
    const { api, output } = this.#options;
    const { signal } = this.#ending;
    this.#isAwaiting = true;
    try {
      while (!signal.aborted && !this.#followed.has(id)) {
        const known = await this.#retried(() => find(api, `/instances/${pathPart(id)}`));
        if (known === undefined) {
          if (!signal.aborted) output.say(`instance ${id} was removed`);
          break;
        }
        await pause(RETRY_MS, undefined, { signal }).catch(() => undefined);
      }
    } catch (error) {
      this.#failure ??= { error };
      this.#ending.abort();
    }
    this.#isAwaiting = false;
    this.#endIfOver();
  }

  /** Repeats a call while the master cannot be reached, and says each reason once. Undefined: the run has ended. */
  async #retried<T>(call: () => Promise<T>): Promise<T | undefined> {
    for (let said = ''; !this.#ending.signal.aborted; )
      try {
        return await call();
      } catch (error) {
        if (!isTransient(error)) throw error;
        if (said !== error.message) this.#options.output.say(error.message);
        said = error.message;
        await pause(RETRY_MS, undefined, { signal: this.#ending.signal }).catch(() => undefined);
      }
    return undefined;
  }

  async #look(instance: InstanceInfo): Promise<void> {
    const { id } = instance;
    if (this.#options.instance !== undefined && this.#options.instance !== id) return;
    const followed = this.#followed.get(id) ?? this.#follow(id);
    // Only a single followed instance ends at rest: an instance of a configuration may start again.
    if (this.#options.instance === id && !followed.isOver && isAtRest(instance))
      await this.#finish(id, followed);
  }

  #follow(id: string): Followed {
    const { starts, timestamps, output, instance } = this.#options;
    const start = starts.get(id);
    if (start === undefined && instance === undefined) output.say(`instance ${id} is new`);
    const watch = this.#watchWithRoom();
    const followed: Followed = {
      watch,
      unsubscribe: () => undefined,
      start: start ?? { since: 1 },
      next: undefined,
      node: undefined,
      isInterrupted: false,
      isOver: false,
    };
    this.#followed.set(id, followed);
    followed.unsubscribe = watch.subscribe(`${LOG}${id}`, () => {
      const { next, node } = followed;
      const place = next === undefined ? followed.start : { since: next, node };
      return { log: { ...place, timestamps } };
    });
    return followed;
  }

  #watchWithRoom(): WatchStream {
    const logsOf = (watch: WatchStream): number =>
      [...this.#followed.values()].filter((one) => one.watch === watch && !one.isOver).length;
    const known = this.#watches.find((watch) => logsOf(watch) < MOST_LOGS);
    if (known !== undefined) return known;
    // The new connection stays silent: the first connection already reports failures for all.
    const more = this.#addWatch(() => undefined);
    void this.#read(more);
    return more;
  }

  async #takeLog(id: string, followed: Followed, message: LogMessage): Promise<void> {
    const { output } = this.#options;
    switch (message.type) {
      case 'log':
        if (followed.isInterrupted) output.say(`instance ${id}: the log goes on with line ${message.next}`);
        followed.isInterrupted = false;
        followed.node = message.node;
        followed.next = message.next;
        return;
      case 'lines':
        followed.next = message.first + message.lines.length;
        return this.#print(id, message);
      case 'gap':
        followed.next = message.last + 1;
        return this.#print(id, { gap: message });
      case 'note':
        return output.say(`instance ${id}: ${message.text.replace(NOTE, '')}`);
      case 'end':
        return this.#end(followed, message.reason);
    }
  }

  /** A log is refused when its instance was deleted meanwhile; any other error ends the run. */
  #takeError({ topic, error, code }: Extract<WatchMessage, { type: 'error' }>): void {
    const id = topic?.startsWith(LOG) === true ? topic.slice(LOG.length) : undefined;
    const followed = id === undefined ? undefined : this.#followed.get(id);
    if (id === undefined || followed === undefined || code !== 'DRV_INSTANCE_UNKNOWN')
      throw failedError(error);
    this.#end(
      followed,
      `instance ${id} was removed; what it wrote after line ${(followed.next ?? 1) - 1} is not known`,
    );
  }

  /** Prints the remaining log of an instance at rest, which gets no more lines. */
  async #finish(id: string, followed: Followed): Promise<void> {
    followed.unsubscribe();
    const { api, timestamps } = this.#options;
    await this.#retried(async () => {
      for await (const piece of readLogPart(api, id, partOf(followed, timestamps))) {
        followed.next = 'gap' in piece ? piece.gap.last + 1 : piece.first + piece.lines.length;
        await this.#print(id, piece);
        if (this.#ending.signal.aborted) return;
      }
      this.#end(followed, `instance ${id} is stopped: its log ends`);
    });
  }

  async #print(id: string, piece: LogPiece): Promise<void> {
    if (!(await this.#options.printer(id, piece))) this.#ending.abort();
  }

  #end(followed: Followed, reason: string): void {
    followed.isOver = true;
    followed.unsubscribe();
    this.#options.output.say(reason);
    this.#endIfOver();
  }

  /** Ends the run when no log can continue. An existing configuration may still get new instances. */
  #endIfOver(): void {
    if (!this.#instances.isWhole || !this.#configurations.isWhole) return;
    if (this.#isAwaiting && this.#followed.size === 0) return;
    const isOver = [...this.#followed.values()].every((followed) => followed.isOver);
    const { instance, configuration } = this.#options;
    const mayGrow = instance === undefined && this.#configurations.get(configuration) !== undefined;
    if (isOver && !mayGrow) this.#ending.abort();
  }
}

function partOf({ next, start }: Followed, timestamps: boolean): LogPart {
  const from = next ?? ('since' in start ? start.since : undefined);
  const tail = from === undefined && 'tail' in start ? start.tail : Number.POSITIVE_INFINITY;
  return {
    since: from === undefined ? undefined : { line: from },
    until: undefined,
    previous: false,
    timestamps,
    tail,
  };
}
