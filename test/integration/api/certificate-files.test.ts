/** The operator's own certificate for the API: what a start refuses, and how a renewed one is taken up. */

import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CertificateFiles } from '../../../src/api/tls/certificate-files.js';
import type { ApiCertificate } from '../../../src/channel/trust/api-certificate.js';
import type { KeyPair } from '../../../src/channel/trust/certificates.js';
import { OperatorAuthority } from '../../support/api/tls.js';
import { FakeClock } from '../../support/fake-clock.js';

const LOOK_MS = 2000;
const DAY_MS = 86_400_000;

let directory: string;
let operator: OperatorAuthority;
let clock: FakeClock;
let files: CertificateFiles;
let said: string[];

const at = (name: string): string => join(directory, name);
const write = ({ certificate, key }: Partial<KeyPair>): void => {
  if (certificate !== undefined) writeFileSync(at('a.pem'), certificate);
  if (key !== undefined) writeFileSync(at('a.key'), key, { mode: 0o600 });
};
/** Looks twice: a change is read when the files have stood still for one look. */
async function look(): Promise<void> {
  await clock.advance(LOOK_MS);
  await files.settled();
  await clock.advance(LOOK_MS);
  await files.settled();
}

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'drover-tls-'));
  operator = await OperatorAuthority.create();
  clock = new FakeClock({ startAt: Date.now() });
  said = [];
  files = new CertificateFiles({
    certificate: at('a.pem'),
    key: at('a.key'),
    clock,
    logger: pino({ level: 'info' }, { write: (line) => said.push(JSON.parse(line).msg) }),
  });
});
afterEach(async () => {
  await files.stop();
  rmSync(directory, { recursive: true, force: true });
});

describe('a start', () => {
  it('shows what the files hold, and says for whom, until when and with which fingerprint', async () => {
    const pair = await operator.pair({ name: 'api.example', endsAt: Date.UTC(2040, 0, 2) });
    write(pair);
    const certificate = await files.open();
    expect(certificate.pair).toEqual(pair);
    expect(certificate.describe(clock.now())).toEqual({
      source: 'files',
      fingerprint: expect.stringMatching(/^(?:[0-9A-F]{2}:){31}[0-9A-F]{2}$/),
      names: ['127.0.0.1', 'api.example'],
      endsAt: Date.UTC(2040, 0, 2),
      problem: null,
    });
    expect(said).toEqual([]);
  });

  const locked = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' },
  }).privateKey;

  it.each<[string, (pair: KeyPair) => void, RegExp]>([
    [
      'no certificate',
      ({ key }) => write({ key }),
      /^config\.json: apiTls\.certificate: .*a\.pem cannot be read: .*; give a PEM file/,
    ],
    [
      'no key',
      ({ certificate }) => write({ certificate }),
      /^config\.json: apiTls\.key: .*a\.key cannot be read: /,
    ],
    [
      'a directory',
      (pair) => {
        write(pair);
        unlinkSync(at('a.key'));
        mkdirSync(at('a.key'));
      },
      /apiTls\.key: .*a\.key cannot be read: /,
    ],
    [
      'no PEM',
      (pair) => write({ ...pair, certificate: 'x' }),
      /apiTls\.certificate: .* holds no certificate: give the certificate in PEM/,
    ],
    [
      'a damaged certificate',
      (pair) => write({ ...pair, certificate: pair.certificate.replace('MII', 'xxx') }),
      /apiTls\.certificate: .* is damaged/,
    ],
    [
      'no private key',
      (pair) => write({ ...pair, key: pair.certificate }),
      /apiTls\.key: .* holds no private key in PEM/,
    ],
    [
      'a locked key',
      (pair) => write({ ...pair, key: locked }),
      /apiTls\.key: .* is locked by a passphrase: give the key without one/,
    ],
  ])('with %s is refused in one line', async (_what, prepare, message) => {
    prepare(await operator.pair());
    await expect(files.open()).rejects.toMatchObject({
      code: 'DRV_NODE_CONFIG_INVALID',
      message: expect.stringMatching(message),
    });
  });

  it('with a key of another certificate is refused, and says that the first one counts', async () => {
    const [one, other] = [await operator.pair(), await operator.pair()];
    write({ certificate: one.certificate, key: other.key });
    await expect(files.open()).rejects.toThrow(
      /apiTls\.key: .*a\.key is not the key of the certificate in .*a\.pem/,
    );
    // A chain in the wrong order.
    write({ certificate: operator.ca + one.certificate, key: one.key });
    await expect(files.open()).rejects.toThrow(/its first one/);
    write({ certificate: one.certificate + operator.ca, key: one.key });
    await files.open();
  });

  it.each([
    [-1, /has ended on .*: clients refuse it/],
    [3, /ends on .*: renew it/],
  ])('with a certificate that ends in %i days goes on with a warning', async (days, warning) => {
    write(await operator.pair({ endsAt: clock.now() + days * DAY_MS }));
    const certificate = await files.open();
    expect(said).toEqual([expect.stringMatching(warning)]);
    expect(certificate.describe(clock.now()).problem).toMatch(warning);
  });

  it('warns of a key that every user can read, and not of one for a group', async () => {
    write(await operator.pair());
    await chmod(at('a.key'), 0o640);
    await files.open();
    expect(said).toEqual([]);
    await chmod(at('a.key'), 0o644);
    await files.open();
    expect(said).toEqual([
      expect.stringMatching(/apiTls\.key: .*a\.key has mode 644: every user .*chmod o-r '.*a\.key'/),
    ]);
  });
});

