/**
 * The lines of RELIABILITY.md's "Bad input" that hold for every endpoint, tested on every endpoint.
 * They are about disguised addresses, names that aim at prototypes or out of a directory, and what the log keeps of
 * a request.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ApiWorld, instanceRecord } from '../../support/api/api-world.js';
import { exchange, statusOf } from '../../support/api/raw-http.js';
import { CommandWorld } from '../../support/control-plane/command-world.js';
import { readTree, writeTree } from '../../support/templates/template-trees.js';

let world: ApiWorld;
beforeEach(async () => {
  world = await new ApiWorld().start();
  await world.server.start();
  await world.addNode('n1');
  await world.addConfiguration('hello');
  for (const id of ['aaaaaa', 'bbbbbb']) await world.putInstance(instanceRecord({ id, createdAt: 1000 }));
  writeTree(`${world.templates.directory}/games/lobby`, { a: 'content of a' });
});
afterEach(() => world.stop());

const port = (): number => world.server.address?.port ?? 0;

const KNOWN: Readonly<Record<string, string>> = {
  id: 'aaaaaa',
  name: 'hello',
  group: 'games',
  '*': 'a',
};

interface Endpoint {
  /** `SOCKET`: the handshake of a WebSocket. */
  readonly method: string;
  /** With `/api`; parameters as the route has them. */
  readonly path: string;
}

/** All endpoints that need a key. */
function endpoints(): Endpoint[] {
  const routes = world.server.routes.filter(({ scope }) => scope !== 'open');
  const sockets = world.server.sockets.map(({ path }) => ({ method: 'SOCKET', path }));
  return [...routes, ...sockets].map(({ method, path }) => ({ method, path: `/api${path}` }));
}

/** The path with its parameters filled in. */
function filled(path: string, values: Readonly<Record<string, string>> = {}): string {
  const known = path.startsWith('/api/templates') ? { ...KNOWN, name: 'lobby' } : KNOWN;
  return path.replace(
    /:(\w+)|\*/g,
    (found, name?: string) => ({ ...known, ...values })[name ?? found] ?? found,
  );
}

/** A body that every route accepts that takes one. */
const BODY = JSON.stringify({
  configurationName: 'hello',
  command: 'x',
  state: 'STOPPED',
  storage: 'depot',
  pattern: '*',
});

const HANDSHAKE = [
  'Connection: Upgrade, close',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
];

function raw(method: string, target: string, headers: readonly string[] = []): Promise<string> {
  const hasBody = ['POST', 'PUT', 'PATCH'].includes(method);
  const isSocket = method === 'SOCKET';
  const head = [
    `${isSocket ? 'GET' : method} ${target} HTTP/1.1`,
    'Host: x',
    ...headers,
    ...(isSocket ? HANDSHAKE : ['Connection: close']),
    ...(hasBody ? ['Content-Type: application/json', `Content-Length: ${BODY.length}`] : []),
  ];
  return exchange(port(), `${head.join('\r\n')}\r\n\r\n${hasBody ? BODY : ''}`);
}

const bearer = (token: string): string => `Authorization: Bearer ${token}`;

/** Everything that a request could have changed, as text. */
async function traces(): Promise<string> {
  const done = [world.lifecycles, world.reports, world.written, world.stdin, world.templates.synced];
  const records = [...world.instances.entries()].map(([, { value }]) => value);
  return JSON.stringify([done, records, await readTree(world.templates.root)]);
}

/** The methods to try beside the endpoint's own. */
const VERBS: Readonly<Record<string, readonly string[]>> = {
  GET: ['GET', 'HEAD'],
  SOCKET: ['SOCKET', 'GET', 'HEAD'],
};

const DISGUISES: readonly ((path: string) => string)[] = [
  (path) => path,
  (path) => `${path}/`,
  (path) => `${path}//`,
  (path) => `/${path}`,
  (path) => `///${path}`,
  (path) => path.replace('/api/', '/api//'),
  (path) => path.replace('/api/', '/api/./'),
  (path) => path.replace('/api/', '/api/ping/../'),
  (path) => path.replace('/api/', '/api/ping/..;/'),
  (path) => path.replace('/api/', '/docs/../api/'),
  (path) => path.replace('/api/', '/API/'),
  (path) => path.replace('/api/', '/%61pi/'),
  (path) => path.replace('/api/', '/api%2f'),
  (path) => path.replace('/api/', '%2fapi/'),
  (path) => path.replace('/api/', '/api\\'),
  (path) => path.replace('/api/', '/api;/'),
  (path) => `${path};x=/api/ping`,
  (path) => `${path}?/api/ping`,
  (path) => `${path}#/api/ping`,
  (path) => `${path}%00`,
  (path) => `${path}%2f..%2fping`,
  (path) => `/api/ping%2f..%2f${path.slice(5)}`,
  (path) => path.toUpperCase(),
  (path) => `http://127.0.0.1${path}`,
  (path) => `https://open.test/api/ping/..${path.slice(4)}`,
  (path) => `//open.test${path}`,
];

