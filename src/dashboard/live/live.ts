/**
 * The live state of the cluster: one store for each topic, over the one connection of the tab. A store stays subscribed
 * while a screen uses it and a little longer, so that going back and forth loads nothing twice.
 */

import { KEY_OF, type TopicName, type Topics } from '../../watch-client/topics.js';
import { ApiFailure } from '../api/api-client.js';
import type { Session } from '../session/session.js';
import { LiveConnection, type SocketEvents, type WatchSocket } from './live-connection.js';
import { TopicStore } from './topic-store.js';

/** How long a store stays subscribed after the last screen that used it. */
const LINGER_MS = 30_000;

interface Use {
  count: number;
  end: (() => void) | null;
  timer: ReturnType<typeof setTimeout> | undefined;
}

export class Live {
  readonly connection: LiveConnection;
  readonly stores: { readonly [Name in TopicName]: TopicStore<Topics[Name]> };
  readonly #uses = new Map<TopicName, Use>();
  #listening = new AbortController();

  constructor(session: Session) {
    this.connection = new LiveConnection({
      open: (events) => openWatch(session, events),
      now: Date.now,
      checkSession: () => session.check(),
      random: () => (crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) / 2 ** 32,
    });
    const make = <Name extends TopicName>(topic: Name): TopicStore<Topics[Name]> =>
      new TopicStore(topic, KEY_OF[topic], beforeNextFrame);
    this.stores = {
      instances: make('instances'),
      configurations: make('configurations'),
      health: make('health'),
      nodes: make('nodes'),
      templates: make('templates'),
      rollouts: make('rollouts'),
      events: make('events'),
      exits: make('exits'),
      usage: make('usage'),
    };
  }

  /** Subscribes to a topic for a screen. Returns the function that ends the use. */
  use(topic: TopicName): () => void {
    const use = this.#uses.get(topic) ?? { count: 0, end: null, timer: undefined };
    this.#uses.set(topic, use);
    clearTimeout(use.timer);
    use.count++;
    use.end ??= this.connection.subscribe(this.stores[topic]);
    return () => {
      use.count--;
      if (use.count > 0) return;
      use.timer = setTimeout(() => {
        use.end?.();
        use.end = null;
      }, LINGER_MS);
    };
  }

  start(): void {
    this.#listening = new AbortController();
    const { signal } = this.#listening;
    document.addEventListener('visibilitychange', () => this.connection.setHidden(document.hidden), {
      signal,
    });
    window.addEventListener('online', () => this.connection.wake(), { signal });
    window.addEventListener('offline', () => this.connection.lose(), { signal });
    this.connection.start();
    // A tab may be opened in the background.
    if (document.hidden) this.connection.setHidden(true);
  }

  /** Ends the connection and forgets all data: the next key may see less. */
  stop(): void {
    this.#listening.abort();
    this.connection.stop();
    for (const store of Object.values(this.stores)) store.clear();
  }
}

function openWatch(session: Session, { onOpen, onText, onClosed }: SocketEvents): WatchSocket | null {
  if (session.state.value.phase !== 'in') return null;
  const socket = openSocket(session);
  socket.onopen = onOpen;
  socket.onmessage = ({ data }: MessageEvent<string>) => onText(data);
  socket.onclose = ({ code }) => onClosed(code);
  return {
    // Send on an open socket only: while the server closes the socket, `onclose` has not come yet, and `send` would
    // fail.
    send: (text) => {
      if (socket.readyState === WebSocket.OPEN) socket.send(text);
    },
    close: () => socket.close(),
  };
}

/**
 * Opens a WebSocket of the API. A browser cannot set headers on a socket, so the token goes as a subprotocol
 * (docs/api.md#websockets). Throws ApiFailure when nobody is signed in.
 */
export function openSocket(
  session: Session,
  path = '/watch',
  query: Record<string, string | number> = {},
): WebSocket {
  const state = session.state.value;
  if (state.phase !== 'in') throw new ApiFailure(401, 'nobody is signed in');
  const encoded = btoa(state.token).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
  const url = session.api.url(path, query);
  url.protocol = url.protocol.replace('http', 'ws');
  return new WebSocket(url, ['drover', `base64url.bearer.authorization.drover.${encoded}`]);
}

/** Calls `callback` before the next frame. A hidden tab has no frames, so a timer serves there. */
function beforeNextFrame(callback: () => void): void {
  if (document.hidden) setTimeout(callback, 100);
  else requestAnimationFrame(callback);
}
