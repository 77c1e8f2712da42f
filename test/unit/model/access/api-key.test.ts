/** The stored record of a key: what a master reads from it, and what a newer one may not add in silence. */
import { describe, expect, it } from 'vitest';
import {
  apiKeyRecordSchema,
  type Grant,
  isMasterKey,
  withoutLimits,
} from '../../../../src/model/access/api-key.js';
import { includesScope, KEY_SCOPES } from '../../../../src/model/access/key-scopes.js';
import { sessionRecordSchema } from '../../../../src/model/access/session.js';

const KEY = { label: 'ci', hash: 'a'.repeat(64), mask: 'drv_...abcd', createdAt: 1 };
const RESTRICTED: Grant[] = [
  { ...withoutLimits('ALL'), configurations: ['lobby*'] },
  { ...withoutLimits('ALL'), expiresAt: 5 },
  { ...withoutLimits('ALL'), from: ['10.0.0.0/8'] },
  { ...withoutLimits('PUBLIC'), from: ['10.0.0.0/8'] },
  ...(['PUBLIC', 'READ', 'PLAN', 'OPERATE'] as const).map(withoutLimits),
];

describe('the record of a key', () => {
  it.each(RESTRICTED)('with %j is no master key', (grant) => {
    const record = apiKeyRecordSchema.parse({ ...KEY, grant, lastUse: { at: 2, address: '::1' } });
    expect(record.grant).toEqual(grant);
    expect(isMasterKey(record)).toBe(false);
  });

  it('of scope ALL without restrictions is a master key', () => {
    expect(isMasterKey({ ...KEY, grant: withoutLimits('ALL') })).toBe(true);
  });

  it('is set aside when it holds a restriction that this master does not know, or no grant', () => {
    const grant = { ...withoutLimits('ALL'), hours: '9-17' };
    expect(apiKeyRecordSchema.safeParse({ ...KEY, grant }).success).toBe(false);
    expect(apiKeyRecordSchema.safeParse({ ...KEY, scope: 'ALL' }).success).toBe(false);
    const session = { id: 'a'.repeat(12), hash: KEY.hash, key: 'ci', keyHash: KEY.hash, scope: 'READ' };
    const times = { createdAt: 1, expiresAt: 2, lastUse: { at: 1, address: '' } };
    expect(sessionRecordSchema.safeParse({ ...session, ...times }).success).toBe(true);
    expect(sessionRecordSchema.safeParse({ ...session, ...times, hours: '9-17' }).success).toBe(false);
  });
});

it('each scope includes those before it', () => {
  const table = KEY_SCOPES.map((scope) => KEY_SCOPES.filter((least) => includesScope(scope, least)).length);
  expect(table).toEqual([1, 2, 3, 4, 5, 6, 7]);
});
