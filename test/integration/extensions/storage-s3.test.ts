/** The s3 storage against a real S3 server, and against connections that break. */
import { mkdirSync } from 'node:fs';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { S3Storage } from '../../../src/extensions/built-in/s3-storage.js';
import type { StorageProvider } from '../../../src/extensions/extension.js';
import { messageOf } from '../../../src/model/errors.js';
import { ExtensionWorld } from '../../support/templates/extension-world.js';
import { BUCKET, S3_KEYS, S3Server } from '../../support/templates/s3-server.js';
import { forever, readTree } from '../../support/templates/template-trees.js';

const server = new S3Server();
let world: ExtensionWorld;
let directory: string;

beforeAll(() => server.start());

afterAll(() => server.stop());

beforeEach(() => {
  world = new ExtensionWorld();
  directory = join(world.root, 'download');
  mkdirSync(directory);
});

afterEach(() => world.stop());

/** A storage as the extension makes it of settings. */
async function storage(settings: object = {}): Promise<StorageProvider> {
  world.write('s3/config.json', { storages: { main: { ...server.settings, ...settings } } });
  const registry = await world.start();
  const provider = registry.storages.get('main');
  if (provider === undefined) throw new Error(`s3 is not active: ${world.status('s3')?.error}`);
  return provider;
}

async function failure(work: Promise<unknown>): Promise<string> {
  return await work.then(() => 'no failure', messageOf);
}

