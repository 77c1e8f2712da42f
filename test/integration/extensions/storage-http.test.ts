/** The http storage: archives by URL and checksum, from a real server that also does what it should not. */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  createWriteStream,
  mkdirSync,
  readdirSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ZipFile } from 'yazl';
import { downloadChecked } from '../../../src/extensions/built-in/http-download.js';
import type { StorageProvider } from '../../../src/extensions/extension.js';
import { messageOf } from '../../../src/model/errors.js';
import { ExtensionWorld } from '../../support/templates/extension-world.js';
import { forever, readTree, temporaryDirectory, writeTree } from '../../support/templates/template-trees.js';

const TREE = { 'server.properties': 'motd=hi', '*start.sh': '#!/bin/sh\n', 'plugins/a.yml': 'a: 1' };
const UNPACKED = { ...TREE, 'plugins/': '' };

let world: ExtensionWorld;
let server: Server;
let directory: string;
let answer: (incoming: IncomingMessage, outgoing: ServerResponse) => void;

beforeEach(async () => {
  world = new ExtensionWorld();
  directory = join(world.root, 'download');
  mkdirSync(directory);
  server = createServer((incoming, outgoing) => answer(incoming, outgoing));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});

afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await world.stop();
});

function base(): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** A storage with one template, world/lobby, whose archive is `bytes`. */
async function storage(
  bytes: Buffer,
  settings: { url?: string; sha256?: string; maxMB?: number; allowPrivateRedirects?: boolean } = {},
): Promise<StorageProvider> {
  const { maxMB, allowPrivateRedirects, ...archive } = settings;
  const lobby = { url: `${base()}/lobby`, sha256: sha256(bytes), ...archive };
  const main = {
    templates: { 'world/lobby': lobby },
    ...(maxMB !== undefined && { maxMB }),
    ...(allowPrivateRedirects !== undefined && { allowPrivateRedirects }),
  };
  world.write('http/config.json', { storages: { main } });
  const registry = await world.start();
  const provider = registry.storages.get('main');
  if (provider === undefined) throw new Error(`http is not active: ${world.status('http')?.error}`);
  answer = (_incoming, outgoing) => outgoing.end(bytes);
  return provider;
}

/** Downloads; `ok`, or what it throws. Nothing may be left where archives lie meanwhile. */
async function download(provider: StorageProvider): Promise<string> {
  const outcome = await provider.download('world', 'lobby', directory, forever).then(() => 'ok', messageOf);
  expect(readdirSync(join(world.root, 'data/http'))).toEqual([]);
  return outcome;
}

async function zipOf(tree: Readonly<Record<string, string>>): Promise<Buffer> {
  const zip = new ZipFile();
  for (const [path, content] of Object.entries(tree))
    zip.addBuffer(Buffer.from(content), path.replace('*', ''), {
      mode: path.startsWith('*') ? 0o100_755 : 0o100_644,
    });
  zip.end();
  return await buffer(zip.outputStream);
}

/** As the tar of this machine makes it, with "./" before every name. */
function tarOf(tree: Readonly<Record<string, string>>, flags = 'c'): Buffer {
  const source = join(world.root, 'source');
  writeTree(source, tree);
  const { stdout, status } = spawnSync('tar', [flags, '-C', source, '.'], { maxBuffer: 1024 ** 3 });
  expect(status).toBe(0);
  return stdout;
}

type TarHeader = Parameters<ReturnType<typeof pack>['entry']>[0];

function sparseTar(format: 'gnu' | 'pax'): Buffer {
  const root = temporaryDirectory();
  writeFileSync(join(root, 'hole'), '');
  truncateSync(join(root, 'hole'), 1024 * 1024);
  appendFileSync(join(root, 'hole'), 'end');
  const tar = execFileSync('tar', ['-c', '--sparse', `--format=${format}`, '-C', root, 'hole']);
  rmSync(root, { recursive: true });
  return tar;
}

async function craftedTar(...entries: (TarHeader & { readonly content?: string })[]): Promise<Buffer> {
  const archive = pack();
  for (const { content = '', ...header } of entries) archive.entry(header, content);
  archive.finalize();
  return await buffer(archive);
}

