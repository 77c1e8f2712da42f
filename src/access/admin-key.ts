/**
 * Makes the operator's key, label `admin`: when the store holds no key at all, and again when the operator has
 * emptied `data/admin.key`. Called at start, after the store is open and before the API listens.
 */
import { type ApiKeyRecord, apiKeyRecordSchema, withoutLimits } from '../model/access/api-key.js';
import type { AuditTrail } from '../model/audit.js';
import { apiKeyKey, PREFIX } from '../store/keys.js';
import { create, type Store } from '../store/store.js';
import type { Logger } from '../telemetry/logger.js';
import { ADMIN_FILE, type AdminKeyContent, readAdminKey, writeAdminKey } from './admin-key-file.js';
import { generateToken, hashToken, maskToken } from './tokens.js';

const ADMIN_LABEL = 'admin';
const MAKE_ANEW = `to make key ${ADMIN_LABEL} anew, stop Drover, empty the file (umask 077; : > ${ADMIN_FILE}) and start it`;

interface AdminKeyOptions {
  readonly store: Store;
  /** Absolute path of `data/admin.key`. */
  readonly path: string;
  /** Wall clock, Unix milliseconds. */
  readonly now: number;
  readonly audit: Pick<AuditTrail, 'record'>;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
}

/**
 * Makes or replaces the key `admin`, and keeps the file with it. May be repeated.
 * `made`: there was no key. `replaced`: the file was empty, so the old token of `admin` is revoked. That gives away
 * nothing: a user who can write in `data/` owns the node anyway.
 * Throws DRV_NODE_ROOT_UNUSABLE when other users can read the file, or when it cannot be read or written.
 */
export async function ensureAdminKey(options: AdminKeyOptions): Promise<'kept' | 'made' | 'replaced'> {
  const { store, path, logger } = options;
  const content = await readAdminKey(path);
  const { entries } = await store.list(PREFIX.keys);
  if (entries.length === 0) {
    await make(options, content);
    return 'made';
  }
  if (content.kind === 'empty') {
    await replace(options);
    return 'replaced';
  }
  const keys = entries.flatMap(({ value }) => apiKeyRecordSchema.safeParse(value).data ?? []);
  const problem = problemOf(content, keys);
  if (problem !== undefined) logger.warn({ path }, `${ADMIN_FILE} ${problem}; ${MAKE_ANEW}`);
  return 'kept';
}

/**
 * Writes the file before the record. After a crash in between, the next start finds the token in the file and goes
 * on.
 */
async function make({ store, path, now }: AdminKeyOptions, content: AdminKeyContent): Promise<void> {
  const token = content.kind === 'token' ? content.token : generateToken();
  if (content.kind !== 'token') await writeAdminKey(path, token);
  await create(store, apiKeyKey(ADMIN_LABEL), recordOf(token, now));
}

/**
 * Writes the record before the file. After a crash in between, the file is still empty and the next start does this
 * again.
 */
async function replace({ store, path, now, audit, logger }: AdminKeyOptions): Promise<void> {
  const token = generateToken();
  await store.transact([{ do: 'put', key: apiKeyKey(ADMIN_LABEL), value: recordOf(token, now) }]);
  await writeAdminKey(path, token);
  audit.record({
    key: null,
    action: 'admin key made anew',
    subject: ADMIN_LABEL,
    address: null,
    result: 'ok',
  });
  logger.warn(
    { path },
    `${ADMIN_FILE} was empty: key ${ADMIN_LABEL} was made anew, its old token is revoked`,
  );
}

function recordOf(token: string, createdAt: number): ApiKeyRecord {
  return {
    label: ADMIN_LABEL,
    hash: hashToken(token),
    mask: maskToken(token),
    createdAt,
    grant: withoutLimits('ALL'),
  };
}

/**
 * Says what is wrong with the file; undefined: nothing. A missing file is fine: operators keep the token where they
 * like.
 */
function problemOf(content: AdminKeyContent, keys: readonly ApiKeyRecord[]): string | undefined {
  if (content.kind === 'damaged') return 'does not hold a token';
  if (content.kind !== 'token') return undefined;
  const hash = hashToken(content.token);
  return keys.some((key) => key.hash === hash) ? undefined : 'holds the token of no key';
}
