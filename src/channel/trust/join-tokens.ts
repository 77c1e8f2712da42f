/**
 * Creates, lists and revokes the cluster's join tokens for an operator. admission.ts checks the tokens of joining
 * nodes.
 */
import type { Clock } from '../../loop/clock.js';
import { hasEnded } from '../../model/access/seen-end.js';
import { type JoinTokenRecord, joinTokenIdSchema, joinTokenRecordSchema } from '../../model/cluster.js';
import { DroverError, invalidRequest } from '../../model/errors.js';
import { nameSchema } from '../../model/names.js';
import { joinTokenKey, PREFIX } from '../../store/keys.js';
import { create, type Store, update } from '../../store/store.js';
import { inSteps } from '../../store/transaction.js';
import type { Authority } from './authority.js';
import { formatJoinToken, generateJoinToken, hashSecret } from './join-token.js';

/** The most tokens: more at once are the mistake of a script. */
const MAX_TOKENS = 1000;
/** How long an expired token is kept, if there is room, so that a node with it can be told that it expired. */
const KEPT_MS = 30 * 86_400_000;

export interface NewJoinToken {
  readonly label: string | null;
  /** The life of the token; null: it never expires. */
  readonly expiresInMs: number | null;
  /** How many nodes may use the token; null: any number. */
  readonly maxUses: number | null;
  /** True: the token makes masters. Default: false. */
  readonly asMaster?: boolean;
}

export interface KnownToken {
  readonly record: JoinTokenRecord;
  readonly revision: number;
}

interface JoinTokensOptions {
  readonly store: Store;
  readonly authority: Authority;
  readonly clock: Pick<Clock, 'now'>;
}

export class JoinTokens {
  readonly #options: JoinTokensOptions;

  constructor(options: JoinTokensOptions) {
    this.#options = options;
  }

  /** Makes a token. Only this caller gets its text. Throws DRV_REQUEST_INVALID. */
  async create({
    label,
    expiresInMs,
    maxUses,
    asMaster = false,
  }: NewJoinToken): Promise<{ readonly token: string; readonly record: JoinTokenRecord }> {
    const { store, authority, clock } = this.#options;
    const { error } = nameSchema.nullable().safeParse(label);
    if (error !== undefined)
      throw invalidRequest(`the label of a join token ${error.issues[0]?.message ?? 'is not valid'}`);
    const now = clock.now();
    await this.#clean(now);
    const { fingerprint } = await authority.ensure();
    const token = generateJoinToken(fingerprint);
    const record: JoinTokenRecord = {
      id: token.id,
      label,
      hash: hashSecret(token.secret),
      createdAt: now,
      expiresAt: expiresInMs === null ? null : now + expiresInMs,
      maxUses,
      uses: 0,
      ...(asMaster && { asMaster }),
    };
    await create(store, joinTokenKey(token.id), joinTokenRecordSchema.parse(record));
    return { token: formatJoinToken(token), record };
  }

  /** All readable tokens, the oldest first. */
  async list(): Promise<readonly JoinTokenRecord[]> {
    const { entries } = await this.#options.store.list(PREFIX.joinTokens);
    return entries
      .flatMap(({ value }) => joinTokenRecordSchema.safeParse(value).data ?? [])
      .toSorted((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
  }

  /**
   * Ends a token, even one that cannot be read. Nodes that joined with it stay members. Throws DRV_JOIN_TOKEN_UNKNOWN.
   */
  async revoke(id: string): Promise<void> {
    const isId = joinTokenIdSchema.safeParse(id).success;
    if (!isId || (await this.#options.store.get(joinTokenKey(id))) === undefined)
      throw new DroverError(
        'DRV_JOIN_TOKEN_UNKNOWN',
        'there is no join token with this id: "cluster token list" shows all',
      );
    await this.#options.store.transact([{ do: 'remove', key: joinTokenKey(id) }]);
  }

  /** The token with this id; undefined: there is none, or it cannot be read. */
  async find(id: string): Promise<KnownToken | undefined> {
    if (!joinTokenIdSchema.safeParse(id).success) return undefined;
    const entry = await this.#options.store.get(joinTokenKey(id));
    const record = joinTokenRecordSchema.safeParse(entry?.value).data;
    return entry === undefined || record === undefined ? undefined : { record, revision: entry.revision };
  }

  /** True when the token has ended. That is written down, so that it stays ended. */
  async hasEnded({ record, revision }: KnownToken): Promise<boolean> {
    const { store, clock } = this.#options;
    const now = clock.now();
    if (!hasEnded(record, now)) return false;
    if (record.endedAt === undefined)
      // Ignore failures: the token is refused all the same.
      await update(store, joinTokenKey(record.id), { ...record, endedAt: now }, revision).catch(
        () => undefined,
      );
    return true;
  }

  /** True when a node could still join with the token of this id. */
  async isUsable(id: string): Promise<boolean> {
    const known = await this.find(id);
    return known !== undefined && !isSpent(known.record, this.#options.clock.now());
  }

  /**
   * Removes tokens that expired long ago. When room is needed it also removes tokens that no node can use any more, the
   * oldest first. Throws DRV_REQUEST_INVALID when there are still too many.
   */
  async #clean(now: number): Promise<void> {
    const tokens = await this.list();
    const old = tokens.filter(({ expiresAt }) => expiresAt !== null && expiresAt + KEPT_MS < now);
    const spent = tokens.filter((token) => !old.includes(token) && isSpent(token, now));
    const left = tokens.length - old.length;
    const gone = [...old, ...spent.slice(0, Math.max(0, left + 1 - MAX_TOKENS))];
    if (tokens.length - gone.length >= MAX_TOKENS)
      throw invalidRequest(`there are ${tokens.length} join tokens, and no more are kept: revoke some first`);
    for (const some of inSteps(gone))
      await this.#options.store.transact(some.map(({ id }) => ({ do: 'remove', key: joinTokenKey(id) })));
  }
}

/** True when no node can join with the token any more. */
function isSpent(token: JoinTokenRecord, now: number): boolean {
  return hasEnded(token, now) || (token.maxUses !== null && token.uses >= token.maxUses);
}