describe('an archive by URL', () => {
  it.each<[string, () => Buffer | Promise<Buffer>]>([
    ['a zip', () => zipOf(TREE)],
    ['a tar', () => tarOf(TREE)],
    ['a tar.gz', () => tarOf(TREE, 'cz')],
    [
      'a tar.gz with zeros at its end, as bsdtar writes it',
      () => Buffer.concat([tarOf(TREE, 'cz'), Buffer.alloc(1024)]),
    ],
    ['a tar with zeros at its end', () => Buffer.concat([tarOf(TREE), Buffer.alloc(10_240)])],
    [
      'a tar without entries for its directories',
      () =>
        craftedTar(
          { name: 'server.properties', content: 'motd=hi' },
          { name: 'start.sh', mode: 0o755, content: '#!/bin/sh\n' },
          { name: 'plugins/a.yml', content: 'a: 1' },
        ),
    ],
  ])('may be %s, whatever its name', async (_what, make) => {
    const provider = await storage(await make());
    expect(await download(provider)).toBe('ok');
    expect(await readTree(directory)).toEqual(UNPACKED);
  });

  it('has its checksum as version, and what the settings do not name does not exist', async () => {
    const bytes = await zipOf(TREE);
    const provider = await storage(bytes, { sha256: sha256(bytes).toUpperCase() });
    expect(await provider.version('world', 'lobby', forever)).toBe(sha256(bytes));
    expect(await provider.version('world', 'other', forever)).toBeNull();
    expect(await provider.list?.('world', forever)).toEqual(['lobby']);
    expect(await provider.list?.('worl', forever)).toEqual([]);
    expect(await download(provider)).toBe('ok');
  });

  it('is not unpacked when it has another checksum', async () => {
    const provider = await storage(await zipOf(TREE), { sha256: 'a'.repeat(64) });
    expect(await download(provider)).toMatch(
      /^the archive has the SHA-256 [0-9a-f]{64}, but the settings say a{64}: nothing was unpacked$/,
    );
    expect(await readTree(directory)).toEqual({});
  });

  it.each<[string, () => Buffer | Promise<Buffer>, RegExp]>([
    ['nothing known', () => Buffer.from('<html>'), /neither a zip nor a tar/],
    ['nothing at all', () => Buffer.alloc(0), /neither a zip nor a tar/],
    ['a cut-off gzip', () => tarOf(TREE, 'cz').subarray(0, 120), /damaged: unexpected end of file/],
    ['a cut-off tar', () => tarOf(TREE).subarray(0, 1200), /refused/],
    ['a cut-off zip', async () => (await zipOf(TREE)).subarray(0, 100), /refused/],
    ['gzip of something else', () => gzipSync('hello'), /refused/],
    [
      'a tar of directories within directories',
      () => craftedTar({ name: `${'d/'.repeat(64)}x`, content: 'x' }),
      /lies deeper than 64 levels/,
    ],
    [
      'a tar with a name that is a book',
      () => craftedTar({ name: `${'a\n'.repeat(40_000)}/../x`, content: 'x' }),
      /^the template archive was refused: entry .{1,250} would leave the directory$/,
    ],
    [
      'a tar that leaves the directory',
      () => craftedTar({ name: '../evil', content: 'x' }),
      /would leave the directory/,
    ],
    [
      'a tar that leaves it behind a dot',
      () => craftedTar({ name: './../evil', content: 'x' }),
      /would leave the directory/,
    ],
    [
      'a tar with an absolute name',
      () => craftedTar({ name: '/tmp/evil', content: 'x' }),
      /would leave the directory/,
    ],
    [
      'a tar with a symbolic link',
      () => craftedTar({ name: 'a', type: 'symlink', linkname: '/etc/passwd' }),
      /"a" is a symlink/,
    ],
    [
      'a tar with a hard link',
      () => craftedTar({ name: 'a', type: 'link', linkname: '/etc/passwd' }),
      /"a" is a link/,
    ],
    [
      'a tar with a sparse file',
      () => sparseTar('gnu'),
      /"hole" is of a kind of its own \(a sparse file: pack/,
    ],
    [
      'a pax tar with a sparse file',
      () => sparseTar('pax'),
      /"hole" is a sparse file: pack it without --sparse/,
    ],
    [
      'a tar with a device',
      () => craftedTar({ name: 'a', type: 'character-device' }),
      /"a" is a character-device/,
    ],
    [
      'a tar with one name twice',
      () => craftedTar({ name: 'a', content: '1' }, { name: 'a', content: '2' }),
      /does not fit the others/,
    ],
    [
      'a tar with a file as a parent',
      () => craftedTar({ name: 'a', content: '1' }, { name: 'a/b', content: '2' }),
      /does not fit the others/,
    ],
    [
      'a tar with a directory over a file',
      () => craftedTar({ name: 'a', content: '1' }, { name: 'a', type: 'directory' }),
      /does not fit the others/,
    ],
  ])('is refused when it is %s', async (_what, make, message) => {
    const provider = await storage(await make());
    expect(await download(provider)).toMatch(message);
    expect(readdirSync(world.root)).not.toContain('evil');
  });

  it('is refused when it is larger than allowed, told or not', async () => {
    const bytes = Buffer.alloc(1024 * 1024 + 1);
    const provider = await storage(bytes, { maxMB: 1 });
    expect(await download(provider)).toBe('the archive is larger than 1 MB');
    answer = (_incoming, outgoing) => {
      outgoing.write(bytes);
      outgoing.end();
    };
    expect(await download(provider)).toBe('the archive is larger than 1 MB');
  });
});

describe('a download', () => {
  it('follows redirects, five at most, to http and https only', async () => {
    const bytes = await zipOf(TREE);
    const provider = await storage(bytes);
    let left = 5;
    answer = (_incoming, outgoing) => {
      if (left-- > 0) outgoing.writeHead(302, { location: `/again?${left}` }).end();
      else outgoing.end(bytes);
    };
    expect(await download(provider)).toBe('ok');
    left = 6;
    expect(await download(provider)).toMatch(/redirects more than 5 times/);
    answer = (_incoming, outgoing) => outgoing.writeHead(301, { location: 'file:///etc/passwd' }).end();
    expect(await download(provider)).toMatch(/redirects to file:\/\/, which is not followed/);
    answer = (_incoming, outgoing) => outgoing.writeHead(301).end();
    expect(await download(provider)).toMatch(/redirects to nowhere/);
  });

  it.each(['127.0.0.2', 'localhost', '[::ffff:127.0.0.1]', '169.254.169.254', '10.0.0.1', '[fd00::1]', '0'])(
    'does not follow a redirect to %s, and asks nothing there',
    async (host) => {
      const bytes = await zipOf(TREE);
      const provider = await storage(bytes);
      const asked: (string | undefined)[] = [];
      const { port } = new URL(base());
      answer = (incoming, outgoing) => {
        asked.push(incoming.headers.host);
        outgoing.writeHead(302, { location: `http://${host}:${port}/lobby` }).end();
      };
      expect(await download(provider)).toMatch(
        /^127\.0\.0\.1:\d+ redirects to .+, a private address \(.+\); to follow it, set allowPrivateRedirects$/,
      );
      expect(asked).toEqual([new URL(base()).host]);
    },
  );

  it('follows a redirect to a private address when that is allowed', async () => {
    const bytes = await zipOf(TREE);
    const provider = await storage(bytes, { allowPrivateRedirects: true });
    const { port } = new URL(base());
    answer = (incoming, outgoing) => {
      if (incoming.url === '/lobby')
        outgoing.writeHead(302, { location: `http://localhost:${port}/again` }).end();
      else outgoing.end(bytes);
    };
    expect(await download(provider)).toBe('ok');
  });

  it('says what the server answered, or that there is none', async () => {
    const provider = await storage(await zipOf(TREE));
    const host = new URL(base()).host;
    answer = (_incoming, outgoing) => outgoing.writeHead(404).end('no');
    expect(await download(provider)).toBe(`${host} answered with status 404`);
    answer = (_incoming, outgoing) =>
      outgoing.writeHead(200, { 'content-length': '100' }).write('x', () => outgoing.destroy());
    expect(await download(provider)).toMatch(/^the download broke off/);
    server.closeAllConnections();
    server.close();
    expect(await download(provider)).toMatch(/ cannot be reached: .*ECONNREFUSED/);
  });

  it('ends when the server is silent, at the start or in the middle', async () => {
    const file = (name: string): string => join(world.root, name);
    const fetchFile = (name: string): Promise<string> =>
      downloadChecked({
        url: base(),
        sha256: 'a'.repeat(64),
        maxBytes: 1000,
        file: file(name),
        allowPrivateRedirects: false,
        signal: forever,
        silenceLimitMs: 50,
      }).then(() => 'ok', messageOf);
    answer = () => {};
    expect(await fetchFile('a')).toBe('the server was silent for too long');
    answer = (_incoming, outgoing) => void outgoing.write('begin');
    expect(await fetchFile('b')).toBe('the server was silent for too long');
  });

  it('ends at once when it is not wanted any more', async () => {
    const provider = await storage(await zipOf(TREE));
    const stopping = new AbortController();
    answer = () => stopping.abort();
    await expect(provider.download('world', 'lobby', directory, stopping.signal)).rejects.toThrow(/abort/i);
    expect(readdirSync(join(world.root, 'data/http'))).toEqual([]);
  });

  it('never shows what stands behind the question mark of a URL', async () => {
    const provider = await storage(await zipOf(TREE), {
      url: 'http://127.0.0.1:1/x.zip?signature=sig-12345',
    });
    const message = await download(provider);
    expect(message).toMatch(/cannot be reached/);
    expect(message + world.rawLog).not.toContain('sig-12345');
  });
});

describe('settings of http', () => {
  const url = 'https://host.test/x.zip';
  it.each<[object, string]>([
    [{ 'world/lobby': { url } }, 'storages.main.templates["world/lobby"].sha256: must be a text, is missing'],
    [{ 'world/lobby': { url, sha256: 'abc' } }, 'must be 64 hex digits'],
    [{ lobby: { url, sha256: 'a'.repeat(64) } }, 'must be <group>/<name>'],
    [
      { 'world/lobby': { url: 'ftp://host.test/x', sha256: 'a'.repeat(64) } },
      'must be a URL that begins with http',
    ],
    [
      { 'world/lobby': { url: 'https://a:b-password@host.test/x', sha256: 'a'.repeat(64) } },
      'must not hold a user name',
    ],
  ])('%j are refused', async (templates, message) => {
    world.write('http/config.json', { storages: { main: { templates } } });
    await world.start();
    expect(world.status('http')?.error).toContain(message);
    expect(world.rawLog).not.toContain('b-password');
  });

  it('removes what a killed process was downloading', async () => {
    mkdirSync(join(world.root, 'data/http'), { recursive: true });
    await pipeline([Buffer.from('half')], createWriteStream(join(world.root, 'data/http/archive-0123')));
    await storage(await zipOf(TREE));
    expect(readdirSync(join(world.root, 'data/http'))).toEqual([]);
  });
});
