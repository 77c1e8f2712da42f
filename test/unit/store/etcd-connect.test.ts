/** What `config.json` says of etcd is judged before the first call. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { generatePrivateKey, makeAuthority } from '../../../src/channel/trust/certificates.js';
import { connectEtcd } from '../../../src/store/etcd/connect.js';
import { FakeClock } from '../../support/fake-clock.js';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'drover-connect-'));
});
afterEach(() => rmSync(root, { recursive: true }));

const connect = (files: { readonly ca?: string; readonly cert?: string; readonly key?: string }) =>
  connectEtcd({ kind: 'etcd', endpoints: ['https://127.0.0.1:1'], ...files }, root, new FakeClock());

it('refuses certificates and keys that cannot be used, and names the fields', async () => {
  const authority = await makeAuthority('test', Date.now() + 3_600_000);
  writeFileSync(join(root, 'good.pem'), authority.certificate);
  writeFileSync(join(root, 'other.key'), generatePrivateKey());
  writeFileSync(join(root, 'bad.pem'), 'no certificate\n');
  (await connect({ ca: 'good.pem' })).close();
  for (const files of [
    { ca: 'bad.pem' },
    { cert: 'bad.pem', key: 'other.key' },
    { cert: 'good.pem', key: 'other.key' },
  ])
    await expect(connect(files)).rejects.toMatchObject({
      code: 'DRV_NODE_CONFIG_INVALID',
      message: expect.stringContaining('ca, cert and key must be PEM files that belong together'),
    });
  await expect(connect({ ca: 'absent.pem' })).rejects.toMatchObject({
    code: 'DRV_NODE_CONFIG_INVALID',
    message: expect.stringContaining('store.ca'),
  });
});
