/**
 * Makes and revokes API keys, for commands and routes. Each write resolves when it is durable and the mirror, which
 * the gate follows, shows it. The socket book closes the open sockets of a revoked key.
 */
import { KeyedTurns } from '../loop/keyed-turns.js';
import {
  type ApiKeyRecord,
  apiKeyRecordSchema,
  type Grant,
  isMasterKey,
  type LastUse,
} from '../model/access/api-key.js';
import { DroverError, invalidRequest, messageOf } from '../model/errors.js';
import { nameSchema } from '../model/names.js';
import { unknownKey } from '../model/unknown.js';
import { apiKeyKey } from '../store/keys.js';
import type { Mirrored, MirrorReader, SetAside } from '../store/mirror.js';
import { modify, type RecordSet, untilShown } from '../store/modify.js';
import { create, type Operation, type Store } from '../store/store.js';
import type { Ambient } from '../telemetry/ambient.js';
import { ADMIN_FILE, removeAdminKey } from './admin-key-file.js';
import { generateToken, hashToken, isWellFormedToken, maskToken } from './tokens.js';

/** The most keys. Every key is held in memory, and more of them are the mistake of a script. */
const MAX_KEYS = 1000;
/** The name that the audit trail gives to a caller without a key, the node's own terminal. */
const RESERVED_LABEL = 'terminal';
/** The most tries to remove a key, far more than needed: a try fails only when another write has succeeded. */
const MAX_TRIES = 1000;

export interface KeyWriterOptions extends Ambient {
  readonly store: Store;
  readonly keys: MirrorReader<ApiKeyRecord>;
  /** Absolute path of `data/admin.key`. The file is removed with the key whose token it holds. */
  readonly adminKeyPath: string;
}

export class KeyWriter {
  readonly #options: KeyWriterOptions;
  readonly #set: RecordSet<ApiKeyRecord>;

  constructor(options: KeyWriterOptions) {
    const { store, keys: mirror } = options;
    this.#options = options;
    this.#set = { store, mirror, keyOf: apiKeyKey, turns: new KeyedTurns() };
  }

  /** Makes a key. Its token is known to this caller only. Throws DRV_KEY_EXISTS, DRV_REQUEST_INVALID. */
  async create(label: string, grant: Grant): Promise<{ token: string; record: ApiKeyRecord }> {
    const { store, keys, clock } = this.#options;
    checkLabel(label);
    if (keys.size >= MAX_KEYS)
      throw invalidRequest(`there are ${keys.size} keys, the most that are kept: delete one first`);
    const token = generateToken();
    const hash = hashToken(token);
    const record: ApiKeyRecord = { label, hash, mask: maskToken(token), createdAt: clock.now(), grant };
    try {
      await keys.until(await create(store, apiKeyKey(label), apiKeyRecordSchema.parse(record)));
    } catch (error) {
      if (!DroverError.is(error, 'DRV_STORE_CONFLICT')) throw error;
      throw new DroverError(
        'DRV_KEY_EXISTS',
        `there is a key "${label}" already: delete it first, or take another label`,
      );
    }
    return { token, record };
  }

  /** Revokes a key. Throws DRV_KEY_UNKNOWN, and DRV_REQUEST_INVALID for the last ALL key. */
  async remove(label: string): Promise<void> {
    const { store, keys } = this.#options;
    for (let tries = 1; ; tries++) {
      const key = keys.get(label);
      const aside = keys.setAside.get(label);
      if (aside !== undefined) return this.#removeSetAside(label, aside);
      if (key === undefined) throw unknownKey(label);
      try {
        await keys.until(await store.transact(this.#removal(key)));
        return await this.#removeFile(key.value);
      } catch (error) {
        // Try again: the key changed meanwhile, or the ALL key that was to remain was revoked at the same time.
        if (!DroverError.is(error, 'DRV_STORE_CONFLICT') || tries >= MAX_TRIES) throw error;
        await untilShown(store, keys);
      }
    }
  }

  /** Writes down the last use of the key with this hash, unless it is gone. Throws what the store throws. */
  async noteUse(label: string, hash: string, lastUse: LastUse): Promise<void> {
    await modify(this.#set, label, (record) => (record.hash === hash ? { ...record, lastUse } : undefined));
  }

  /** Writes down that the key with this hash has ended, so that it stays ended. Throws what the store throws. */
  async noteEnd(label: string, hash: string, endedAt: number): Promise<void> {
    await modify(this.#set, label, (record) => (record.hash === hash ? { endedAt, ...record } : undefined));
  }

  /** Removes a key whose record cannot be read. Such a key lets nobody in, so no other key needs to remain. */
  async #removeSetAside(label: string, { revision: expectedRevision }: SetAside): Promise<void> {
    const { store, keys } = this.#options;
    await keys.until(await store.transact([{ do: 'remove', key: apiKeyKey(label), expectedRevision }]));
  }

  /**
   * The removal of an unrestricted ALL key checks that another such key stays, so two removals at once cannot take the
   * last two. A key that expires or is restricted cannot do everything, and does not count.
   */
  #removal({ value, revision }: Mirrored<ApiKeyRecord>): Operation[] {
    const { label } = value;
    const removal: Operation = { do: 'remove', key: apiKeyKey(label), expectedRevision: revision };
    if (!isMasterKey(value)) return [removal];
    for (const [other, { value: left, revision: expectedRevision }] of this.#options.keys.entries()) {
      if (other === label || !isMasterKey(left)) continue;
      return [removal, { do: 'check', key: apiKeyKey(other), expectedRevision }];
    }
    throw invalidRequest(
      `key "${label}" is the last one with scope ALL and without restrictions, and without one nobody could use the API: make another first (key create <label> ALL)`,
    );
  }

  /**
   * Removes `data/admin.key` if it holds the token of the revoked key. When that fails, the token in the file is
   * useless, and the next start logs that.
   */
  async #removeFile({ label, hash }: ApiKeyRecord): Promise<void> {
    const { adminKeyPath, logger } = this.#options;
    await removeAdminKey(adminKeyPath, hash).catch((error: unknown) =>
      logger.warn(
        { err: error },
        `key ${label} is revoked, but ${ADMIN_FILE} could not be removed: ${messageOf(error)}`,
      ),
    );
  }
}

function checkLabel(label: string): void {
  const { success, error } = nameSchema.safeParse(label);
  if (!success) throw invalidRequest(`the label of a key ${error.issues[0]?.message ?? 'is not valid'}`);
  // Refuse a token that was pasted by mistake: it would stay in lists and logs for ever.
  if (isWellFormedToken(label))
    throw invalidRequest('the label of a key must not be a token: choose a name for it');
  if (label === RESERVED_LABEL)
    throw invalidRequest(
      `no key may be called "${label}": in the audit trail that is the node's own terminal`,
    );
}
