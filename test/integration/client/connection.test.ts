/** The client's connection against servers that answer, refuse, redirect, stop in between, or are something else. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { createServer as createTcpServer, type Socket, type Server as TcpServer } from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocketServer } from 'ws';
import { refusalOf } from '../../../src/client/connection/answers.js';
import {
  HttpConnection,
  type HttpConnectionOptions,
} from '../../../src/client/connection/http-connection.js';
import type { Target } from '../../../src/client/connection/target.js';
import { WatchStream } from '../../../src/client/connection/watch-stream.js';
import { listening } from '../../support/client/tls-servers.js';
import { freePorts } from '../../support/free-ports.js';
import { until } from '../../support/until.js';

const JSON_TYPE = { 'content-type': 'application/json' };
const KEY = `drv_${'k'.repeat(36)}`;
const servers: (Server | TcpServer)[] = [];
const sockets = new Set<Socket>();

afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  for (const server of servers.splice(0)) {
    server.close();
    await once(server, 'close');
  }
});

/** `Promise.withResolvers` of newer versions. */
function withResolvers(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

async function serve(onRequest: RequestListener): Promise<HttpConnection> {
  const server = createServer(onRequest);
  return connectTo(`http://127.0.0.1:${await start(server)}`);
}

async function serveTcp(onSocket: (socket: Socket) => void): Promise<HttpConnection> {
  return connectTo(`http://127.0.0.1:${await start(createTcpServer(onSocket))}`);
}

async function start(server: Server | TcpServer): Promise<number> {
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => sockets.delete(socket));
  });
  servers.push(server);
  return listening(server as Server);
}

function connectTo(
  url: string,
  target: Partial<Target> = {},
  options: Partial<HttpConnectionOptions> = {},
): HttpConnection {
  const whole: Target = {
    name: 'prod',
    kind: 'context',
    url,
    key: { kind: 'text', key: KEY, from: 'it' },
    trust: { kind: 'system' },
    ...target,
  };
  return new HttpConnection(whole, { version: '0.1.0', ...options });
}

const failureOf = async (asked: Promise<unknown> | (() => Promise<unknown>)): Promise<string> => {
  const error = await (typeof asked === 'function' ? asked() : asked).then(
    (answer) => new Error(`it answered: ${JSON.stringify(answer)}`),
    (reason: unknown) => reason,
  );
  expect(String(error)).not.toContain(KEY);
  const exitCode = error instanceof Error && 'exitCode' in error ? String(error.exitCode) : '-';
  return `${exitCode} ${error instanceof Error ? error.message.replaceAll(/127\.0\.0\.1:\d+/g, 'HOST') : ''}`;
};

