/**
 * The rights of a caller with a key or a session. Gate, routes, sockets and streams decide by this object. All requests
 * of a key or session share it, until the key or session ends or changes.
 */
import type { Clock, TimerHandle } from '../loop/clock.js';
import { AddressRanges } from '../model/access/address-range.js';
import type { Grant, LastUse } from '../model/access/api-key.js';
import { includesScope, type KeyScope } from '../model/access/key-scopes.js';
import { matchesAny } from '../model/access/name-pattern.js';
import { nameSchema } from '../model/names.js';

/**
 * How often the end of an access with `onEnded` listeners is checked. Each check counts as a use, so a session with
 * an open socket does not become idle.
 */
const WATCH_MS = 3_600_000;
/** How many names `sees` remembers: more than there usually are configurations. */
const MAX_REMEMBERED = 10_000;

/** A caller with a key, or with a session of that key. */
export type Access = Pick<
  KeyAccess,
  | 'kind'
  | 'label'
  | 'session'
  | 'name'
  | 'grant'
  | 'scope'
  | 'configurations'
  | 'endsAt'
  | 'may'
  | 'sees'
  | 'isFrom'
  | 'onEnded'
>;

/** A call as far as it matters for the rights of its caller. */
interface Call {
  readonly least: KeyScope;
  /** True when it concerns more than the configurations that a key may be restricted to. */
  readonly isBroad: boolean;
  /** The time in Unix milliseconds. */
  readonly now: number;
  readonly address: string;
}

/** Why a caller is refused. */
export interface Refusal {
  /** The text of a 403. Absent: the answer is 401, as when no key was sent. */
  readonly forbidden?: string;
  /** The text in the challenge of a 401. */
  readonly hint?: string;
}

interface KeyAccessOptions {
  readonly label: string;
  /** SHA-256 of the key's token, hex. */
  readonly keyHash: string;
  readonly session?: string;
  readonly grant: Grant;
  /** How long the access lasts while nobody uses it. Default: for ever. */
  readonly idleMs?: number;
  readonly lastUse?: LastUse | undefined;
  /** When a master saw that the access had ended; absent: it has not. */
  readonly endedAt?: number | undefined;
  readonly clock: Clock;
  /** Called at the first use, and at the first use after each `takeUse`. Default: uses are forgotten. */
  readonly onUse?: (access: KeyAccess) => void;
  /** Called once, when the access is seen to have ended by itself. */
  readonly onOver?: (access: KeyAccess) => void;
}

/**
 * The rights of a caller, with the methods that only the gate and its parts call, such as `refusal` and `use`. All
 * other code gets an `Access`.
 */
export class KeyAccess {
  readonly kind = 'key';
  /** The label of the key, for a session too. */
  readonly label: string;
  readonly keyHash: string;
  /** Id of the session; null: the key itself. */
  readonly session: string | null;
  readonly scope: KeyScope;
  /**
   * The patterns of the configurations that the access is restricted to; null: it sees all of them, and the cluster
   * as a whole.
   */
  readonly configurations: readonly string[] | null;
  /** The caller's name in the audit trail. */
  readonly name: string;
  readonly grant: Grant;
  readonly #clock: Clock;
  readonly #idleMs: number;
  /** When the grant ends; Infinity: never. */
  readonly #expiresAt: number;
  readonly #onUse: ((access: KeyAccess) => void) | undefined;
  readonly #onOver: ((access: KeyAccess) => void) | undefined;
  readonly #ranges: AddressRanges | null;
  readonly #seen = new Map<string, boolean>();
  readonly #listeners = new Set<(reason: string) => void>();
  #endsAt: number;
  #usedAt: number;
  #usedFrom: string;
  #isUseNoted = false;
  #endedAt: number | undefined;
  #watch: TimerHandle | undefined;
  #ended: string | undefined;

  constructor(options: KeyAccessOptions) {
    const { label, keyHash, session, grant, idleMs, lastUse, endedAt, clock, onUse, onOver } = options;
    this.label = label;
    this.keyHash = keyHash;
    this.session = session ?? null;
    this.scope = grant.scope;
    this.configurations = grant.configurations;
    this.name = session === undefined ? label : `session ${session} of ${label}`;
    this.grant = grant;
    this.#clock = clock;
    this.#idleMs = idleMs ?? Number.POSITIVE_INFINITY;
    this.#expiresAt = grant.expiresAt ?? Number.POSITIVE_INFINITY;
    this.#onUse = onUse;
    this.#onOver = onOver;
    this.#endedAt = endedAt;
    this.#ranges = grant.from === null ? null : new AddressRanges(grant.from);
    this.#usedAt = lastUse?.at ?? 0;
    this.#usedFrom = lastUse?.address ?? '';
    this.#endsAt = this.#endAfter(this.#usedAt);
  }

