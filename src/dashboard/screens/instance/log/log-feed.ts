/**
 * Fills a `LogWindow`: new lines come over the watch socket of the tab, older lines are loaded when they come into
 * sight. No line is lost while the operator reads older ones: the node keeps the newer lines, and they are loaded
 * later.
 */
import { type ReadonlySignal, signal } from '@preact/signals';
import type { InstanceLog } from '../../../../api/routes/instances/log-routes.js';
import type { SubscribeRequest, TopicMessage } from '../../../../watch-client/messages.js';
import { type Api, apiPath } from '../../../api/api-client.js';
import type { LiveConnection } from '../../../live/live-connection.js';
import { text } from '../text.js';
import { type LogPart, LogWindow } from './log-window.js';

const TAIL = 500;
const PART = 500;

interface LogFeedOptions {
  readonly connection: Pick<LiveConnection, 'subscribe'>;
  readonly api: Pick<Api, 'get'>;
  readonly id: string;
}

type Loading = 'older' | 'newer' | 'line' | null;

export class LogFeed {
  readonly window: Readonly<LogWindow> = new LogWindow();
  readonly #options: LogFeedOptions;
  readonly #version = signal(0);
  /** A counter that rises with each change of the window. */
  readonly version: ReadonlySignal<number> = this.#version;
  readonly #problem = signal<unknown>(null);
  /** Why the last call for lines failed; null: the last call did not fail. */
  readonly problem: ReadonlySignal<unknown> = this.#problem;
  readonly #loading = signal<Loading>(null);
  readonly loading: ReadonlySignal<Loading> = this.#loading;
  readonly #isFollowing = signal(true);
  /** True while the newest lines stay in sight. */
  readonly isFollowing: ReadonlySignal<boolean> = this.#isFollowing;
  readonly #seen = signal(0);
  /** The number of the first line that the node keeps; null: not known. */
  readonly #firstKept = signal<number | null>(null);
  readonly firstKept: ReadonlySignal<number | null> = this.#firstKept;
  readonly #missing = signal<number | null>(null);
  /** The line that was last asked for and that the log does not have; null: the line was found. */
  readonly missing: ReadonlySignal<number | null> = this.#missing;
  readonly #topic: string;
  #unsubscribe: (() => void) | null = null;
  #calls = new AbortController();
  /**
   * True after the first message of the present stream. Messages before it belong to the former stream, and are
   * dropped.
   */
  #hasBegun = false;
  /** A line to load once the stream has named the node; null: none. */
  #wanted: number | null = null;
  #isSealed = false;

  constructor(options: LogFeedOptions) {
    this.#options = options;
    this.#topic = `log:${options.id}`;
  }

  /** How many lines came since the operator stopped following. A component that shows this reads `version`, too. */
  get unseen(): number {
    return this.#isFollowing.value ? 0 : Math.max(0, this.window.end - this.#seen.value);
  }

  /** Starts with the lines around `line`, and does not follow. `line` null: starts with the last lines. */
  start(line: number | null): void {
    if (line !== null) {
      this.window.clear(false);
      this.#isFollowing.value = false;
      this.showLine(line);
    }
    this.#subscribe();
  }

  stop(): void {
    this.#unsubscribe?.();
    this.#unsubscribe = null;
    this.#calls.abort();
  }

  /**
   * Call when the instance is gone: the lines held here stay, and no call loads more. The stream still brings its last
   * lines.
   */
  seal(): void {
    this.#isSealed = true;
    this.#problem.value = null;
  }

