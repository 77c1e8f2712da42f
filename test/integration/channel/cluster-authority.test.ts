/** The master's authority and certificates over starts: made once, kept, told apart from damage, and private. */

import { createPublicKey, X509Certificate } from 'node:crypto';
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { generatePrivateKey } from '../../../src/channel/trust/certificates.js';
import { isIssuedBy, nodeIdOf } from '../../../src/channel/trust/peer-certificate.js';
import { SecretDirectory } from '../../../src/node/secret-files.js';
import { testAuthority } from '../../support/cluster/cluster-files.js';
import { FakeClock } from '../../support/fake-clock.js';

describe('the authority of a cluster', () => {
  let directory: string;
  let clock: FakeClock;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'drover-authority-'));
    clock = new FakeClock();
  });

  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  const path = (...names: string[]): string => join(directory, 'cluster', ...names);

  const open = async (names: readonly string[] = ['10.0.0.1', 'master']) => {
    const files = new SecretDirectory(path());
    const authority = testAuthority(clock, {
      authorityFile: files.file('authority.pem'),
      serverFile: files.file('server.json'),
      names,
    });
    await authority.open();
    return authority;
  };

  it('is made once, whoever asks first, and is the same after a restart', async () => {
    const authority = await open();
    const [a, b] = await Promise.all([authority.ensure(), authority.ensure()]);
    expect(a.fingerprint).toBe(b.fingerprint);
    expect((await (await open()).ensure()).fingerprint).toBe(a.fingerprint);
    expect(a.fingerprint).toMatch(/^[0-9a-f]{64}$/);
    expect(a.certificate.ca).toBe(true);
    expect(a.certificate.subject).toContain('O=test');
    for (const [file, mode] of [
      [path(), 0o700],
      [path('authority.pem'), 0o600],
    ] as const)
      expect(statSync(file).mode & 0o777).toBe(mode);
  });

  it('gives the master a certificate for its names, and another when these change', async () => {
    const authority = await open();
    const { certificate: text } = await authority.serverCredential();
    const certificate = new X509Certificate(text);
    const { certificate: root } = await authority.ensure();
    expect(isIssuedBy(certificate, root, 'server')).toBe(true);
    expect(isIssuedBy(certificate, root, 'client')).toBe(false);
    expect([certificate.checkIP('10.0.0.1'), certificate.checkHost('master')]).toEqual([
      '10.0.0.1',
      'master',
    ]);
    expect((await (await open()).serverCredential()).certificate).toBe(text);
    const moved = await (await open(['10.0.0.9', 'master'])).serverCredential();
    expect(new X509Certificate(moved.certificate).checkIP('10.0.0.9')).toBe('10.0.0.9');
    expect(statSync(path('server.json')).mode & 0o777).toBe(0o600);
  });

  it('signs for nodes what cannot pass for the master, or for another node', async () => {
    const authority = await open();
    const publicKey = createPublicKey(generatePrivateKey());
    const issued = new X509Certificate((await authority.issueClient('alpha', publicKey)).certificate);
    const { certificate: root } = await authority.ensure();
    expect(isIssuedBy(issued, root, 'client')).toBe(true);
    expect(isIssuedBy(issued, root, 'server')).toBe(false);
    expect(isIssuedBy(root, root, 'client')).toBe(false);
    expect(nodeIdOf(issued)).toBe('alpha');
    expect(nodeIdOf(root)).toBeUndefined();
    const other = await testAuthority(clock).ensure();
    expect(isIssuedBy(issued, other.certificate, 'client')).toBe(false);
  });

  it('refuses a damaged file, and one that others can read, and says what to do', async () => {
    await (await open()).ensure();
    chmodSync(path('authority.pem'), 0o644);
    await expect(open()).rejects.toMatchObject({
      code: 'DRV_NODE_ROOT_UNUSABLE',
      message: expect.stringContaining('run: chmod 600'),
    });
    chmodSync(path('authority.pem'), 0o600);
    truncateSync(path('authority.pem'), 300);
    await expect(open()).rejects.toMatchObject({
      code: 'DRV_NODE_ROOT_UNUSABLE',
      message: expect.stringMatching(/^data\/cluster\/authority.pem is damaged, .* restore it from a backup/),
    });
  });

  it('refuses a file with a flipped bit in the key or the certificate', async () => {
    await (await open()).ensure();
    const sound = readFileSync(path('authority.pem'), 'utf8');
    const lines = sound
      .split('\n')
      .flatMap((line, index) => (line.startsWith('-') || line === '' ? [] : [index]));
    for (const index of lines) {
      const changed = sound.split('\n');
      const line = changed[index] ?? '';
      changed[index] = `${line[0] === 'A' ? 'B' : 'A'}${line.slice(1)}`;
      if (changed[index] === line) continue;
      writeFileSync(path('authority.pem'), changed.join('\n'));
      await expect(open()).rejects.toThrow('data/cluster/authority.pem is damaged');
    }
    expect(lines.length).toBeGreaterThan(8);
  });

  it('makes a server certificate anew when its file is damaged', async () => {
    await (await open()).serverCredential();
    truncateSync(path('server.json'), 10);
    const again = await (await open()).serverCredential();
    expect(new X509Certificate(again.certificate).checkHost('master')).toBe('master');
  });
});