describe('a disguised address (Fastify CVE-2026-2880)', () => {
  it('gets nobody without a key to any endpoint, by its own method or as HEAD', async () => {
    const before = await traces();
    for (const { method, path } of endpoints()) {
      for (const disguise of DISGUISES) {
        for (const verb of VERBS[method] ?? [method]) {
          // Enough time passes that the limit of failures does not answer.
          await world.clock.advance(60_000);
          const target = disguise(filled(path));
          const answer = await raw(verb, target);
          // 400: Node or the router does not accept the address.
          expect([verb, target, [400, 401].includes(statusOf(answer))]).toEqual([verb, target, true]);
          expect(answer).not.toMatch(/content of a|aaaaaa/);
        }
      }
    }
    expect(await traces()).toBe(before);
  });

  it('gets no instance beyond the state of its own', async () => {
    const own = bearer(world.tokens.issue('aaaaaa', 1000));
    const before = world.instances.get('bbbbbb')?.value;
    const targets = [
      ...DISGUISES.map((disguise) => disguise('/api/instances/bbbbbb/state')),
      '/api/instances/aaaaaa/../bbbbbb/state',
      '/api/instances/aaaaaa%2f..%2fbbbbbb/state',
      '/api/instances/bbbbbb/state?id=aaaaaa',
      '/api/instances/bbbbbb%00aaaaaa/state',
      '/api/instances/bbbbbb;aaaaaa/state',
      '/api/instances/BBBBBB/state',
    ];
    for (const target of targets) {
      await world.clock.advance(60_000);
      const status = statusOf(await raw('PUT', target, [own]));
      expect([target, [400, 401].includes(status)]).toEqual([target, true]);
    }
    expect(world.reports).toEqual([]);
    expect(world.instances.get('bbbbbb')?.value).toEqual(before);
    for (const { method, path } of endpoints()) {
      if (path.endsWith('/state')) continue;
      await world.clock.advance(60_000);
      expect([path, statusOf(await raw(method, filled(path), [own]))]).toEqual([path, 401]);
    }
    expect(statusOf(await raw('PUT', '/api/instances/aaaaaa/state', [own]))).toBe(200);
  });
});

/** The targets of all endpoints, with one parameter replaced by `value`. */
function withParameter(value: string): { readonly method: string; readonly target: string }[] {
  return endpoints().flatMap(({ method, path }) =>
    [...path.matchAll(/:(\w+)|\*/g)].map(([found, name]) => ({
      method,
      target: filled(path, { [name ?? found]: value }),
    })),
  );
}

describe('a parameter of a path', () => {
  it.each([
    ...['..', '../..', '.', '%2e', '%2e%2e', '%2e%2e%2f%2e%2e', '..%2f..%2fdata', '%252e%252e%252fdata'],
    ...['..%5c..%5cdata', '%2fetc%2fpasswd', '/etc/passwd', '%00', 'a%00b', 'aaaaaa%00', '%2f'],
    `${'x'.repeat(300)}%20`,
  ])('that leads out of a directory does nothing, whatever the endpoint: %s', async (value) => {
    const before = await traces();
    for (const { method, target } of withParameter(value)) {
      const answer = await raw(method, target, [bearer(world.admin)]);
      const status = statusOf(answer);
      expect([method, target, status, [400, 404, 405].includes(status)]).toEqual([
        method,
        target,
        status,
        true,
      ]);
      expect(answer).not.toContain(world.templates.root);
    }
    expect(await traces()).toBe(before);
  });

  it.each(['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf'])(
    'that every object has is a name like any other: %s',
    async (value) => {
      for (const { method, target } of withParameter(value)) {
        const status = statusOf(await raw(method, target, [bearer(world.admin)]));
        // A template or a configuration may have this name, also one that is only asked about.
        const mayBe =
          target.startsWith('/api/templates') || method === 'PUT' || /\/(?:check|diff)$/.test(target);
        expect([method, target, status, mayBe ? status < 500 : [400, 404].includes(status)]).toEqual([
          method,
          target,
          status,
          true,
        ]);
      }
      expect(Object.keys(Object.prototype)).toEqual([]);
    },
  );
});