  /** Follows the newest lines, or holds still. */
  follow(isFollowing: boolean): void {
    if (isFollowing === this.#isFollowing.value) return;
    this.#seen.value = this.window.end;
    this.#isFollowing.value = isFollowing;
  }

  /** Goes to the newest line and follows. */
  toEnd(): void {
    this.follow(true);
    if (this.window.isAtEnd || this.#isSealed) return;
    this.#calls.abort();
    this.#calls = new AbortController();
    this.#loading.value = null;
    this.window.clear();
    this.#version.value++;
    this.#subscribe();
  }

  /** Loads the lines before the first one in the window. */
  async older(): Promise<void> {
    const { first } = this.window;
    if (first === null || first <= (this.#firstKept.value ?? 1) || this.#loading.value !== null) return;
    await this.#load('older', { until: first - 1 }, (part) => {
      this.window.prepend(part);
      if (part.lines.length === 0) this.#firstKept.value = first;
    });
  }

  /** Loads the lines behind the last one in the window, when that is not the end. */
  async newer(): Promise<void> {
    const { last, isAtEnd } = this.window;
    if (isAtEnd || last === null || this.#loading.value !== null) return;
    await this.#load('newer', { since: last + 1, until: last + PART }, (part) => this.window.extend(part));
  }

  /** Holds the lines around this one. When the log does not have it, `missing` says so. */
  showLine(line: number): void {
    this.follow(false);
    this.#wanted = null;
    this.#missing.value = null;
    if (this.window.has(line)) return;
    this.#calls.abort();
    this.#calls = new AbortController();
    this.#loading.value = 'line';
    if (this.window.node === null) this.#wanted = line;
    else void this.#loadAround(line);
  }

  /** Notes in the log a command that this tab sends, because programs do not print what they read. */
  noteSent(command: string): void {
    this.window.note(command, 'sent');
    this.#version.value++;
  }

  /** Notes that the last command was not taken. */
  noteRefused(): void {
    this.window.note(text.command.refused, 'drover');
    this.#version.value++;
  }

  async #loadAround(line: number): Promise<void> {
    const around = { since: Math.max(1, line - PART / 2), until: line + PART / 2 };
    await this.#load('line', around, (part) => {
      this.window.replace(part);
      if (this.window.has(line)) return;
      this.#missing.value = line;
      // An empty window shows the newest lines instead.
      if (this.window.first === null) this.toEnd();
    });
  }

  #subscribe(): void {
    this.#hasBegun = false;
    this.#unsubscribe = this.#options.connection.subscribe({
      topic: this.#topic,
      request: () => this.#request(),
      receive: (message) => this.#receive(message),
    });
  }

  #request(): SubscribeRequest {
    this.#hasBegun = false;
    const { end, node, isAtEnd } = this.window;
    const from = node === null ? { tail: isAtEnd ? TAIL : 0 } : { since: end + 1, node };
    return { subscribe: this.#topic, log: { ...from, timestamps: true, ansi: true } };
  }

  #receive(message: TopicMessage): void {
    switch (message.type) {
      case 'log':
        this.#begin(message.node, message.next);
        break;
      case 'lines':
        if (this.#hasBegun) this.window.append(message, this.#isFollowing.value);
        break;
      case 'gap':
        if (this.#hasBegun) this.window.skip(message.last, text.log.gap(message.first, message.last));
        break;
      case 'note':
        this.window.note(message.text, 'drover');
        break;
      case 'end':
        // The server would refuse a new subscription, so do not ask for one after a lost connection.
        this.stop();
        break;
      default:
        return;
    }
    this.#version.value++;
  }

  #begin(node: string, next: number): void {
    this.#hasBegun = true;
    const isAnew = this.window.begin(node, next);
    if (this.#wanted !== null) void this.#loadAround(this.#wanted);
    this.#wanted = null;
    if (isAnew) this.#forget(node);
    // When the page began in the middle of the log, all lines so far count as seen.
    if (this.#seen.value === 0) this.#seen.value = this.window.end;
  }

  /** Forgets what belongs to the log on the former node. On another node the lines count from 1 again. */
  #forget(node: string): void {
    this.#calls.abort();
    this.#calls = new AbortController();
    this.#firstKept.value = null;
    this.#seen.value = 0;
    this.window.note(text.log.anew(node), 'drover');
  }

  async #load(
    what: Exclude<Loading, null>,
    query: { readonly since?: number; readonly until?: number },
    take: (part: LogPart) => void,
  ): Promise<void> {
    const { signal: ending } = this.#calls;
    if (this.#isSealed) return;
    this.#loading.value = what;
    this.#problem.value = null;
    try {
      const answer = await this.#options.api.get<InstanceLog>(
        apiPath('instances', this.#options.id, 'logs'),
        { query: { ...query, lines: PART + 1, timestamps: true, ansi: true }, signal: ending },
      );
      if (ending.aborted) return;
      const { firstLine: first = 1, lines, times } = answer;
      take({ first, lines, times });
      if (what !== 'newer' && answer.range !== undefined) this.#learnStart(answer.range.first, query.since);
      this.#version.value++;
    } catch (error) {
      if (!ending.aborted) this.#problem.value = error;
    } finally {
      if (!ending.aborted) this.#loading.value = null;
    }
  }

  /** Learns the first line that the node keeps: when an answer begins later than asked, it begins with that line. */
  #learnStart(first: number, since = 1): void {
    if (first > since || since === 1) this.#firstKept.value = first;
  }
}
