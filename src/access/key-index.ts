/**
 * Finds the key or session that a token belongs to, as a `KeyAccess`. It follows the mirrors of keys and sessions, so
 * that a revoked token is refused as soon as a mirror shows the change. Used by the gate only.
 */
import { hash, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../loop/clock.js';
import type { ApiKeyRecord } from '../model/access/api-key.js';
import { grantOfSession, SESSION_IDLE_MS, type SessionRecord } from '../model/access/session.js';
import type { StateRecords } from '../state/master-state.js';
import { KeyAccess } from './access.js';

interface IndexedAccess {
  readonly access: KeyAccess;
  /** The hex digits of the hash, as ASCII bytes. */
  readonly digits: Buffer;
}

interface KeyIndexOptions extends Pick<StateRecords, 'keys' | 'sessions'> {
  readonly clock: Clock;
  /** Both are passed on to each `KeyAccess`, which calls them. */
  readonly onUse: (access: KeyAccess) => void;
  readonly onOver: (access: KeyAccess) => void;
  /** Called with the label of each key that was deleted, or replaced by another key of the same label. */
  readonly onKeyGone: (label: string) => void;
}

/**
 * How many digits of a token's hash select the candidates. Their whole hashes are compared in constant time, so that
 * the time reveals nothing.
 */
const GROUP_DIGITS = 12;
/** How many tokens are remembered: more than are in use at a time. At the limit all are forgotten. */
const MAX_RECENT = 256;

export class KeyIndex {
  readonly #options: KeyIndexOptions;
  readonly #groups = new Map<string, readonly IndexedAccess[]>();
  readonly #keys = new Map<string, IndexedAccess>();
  readonly #sessions = new Map<string, IndexedAccess>();
  /**
   * The accesses of tokens that were found lately, by token. Hashing each token anew took a tenth of the time of a
   * request. Every change of a key or session, except of its last use, empties the map, so that a revoked token is
   * refused at once. Wrong tokens never get in, and the map's own hash is seeded, so that the time of a look-up gives
   * nothing away.
   */
  readonly #recent = new Map<string, KeyAccess>();
  readonly #unsubscribes: readonly (() => void)[];

  constructor(options: KeyIndexOptions) {
    const { keys, sessions } = options;
    this.#options = options;
    for (const [label, { value }] of keys.entries()) this.#addKey(label, value);
    for (const [id, { value }] of sessions.entries()) this.#addSession(id, value);
    this.#unsubscribes = [
      keys.onChange((label, after, before) => this.#keyChanged(label, after?.value, before?.value)),
      sessions.onChange((id, after, before) => this.#sessionChanged(id, after?.value, before?.value)),
    ];
  }

  /** Returns the access of this token, or undefined. The access may be over. */
  find(token: string): KeyAccess | undefined {
    const recent = this.#recent.get(token);
    if (recent !== undefined) return recent;
    const access = this.#lookUp(token);
    if (access === undefined) return undefined;
    if (this.#recent.size >= MAX_RECENT) this.#recent.clear();
    this.#recent.set(token, access);
    return access;
  }

  /** Stops following keys and sessions. Idempotent. */
  close(): void {
    for (const unsubscribe of this.#unsubscribes) unsubscribe();
  }

  #lookUp(token: string): KeyAccess | undefined {
    // Ask for hex text: `hash` takes three times as long to return a buffer.
    const digest = hash('sha256', token, 'hex');
    const group = this.#groups.get(digest.slice(0, GROUP_DIGITS));
    if (group === undefined) return undefined;
    const digits = Buffer.from(digest, 'latin1');
    return group.find((indexed) => timingSafeEqual(indexed.digits, digits))?.access;
  }

  /**
   * Replaces the access of a changed key, and the accesses of its sessions. When only the last use has changed, they
   * and their open sockets stay.
   */
  #keyChanged(label: string, after: ApiKeyRecord | undefined, before: ApiKeyRecord | undefined): void {
    if (before !== undefined && after !== undefined && isSameKey(before, after)) return;
    const reason = after === undefined ? 'the key was deleted' : 'the key was replaced by another';
    this.#remove(this.#keys, label, reason);
    if (after !== undefined) this.#addKey(label, after);
    for (const [id, { value }] of this.#options.sessions.entries())
      if (value.key === label) {
        this.#remove(this.#sessions, id, reason);
        this.#addSession(id, value);
      }
    if (before !== undefined) this.#options.onKeyGone(label);
  }

  #sessionChanged(id: string, after: SessionRecord | undefined, before: SessionRecord | undefined): void {
    if (before !== undefined && after !== undefined && isSameSession(before, after)) {
      this.#sessions.get(id)?.access.sawUse(after.lastUse.at);
      return;
    }
    this.#remove(this.#sessions, id, 'the session was ended');
    if (after !== undefined) this.#addSession(id, after);
  }

  #addKey(label: string, record: ApiKeyRecord): void {
    const { clock, onUse, onOver } = this.#options;
    const { hash: keyHash, grant, lastUse, endedAt } = record;
    const access = new KeyAccess({ label, keyHash, grant, lastUse, endedAt, clock, onUse, onOver });
    this.#add(this.#keys, label, keyHash, access);
  }

  /**
   * Adds the access of a session, unless the session's key is gone or was replaced by another key of the same label.
   */
  #addSession(id: string, record: SessionRecord): void {
    const { keys, clock, onUse, onOver } = this.#options;
    const { key: label, keyHash, lastUse, endedAt } = record;
    const grant = grantOfSession(record, keys.get(label)?.value);
    if (grant === undefined) return;
    const session = { session: id, idleMs: SESSION_IDLE_MS };
    const access = new KeyAccess({
      ...{ label, keyHash, ...session, grant },
      ...{ lastUse, endedAt, clock, onUse, onOver },
    });
    this.#add(this.#sessions, id, record.hash, access);
  }

  #add(known: Map<string, IndexedAccess>, id: string, digest: string, access: KeyAccess): void {
    const indexed: IndexedAccess = { access, digits: Buffer.from(digest, 'latin1') };
    const name = digest.slice(0, GROUP_DIGITS);
    known.set(id, indexed);
    this.#groups.set(name, [...(this.#groups.get(name) ?? []), indexed]);
  }

  /** Removes an access, and ends it. */
  #remove(known: Map<string, IndexedAccess>, id: string, reason: string): void {
    this.#recent.clear();
    const indexed = known.get(id);
    if (indexed === undefined) return;
    known.delete(id);
    const name = indexed.digits.toString('latin1', 0, GROUP_DIGITS);
    const rest = this.#groups.get(name)?.filter((other) => other !== indexed) ?? [];
    if (rest.length > 0) this.#groups.set(name, rest);
    else this.#groups.delete(name);
    indexed.access.end(reason);
  }
}

function isSameKey(before: ApiKeyRecord, after: ApiKeyRecord): boolean {
  return before.hash === after.hash && before.endedAt === after.endedAt && isSame(before.grant, after.grant);
}

function isSameSession({ lastUse: _, ...before }: SessionRecord, after: SessionRecord): boolean {
  const { lastUse: __, ...rest } = after;
  return isSame(before, rest);
}

/**
 * True when two records are equal. The same schema has read both, so their fields stand in the same order, and their
 * JSON can be compared.
 */
function isSame(before: unknown, after: unknown): boolean {
  return JSON.stringify(before) === JSON.stringify(after);
}
