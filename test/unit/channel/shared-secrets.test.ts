/** What masters share through the store is sealed: the same for each that has the key, and nothing for any other. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  clusterKeyText,
  generateClusterKey,
  openSecret,
  readClusterKey,
  sealSecret,
} from '../../../src/channel/trust/cluster-key.js';
import { SharedSecrets } from '../../../src/channel/trust/shared-secrets.js';
import { MemoryFile, testAuthority } from '../../support/cluster/cluster-files.js';
import { FakeClock } from '../../support/fake-clock.js';
import { MemoryStore } from '../../support/store/memory-store.js';

const TEXT = 'a secret of the cluster, ä';

describe('a sealed secret', () => {
  const key = generateClusterKey();

  it('is read with the key that sealed it, also after that was a file', () => {
    const read = readClusterKey(clusterKeyText(key));
    expect(read && openSecret(read, 'a', sealSecret(key, 'a', TEXT))).toBe(TEXT);
  });

  it('never looks the same twice', () => {
    expect(sealSecret(key, 'a', TEXT).sealed).not.toBe(sealSecret(key, 'a', TEXT).sealed);
  });

  it('is refused with another key, under another name, and after any change', () => {
    const sealed = sealSecret(key, 'a', TEXT);
    expect(() => openSecret(generateClusterKey(), 'a', sealed)).toThrow(/not the key of this cluster/);
    expect(() => openSecret(key, 'b', sealed)).toThrow(/was changed/);
    for (const field of ['salt', 'nonce', 'sealed'] as const) {
      const bytes = Buffer.from(sealed[field], 'base64');
      for (const at of [0, bytes.length - 1]) {
        const changed = Buffer.from(bytes);
        changed[at] = (changed[at] ?? 0) ^ 1;
        const bad = { ...sealed, [field]: changed.toString('base64') };
        expect(() => openSecret(key, 'a', bad), `${field} ${at}`).toThrow(/was changed/);
      }
      expect(() => openSecret(key, 'a', { ...sealed, [field]: '' })).toThrow(/was changed/);
    }
  });

  it.each(['', 'short', `${'g'.repeat(64)}\n`, `${'0'.repeat(65)}\n`])('has no key like %j', (text) => {
    expect(readClusterKey(text)).toBeUndefined();
  });
});

describe('the secrets that masters share', () => {
  let store: MemoryStore;
  beforeEach(() => {
    store = new MemoryStore();
  });
  afterEach(() => store.close());

  const master = (keyText?: string, isShared = true) => {
    const keyFile = new MemoryFile('data/cluster/cluster.key', keyText);
    const file = new MemoryFile('data/cluster/authority.pem');
    const secrets = new SharedSecrets({ store, keyFile, isShared });
    return { keyFile, file, secrets, secret: secrets.secret('authority', file) };
  };

  it('are in a file, and need no key, where one master has the store', async () => {
    const { secret, file, keyFile } = master(undefined, false);
    await secret.write(TEXT);
    expect([await secret.read(), file.text, keyFile.text]).toEqual([TEXT, TEXT, undefined]);
    expect((await store.list('')).entries).toEqual([]);
  });

  it('are the same for every master with the key, and are in no file of theirs', async () => {
    const first = master();
    expect(await first.secret.read()).toBeUndefined();
    await first.secret.write(TEXT);
    const second = master(first.keyFile.text);
    expect(await second.secret.read()).toBe(TEXT);
    expect([first.file.text, second.file.text]).toEqual([undefined, undefined]);
    expect(JSON.stringify((await store.list('')).entries)).not.toContain(TEXT);
  });

  it('are refused to a master without the key, which makes no key and no secret of its own', async () => {
    await master().secret.write(TEXT);
    const { secret, secrets, keyFile } = master();
    await expect(secret.read()).rejects.toMatchObject({
      code: 'DRV_NODE_CONFIG_INVALID',
      message: expect.stringContaining('drover join --as-master'),
    });
    await expect(secret.write('another')).rejects.toThrow('drover join --as-master');
    await expect(secrets.secret('other', keyFile).write('x')).rejects.toThrow('drover join --as-master');
    expect(keyFile.text).toBeUndefined();
  });

  it('come from the file of the master that had the store alone before', async () => {
    const first = master();
    first.file.text = TEXT;
    expect(await first.secret.read()).toBe(TEXT);
    expect(await master(first.keyFile.text).secret.read()).toBe(TEXT);
  });

  it('go before a file, such as one of a master that had a cluster of its own', async () => {
    const first = master();
    await first.secret.write(TEXT);
    const second = master(first.keyFile.text);
    second.file.text = 'of another cluster';
    expect(await second.secret.read()).toBe(TEXT);
  });

  it('are still read where the state was moved into a file of one master', async () => {
    const first = master();
    await first.secret.write(TEXT);
    expect(await master(first.keyFile.text, false).secret.read()).toBe(TEXT);
  });

  it('are never replaced by another master that makes them at the same time', async () => {
    const first = master();
    await first.secrets.clusterKey();
    const second = master(first.keyFile.text);
    await first.secret.write(TEXT);
    await expect(second.secret.write('another')).rejects.toMatchObject({ code: 'DRV_STORE_CONFLICT' });
    expect(await second.secret.read()).toBe(TEXT);
  });

  it('say that the file of the key is damaged', async () => {
    const { secrets } = master('damaged');
    await expect(secrets.clusterKey()).rejects.toMatchObject({ code: 'DRV_NODE_ROOT_UNUSABLE' });
  });

  it('make one authority for all masters', async () => {
    const clock = new FakeClock();
    const first = master();
    await first.secrets.clusterKey();
    const authority = (keyText: string | undefined) =>
      testAuthority(clock, { authorityFile: master(keyText).secret });
    // It starts before there is an authority.
    const early = authority(first.keyFile.text);
    await early.open();
    const one = testAuthority(clock, { authorityFile: first.secret });
    await one.open();
    const { fingerprint } = await one.ensure();
    expect((await early.ensure()).fingerprint).toBe(fingerprint);
    expect((await authority(first.keyFile.text).ensure()).fingerprint).toBe(fingerprint);
    await expect(authority(undefined).ensure()).rejects.toThrow('drover join --as-master');
  });
});