describe('a storage in a bucket', () => {
  it('gives the objects under its prefix as files; scripts may be executed', async () => {
    await server.put({
      'pre/fix/world/lobby/server.properties': 'motd=hello',
      'pre/fix/world/lobby/plugins/a b/ü.yml': 'x: 1',
      'pre/fix/world/lobby/start.sh': '#!/bin/sh\necho hi\n',
      'pre/fix/world/lobby/empty': '',
      'pre/fix/world/lobby2/not-mine': 'x',
      'world/lobby/not-mine-either': 'x',
    });
    const main = await storage({ prefix: 'pre/fix' });
    expect(world.status('s3')).toMatchObject({ state: 'active', adds: ['storage main'] });
    await main.download('world', 'lobby', directory, forever);
    expect(await readTree(directory)).toEqual({
      '*start.sh': '#!/bin/sh\necho hi\n',
      empty: '',
      'plugins/': '',
      'plugins/a b/': '',
      'plugins/a b/ü.yml': 'x: 1',
      'server.properties': 'motd=hello',
    });
  });

  it('lists the templates of a group, over several pages', async () => {
    const templates = Array.from({ length: 5 }, (_, index) => `list/t${index}`);
    await server.put(
      Object.fromEntries([...templates, 'list2/x', 'x/list/y'].map((key) => [`${key}/a`, '1'])),
    );
    await server.put({ 'list/readme.txt': 'no template' });
    const paged = new S3Storage(server.settings, 2);
    expect(await paged.list('list', forever)).toEqual(['t0', 't1', 't2', 't3', 't4']);
    expect(await paged.list('none', forever)).toEqual([]);
    paged.close();
    const main = await storage();
    expect(await main.list?.('list2', forever)).toEqual(['x']);
  });

  it('has another version when an object changes, comes or goes, and else the same', async () => {
    const main = await storage();
    const version = (): Promise<string | null> => main.version('version', 'x', forever);
    expect(await version()).toBeNull();
    await server.put({ 'version/x/a': '1' });
    const first = await version();
    expect(first).toMatch(/^[0-9a-f]{64}$/);
    await server.put({ 'version/x/a': '1' });
    expect(await version()).toBe(first);
    await server.put({ 'version/x/a': '2' });
    const second = await version();
    expect(second).not.toBe(first);
    await server.put({ 'version/x/b': '2' });
    const third = await version();
    expect(third).not.toBe(second);
    await server.remove('version/x/b');
    expect(await version()).toBe(second);
  });

  it('may hold more objects than one page of a listing', async () => {
    const names = Array.from({ length: 8 }, (_, index) => `n${index}`);
    await server.put(Object.fromEntries(names.map((name) => [`paged/x/${name}`, name])));
    const paged = new S3Storage(server.settings, 3);
    try {
      await paged.download('paged', 'x', directory, forever);
    } finally {
      paged.close();
    }
    const tree = await readTree(directory);
    expect(Object.keys(tree)).toEqual(names);
    expect(Object.values(tree)).toEqual(names);
  });

  it('streams large objects to disk whole', async () => {
    const large = Buffer.alloc(20 * 1024 * 1024, 'drover ');
    await server.put({ 'large/x/world.bin': large });
    const main = await storage();
    await main.download('large', 'x', directory, forever);
    expect((await readTree(directory))['world.bin']).toBe(large.toString());
  });

  it.each([
    ['evil1/x/../../../etc/passwd', 'holds a segment "." or ".."'],
    ['evil2/x/a/./b', 'holds a segment "." or ".."'],
    ['evil3/x//absolute', 'is absolute'],
    ['evil4/x/a//b', 'has an empty segment'],
    ['evil5/x/a\\..\\b', 'holds a backslash'],
    ['evil6/x/%2e%2e/b', 'holds an encoded'],
  ])('refuses the key %s and writes nothing', async (key, objection) => {
    const objects = `<Contents><Key>${key}</Key><ETag>"1"</ETag><Size>1</Size></Contents>`;
    const fake = await serve((_incoming, outgoing) => {
      outgoing.setHeader('content-type', 'application/xml');
      outgoing.end(
        `<?xml version="1.0"?><ListBucketResult><IsTruncated>false</IsTruncated>${objects}</ListBucketResult>`,
      );
    });
    const main = await storage({ endpoint: urlOf(fake) });
    const [group = ''] = key.split('/');
    expect(await failure(main.download(group, 'x', directory, forever))).toContain(objection);
    expect(await readTree(directory)).toEqual({});
    fake.close();
  });

  it('refuses keys of which one is a file where another needs a directory', async () => {
    const objects = ['a', 'a/b'].map(
      (name) => `<Contents><Key>g/x/${name}</Key><ETag>"1"</ETag><Size>1</Size></Contents>`,
    );
    const fake = await serve((incoming, outgoing) => {
      if (incoming.url?.includes('list-type') !== true) outgoing.end('x');
      else outgoing.end(`<?xml version="1.0"?><ListBucketResult>${objects.join('')}</ListBucketResult>`);
    });
    const main = await storage({ endpoint: urlOf(fake) });
    expect(await failure(main.download('g', 'x', directory, forever))).toMatch(
      /object g\/x\/a(\/b)? does not fit the others/,
    );
    fake.close();
  });

  it('tries an object again whose connection broke off in the middle', async () => {
    await server.put({ 'broken/x/a': 'a'.repeat(100_000) });
    let breaks = 2;
    const proxy = await proxyTo(server.port, (path) => path.includes('/broken/x/a') && breaks-- > 0);
    const main = await storage({ endpoint: urlOf(proxy) });
    await main.download('broken', 'x', directory, forever);
    expect(await readTree(directory)).toEqual({ a: 'a'.repeat(100_000) });
    expect(breaks).toBe(-1);
    proxy.close();
  });

  it('gives up when it breaks again and again, and says which object', async () => {
    await server.put({ 'broken/y/a': 'a'.repeat(100_000) });
    const proxy = await proxyTo(server.port, (path) => path.includes('/broken/y/a'));
    const main = await storage({ endpoint: urlOf(proxy) });
    expect(await failure(main.download('broken', 'y', directory, forever))).toMatch(
      /^object broken\/y\/a: its content broke off/,
    );
    proxy.close();
  });

  it('ends at once when it is not wanted any more', async () => {
    const silent = await serve(() => {});
    const main = await storage({ endpoint: urlOf(silent) });
    const stopping = new AbortController();
    const waiting = failure(main.download('a', 'b', directory, stopping.signal));
    stopping.abort();
    expect(await waiting).toMatch(/abort/i);
    silent.closeAllConnections();
    silent.close();
  });
});

