/**
 * Hands the session's token to other tabs of the same origin, and tells them when the session has ended. Only pages of
 * Drover's own origin can listen.
 */

type Note =
  | { readonly kind: 'ask' }
  | { readonly kind: 'token'; readonly token: string }
  | { readonly kind: 'ended'; readonly reason: string };

interface TabEvents {
  /** The token of this tab, for another tab that asks; null: none. */
  readonly token: () => string | null;
  /** Called when another tab has signed out. */
  readonly onEnded: (reason: string) => void;
}

/** How long a new tab waits for the others. They answer within milliseconds unless they are busy. */
const ANSWER_MS = 300;

export class TabChannel {
  readonly #channel = new BroadcastChannel('drover-session');
  #onToken: ((token: string) => void) | null = null;

  constructor(events: TabEvents) {
    this.#channel.onmessage = ({ data }: MessageEvent<Note>) => {
      if (data.kind === 'ended') events.onEnded(data.reason);
      if (data.kind === 'token') this.#onToken?.(data.token);
      const token = data.kind === 'ask' ? events.token() : null;
      if (token !== null) this.#post({ kind: 'token', token });
    };
  }

  /** Asks the other tabs for their token; null: none answered in time. */
  async ask(): Promise<string | null> {
    this.#post({ kind: 'ask' });
    return await new Promise((resolve) => {
      const timer = setTimeout(() => resolve(null), ANSWER_MS);
      this.#onToken = (token) => {
        clearTimeout(timer);
        resolve(token);
      };
    });
  }

  tellEnded(reason: string): void {
    this.#post({ kind: 'ended', reason });
  }

  #post(note: Note): void {
    this.#channel.postMessage(note);
  }
}
