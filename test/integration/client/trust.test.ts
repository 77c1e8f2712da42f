/** Which certificates the client takes for the master's, and what it says of the others. */
import { webcrypto } from 'node:crypto';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { WebSocketServer } from 'ws';
import type { KeyPair } from '../../../src/channel/trust/certificates.js';
import { HttpConnection } from '../../../src/client/connection/http-connection.js';
import type { Target } from '../../../src/client/connection/target.js';
import { fingerprintOf, type Trust } from '../../../src/client/connection/trust.js';
import { chooseTarget } from '../../../src/client/contexts/choose-target.js';
import { type AddOptions, addContext } from '../../../src/client/contexts/context-add.js';
import { ContextFile } from '../../../src/client/contexts/context-file.js';
import { listContexts } from '../../../src/client/contexts/context-list.js';
import { TemporaryHome } from '../../support/client/temporary-home.js';
import {
  listening,
  listenWithTls,
  serverCertificate,
  testOwnAuthority,
  YEAR_MS,
} from '../../support/client/tls-servers.js';

const KEY = `drv_${'k'.repeat(36)}`;
const DAY_MS = 86_400_000;

let authority: KeyPair;
let home: TemporaryHome;
const servers: Server[] = [];
/** The requests that arrived, by their Authorization. */
const asked: (string | undefined)[] = [];

beforeAll(async () => {
  authority = await testOwnAuthority();
});
beforeEach(() => {
  home = new TemporaryHome();
  home.write('key', `${KEY}\n`);
});
afterEach(async () => {
  asked.length = 0;
  home.remove();
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  }
});

/** A master with this certificate, or one of the authority followed by that, as Drover shows them. */
async function master(pair?: KeyPair): Promise<string> {
  const { key, certificate } = pair ?? (await serverCertificate(authority));
  const shown = pair === undefined ? certificate + authority.certificate : certificate;
  const { server, url } = await listenWithTls({ key, certificate: shown }, ({ headers }, response) => {
    asked.push(headers.authorization);
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}');
  });
  servers.push(server);
  return url;
}

function connect(url: string, trust: Trust, target: Partial<Target> = {}): HttpConnection {
  const key = { kind: 'text', key: KEY, from: 'it' } as const;
  return new HttpConnection(
    { name: 'prod', kind: 'context', url, key, trust, ...target },
    { version: '0.1.0' },
  );
}

async function failureOf(call: Promise<unknown>): Promise<string> {
  const error = await call.then(
    () => new Error('it did not fail'),
    (reason: unknown) => reason,
  );
  const exitCode = error instanceof Error && 'exitCode' in error ? String(error.exitCode) : '-';
  return `${exitCode} ${error instanceof Error ? error.message.replaceAll(/127\.0\.0\.1:\d+/g, 'HOST') : ''}`;
}

const pinned = (pem: string): Trust => ({ kind: 'pinned', certificate: pem });