  /** Why the access is not enough for a call; undefined: it is enough. Allocates nothing for a call that passes. */
  refusal({ least, isBroad, now, address }: Call): Refusal | undefined {
    if (this.isOver(now)) return { hint: this.#overText };
    if (!this.isFrom(address))
      // The allowed addresses are not named, because they would show a thief of the key where to go.
      return { forbidden: `key ${this.label} may not be used from ${address}` };
    if (!this.may(least)) {
      const forbidden = `${callerText(this)} has scope ${this.scope}: this needs ${least}`;
      return this.scope === 'PUBLIC' ? {} : { forbidden };
    }
    if (this.configurations === null || !isBroad) return undefined;
    return {
      forbidden: `${restrictionText(this)}: this endpoint concerns more than these, and needs a key without that restriction`,
    };
  }

  /** True when the scope of this access includes `least`. */
  may(least: KeyScope): boolean {
    return includesScope(this.scope, least);
  }

  /** True when the access sees a configuration of this name, and its instances. */
  sees(configurationName: string): boolean {
    if (this.configurations === null) return true;
    const known = this.#seen.get(configurationName);
    if (known !== undefined) return known;
    const isSeen = matchesAny(this.configurations, configurationName);
    if (this.#seen.size >= MAX_REMEMBERED) this.#seen.clear();
    this.#seen.set(configurationName, isSeen);
    return isSeen;
  }

  /**
   * Calls the listener once, when the access ends: its key or session was revoked, expired or changed. The reason is
   * a sentence for a person. An access that has ended already calls the listener at once. A session with a listener
   * does not become idle. Returns the function that unsubscribes.
   */
  onEnded(listener: (reason: string) => void): () => void {
    if (this.#ended !== undefined) {
      listener(this.#ended);
      return () => undefined;
    }
    // A new function for each call, because the set would hold a listener that is given twice only once.
    const subscription = (reason: string): void => listener(reason);
    this.#listeners.add(subscription);
    this.#watchEnd();
    return () => {
      if (!this.#listeners.delete(subscription)) return;
      this.use(this.#clock.now(), this.#usedFrom);
      if (this.#listeners.size === 0) this.#stopWatching();
    };
  }

  /**
   * True when the access has expired, or was not used for too long. `now`: Unix milliseconds. From then on it is true
   * for good, because the clock may be set back.
   */
  isOver(now: number): boolean {
    if (this.#endedAt === undefined && now >= this.#endsAt) {
      this.#endedAt = now;
      this.end(this.#overText);
      this.#onOver?.(this);
    }
    return this.#endedAt !== undefined;
  }

  /** When the access was seen to have ended, in Unix milliseconds; undefined: it was not. */
  get endedAt(): number | undefined {
    return this.#endedAt;
  }

  /** When the access ends, in Unix milliseconds; Infinity: never. Each use of a session moves this time. */
  get endsAt(): number {
    return this.#endsAt;
  }

  /** True when the access may be used from this address. */
  isFrom(address: string): boolean {
    return this.#ranges === null || this.#ranges.has(address);
  }

  /** Called for each request that was let in. */
  use(at: number, address: string): void {
    this.#usedAt = at;
    this.#usedFrom = address;
    if (this.#idleMs !== Number.POSITIVE_INFINITY) this.#endsAt = this.#endAfter(at);
    if (this.#isUseNoted) return;
    this.#isUseNoted = true;
    this.#onUse?.(this);
  }

  /** Called when the record tells of a use, which another master may have seen. */
  sawUse(at: number): void {
    if (at <= this.#usedAt) return;
    this.#usedAt = at;
    this.#endsAt = this.#endAfter(at);
  }

  /** Returns the last use. The next use calls `onUse` again. */
  takeUse(): LastUse {
    this.#isUseNoted = false;
    return { at: this.#usedAt, address: this.#usedFrom };
  }

  /** Ends the access, and gives the listeners the reason. Idempotent. */
  end(reason: string): void {
    if (this.#ended !== undefined) return;
    this.#ended = reason;
    this.#stopWatching();
    const listeners = [...this.#listeners];
    this.#listeners.clear();
    for (const listener of listeners) listener(reason);
  }

  /** Tells a person that this key has expired, or that this session has ended. */
  get #overText(): string {
    return this.session === null ? 'the key has expired' : 'the session has ended';
  }

  #endAfter(usedAt: number): number {
    return Math.min(this.#expiresAt, usedAt + this.#idleMs);
  }

  /**
   * Starts the timer that checks an access with listeners. A request needs no timer, because the gate asks `isOver`.
   */
  #watchEnd(): void {
    if (this.#endsAt === Number.POSITIVE_INFINITY) return;
    const leftMs = this.#expiresAt - this.#clock.now();
    this.#watch ??= this.#clock.setTimer(Math.max(0, Math.min(leftMs, WATCH_MS)), () => this.#look());
  }

  #look(): void {
    this.#watch = undefined;
    const now = this.#clock.now();
    if (now >= this.#expiresAt && this.isOver(now)) return;
    this.use(now, this.#usedFrom);
    this.#watchEnd();
  }

  #stopWatching(): void {
    this.#watch?.cancel();
    this.#watch = undefined;
  }
}

/** The caller, such as `key ci` or `session 0123456789ab of ci`. */
export function callerText({ session, name }: Access): string {
  return session === null ? `key ${name}` : name;
}

/** Why the access does not reach a configuration. It repeats the name only when it is well-formed. */
export function strangeName(access: Access, name: string): string {
  const which = nameSchema.safeParse(name).success ? `"${name}" is none of these` : 'this is none of these';
  return `${restrictionText(access)}: ${which}`;
}

function restrictionText(access: Access): string {
  return `${callerText(access)} is restricted to configurations ${access.configurations?.join(', ')}`;
}