describe('while no master leads', () => {
  const NOBODY = '{"error":"no master leads at this moment: try again"}';
  const NOT_TAKEN = { 'retry-after': '0', 'drover-not-taken': '1' };
  const WAITS = 'no master leads at this moment: trying again for 15 s';

  /** Refuses twice with these headers, then answers with what it got. `before`: so many sockets open and end first. */
  async function elect(headers: Record<string, string>, isPatient = true, before = 0) {
    const said: string[] = [];
    let asked = 0;
    const server = createServer((request, response) => {
      asked++;
      text(request).then((body) => {
        if (asked <= 2) response.writeHead(503, { ...JSON_TYPE, ...headers }).end(NOBODY);
        else response.writeHead(200, JSON_TYPE).end(JSON.stringify([request.method, body]));
      }, expect.unreachable);
    });
    const sockets = new WebSocketServer({ noServer: true });
    server.on('upgrade', (request, socket, head) => {
      asked++;
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
      if (asked <= before) sockets.handleUpgrade(request, socket, head, (opened) => opened.terminate());
      else if (asked > before + 2)
        sockets.handleUpgrade(request, socket, head, (opened) => opened.send('hello'));
      else
        socket.end(
          `HTTP/1.1 503 Service Unavailable\r\n${lines.join('')}Content-Type: application/json\r\nContent-Length: ${NOBODY.length}\r\n\r\n${NOBODY}`,
        );
    });
    const url = `http://127.0.0.1:${await start(server)}`;
    const connection = connectTo(url, {}, isPatient ? { sayWaits: (line) => said.push(line) } : {});
    return { connection, said, asked: () => asked };
  }

  it('asks again what was not taken, also a write, and says so once', async () => {
    const { connection, said, asked } = await elect(NOT_TAKEN);
    const answer = await connection.request('POST', '/x', { a: 1 });
    expect(answer).toMatchObject({ status: 200, body: ['POST', '{"a":1}'] });
    expect([asked(), said]).toEqual([3, [WAITS]]);
  });

  it('opens a WebSocket when somebody leads', async () => {
    const { connection, said } = await elect(NOT_TAKEN);
    const socket = await connection.openSocket('/console');
    expect(String((await once(socket, 'message'))[0])).toBe('hello');
    socket.terminate();
    expect(said).toEqual([WAITS]);
  });

  it('tells those who follow the change stream, which may draw over the terminal, once they have begun', async () => {
    const { connection, said } = await elect(NOT_TAKEN, true, 1);
    const told: string[] = [];
    const ending = new AbortController();
    const watch = new WatchStream(connection, (line) => told.push(line));
    for await (const message of watch.messages(ending.signal))
      if (message.type === 'open' && message.isAgain) ending.abort();
    expect(told).toEqual([
      expect.stringContaining('was lost'),
      WAITS,
      expect.stringContaining('again after'),
    ]);
    expect(said).toEqual([]);
  });

  it.each<[string, Record<string, string>, boolean]>([
    ['may have been taken', { 'retry-after': '0' }, true],
    ['nobody waits for', NOT_TAKEN, false],
  ])('does not repeat what %s', async (_what, headers, isPatient) => {
    const { connection, said, asked } = await elect(headers, isPatient);
    expect(await connection.request('POST', '/x', {})).toMatchObject({ status: 503 });
    expect([asked(), said]).toEqual([1, []]);
  });

  it('does not repeat a stream, which it has given away', async () => {
    const { connection, asked } = await elect(NOT_TAKEN);
    const { status, body } = await connection.stream('PUT', '/x', { body: Readable.from(['abc']) });
    body.destroy();
    expect([status, asked()]).toEqual([503, 1]);
  });
});

