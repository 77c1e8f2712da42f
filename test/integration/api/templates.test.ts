/** `/templates` over HTTP: every route, every form of path and body, and hostile and broken clients. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SyncRun } from '../../../src/templates/sync/sync-run.js';
import { ApiWorld } from '../../support/api/api-world.js';
import { bodyOf, exchange, openSocket, statusOf } from '../../support/api/raw-http.js';
import { refusal } from '../../support/api/refusal.js';
import { FakeClock } from '../../support/fake-clock.js';
import { readTree, writeTree } from '../../support/templates/template-trees.js';
import { zipOf } from '../../support/templates/zip-bytes.js';
import { until } from '../../support/until.js';

const MIB = 1024 * 1024;

let world: ApiWorld;

beforeEach(async () => {
  world = await new ApiWorld({ configuration: { maxUploadMB: 1 } }).start();
  await world.server.start();
});

afterEach(async () => {
  await world.stop();
});

function place(...path: string[]): string {
  return join(world.templates.directory, ...path);
}

interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
  readonly json: unknown;
}

/** `type` null: no content type. */
async function send(
  method: string,
  path: string,
  body?: Buffer | string,
  {
    type = null,
    token = world.admin,
    ifMatch,
  }: { type?: string | null; token?: string; ifMatch?: string | null } = {},
): Promise<Reply> {
  const response = await fetch(`${world.url}/templates${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(type !== null && { 'content-type': type }),
      ...(ifMatch != null && { 'if-match': ifMatch }),
    },
    ...(body !== undefined && { body: Buffer.from(body) }),
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
  return {
    status: response.status,
    headers: response.headers,
    bytes,
    json: isJson && method !== 'HEAD' ? JSON.parse(bytes.toString()) : undefined,
  };
}

/** Sends bytes, because a client library would normalise the path. */
async function sendRaw(
  method: string,
  path: string,
  body = '',
): Promise<{ readonly status: number; readonly text: string }> {
  const head = [
    `${method} ${path} HTTP/1.1`,
    'Host: x',
    `Authorization: Bearer ${world.admin}`,
    'Connection: close',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  const text = await exchange(port(), `${head.join('\r\n')}\r\n\r\n${body}`);
  return { status: statusOf(text), text };
}

function port(): number {
  return world.server.address?.port ?? 0;
}

/** The files of uploads that are under way. */
function uploadFiles(): string[] {
  return [
    ...(existsSync(place('.drover')) ? readdirSync(place('.drover')) : []),
    ...readdirSync(join(world.templates.root, 'uploads')),
  ];
}

describe('GET /templates', () => {
  it('lists groups with their templates as references, in order', async () => {
    await send('POST', '/games/lobby/files/a', 'x');
    await send('POST', '/games/arena/files/a', 'x');
    await send('POST', '/base/core/files/a', 'x');
    const reference = { storage: 'local', priority: 0 };
    expect((await send('GET', '')).json).toEqual([
      { group: 'base', templates: [{ name: 'core', group: 'base', ...reference }] },
      {
        group: 'games',
        templates: [
          { name: 'arena', group: 'games', ...reference },
          { name: 'lobby', group: 'games', ...reference },
        ],
      },
    ]);
  });
});

describe('GET /templates/{group}/{name}', () => {
  it('says where it lies below the root, and whether it is there', async () => {
    writeTree(place('games/lobby'), { a: 'x' });
    expect(await send('GET', '/games/lobby')).toMatchObject({
      status: 200,
      json: { group: 'games', name: 'lobby', path: 'templates/games/lobby', exists: true },
    });
    expect(await send('GET', '/games/none')).toMatchObject({
      status: 200,
      json: { group: 'games', name: 'none', path: 'templates/games/none', exists: false },
    });
  });
});

describe('GET /templates/{group}/{name}/files', () => {
  it('is a flat list of relative paths; 404 for an unknown template', async () => {
    writeTree(place('games/lobby'), { 'b/c': 'x', a: 'x', 'empty/': '' });
    expect((await send('GET', '/games/lobby/files')).json).toEqual({
      group: 'games',
      name: 'lobby',
      files: ['a', 'b/c'],
    });
    expect((await send('GET', '/games/none/files')).status).toBe(404);
  });
});

describe('a file', () => {
  const bytes = Buffer.from(Array.from({ length: 256 }, (_, index) => index));

  it('is replaced and deleted only as the one that was read, if the client asks for that', async () => {
    const made = await send('POST', '/games/lobby/files/a', 'one');
    const first = (await send('GET', '/games/lobby/files/a')).headers.get('etag');
    expect(first).toBe(made.headers.get('etag'));
    const second = await send('PATCH', '/games/lobby/files/a', 'two', { ifMatch: first });
    expect([second.status, second.headers.get('etag')]).toEqual([200, expect.stringMatching(/^"\w{16}"$/)]);
    const ifMatch = first;
    for (const method of ['PATCH', 'DELETE']) {
      const late = await send(method, '/games/lobby/files/a', method === 'PATCH' ? 'three' : undefined, {
        ifMatch,
      });
      expect([late.status, late.json]).toEqual([412, refusal(expect.stringContaining('changed meanwhile'))]);
    }
    writeFileSync(place('games/lobby/a'), 'by hand');
    const current = { ifMatch: second.headers.get('etag') };
    expect((await send('PATCH', '/games/lobby/files/a', 'four', current)).status).toBe(412);
    expect(readFileSync(place('games/lobby/a'), 'utf8')).toBe('by hand');
    expect((await send('PATCH', '/games/lobby/files/a', 'five', { ifMatch: 'five' })).status).toBe(400);
    const { headers } = await send('GET', '/games/lobby/files/a');
    expect(
      (await send('DELETE', '/games/lobby/files/a', undefined, { ifMatch: headers.get('etag') })).status,
    ).toBe(200);
    expect((await send('PATCH', '/games/lobby/files/a', 'x', { ifMatch: '*' })).status).toBe(404);
    expect(uploadFiles()).toEqual([]);
  });

  it.each(['application/octet-stream', 'text/plain', 'application/json', 'no/such+type', '{}', null])(
    'is taken as bytes whatever the content type is: %s',
    async (type) => {
      const created = await send('POST', '/games/lobby/files/a/b.bin', bytes, { type });
      expect(created).toMatchObject({
        status: 201,
        json: { group: 'games', name: 'lobby', path: 'a/b.bin', bytes: 256 },
      });
      expect(readFileSync(place('games/lobby/a/b.bin'))).toEqual(bytes);
      const replaced = await send('PATCH', '/games/lobby/files/a/b.bin', '{"broken', { type });
      expect(replaced).toMatchObject({ status: 200, json: { path: 'a/b.bin', bytes: 8 } });
      const read = await send('GET', '/games/lobby/files/a/b.bin');
      expect(read.bytes.toString()).toBe('{"broken');
      expect(read.headers.get('content-type')).toMatch(/^text\/plain\b/);
      expect(read.headers.get('content-length')).toBe('8');
      const removed = await send('DELETE', '/games/lobby/files/a/b.bin');
      expect(removed).toMatchObject({ status: 200, json: { path: 'a/b.bin' } });
      expect(await readTree(place('games'))).toEqual({ 'lobby/': '' });
      expect(uploadFiles()).toEqual([]);
    },
  );

  it('may be empty', async () => {
    expect((await send('POST', '/games/lobby/files/a')).json).toMatchObject({ bytes: 0 });
    const { status, bytes: content, headers } = await send('GET', '/games/lobby/files/a');
    expect([status, content.length, headers.get('content-length')]).toEqual([200, 0, '0']);
  });

  it('may have spaces, unicode and encoded slashes in its path', async () => {
    const path = 'con fig/ä/日 本.txt';
    const asOne = encodeURIComponent(path);
    expect((await send('POST', `/games/lobby/files/${asOne}`, 'x')).json).toMatchObject({ path });
    const inParts = path.split('/').map(encodeURIComponent).join('/');
    expect((await send('GET', `/games/lobby/files/${inParts}`)).bytes.toString()).toBe('x');
    expect((await send('GET', '/games/lobby/files')).json).toMatchObject({ files: [path] });
    expect((await send('DELETE', `/games/lobby/files/${inParts}`)).status).toBe(200);
  });

  it('is created once: 409 after that, and also where a directory is', async () => {
    await send('POST', '/games/lobby/files/a/b', 'first');
    for (const path of ['a/b', 'a', 'a/b/c'])
      expect((await send('POST', `/games/lobby/files/${path}`, 'second')).status).toBe(409);
    expect((await send('GET', '/games/lobby/files/a/b')).bytes.toString()).toBe('first');
  });

  it('that is not there is 404 for reading, replacing and deleting, as is a directory', async () => {
    writeTree(place('games/lobby'), { 'a/b': 'x' });
    for (const method of ['GET', 'HEAD', 'PATCH', 'DELETE'])
      for (const path of ['none', 'a', 'a/b/c']) {
        const body = method === 'PATCH' ? 'x' : undefined;
        expect([method, path, (await send(method, `/games/lobby/files/${path}`, body)).status]).toEqual([
          method,
          path,
          404,
        ]);
      }
  });

  it('answers HEAD with its length, without reading it, and the connection goes on', async () => {
    writeTree(place('games/lobby'), { a: 'x'.repeat(1000) });
    const line = (method: string): string =>
      `${method} /api/templates/games/lobby/files/a HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${world.admin}\r\n`;
    const answer = await exchange(port(), `${line('HEAD')}\r\n${line('GET')}Connection: close\r\n\r\n`);
    const [, head = '', get = ''] = answer.split('HTTP/1.1 ');
    expect(head.toLowerCase()).toContain('content-length: 1000');
    expect(head).not.toContain('xxx');
    expect(get).toContain('x'.repeat(1000));
  });
});

describe('an upload that is too large', () => {
  it('is 413 by its announced length, before a byte of it is taken', async () => {
    const answer = await exchange(
      port(),
      `POST /api/templates/games/lobby/files/a HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${world.admin}\r\n` +
        'Connection: close\r\nContent-Length: 1048577\r\n\r\n',
    );
    expect(statusOf(answer)).toBe(413);
    expect(JSON.stringify(bodyOf(answer))).toContain('maxUploadMB');
    expect(existsSync(place('games'))).toBe(false);
  });

  it.each(['POST', 'PATCH'])('is 413 while it comes, for %s', async (method) => {
    writeTree(place('games/lobby'), { b: 'old' });
    const path = method === 'POST' ? 'a' : 'b';
    const { status, json } = await send(method, `/games/lobby/files/${path}`, Buffer.alloc(MIB + 1));
    expect([status, JSON.stringify(json)]).toEqual([413, expect.stringContaining('larger')]);
    expect(await readTree(place('games/lobby'))).toEqual({ b: 'old' });
    await until(() => expect(uploadFiles()).toEqual([]));
    expect((await send(method, `/games/lobby/files/${path}`, Buffer.alloc(MIB))).status).toBeLessThan(300);
  });

  it('is 413 for a zip too', async () => {
    expect((await send('POST', '/games/lobby/import', Buffer.alloc(MIB + 1))).status).toBe(413);
    expect(existsSync(place('games'))).toBe(false);
  });
});

describe('an upload that breaks off', () => {
  it.each([
    ['POST', 'files/new/file'],
    ['PATCH', 'files/a'],
    ['POST', 'import'],
  ])('leaves everything as it was: %s %s', async (method, path) => {
    writeTree(place('games/lobby'), { a: 'old' });
    const socket = openSocket(port());
    socket.on('error', () => {});
    socket.write(
      `${method} /api/templates/games/lobby/${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${world.admin}\r\n` +
        `Content-Length: 1000\r\n\r\n${'half'.repeat(100)}`,
    );
    await until(() => expect(uploadFiles()).toHaveLength(1));
    socket.destroy();
    await once(socket, 'close');
    await until(() => expect(uploadFiles()).toEqual([]));
    expect(await readTree(place('games/lobby'))).toEqual({ a: 'old' });
  });
});

describe('a path that leads elsewhere', () => {
  const HOSTILE = [
    '../../../config.json',
    '..',
    'a/../../b',
    '%2e%2e/%2e%2e/config.json',
    '%2e%2e%2f%2e%2e%2fconfig.json',
    '%252e%252e%252fconfig.json',
    '..%2f..%2fconfig.json',
    '.%2e/x',
    './x',
    '/etc/passwd',
    '%2Fetc%2Fpasswd',
    'a//b',
    'a%2F%2Fb',
    'a%2F',
    'a//',
    '%2F',
    'a%00b',
    'a%5Cb',
    '..%5C..%5Cx',
    'a\\b',
    'x'.repeat(256),
    `${'y/'.repeat(100)}z`,
  ];

  it.each(HOSTILE)('is 400 for every method, and nothing is touched: %s', async (path) => {
    writeTree(place('games/lobby'), { a: 'x' });
    const before = await readTree(world.templates.root);
    for (const method of ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE']) {
      const { status, text } = await sendRaw(method, `/api/templates/games/lobby/files/${path}`, 'intruder');
      expect([method, status]).toEqual([method, 400]);
      expect(text).not.toContain(world.templates.root);
    }
    expect(await readTree(world.templates.root)).toEqual(before);
  });

  it.each(['..', '%2e%2e', '.drover', 'a%2fb', 'a%00', 'a%5Cb', 'x'.repeat(65), 'ä', '%20'])(
    'is 400 as a group or a name: %s',
    async (name) => {
      const before = await readTree(world.templates.root);
      for (const [method, rest] of [
        ['GET', ''],
        ['GET', '/files'],
        ['GET', '/files/a'],
        ['POST', '/files/a'],
        ['PATCH', '/files/a'],
        ['DELETE', '/files/a'],
        ['POST', '/export'],
        ['POST', '/import'],
        ['POST', '/sync'],
      ] as const)
        for (const template of [`${name}/lobby`, `games/${name}`]) {
          const { status, text } = await sendRaw(method, `/api/templates/${template}${rest}`);
          expect([method, template + rest, status]).toEqual([method, template + rest, 400]);
          expect(text).not.toContain(world.templates.root);
        }
      expect(await readTree(world.templates.root)).toEqual(before);
    },
  );

  it('by a symbolic link is 400, whatever is asked', async () => {
    mkdirSync(place('games/lobby'), { recursive: true });
    symlinkSync(world.templates.root, place('games/lobby/link'));
    for (const method of ['GET', 'POST', 'PATCH', 'DELETE'])
      for (const path of ['link', 'link/uploads', 'link/made/file'])
        expect([
          method,
          path,
          (await sendRaw(method, `/api/templates/games/lobby/files/${path}`)).status,
        ]).toEqual([method, path, 400]);
    expect(readdirSync(world.templates.root).sort()).toEqual(['templates', 'uploads']);
  });
});

describe('a template as a zip', () => {
  it('is exported with a name to save it by, and imported as another', async () => {
    const noise = createHash('shake256', { outputLength: 300_000 }).update('noise').digest();
    writeTree(place('games/lobby'), { 'a/b': 'one', noise });
    const zip = await send('POST', '/games/lobby/export');
    expect(zip.status).toBe(200);
    expect(zip.headers.get('content-type')).toBe('application/zip');
    expect(zip.headers.get('content-disposition')).toBe('attachment; filename="games-lobby.zip"');
    const imported = await send('POST', '/games/copy/import', zip.bytes, { type: 'application/zip' });
    expect(imported).toMatchObject({
      status: 200,
      json: { group: 'games', name: 'copy', files: 2, bytes: 300_003 },
    });
    expect(await readTree(place('games/copy'))).toEqual(await readTree(place('games/lobby')));
  });

  it('is exported in part, with the paths of the template', async () => {
    writeTree(place('games/lobby'), { 'a/b': 'one', '*a/c': 'run', 'ab/d': 'no', 'a.txt': 'no' });
    const zip = await send('POST', '/games/lobby/export?path=a');
    await send('POST', '/games/part/import', zip.bytes, { type: 'application/zip' });
    expect(await readTree(place('games/part'))).toEqual({ 'a/': '', 'a/b': 'one', '*a/c': 'run' });
    const file = await send('POST', '/games/lobby/export?path=a%2Fc');
    await send('POST', '/games/file/import', file.bytes, { type: 'application/zip' });
    expect(await readTree(place('games/file'))).toEqual({ 'a/': '', '*a/c': 'run' });
    expect((await send('POST', '/games/lobby/export?path=a/none')).status).toBe(404);
    for (const path of ['..', '/a', 'a//b', ''])
      expect((await send('POST', `/games/lobby/export?path=${path}`)).status).toBe(400);
  });

  it('that is unknown is 404, whatever body came with the question', async () => {
    expect((await send('POST', '/games/none/export', '{}', { type: 'application/json' })).status).toBe(404);
  });

  it('that is no zip, or a hostile one, is 400 and changes nothing', async () => {
    for (const body of [Buffer.from('hello'), Buffer.alloc(0), zipOf([{ name: '../x', content: 'x' }])]) {
      const { status, json } = await send('POST', '/games/lobby/import', body, { type: 'application/zip' });
      expect([status, JSON.stringify(json)]).toEqual([400, expect.stringContaining('the zip was refused')]);
    }
    expect(existsSync(place('games'))).toBe(false);
    expect(uploadFiles()).toEqual([]);
  });
});

describe('POST /templates/{group}/{name}/sync', () => {
  it('gets a template from a storage', async () => {
    const body = JSON.stringify({ storage: 'depot' });
    const { status, json } = await send('POST', '/games/lobby/sync', body, { type: 'application/json' });
    expect([status, json]).toEqual([
      200,
      expect.objectContaining({ group: 'games', name: 'lobby', storage: 'depot', files: 2, bytes: 10 }),
    ]);
    expect(world.templates.synced).toEqual(['games/lobby from depot']);
  });

  it.each(['{"storage":"none"}', '{}', '', '{"storage":7}', '{"storage":"../x"}'])(
    'is 400 for %s',
    async (body) => {
      const { status, json } = await send('POST', '/games/lobby/sync', body, { type: 'application/json' });
      expect([status, JSON.stringify(json)]).toEqual([400, expect.stringContaining('storage')]);
      expect(world.templates.synced).toEqual([]);
    },
  );
});

describe('a download that takes long', () => {
  it('is answered when it is done, however long the connection was silent', async () => {
    await world.stop();
    world = await new ApiWorld({ limits: { silenceMs: 300 } }).start();
    await world.server.start();
    // A silent connection is closed at the same limit: its end shows that the time has passed.
    world.templates.hold = async () => once(openSocket(port()), 'close');
    const body = JSON.stringify({ storage: 'depot' });
    expect((await send('POST', '/games/lobby/sync', body, { type: 'application/json' })).status).toBe(200);
  });
});

describe('POST /templates/sync', () => {
  it('tells the nodes which templates are meant', async () => {
    for (const name of ['lobby', 'arena']) await send('POST', `/games/${name}/files/a`, 'x');
    const body = JSON.stringify({ pattern: 'games/*' });
    const { status, json } = await send('POST', '/sync', body, { type: 'application/json' });
    expect([status, json]).toEqual([
      200,
      {
        message: '2 templates on the way to 1 node',
        pattern: 'games/*',
        templates: ['games/arena', 'games/lobby'],
        nodes: ['n1'],
      },
    ]);
  });

  it.each([
    [undefined, null],
    ['', 'application/json'],
    ['', 'text/plain'],
  ] as const)('means all of them when a plugin sends %j as %s', async (body, type) => {
    expect((await send('POST', '/sync', body, { type })).json).toMatchObject({ pattern: '*' });
    expect(world.templates.synced).toEqual(['*']);
  });

  it('is 400 for a body that names no pattern', async () => {
    for (const body of ['{}', '{"pattern":null}', 'null', '[]', '{"storage":"s"}'])
      expect([body, (await send('POST', '/sync', body)).status]).toEqual([body, 400]);
    expect(world.templates.synced).toEqual([]);
  });

  it.each(['../*', '', 'a/b/c', 'games', 7, null])('is 400 for the pattern %j', async (pattern) => {
    const { status } = await send('POST', '/sync', JSON.stringify({ pattern }), { type: 'application/json' });
    expect(status).toBe(400);
  });
});

describe('GET /templates/sync', () => {
  it('shows how the latest one stands on each node, and is 404 before there was one', async () => {
    expect(await send('GET', '/sync')).toMatchObject({
      status: 404,
      json: refusal(expect.stringContaining('no sync was asked for')),
    });
    const run = new SyncRun(
      { pattern: '*', templates: ['games/lobby'], nodes: ['n1', 'n2'] },
      new FakeClock(),
    );
    run.leaveOut('games/arena', 'it holds a link');
    run.begin('n1', 1);
    run.note('n1', { digest: 'd', outcome: 'fetched', bytes: 120, files: 3, problem: null });
    run.end('n1');
    world.templates.latest = run.report();
    const { status, json } = await send('GET', '/sync');
    expect(status).toBe(200);
    expect(json).toMatchObject({
      pattern: '*',
      templates: ['games/lobby'],
      leftOut: ['games/arena: it holds a link'],
      isOver: false,
      nodes: [
        {
          nodeId: 'n1',
          state: 'done',
          trees: 1,
          had: 0,
          fetched: 1,
          failed: 0,
          bytes: 120,
          files: 3,
          problems: [],
        },
        { nodeId: 'n2', state: 'waiting', trees: 0 },
      ],
    });
  });
});

describe('without an ALL key', () => {
  it('every template route is 401', async () => {
    const token = await world.addKey('guest', 'PUBLIC');
    for (const [method, path] of [
      ['GET', ''],
      ['GET', '/sync'],
      ['GET', '/games/lobby'],
      ['GET', '/games/lobby/files'],
      ['GET', '/games/lobby/files/a'],
      ['POST', '/games/lobby/files/a'],
      ['PATCH', '/games/lobby/files/a'],
      ['DELETE', '/games/lobby/files/a'],
      ['POST', '/games/lobby/export'],
      ['POST', '/games/lobby/import'],
      ['POST', '/games/lobby/sync'],
      ['POST', '/sync'],
    ] as const)
      expect([method, path, (await send(method, path, undefined, { token })).status]).toEqual([
        method,
        path,
        401,
      ]);
    expect(readdirSync(world.templates.directory)).toEqual([]);
  });
});