describe('a connection with TLS', () => {
  it('is made when the pinned authority has signed the certificate, also a later one', async () => {
    for (const url of [await master(), await master()])
      expect(await connect(url, pinned(authority.certificate)).request('GET', '/x')).toMatchObject({
        status: 200,
      });
    expect(asked).toEqual([`Bearer ${KEY}`, `Bearer ${KEY}`]);
  });

  it('is made when the server does not show its pinned authority', async () => {
    const url = await master(await serverCertificate(authority));
    expect(await connect(url, pinned(authority.certificate)).request('GET', '/x')).toMatchObject({
      status: 200,
    });
  });

  it('is made when the certificate itself is pinned, whatever its names', async () => {
    const pair = await serverCertificate(authority, { names: ['master.example'] });
    expect(await connect(await master(pair), pinned(pair.certificate)).request('GET', '/x')).toMatchObject({
      status: 200,
    });
  });

  it('carries sockets', async () => {
    const { key, certificate } = await serverCertificate(authority);
    const server = createSecureServer({ key, cert: certificate });
    servers.push(server);
    new WebSocketServer({ server }).on('connection', (socket) => socket.send('hello'));
    const connection = connect(`https://127.0.0.1:${await listening(server)}`, pinned(authority.certificate));
    const socket = await connection.openSocket('/watch');
    expect(String((await once(socket, 'message'))[0])).toBe('hello');
    socket.terminate();
    expect(await failureOf(connect(connection.url, { kind: 'system' }).openSocket('/watch'))).toMatch(
      /^7 .*not known here/,
    );
  });

  it.each<[string, Partial<Target>, RegExp]>([
    [
      'a context',
      {},
      /not known here: remove the context and add it again, with --fingerprint or --ca .*; it shows the authority SHA-256 AUTHORITY$/,
    ],
    [
      'DROVER_URL',
      { kind: 'environment' },
      /not known here: give it with DROVER_CA; it shows the authority SHA-256 AUTHORITY$/,
    ],
  ])('of %s to an unknown authority is refused, and no key is sent', async (_what, target, message) => {
    const url = await master();
    const failure = await failureOf(connect(url, { kind: 'system' }, target).request('GET', '/x'));
    expect(failure.replace(fingerprintOf(authority.certificate), 'AUTHORITY')).toMatch(message);
    expect(asked).toEqual([]);
  });

  it('to another authority than the pinned one is refused, with both fingerprints', async () => {
    const other = await testOwnAuthority();
    const failure = await failureOf(connect(await master(), pinned(other.certificate)).request('GET', '/x'));
    expect(failure).toMatch(/^7 cannot reach prod .*not of the pinned authority/);
    expect(failure).toContain(fingerprintOf(other.certificate));
    expect(failure).toContain(`it shows the authority SHA-256 ${fingerprintOf(authority.certificate)}`);
    expect(asked).toEqual([]);
  });

  it('to a certificate for another name is refused, with what mends it', async () => {
    const url = await master(await serverCertificate(authority, { names: ['master.example'] }));
    expect(await failureOf(connect(url, pinned(authority.certificate)).request('GET', '/x'))).toBe(
      "7 cannot reach prod (https://HOST): its certificate is for other names than 127.0.0.1: use one that it has, or add this address to apiNames in the master's config.json",
    );
    expect(asked).toEqual([]);
  });

  it.each<[string, number, number, RegExp]>([
    [
      'has expired',
      -YEAR_MS,
      -DAY_MS,
      /its certificate has expired \(it is valid from .* to .*\), or the clock of this machine is wrong: it says 20\d\d-/,
    ],
    [
      'is not valid yet',
      DAY_MS,
      YEAR_MS,
      /its certificate is not valid yet \(it is valid from .* to .*\), or the clock of this machine is wrong: it says 20\d\d-/,
    ],
  ])(
    'to a certificate that %s is refused, with the clock of this machine',
    async (_what, from, to, message) => {
      const pair = await selfSigned(Date.now() + from, Date.now() + to);
      expect(
        await failureOf(connect(await master(pair), pinned(pair.certificate)).request('GET', '/x')),
      ).toMatch(message);
      expect(asked).toEqual([]);
    },
  );

  it('says which file of authorities cannot be used', async () => {
    const url = await master();
    const from = (path: string): Trust => ({ kind: 'file', path, from: 'DROVER_CA' });
    expect(await failureOf(connect(url, from('/nowhere')).request('GET', '/x'))).toBe(
      '1 DROVER_CA (/nowhere) cannot be read: no such file or directory (ENOENT)',
    );
    const empty = home.write('ca.pem', 'nothing');
    expect(await failureOf(connect(url, from(empty)).request('GET', '/x'))).toBe(
      `1 DROVER_CA (${empty}) must hold certificates in PEM`,
    );
    const good = home.write('good.pem', authority.certificate);
    expect(await connect(url, from(good)).request('GET', '/x')).toMatchObject({ status: 200 });
  });
});

