/**
 * Makes and ends sessions. Each write resolves when it is durable and the mirror, which the gate follows, shows it. A
 * session that has ended by itself is removed when the next one is made, like a join token.
 */
import { randomBytes } from 'node:crypto';
import type { Clock } from '../loop/clock.js';
import { KeyedTurns } from '../loop/keyed-turns.js';
import type { ApiKeyRecord, LastUse } from '../model/access/api-key.js';
import { includesScope, type KeyScope } from '../model/access/key-scopes.js';
import { endOfSession, grantOfSession, SESSION_MAX_MS, type SessionRecord } from '../model/access/session.js';
import { invalidRequest } from '../model/errors.js';
import { sessionKey } from '../store/keys.js';
import type { MirrorReader } from '../store/mirror.js';
import { modify, type RecordSet } from '../store/modify.js';
import { create, type Store } from '../store/store.js';
import { inSteps } from '../store/transaction.js';
import type { Access } from './access.js';
import { generateSessionToken, hashToken } from './tokens.js';

const ID_BYTES = 6;
/** The most sessions of one key. A script that signs in for every call would make more by mistake. */
const MAX_OF_KEY = 100;
/** The most sessions of all keys. Every session is held in memory. */
const MAX_SESSIONS = 10_000;
/** How long a session that has ended by itself is kept, so that its user is told so. */
const KEPT_MS = 86_400_000;

interface SessionWriterOptions {
  readonly store: Store;
  readonly keys: Pick<MirrorReader<ApiKeyRecord>, 'get'>;
  readonly sessions: MirrorReader<SessionRecord>;
  readonly clock: Pick<Clock, 'now'>;
}

interface NewSession {
  /** The scope of the session; null: that of the key. */
  readonly scope: KeyScope | null;
  /** The end in Unix milliseconds; null: the latest that is allowed. */
  readonly expiresAt: number | null;
  /** The address of the caller. */
  readonly address: string;
}

export class SessionWriter {
  readonly #options: SessionWriterOptions;
  readonly #set: RecordSet<SessionRecord>;

  constructor(options: SessionWriterOptions) {
    const { store, sessions: mirror } = options;
    this.#options = options;
    this.#set = { store, mirror, keyOf: sessionKey, turns: new KeyedTurns() };
  }

  /** Makes a session of a key. Its token is known to this caller only. Throws DRV_REQUEST_INVALID. */
  async create(access: Access, asked: NewSession): Promise<{ token: string; record: SessionRecord }> {
    const { store, sessions, clock } = this.#options;
    const now = clock.now();
    const key = this.#keyOf(access);
    const token = generateSessionToken();
    const record: SessionRecord = {
      id: randomBytes(ID_BYTES).toString('hex'),
      hash: hashToken(token),
      key: key.label,
      keyHash: key.hash,
      scope: scopeOf(access, asked.scope),
      createdAt: now,
      expiresAt: endOf(key, asked.expiresAt, now),
      lastUse: { at: now, address: asked.address },
    };
    await this.#clean(now);
    this.#requireRoom(access.label, now);
    await sessions.until(await create(store, sessionKey(record.id), record));
    return { token, record };
  }

  /** Ends a session, also one that cannot be read. Returns false when there is none. */
  async remove(id: string): Promise<boolean> {
    const { store, sessions } = this.#options;
    if (sessions.get(id) === undefined && !sessions.setAside.has(id)) return false;
    await sessions.until(await store.transact([{ do: 'remove', key: sessionKey(id) }]));
    return true;
  }

  /** Writes down the last use of a session, unless it is gone. Throws what the store throws. */
  async noteUse(id: string, lastUse: LastUse): Promise<void> {
    await modify(this.#set, id, (record) => ({ ...record, lastUse }));
  }

  /** Writes down that a session has ended, so that it stays ended. Throws what the store throws. */
  async noteEnd(id: string, endedAt: number): Promise<void> {
    await modify(this.#set, id, (record) => ({ endedAt, ...record }));
  }

  #keyOf({ session, label }: Access): ApiKeyRecord {
    if (session !== null)
      throw invalidRequest(
        'a session is made with a key, not with another session: send the key as the bearer token',
      );
    const key = this.#options.keys.get(label)?.value;
    if (key === undefined) throw invalidRequest(`key ${label} was deleted just now`);
    return key;
  }

  #requireRoom(label: string, now: number): void {
    const live = [...this.#options.sessions.entries()].filter(
      ([, { value }]) => value.endedAt === undefined && !this.#isOver(value, now),
    );
    if (live.filter(([, { value }]) => value.key === label).length >= MAX_OF_KEY)
      throw invalidRequest(
        `key ${label} has ${MAX_OF_KEY} sessions, the most there may be of one key: sign out of one first (DELETE /api/sessions/{id})`,
      );
    if (live.length >= MAX_SESSIONS)
      throw invalidRequest(`there are ${live.length} sessions, the most that are kept: end one first`);
  }

  /** Removes the sessions that ended long ago; when there is no room, all that have ended. */
  async #clean(now: number): Promise<void> {
    const { store, sessions } = this.#options;
    const isFull = sessions.size >= MAX_SESSIONS;
    const gone = [...sessions.entries()].filter(([, { value }]) =>
      this.#isOver(value, isFull ? now : now - KEPT_MS),
    );
    for (const some of inSteps(gone))
      await store.transact(some.map(([id]) => ({ do: 'remove', key: sessionKey(id) })));
  }

  #isOver(session: SessionRecord, now: number): boolean {
    const grant = grantOfSession(session, this.#options.keys.get(session.key)?.value);
    return grant === undefined || (session.endedAt ?? endOfSession(session, grant)) <= now;
  }
}

function scopeOf(access: Access, asked: KeyScope | null): KeyScope {
  const scope = asked ?? access.scope;
  if (access.may(scope) && includesScope(scope, 'READ')) return scope;
  throw invalidRequest(
    `body field scope: a session of key ${access.label} has scope ${access.scope} or a narrower one, down to READ`,
  );
}

function endOf(key: ApiKeyRecord, asked: number | null, now: number): number {
  const latest = Math.min(now + SESSION_MAX_MS, key.grant.expiresAt ?? Number.POSITIVE_INFINITY);
  if (asked !== null && asked > now + SESSION_MAX_MS)
    throw invalidRequest('body field expires: a session lasts 7 days at most');
  return Math.min(latest, asked ?? latest);
}