describe('renewed files', () => {
  let certificate: ApiCertificate;
  let first: KeyPair;
  beforeEach(async () => {
    first = await operator.pair();
    write(first);
    certificate = await files.open();
    files.start();
  });

  it('are taken up within seconds, and only then', async () => {
    await look();
    expect([certificate.pair, said]).toEqual([first, []]);
    const next = await operator.pair();
    write(next);
    await look();
    expect(certificate.pair).toEqual(next);
    expect(said).toEqual([expect.stringMatching(/shows the renewed certificate of .*a\.pem/)]);
  });

  it('are taken up behind links that are swapped, as tools that renew do', async () => {
    const renew = (version: string, pair: KeyPair): void => {
      mkdirSync(at(version));
      writeFileSync(at(`${version}/a.pem`), pair.certificate);
      writeFileSync(at(`${version}/a.key`), pair.key, { mode: 0o600 });
      symlinkSync(version, at('next'));
      renameSync(at('next'), at('current'));
    };
    renew('v1', first);
    for (const name of ['a.pem', 'a.key']) {
      unlinkSync(at(name));
      symlinkSync(`current/${name}`, at(name));
    }
    await look();
    const next = await operator.pair();
    renew('v2', next);
    await look();
    expect(certificate.pair).toEqual(next);
  });

  it('are read when both have stood still, so that a pair under way is no fault', async () => {
    const next = await operator.pair();
    write({ certificate: next.certificate });
    await clock.advance(LOOK_MS);
    await files.settled();
    write({ key: next.key });
    await look();
    expect(certificate.pair).toEqual(next);
    expect(said).toEqual([expect.stringMatching(/shows the renewed/)]);
  });

  it('that are of no use leave the former pair, and log and status say why, once, until they are mended', async () => {
    const next = await operator.pair();
    write({ certificate: next.certificate });
    await look();
    await look();
    expect(certificate.pair).toEqual(first);
    const problem = /apiTls\.key: .*a\.key is not the key of the certificate/;
    expect(said).toEqual([expect.stringMatching(problem)]);
    expect(said[0]).toMatch(/^the API keeps its former certificate: /);
    expect(certificate.describe(clock.now()).problem).toMatch(problem);
    rmSync(at('a.pem'));
    await look();
    expect(certificate.describe(clock.now()).problem).toMatch(/a\.pem cannot be read/);
    write(next);
    await look();
    expect([certificate.pair, certificate.describe(clock.now()).problem]).toEqual([next, null]);
    expect(said).toHaveLength(3);
  });
});
