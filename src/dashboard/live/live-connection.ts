/**
 * The one watch socket of this tab. It subscribes to topics, notices when the connection is lost, connects again, and
 * rests while the tab is hidden. The subscribers read the messages.
 *
 *     idle --(start)--> connecting --(first message)--> live --(closed, offline, 20 s of silence)--> lost --> connecting ...
 *     any  --(stop, or 30 s hidden)--> idle
 */
import { type ReadonlySignal, signal } from '@preact/signals';
import type { Backoff } from '../../loop/backoff.js';
import { parseFrame, type WatchMessage } from '../../watch-client/messages.js';
import {
  connectBackoff,
  SILENCE_MS,
  type Subscriber,
  Subscriptions,
} from '../../watch-client/subscriptions.js';

export type ConnectionState =
  | { readonly phase: 'idle' }
  | { readonly phase: 'live' }
  /** `since`: when the last message came, which is the age of the page's data; null: the page has no data yet. */
  | { readonly phase: 'connecting'; readonly since: number | null }
  | { readonly phase: 'lost'; readonly since: number | null };

/** The events of a socket, as its opener reports them. */
export interface SocketEvents {
  onOpen(): void;
  onText(text: string): void;
  /** Called when the socket is closed, or could not be opened. */
  onClosed(code: number): void;
}

/** The part of a WebSocket that is used here. */
export interface WatchSocket {
  send(text: string): void;
  close(): void;
}

/** The parts of the browser that the connection uses; tests hand in others. */
interface WatchPlatform {
  /** Opens a socket; null: nobody is signed in any more. */
  open(events: SocketEvents): WatchSocket | null;
  now(): number;
  /** Asks the server whether the session is still valid. Called after the server closed or refused the socket. */
  checkSession(): Promise<void>;
  /** A number in [0, 1). It spreads the tabs that lost the same server, so that they do not all return at once. */
  random(): number;
}

const HIDDEN_MS = 30_000;
/** The close code for a key or session that was revoked or has ended. */
const REVOKED = 1008;

export class LiveConnection {
  readonly #platform: WatchPlatform;
  readonly #subscriptions = new Subscriptions();
  readonly #backoff: Backoff;
  readonly #state = signal<ConnectionState>({ phase: 'idle' });
  readonly state: ReadonlySignal<ConnectionState> = this.#state;
  #socket: WatchSocket | null = null;
  #isStopped = true;
  #isResting = false;
  /** When a message last came; null: none has come since the session began. */
  #heardAt: number | null = null;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #silence: ReturnType<typeof setTimeout> | undefined;
  #rest: ReturnType<typeof setTimeout> | undefined;

  constructor(platform: WatchPlatform) {
    this.#platform = platform;
    this.#backoff = connectBackoff(platform.random);
  }

  start(): void {
    this.#isStopped = false;
    this.wake();
  }

  /** Closes the socket and forgets the age of the data, because the session is over. */
  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#rest);
    this.#disconnect();
    this.#heardAt = null;
    this.#state.value = { phase: 'idle' };
  }

  /** Begins a topic, which has one subscriber at a time. Returns the function that ends it. */
  subscribe(subscriber: Subscriber): () => void {
    return this.#subscriptions.add(subscriber);
  }

  /** Call when the tab was hidden or is seen again. */
  setHidden(isHidden: boolean): void {
    clearTimeout(this.#rest);
    if (isHidden) this.#rest = setTimeout(() => this.#goToRest(), HIDDEN_MS);
    else this.wake();
  }

  /** Connects now instead of after the delay: the operator asks for it, the network is back, or the tab is seen. */
  wake(): void {
    this.#isResting = false;
    this.#backoff.clear();
    if (this.#state.value.phase !== 'live') this.#connectIfNeeded();
  }

  /**
   * Treats the connection as lost, because the browser says that it is offline. The socket itself would notice much
   * later.
   */
  lose(): void {
    if (this.#socket !== null) this.#onLost(0);
  }

  #goToRest(): void {
    this.#isResting = true;
    this.#disconnect();
    this.#state.value = { phase: 'idle' };
  }

  #connectIfNeeded(): void {
    if (this.#isStopped || this.#isResting || this.#socket !== null) return;
    clearTimeout(this.#retry);
    this.#state.value = { phase: 'connecting', since: this.#heardAt };
    this.#listenForSilence();
    // Events of a socket that this connection has dropped are ignored.
    const ifHeld = (act: () => void): void => {
      if (this.#socket === socket) act();
    };
    const socket = this.#platform.open({
      onOpen: () => ifHeld(() => this.#onOpened()),
      onText: (text) => ifHeld(() => this.#receive(parseFrame(text))),
      onClosed: (code) => ifHeld(() => this.#onLost(code)),
    });
    this.#socket = socket;
    // Nobody is signed in any more; the page calls `stop` when it learns that.
    if (socket === null) this.#goToRest();
  }

  #onOpened(): void {
    this.#subscriptions.connected((text) => this.#socket?.send(text));
    // Without topics the first message is a beat, up to 10 s later. No data can be old, so the connection counts as
    // live now.
    if (this.#subscriptions.size === 0) this.#state.value = { phase: 'live' };
  }

  /** `messages` undefined: the server sends something else than the change stream, so the connection is of no use. */
  #receive(messages: readonly WatchMessage[] | undefined): void {
    if (messages === undefined) {
      this.#onLost(0);
      return;
    }
    this.#backoff.clear();
    this.#heardAt = this.#platform.now();
    this.#listenForSilence();
    if (this.#state.value.phase !== 'live') this.#state.value = { phase: 'live' };
    // An error means that this server does not have the topic. The topic's screen stays empty.
    for (const message of messages) if (message.type !== 'error') this.#subscriptions.deliver(message);
  }

  #onLost(code: number): void {
    const wasOpened = this.#state.value.phase === 'live';
    this.#disconnect();
    this.#state.value = { phase: 'lost', since: this.#heardAt };
    // To a browser a refused socket looks like a dead server, so ask the API about the session.
    if (code === REVOKED || !wasOpened) void this.#platform.checkSession();
    this.#retry = setTimeout(() => this.#connectIfNeeded(), this.#backoff.next());
  }

  #listenForSilence(): void {
    clearTimeout(this.#silence);
    this.#silence = setTimeout(() => this.#onLost(0), SILENCE_MS);
  }

  #disconnect(): void {
    clearTimeout(this.#retry);
    clearTimeout(this.#silence);
    const socket = this.#socket;
    this.#socket = null;
    this.#subscriptions.disconnected();
    socket?.close();
  }
}
