/** The stored record of a key: what an older master makes of it, and what a newer one may not add in silence. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  apiKeyRecord,
  apiKeyRecordSchema,
  type Grant,
  grantOf,
  isMasterKey,
  withoutLimits,
} from '../../../../src/model/access/api-key.js';
import { includesScope, KEY_SCOPES } from '../../../../src/model/access/key-scopes.js';
import { sessionRecordSchema } from '../../../../src/model/access/session.js';
import { nameSchema } from '../../../../src/model/names.js';

/** The schema of 0.1.0, word for word: it drops fields that it does not know. */
const schemaOf010 = z.object({
  label: nameSchema,
  scope: z.enum(['ALL', 'PUBLIC']),
  hash: z.string().regex(/^[0-9a-f]{64}$/),
  mask: z.string(),
  createdAt: z.number(),
});

const KEY = { label: 'ci', hash: 'a'.repeat(64), mask: 'drv_...abcd', createdAt: 1 };
const RESTRICTED: Grant[] = [
  { ...withoutLimits('ALL'), configurations: ['lobby*'] },
  { ...withoutLimits('ALL'), expiresAt: 5 },
  { ...withoutLimits('ALL'), from: ['10.0.0.0/8'] },
  { ...withoutLimits('PUBLIC'), from: ['10.0.0.0/8'] },
  ...(['READ', 'PLAN', 'OPERATE'] as const).map(withoutLimits),
];

describe('the record of a key', () => {
  it.each(RESTRICTED)('with %j opens nothing on a master of 0.1.0, which cannot read it', (grant) => {
    const record = { ...apiKeyRecord(KEY, grant), lastUse: { at: 2, address: '::1' } };
    expect(schemaOf010.safeParse(record).success).toBe(false);
    expect(grantOf(apiKeyRecordSchema.parse(record))).toEqual(grant);
    expect(isMasterKey(apiKeyRecordSchema.parse(record))).toBe(false);
  });

  it.each(['ALL', 'PUBLIC'] as const)(
    'of scope %s without restrictions is read by 0.1.0, and read from it',
    (scope) => {
      const record = apiKeyRecord(KEY, withoutLimits(scope));
      expect(schemaOf010.parse({ ...record, lastUse: { at: 2, address: '::1' } })).toEqual(record);
      expect(record).toEqual({ ...KEY, scope });
      expect(grantOf(apiKeyRecordSchema.parse(record))).toEqual(withoutLimits(scope));
      expect(isMasterKey(record)).toBe(scope === 'ALL');
    },
  );

  it('is set aside when it holds a restriction that this master does not know, or two answers', () => {
    const grant = { ...withoutLimits('ALL'), hours: '9-17' };
    expect(apiKeyRecordSchema.safeParse({ ...KEY, grant }).success).toBe(false);
    expect(apiKeyRecordSchema.safeParse({ ...KEY, scope: 'ALL', grant: withoutLimits('READ') }).success).toBe(
      false,
    );
    expect(apiKeyRecordSchema.safeParse(KEY).success).toBe(false);
    const session = { id: 'a'.repeat(12), hash: KEY.hash, key: 'ci', keyHash: KEY.hash, scope: 'READ' };
    const times = { createdAt: 1, expiresAt: 2, lastUse: { at: 1, address: '' } };
    expect(sessionRecordSchema.safeParse({ ...session, ...times }).success).toBe(true);
    expect(sessionRecordSchema.safeParse({ ...session, ...times, hours: '9-17' }).success).toBe(false);
  });
});

it('each scope includes those before it', () => {
  const table = KEY_SCOPES.map((scope) => KEY_SCOPES.filter((least) => includesScope(scope, least)).length);
  expect(table).toEqual([1, 2, 3, 4, 5]);
});