describe('context add', () => {
  const add = (options: AddOptions, answers?: readonly string[]) => addWith(home, options, answers);
  const contextOf = async () => (await listContexts(new ContextFile(home.environment)))[0];

  it('shows an unknown authority at a terminal, pins it after a yes, and connects from then on', async () => {
    const url = await master();
    expect(await add({ url, keyFile: 'key' }, ['yes'])).toMatchObject({ url, isCurrent: true });
    const fingerprint = fingerprintOf(authority.certificate);
    expect(home.said.join('\n')).toContain(`Drover cluster authority, test\n  SHA-256 ${fingerprint}`);
    expect(await contextOf()).toMatchObject({ trust: `pinned, SHA-256 ${fingerprint}` });
    const target = await chooseTarget({}, home.surroundings());
    expect(await new HttpConnection(target, { version: '0.1.0' }).request('GET', '/x')).toMatchObject({
      status: 200,
    });
    expect(asked).toEqual([`Bearer ${KEY}`]);
  });

  it.each(['no', '', 'y'])('keeps nothing when the answer is %j', async (answer) => {
    expect(await failureOf(add({ url: await master(), keyFile: 'key' }, [answer]))).toBe(
      '1 not confirmed: no context was added',
    );
    expect(await contextOf()).toBeUndefined();
  });

  it('is refused without a terminal, and says what to do; the fingerprint of authority or certificate is enough', async () => {
    const pair = await serverCertificate(authority);
    const url = await master({ ...pair, certificate: pair.certificate + authority.certificate });
    expect(await failureOf(add({ url, keyFile: 'key' }))).toMatch(
      /^64 nobody is here to confirm it: .*--fingerprint; or .*--ca FILE$/,
    );
    expect(await contextOf()).toBeUndefined();
    for (const pem of [authority.certificate, pair.certificate]) {
      const fingerprint = fingerprintOf(pem).replaceAll(':', '').toLowerCase();
      await add({ url, keyFile: 'key', fingerprint });
      expect(await contextOf()).toMatchObject({ trust: `pinned, SHA-256 ${fingerprintOf(pem)}` });
      home.writeContexts({});
    }
  });

  it('is refused with a fingerprint that the server does not show', async () => {
    const other = await testOwnAuthority();
    expect(
      await failureOf(
        add({ url: await master(), keyFile: 'key', fingerprint: fingerprintOf(other.certificate) }),
      ),
    ).toMatch(
      /^7 https:\/\/HOST does not show the certificate with SHA-256 .*, but .* and .*another server answers$/,
    );
    expect(await failureOf(add({ url: await master(), keyFile: 'key', fingerprint: 'abc' }))).toMatch(
      /^64 --fingerprint must be/,
    );
  });

  it('does not pin an authority whose certificate is for another name', async () => {
    const { key, certificate } = await serverCertificate(authority, { names: ['master.example'] });
    const url = await master({ key, certificate: certificate + authority.certificate });
    expect(await failureOf(add({ url, keyFile: 'key' }, ['yes']))).toMatch(
      /^7 .*for other names than 127\.0\.0\.1/,
    );
    expect(await contextOf()).toBeUndefined();
  });

  it('takes authorities of a file without asking the server', async () => {
    const ca = home.write('ca.pem', authority.certificate);
    await add({ url: 'https://not-yet.invalid:7000', ca: 'ca.pem', keyFile: 'key' });
    expect(home.readContexts()).toEqual({
      current: 'prod',
      contexts: { prod: { url: 'https://not-yet.invalid:7000', keyFile: `${home.path}/key`, caFile: ca } },
    });
  });

  it('says that a key would travel in clear, and keeps a key that was typed or came by standard input', async () => {
    await add({ url: 'http://10.0.0.1:7000' }, [KEY]);
    expect(home.said).toEqual([expect.stringMatching(/^warning: the key travels in clear/)]);
    expect(home.readContexts()).toMatchObject({ contexts: { prod: { key: KEY } } });
    home.writeContexts({});
    await addWith(home, { url: 'http://127.0.0.1:7000', keyFile: '-' }, undefined, `${KEY}\n`);
    expect(home.readContexts()).toMatchObject({ contexts: { prod: { key: KEY } } });
    expect(JSON.stringify(await contextOf())).not.toContain(KEY);
  });

  it.each<[AddOptions, RegExp]>([
    [
      { url: 'http://127.0.0.1' },
      /^64 give the key: --key-file FILE, --key-file - for standard input, or --key-command/,
    ],
    [
      { url: 'http://127.0.0.1', keyFile: 'key', keyCommand: 'pass' },
      /^64 give --key-file or --key-command, not both$/,
    ],
    [{ url: 'http://127.0.0.1', keyCommand: ' ' }, /^64 --key-command must name a program$/],
    [
      { url: 'http://127.0.0.1', keyFile: 'key', fingerprint: 'ab' },
      /^64 --ca and --fingerprint are for an address with https/,
    ],
    [
      { url: 'https://127.0.0.1', keyFile: 'key', ca: 'a', fingerprint: 'b' },
      /^64 give --ca or --fingerprint, not both$/,
    ],
    [{ url: 'http://127.0.0.1', keyFile: 'none' }, /^1 the key file .*none does not exist$/],
  ])('refuses %j', async (options, message) => {
    expect(await failureOf(add(options))).toMatch(message);
    expect(await contextOf()).toBeUndefined();
  });

  it('refuses a key file that others can read, and a name that is taken', async () => {
    home.write('open', KEY, 0o644);
    expect(await failureOf(add({ url: 'http://127.0.0.1', keyFile: 'open' }))).toMatch(
      /^1 the key file .*open has mode 644 and is open to other users; run: chmod 600 .*open$/,
    );
    await add({ url: 'http://127.0.0.1', keyFile: 'key' });
    expect(await failureOf(add({ url: 'http://127.0.0.2', keyFile: 'key' }))).toMatch(
      /^5 there is a context prod already/,
    );
    expect(home.readContexts()).toMatchObject({ contexts: { prod: { url: 'http://127.0.0.1' } } });
  });
});

/** `answers`: those of a person; undefined: no terminal. */
function addWith(
  { environment, path, say }: TemporaryHome,
  options: AddOptions,
  answers?: readonly string[],
  input = '',
) {
  const left = [...(answers ?? [])];
  const terminal = { isInteractive: answers !== undefined, say, ask: async () => left.shift() ?? '' };
  return addContext('prod', options, {
    environment,
    directory: path,
    terminal,
    readInput: async () => input,
  });
}

/** A certificate that signs itself, for the address of the tests, valid in this span. */
async function selfSigned(from: number, to: number): Promise<KeyPair> {
  await import('reflect-metadata');
  const x509 = await import('@peculiar/x509');
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: 'CN=old',
    notBefore: new Date(from),
    notAfter: new Date(to),
    signingAlgorithm: algorithm,
    keys,
    extensions: [new x509.SubjectAlternativeNameExtension([{ type: 'ip', value: '127.0.0.1' }])],
  });
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64');
  const key = `-----BEGIN PRIVATE KEY-----\n${der.replace(/.{1,64}/g, '$&\n')}-----END PRIVATE KEY-----\n`;
  return { key, certificate: `${certificate.toString('pem')}\n` };
}