describe('a request', () => {
  it('carries the key and the body, and gives status and JSON whatever the status', async () => {
    const seen: unknown[] = [];
    const connection = await serve((request, response) => {
      const { method, url, headers } = request;
      text(request).then((body) => {
        seen.push([method, url, headers.authorization, headers['content-type'], body]);
        response
          .writeHead(409, { 'content-type': 'application/json; charset=utf-8' })
          .end('{"error":"busy"}');
      }, expect.unreachable);
    });
    const answer = await connection.request('POST', '/a?b=%20c', { d: 'é' });
    expect(answer).toMatchObject({ status: 409, body: { error: 'busy' } });
    expect(seen).toEqual([['POST', '/api/a?b=%20c', `Bearer ${KEY}`, 'application/json', '{"d":"é"}']]);
    expect(refusalOf(connection, answer)).toMatchObject({ exitCode: 5, message: 'busy' });
  });

  it('gives texts as they are, and nothing for an answer without a body', async () => {
    const connection = await serve(({ url }, response) => {
      if (url === '/api/none') response.writeHead(204).end();
      else response.writeHead(200, { 'content-type': 'text/plain' }).end('{}');
    });
    expect(await connection.request('GET', '/text')).toMatchObject({ status: 200, body: '{}' });
    expect(await connection.request('DELETE', '/none')).toMatchObject({ status: 204, body: undefined });
  });

  it.each<[number, unknown, string]>([
    [401, { error: 'this needs a key' }, '4 prod (http://HOST) refuses the key: this needs a key'],
    [
      403,
      { error: 'key ci has scope READ:\nthis needs \u001b[31mALL' },
      '4 key ci has scope READ: this needs ALL',
    ],
    [404, { error: 'there is no instance abc' }, '3 there is no instance abc'],
    [400, { error: 'wrong' }, '1 wrong'],
    [503, { error: 'the master is starting' }, '7 the master is starting'],
    [504, 'upstream', '6 prod (http://HOST) answers with status 504'],
  ])('with status %i and %j is refused as %s', async (status, body, expected) => {
    const connection = await serve((_request, response) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
    const refusal = refusalOf(connection, await connection.request('GET', '/x'));
    expect(await failureOf(Promise.reject(refusal))).toBe(expected);
  });

  it('follows no redirect, and sends the key to nobody else', async () => {
    const others: IncomingMessage[] = [];
    const other = createServer((request, response) => {
      others.push(request);
      response.end();
    });
    const port = await start(other);
    const connection = await serve((_request, response) => {
      response.writeHead(302, { location: `http://localhost:${port}/api/x` }).end();
    });
    for (const asked of [
      () => connection.request('GET', '/x'),
      () => connection.stream('GET', '/x'),
      () => connection.openSocket('/x'),
    ])
      expect(await failureOf(asked)).toMatch(
        /^7 .* redirects to http:\/\/localhost:\d+\/api\/x, which is not followed/,
      );
    expect(others).toEqual([]);
  });

  it.each([200, 502])('says that a web page with status %i is not the API', async (status) => {
    const connection = await serve((_request, response) => {
      response.writeHead(status, { 'content-type': 'text/html; charset=utf-8' }).end('<h1>Bad Gateway</h1>');
    });
    expect(await failureOf(connection.request('GET', '/x'))).toBe(
      `7 cannot reach prod (http://HOST): it answers with a web page (status ${status}), so it is not Drover's API, or a proxy before it has no connection: check the address`,
    );
  });

  it('says that broken JSON is none', async () => {
    const connection = await serve((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"a":');
    });
    expect(await failureOf(connection.request('GET', '/x'))).toMatch(/^7 .*says that it is JSON and is not/);
  });

  it('ends with its time, with code 6', async () => {
    const connection = await serve(() => undefined);
    expect(await failureOf(connection.request('GET', '/x', undefined, { timeoutMs: 20 }))).toBe(
      '6 prod (http://HOST) did not answer within 0.02 s',
    );
  });

  it('ends with its signal, and throws the reason of that', async () => {
    const arrived = withResolvers();
    const connection = await serve(() => arrived.resolve());
    const stopping = new AbortController();
    const asked = connection.request('GET', '/x', undefined, { signal: stopping.signal });
    await arrived.promise;
    stopping.abort(new Error('enough'));
    await expect(asked).rejects.toThrow('enough');
  });
});

describe('a master that is not there', () => {
  it('is said to be down when nothing listens', async () => {
    const url = `http://127.0.0.1:${await freePorts(1)}`;
    for (const asked of [() => connectTo(url).request('GET', '/x'), () => connectTo(url).openSocket('/x')])
      expect(await failureOf(asked)).toBe(
        '7 cannot reach prod (http://HOST): nothing listens there: is the master running, and is the port right?',
      );
  });

  it('is said to have no known name', async () => {
    expect(await failureOf(connectTo('http://no-such-host.invalid').request('GET', '/x'))).toMatch(
      /^7 cannot reach prod \(http:\/\/no-such-host\.invalid\): the host name (?:is not known|cannot be looked up)/,
    );
  });

  it.each<[string, string, RegExp]>([
    [
      'GET',
      'before an answer',
      /^7 .*: the connection was cut before the answer was whole: the master stopped, or something on the way did it$/,
    ],
    ['POST', 'before an answer', /; what was asked may be done or not: look before you repeat it$/],
  ])('is said to have cut a %s %s', async (method, _when, message) => {
    const connection = await serveTcp((socket) => socket.once('data', () => socket.resetAndDestroy()));
    expect(await failureOf(connection.request(method, '/x'))).toMatch(message);
  });

  it('is said to have cut an answer in the middle', async () => {
    const head = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"a":';
    const connection = await serveTcp((socket) => socket.once('data', () => socket.end(head)));
    expect(await failureOf(connection.request('GET', '/x'))).toMatch(/^7 .* cut before the answer was whole/);
  });

  it('is asked once more when it had closed a kept connection, but only for a GET', async () => {
    let answers = 0;
    const connection = await serveTcp((socket) => {
      let asked = 0;
      socket.on('data', () => {
        asked += 1;
        if (asked > 1) socket.resetAndDestroy();
        else socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n${answers++}`);
      });
    });
    expect(await connection.request('GET', '/x')).toMatchObject({ body: '0' });
    expect(await connection.request('GET', '/x')).toMatchObject({ body: '1' });
    expect(await failureOf(connection.request('POST', '/x'))).toMatch(/^7 .*may be done or not/);
  });

  it('is said not to speak HTTP', async () => {
    const connection = await serveTcp((socket) =>
      socket.once('data', () => socket.end('\x15\x03\x01\x00\x02\x02\x28')),
    );
    expect(await failureOf(connection.request('GET', '/x'))).toBe(
      '7 cannot reach prod (http://HOST): it does not answer in HTTP: if the port speaks TLS, use https://',
    );
  });

  it('is said to speak plain HTTP when TLS was expected', async () => {
    const plain = await serve((_request, response) => response.end());
    const connection = connectTo(plain.url.replace('http:', 'https:'));
    for (const asked of [() => connection.request('GET', '/x'), () => connection.openSocket('/x')])
      expect(await failureOf(asked)).toBe(
        '7 cannot reach prod (https://HOST): the port speaks plain HTTP, not TLS: use http:// in its address',
      );
  });

  it('is given up when it takes no connection in time', async () => {
    const connection = await serveTcp(() => undefined);
    const silent = new HttpConnection(
      {
        name: 'prod',
        kind: 'context',
        url: connection.url.replace('http:', 'https:'),
        key: { kind: 'text', key: KEY, from: 'it' },
        trust: { kind: 'system' },
      },
      { version: '0.1.0', connectMs: 50 },
    );
    for (const asked of [() => silent.request('GET', '/x'), () => silent.openSocket('/x')])
      expect(await failureOf(asked)).toBe(
        '7 cannot reach prod (https://HOST): it takes no connection within 0.05 s: check host and port, and firewalls on the way',
      );
  });
});

describe('a socket', () => {
  it('may be answered later than a connection is made, in its own time', async () => {
    const server = createServer();
    const sockets = new WebSocketServer({ noServer: true });
    const asked: (() => void)[] = [];
    server.on('upgrade', (request, socket, head) =>
      asked.push(() => sockets.handleUpgrade(request, socket, head, (one) => one.close())),
    );
    const url = `http://127.0.0.1:${await start(server)}`;
    const target = { name: 'prod', kind: 'context', url, trust: { kind: 'system' } } as const;
    const key = { kind: 'text', key: KEY, from: 'it' } as const;
    const patient = new HttpConnection({ ...target, key }, { version: '0.1.0', connectMs: 500 });
    const opening = patient.openSocket('/x');
    await until(() => expect(asked).toHaveLength(1));
    // A connection that is begun now and bounded alike is given up: so the time of the first one is over, too.
    const unanswered = (await serveTcp(() => undefined)).url.replace('http:', 'https:');
    const given = new HttpConnection(
      { ...target, url: unanswered, key },
      { version: '0.1.0', connectMs: 500 },
    );
    expect(await failureOf(() => given.request('GET', '/x'))).toContain('takes no connection within 0.5 s');
    asked[0]?.();
    expect((await opening).readyState).toBe(1);
    const hasty = new HttpConnection({ ...target, key }, { version: '0.1.0', answerMs: 50 });
    expect(await failureOf(() => hasty.openSocket('/x'))).toBe(
      '6 prod (http://HOST) did not answer within 0.05 s',
    );
  });
});

describe('a stream', () => {
  it('gives what comes as it comes', async () => {
    const more = withResolvers();
    const connection = await serve((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/x-ndjson' }).write('{"a":1}\n');
      more.promise.then(() => response.end('{"a":2}\n'), expect.unreachable);
    });
    const { status, body } = await connection.stream('GET', '/watch');
    expect(status).toBe(200);
    const [first] = await once(body, 'data');
    expect(String(first)).toBe('{"a":1}\n');
    more.resolve();
    expect(await text(body)).toBe('{"a":2}\n');
  });

  it('fails with a clear line when it is cut', async () => {
    const connection = await serve((_request, response) => {
      response.write('some', () => response.socket?.resetAndDestroy());
    });
    const { body } = await connection.stream('GET', '/export');
    expect(await failureOf(text(body))).toMatch(
      /^7 cannot reach prod \(http:\/\/HOST\): the connection was cut/,
    );
  });

  it('closes its connection when nobody reads on', async () => {
    const closed = withResolvers();
    const connection = await serve((_request, response) => {
      response.write('some');
      response.once('close', closed.resolve);
    });
    (await connection.stream('GET', '/watch')).body.destroy();
    await closed.promise;
  });

  it('sends a body, and gets the refusal of one that is not read', async () => {
    const connection = await serve((request, response) => {
      if (request.url === '/api/refused')
        response.writeHead(413, { 'content-type': 'application/json' }).end('{"error":"too large"}');
      else
        text(request).then(
          (body) => response.end(`${request.headers['content-type']} ${body}`),
          expect.unreachable,
        );
    });
    const sent = await connection.stream('POST', '/import', { body: Readable.from([Buffer.from('zip')]) });
    expect(await text(sent.body)).toBe('application/octet-stream zip');
    const large = Readable.from([Buffer.alloc(100), Buffer.alloc(100)]);
    const refused = await connection.stream('POST', '/refused', { body: large });
    expect([refused.status, await text(refused.body)]).toEqual([413, '{"error":"too large"}']);
  });

  it('throws the failure of the body itself', async () => {
    const connection = await serve(() => undefined);
    const body = new Readable({ read: () => body.destroy(new Error('the file is gone')) });
    expect(await failureOf(connection.stream('POST', '/import', { body }))).toBe('- the file is gone');
  });
});

describe('a socket', () => {
  it('opens with the key, and loses no message that came with the answer', async () => {
    const server = createServer();
    const upgrades = new WebSocketServer({ server });
    const seen: (string | undefined)[] = [];
    upgrades.on('connection', (socket, { url, headers }) => {
      seen.push(url, headers.authorization, headers['sec-websocket-extensions']);
      socket.send('first');
    });
    const connection = connectTo(`http://127.0.0.1:${await start(server)}`);
    const socket = await connection.openSocket('/watch?a=b');
    const [message] = await once(socket, 'message');
    expect(String(message)).toBe('first');
    expect(seen).toEqual(['/api/watch?a=b', `Bearer ${KEY}`, undefined]);
    socket.terminate();
    await once(socket, 'close');
  });

  it.each<[number, string, string]>([
    [401, '{"error":"this needs a key"}', '4 prod (http://HOST) refuses the key: this needs a key'],
    [403, '{"error":"this needs READ"}', '4 this needs READ'],
    [404, '{"error":"there is no instance abc"}', '3 there is no instance abc'],
    [
      200,
      '{}',
      '7 cannot reach prod (http://HOST): it opens no WebSocket (status 200): a proxy before it must let them pass',
    ],
  ])('that is answered with status %i throws what the server says', async (status, body, expected) => {
    const connection = await serve((_request, response) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(body);
    });
    expect(await failureOf(connection.openSocket('/watch'))).toBe(expected);
  });
});

describe('the key', () => {
  it('is asked for once, by a command without a shell', async () => {
    const keys: (string | undefined)[] = [];
    const { url } = await serve(({ headers }, response) => {
      keys.push(headers.authorization);
      response.end();
    });
    const words = [
      process.execPath,
      '-e',
      'console.log("drv_" + process.pid + process.argv[1])',
      '$(whoami)',
    ];
    const connection = connectTo(url, { key: { kind: 'command', words } });
    await Promise.all([connection.request('GET', '/a'), connection.request('GET', '/b')]);
    expect(keys).toEqual([expect.stringMatching(/^Bearer drv_\d+\$\(whoami\)$/), keys[0]]);
  });

  it.each<[string[], string]>([
    [
      ['/nowhere/pass'],
      '1 the key command /nowhere/pass cannot be started: no such file or directory (ENOENT)',
    ],
    [
      [process.execPath, '-e', 'process.exit(3)'],
      `1 the key command ${process.execPath} ended with exit code 3`,
    ],
    [[process.execPath, '-e', ''], `1 the output of the key command ${process.execPath} is empty`],
    [
      [process.execPath, '-e', `console.log("${KEY}\\n${KEY}")`],
      `1 the output of the key command ${process.execPath} is no key: one line is expected, of the form drv_...`,
    ],
  ])('of the command %j is refused, and nothing is sent', async (words, expected) => {
    let asked = 0;
    const { url } = await serve(() => {
      asked += 1;
    });
    expect(await failureOf(connectTo(url, { key: { kind: 'command', words } }).request('GET', '/x'))).toBe(
      expected,
    );
    expect(asked).toBe(0);
  });
});
