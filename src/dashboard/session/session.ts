/**
 * The session of the operator: made from a key or a one-time code, kept in sessionStorage, shared with other tabs,
 * and ended. The token is not in a cookie, because the browser would send the cookie to instances on this host, too.
 */
import { computed, type ReadonlySignal, signal } from '@preact/signals';
import type { Caller, CreatedSession } from '../../api/routes/session-routes.js';
import { includesScope, type KeyScope } from '../../model/access/key-scopes.js';
import { Api, ApiFailure } from '../api/api-client.js';

type SessionState =
  | { readonly phase: 'starting' }
  /** `reason`: why the operator has to sign in again; null: the operator has not signed in yet. */
  | { readonly phase: 'out'; readonly reason: string | null }
  /** Drover did not answer, so the page does not know whether the token is good. */
  | { readonly phase: 'unreachable'; readonly problem: string }
  | { readonly phase: 'in'; readonly token: string; readonly caller: Caller };

const SIGNED_OUT = 'You are signed out.';
const STORED_AS = 'drover-session';
const SESSION_TOKEN = /^drvs_/;

export class Session {
  readonly api: Api;
  readonly #state = signal<SessionState>({ phase: 'starting' });
  readonly state: ReadonlySignal<SessionState> = this.#state;
  readonly #storage: Storage;
  readonly #tabs: TabChannel;
  #token: string | null;

  constructor(base: string, storage: Storage) {
    this.#storage = storage;
    this.#token = storage.getItem(STORED_AS);
    this.api = new Api({ base, token: () => this.#token, onRefused: (reason) => this.#end(reason) });
    this.#tabs = new TabChannel(
      () => this.#token,
      (reason) => this.#end(reason),
    );
  }

  readonly caller: ReadonlySignal<Caller | null> = computed(() =>
    this.#state.value.phase === 'in' ? this.#state.value.caller : null,
  );

  /**
   * Whether the scope of the key includes this scope. The page hides what the server would refuse; the server
   * decides. Reads a signal, so call it in a render or an effect.
   */
  can(scope: KeyScope): boolean {
    const caller = this.caller.value;
    return caller !== null && includesScope(caller.scope, scope);
  }

  /**
   * Whether the key sees all configurations. A restricted key may not read keys, templates, the audit trail and the
   * status of the cluster.
   */
  get isUnrestricted(): boolean {
    return this.caller.value?.configurations === null;
  }

  /**
   * Signs in with the one-time code of a link, with the token of this tab, or with that of another tab. May be
   * called again after `unreachable`.
   */
  async start(code: string | null): Promise<void> {
    this.#state.value = { phase: 'starting' };
    const token = code === null ? null : await this.#redeem(code);
    // The code is used up when a link is opened again. Then use the token of this tab, or that of another tab.
    const next = token ?? this.#token ?? (await this.#tabs.ask());
    if (next !== null) await this.#take(next);
    else if (this.#state.value.phase === 'starting') this.#state.value = { phase: 'out', reason: null };
  }

  /** Makes a session from a key. Throws ApiFailure with the API's sentence. */
  async signIn(key: string): Promise<void> {
    // A session's token cannot make another session, so use it as it is.
    const token = SESSION_TOKEN.test(key)
      ? key
      : (await this.api.post<CreatedSession>('/sessions', { token: key, body: {} })).token;
    const caller = await this.api.get<Caller>('/whoami', { token });
    this.#hold(token, caller);
  }

  /** Ends the session in all tabs, and revokes it on the server. */
  async signOut(): Promise<void> {
    try {
      await this.api.delete('/sessions/current');
      this.#tabs.tellEnded(SIGNED_OUT);
      this.#end(SIGNED_OUT);
    } catch (error) {
      // A 401 means that the session has ended already. After any other failure the server may still have the
      // session, and the operator must know.
      if (error instanceof ApiFailure && error.status === 401) return;
      throw error;
    }
  }

  /** Asks the server whether the session is still valid. A 401 of the API ends the session here. */
  async check(): Promise<void> {
    if (this.#token !== null) await this.api.get<Caller>('/whoami').catch(() => undefined);
  }

  /** Exchanges a code for a token; null: the code is not valid, and the state says why. */
  async #redeem(code: string): Promise<string | null> {
    try {
      return (await this.api.post<CreatedSession>('/sessions/redeem', { token: '', body: { code } })).token;
    } catch (error) {
      if (!(error instanceof ApiFailure)) throw error;
      this.#state.value =
        error.status === 0
          ? { phase: 'unreachable', problem: error.message }
          : { phase: 'out', reason: error.message };
      return null;
    }
  }

  async #take(token: string): Promise<void> {
    try {
      this.#hold(token, await this.api.get<Caller>('/whoami', { token }));
    } catch (error) {
      if (!(error instanceof ApiFailure)) throw error;
      if (error.status === 0) this.#state.value = { phase: 'unreachable', problem: error.message };
      else this.#end(error.message);
    }
  }

  #hold(token: string, caller: Caller): void {
    this.#token = token;
    this.#storage.setItem(STORED_AS, token);
    this.#state.value = { phase: 'in', token, caller };
  }

  #end(reason: string): void {
    this.#token = null;
    this.#storage.removeItem(STORED_AS);
    this.#state.value = { phase: 'out', reason };
  }
}

type Note =
  | { readonly kind: 'ask' }
  | { readonly kind: 'token'; readonly token: string }
  | { readonly kind: 'ended'; readonly reason: string };

/** How long a new tab waits for the others. They answer within milliseconds unless they are busy. */
const ANSWER_MS = 300;

/**
 * Hands the session's token to other tabs of the same origin, and tells them when the session has ended. Only pages of
 * Drover's own origin can listen.
 */
class TabChannel {
  readonly #channel = new BroadcastChannel('drover-session');
  #onToken: ((token: string) => void) | null = null;

  /**
   * `tokenOf`: the token of this tab, for another tab that asks; null: none. `onEnded` is called when another tab has
   * signed out.
   */
  constructor(tokenOf: () => string | null, onEnded: (reason: string) => void) {
    this.#channel.onmessage = ({ data }: MessageEvent<Note>) => {
      if (data.kind === 'ended') onEnded(data.reason);
      if (data.kind === 'token') this.#onToken?.(data.token);
      const token = data.kind === 'ask' ? tokenOf() : null;
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