describe('settings of s3', () => {
  it.each<[object, RegExp]>([
    [{ bucket: 'none' }, /^the bucket does not exist \(NoSuchBucket\)$/],
    [{ accessKeyId: 'unknown-key' }, /^the accessKeyId is not known there \(InvalidAccessKeyId\)$/],
    [{ endpoint: 'http://127.0.0.1:1' }, /ECONNREFUSED/],
  ])('%j: the error says what is wrong, without a secret', async (settings, message) => {
    const main = await storage(settings);
    const error = await failure(main.version('a', 'b', forever));
    expect(error).toMatch(message);
    for (const secret of ['wrong-secret', 'unknown-key', S3_KEYS.secretAccessKey])
      expect(error).not.toContain(secret);
  });

  it.each([
    ['SignatureDoesNotMatch', 403, 'the secretAccessKey is wrong (SignatureDoesNotMatch)'],
    ['AccessDenied', 403, 'access is denied (AccessDenied)'],
  ])('an answer of %s is explained', async (code, status, message) => {
    const fake = await serve((_incoming, outgoing) => {
      outgoing.writeHead(status, { 'content-type': 'application/xml' });
      outgoing.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>no</Message></Error>`);
    });
    const main = await storage({ endpoint: urlOf(fake) });
    expect(await failure(main.version('a', 'b', forever))).toBe(message);
    fake.close();
  });

  it.each<[unknown, string]>([
    [{}, 'config.json: storages: '],
    [{ storages: { main: { bucket: BUCKET } } }, 'config.json: storages.main.region: '],
    [
      { storages: { main: { ...S3_KEYS, bucket: 'b', region: 'r', secretKey: 'oops-secret' } } },
      'storages.main.secretKey: unknown field; known fields: endpoint, region, ',
    ],
    [
      { storages: { main: { bucket: 'b', region: 'r', accessKeyId: 'only-this' } } },
      'accessKeyId and secretAccessKey must be given together',
    ],
    [
      { storages: { main: { bucket: 'b', region: 'r', endpoint: 'ftp://host' } } },
      'storages.main.endpoint: must be a URL that begins with http',
    ],
    [
      { storages: { main: { bucket: 'b', region: 'r', endpoint: 'http://ada:pass-word@host' } } },
      'storages.main.endpoint: must not hold a user name or password',
    ],
    [
      { storages: { main: { bucket: 'b', region: 'r', prefix: '/x/' } } },
      'storages.main.prefix: must be a path without a slash at either end',
    ],
    [
      { storages: { local: { bucket: 'b', region: 'r' } } },
      'storage "local" is the master\'s own templates/',
    ],
  ])('%j are refused', async (settings, message) => {
    world.write('s3/config.json', settings as object);
    await world.start();
    expect(world.status('s3')).toMatchObject({ state: 'failed', adds: [] });
    expect(world.status('s3')?.error).toContain(message);
    for (const secret of ['oops-secret', 'pass-word', S3_KEYS.secretAccessKey])
      expect(world.rawLog).not.toContain(secret);
  });
});

async function serve(listener: Parameters<typeof createServer>[1]): Promise<Server> {
  const fake = listener === undefined ? createServer() : createServer(listener);
  await new Promise<void>((resolve) => fake.listen(0, '127.0.0.1', resolve));
  return fake;
}

function urlOf(fake: Server): string {
  return `http://127.0.0.1:${(fake.address() as AddressInfo).port}`;
}

/** Passes everything on, and cuts the answer off in the middle where `isBroken` says so. */
function proxyTo(port: number, isBroken: (path: string) => boolean): Promise<Server> {
  return serve((incoming, outgoing) => {
    const { method = 'GET', url = '/', headers } = incoming;
    const passed = request({ host: '127.0.0.1', port, method, path: url, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      if (!isBroken(url)) {
        answer.pipe(outgoing);
        return;
      }
      answer.once('data', (chunk: Buffer) =>
        outgoing.write(chunk.subarray(0, 100), () => outgoing.socket?.destroy()),
      );
    });
    incoming.pipe(passed);
  });
}
