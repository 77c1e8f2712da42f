/** The thread that makes certificates, as it is built: what it makes, how it ends, and that it begins again. */
import { createPublicKey, X509Certificate } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { CertificateThread } from '../../../src/channel/trust/certificate-thread.js';
import { generatePrivateKey } from '../../../src/channel/trust/certificates.js';
import { FakeClock } from '../../support/fake-clock.js';
import { REPOSITORY } from '../../support/repository-root.js';
import { temporaryDirectory } from '../../support/templates/template-trees.js';

const ENDS_AT = Date.UTC(2040, 0, 1);
const SUBJECT = { commonName: 'alpha', clusterName: 'test' };

const options = () =>
  ({
    subject: SUBJECT,
    usage: 'client',
    publicKey: createPublicKey(generatePrivateKey()),
    endsAt: ENDS_AT,
  }) as const;

function threadOf(program = join(REPOSITORY, 'dist/certificate-thread-main.js')) {
  const clock = new FakeClock();
  const thread = new CertificateThread(program, clock);
  onTestFinished(() => thread.stop());
  return { thread, clock };
}

it('makes an authority and certificates of it, also after it was idle and ended', async () => {
  const { thread, clock } = threadOf();
  const authority = await thread.makeAuthority('test', ENDS_AT);
  const issue = () => thread.issueCertificate(authority, options());
  const together = await Promise.all([issue(), issue()]);
  await clock.advance(60_000);
  const issuer = new X509Certificate(authority.certificate);
  for (const certificate of [...together, await issue()])
    expect(new X509Certificate(certificate).verify(issuer.publicKey)).toBe(true);
});

it('says why a certificate could not be made, and makes the next', async () => {
  const { thread } = threadOf();
  const broken = { key: 'no key', certificate: 'no certificate' };
  await expect(thread.issueCertificate(broken, options())).rejects.toThrow();
  expect((await thread.makeAuthority('test', ENDS_AT)).certificate).toContain('BEGIN CERTIFICATE');
});

it('refuses what waits when the thread dies, and all when it is stopped', async () => {
  const directory = temporaryDirectory();
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const program = join(directory, 'dies.cjs');
  writeFileSync(program, `require('node:worker_threads').parentPort.on('message', () => process.exit(1));`);
  const { thread } = threadOf(program);
  await expect(thread.makeAuthority('test', ENDS_AT)).rejects.toThrow('has ended');
  await thread.stop();
  await expect(thread.makeAuthority('test', ENDS_AT)).rejects.toThrow('has ended');
});