describe('what a client chooses', () => {
  const HOSTILE = 'x\x1b[2J\r\n{"level":50,"msg":"forged"}\x07\x9b1m';

  it('reaches the log and the audit trail as one entry, without what steers a terminal', async () => {
    const name = encodeURIComponent(HOSTILE);
    const before = world.log.length;
    for (const { method, path } of endpoints()) {
      const parameter = path.match(/:(\w+)|\*/);
      if (parameter === null) continue;
      const target = filled(path, { [parameter[1] ?? parameter[0]]: name });
      await raw(method, target);
      await raw(method, target, [bearer(world.admin)]);
    }
    await raw('GET', `/api/${name}`, [
      `User-Agent: ${encodeURIComponent(HOSTILE)}`,
      'X-Forwarded-For: forged',
    ]);
    expect(world.log.length).toBeGreaterThan(before);
    for (const line of world.log) {
      expect(Object.keys(line)).not.toContain('forged');
      expect(String(line.msg)).not.toContain('forged');
      expect(String(line.msg)).not.toMatch(/[\x00-\x1f\x7f-\x9f]/);
    }
    for (const entry of world.audit.entries) {
      expect([entry.action, entry.key, entry.address].join()).not.toMatch(/forged|[\x00-\x1f\x7f-\x9f]/);
    }
  });
});

describe('a body', () => {
  it.each([
    'application/json;',
    'application/json;charset',
    'APPLICATION/JSON',
    'application/json ;x=y',
    'application/ json',
    'application /json',
    'application/json\t',
    'application/json\t;charset=utf-8',
    'application/json,application/json',
    'application/problem+json',
    '',
  ])('is held to its schema, whatever its content type: %j (Fastify CVE-2025-32442)', async (type) => {
    const body = '{"configurationName":{"length":1},"state":"GONE","command":7,"storage":[]}';
    for (const target of ['/api/instances', '/api/instances/aaaaaa/execute', '/api/commands/execute']) {
      const head = [
        `POST ${target} HTTP/1.1`,
        'Host: x',
        'Connection: close',
        bearer(world.admin),
        `Content-Type: ${type}`,
        `Content-Length: ${body.length}`,
      ];
      const status = statusOf(await exchange(port(), `${head.join('\r\n')}\r\n\r\n${body}`));
      expect([target, [400, 415].includes(status)]).toEqual([target, true]);
    }
    expect([world.instances.size, world.stdin]).toEqual([2, []]);
  });

  it('may be as deep as a mebibyte allows', async () => {
    for (const [open, close] of [
      ['[', ']'],
      ['{"a":', '}'],
    ] as const) {
      const depth = Math.floor(1_000_000 / (open.length + close.length));
      const body = `${open.repeat(depth)}1${close.repeat(depth)}`;
      for (const [method, path] of [
        ['POST', '/instances'],
        ['PUT', '/configurations/deep'],
        ['PUT', '/instances/aaaaaa/state'],
      ] as const) {
        const { status } = await world.call(method, path, body);
        expect([method, path, status < 500]).toEqual([method, path, true]);
      }
    }
    expect((await world.call('GET', '/instances')).status).toBe(200);
  });
});

describe('a command', () => {
  it('that names what every object has finds nothing, and says so', async () => {
    const commands = await CommandWorld.create();
    try {
      for (const word of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
        for (const line of [
          word,
          `help ${word}`,
          `instance ${word}`,
          `instance info ${word}`,
          `instance why ${word}`,
          `instance list -o ${word}`,
          `instance list --${word}`,
          `instance list --${word}=1`,
          `instance create ${word}`,
          `config show ${word}`,
          `config why ${word}`,
          `config diff ${word}`,
          `template sync ${word}/*`,
          `key delete ${word}`,
          `key create x ${word}`,
        ])
          expect([line, await commands.run(line)]).toEqual([line, expect.stringMatching(/^error: .+\n$/)]);
      }
      expect(commands.log.join('')).not.toContain('a command failed');
      expect(commands.plane.records()).toEqual([]);
      expect(Object.keys(Object.prototype)).toEqual([]);
    } finally {
      await commands.stop();
    }
  });

  it('that leads out of a directory does nothing', async () => {
    const commands = await CommandWorld.create();
    try {
      for (const name of ['..', '../..', '../../etc/passwd', '/etc/passwd', '.drover/x', 'a\\b', '..%2f..']) {
        for (const line of [
          `instance logs ${name}`,
          `instance delete ${name}`,
          `config show ${name}`,
          `config diff ${name}`,
          `template sync ${name}`,
          `template sync -s s3 ${name}`,
          `template sync -s ${name} games/lobby`,
          `key create ${name} ALL`,
          `key delete ${name}`,
        ]) {
          const output = await commands.run(line);
          expect([line, output]).toEqual([line, expect.stringMatching(/^error: .+\n$/)]);
          expect(output).not.toContain(commands.root);
        }
      }
      expect([commands.downloads, commands.synced]).toEqual([[], []]);
    } finally {
      await commands.stop();
    }
  });
});
