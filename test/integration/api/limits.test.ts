/** Bad bodies and content types, limits, and how the server starts and stops. */
import { EventEmitter, once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ApiWorld, instanceRecord } from '../../support/api/api-world.js';
import { bodyOf, exchange, openSocket, statusOf } from '../../support/api/raw-http.js';
import { refusal } from '../../support/api/refusal.js';
import { NULL_FIELDS } from '../../support/null-fields.js';

/**
 * A stop takes milliseconds, or seconds on a loaded machine. A server that waited for idle connections would need
 * 72 s.
 */
const STOP_MS = 30_000;

let world: ApiWorld;
const others: ApiWorld[] = [];

beforeEach(async () => {
  world = await new ApiWorld().start();
  await world.server.start();
  await world.addConfiguration('hello');
  await world.putInstance(instanceRecord({ id: 'aaaaaa' }));
});
afterEach(async () => {
  for (const each of [world, ...others.splice(0)]) await each.stop();
});

async function another(...options: ConstructorParameters<typeof ApiWorld>): Promise<ApiWorld> {
  const made = await new ApiWorld(...options).start();
  others.push(made);
  return made;
}

const port = (): number => world.server.address?.port ?? 0;
async function send(method: string, path: string, contentType: string | null, body?: string | Buffer) {
  const response = await fetch(world.url + path, {
    method,
    headers: {
      authorization: `Bearer ${world.admin}`,
      ...(contentType !== null && { 'content-type': contentType }),
    },
    // fetch sends no content type for a Buffer.
    ...(body !== undefined && { body: Buffer.from(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    text,
    error: text.startsWith('{"error"') ? JSON.parse(text).error : null,
  };
}

describe('bodies', () => {
  it('may be empty with a JSON content type on every method', async () => {
    const calls: [string, string, number][] = [
      ['GET', '/instances', 200],
      ['GET', '/instances/aaaaaa/logs', 200],
      ['PATCH', '/instances/aaaaaa/lifecycle?target=stop', 200],
      ['POST', '/node/reload', 501],
      ['DELETE', '/configurations/hello', 204],
      ['DELETE', '/instances/aaaaaa', 200],
    ];
    for (const [method, path, status] of calls) {
      expect([path, (await send(method, path, 'application/json')).status]).toEqual([path, status]);
    }
    const lines = [
      'DELETE /api/configurations/hello HTTP/1.1',
      'Host: x',
      `Authorization: Bearer ${world.admin}`,
      'Content-Type: application/json',
      'Transfer-Encoding: chunked',
      'Connection: close',
    ];
    expect(statusOf(await exchange(port(), `${lines.join('\r\n')}\r\n\r\n0\r\n\r\n`))).toBe(204);
  });

  it('are taken as JSON with any spelling of the type, any charset, and none', async () => {
    const types = [
      'application/json',
      'Application/JSON',
      'application/json; charset=utf-8',
      'application/json;charset=UTF-8',
      'application/json ; Charset="iso-8859-1"',
      null,
    ];
    for (const type of types) {
      const { status } = await send('POST', '/instances', type, '{"configurationName":"hello"}');
      expect([type, status]).toEqual([type, 201]);
    }
  });

  it('are JSON whatever their type says, and ignored when they are empty', async () => {
    const types = [
      'text/plain',
      'application/x-www-form-urlencoded',
      'application/merge-patch+json',
      'application/xml',
      'application/json garbage',
      'application/json, text/plain',
      'application',
      ';',
    ];
    for (const type of types) {
      const { status } = await send('POST', '/instances', type, '{"configurationName":"hello"}');
      expect([type, status]).toEqual([type, 201]);
      const other = await send('POST', '/instances', type, 'configurationName=hello');
      expect([type, other.status, other.error]).toEqual([
        type,
        400,
        expect.stringMatching(/^the body is not valid JSON: line 1, column 1: /),
      ]);
      expect((await send('POST', '/configurations/hello/restart', type)).status).not.toBe(415);
    }
    expect((await send('DELETE', '/configurations/hello', 'text/plain')).status).toBe(204);
  });

  it.each(['/instances', '/templates/g/t/files/a.txt', '/templates/g/t/import'])(
    'to %s in a wrapping are refused in words, and nothing is stored',
    async (path) => {
      const form = '--x\r\nContent-Disposition: form-data; name="f"\r\n\r\n{}\r\n--x--\r\n';
      const multipart = await send('POST', path, 'multipart/form-data; boundary=x', form);
      expect([multipart.status, multipart.error]).toEqual([415, expect.stringContaining('--data-binary')]);
      for (const coding of ['gzip', 'br', 'Deflate', 'gzip, identity']) {
        const response = await fetch(world.url + path, {
          method: 'POST',
          headers: { authorization: `Bearer ${world.admin}`, 'content-encoding': coding },
          body: '{"configurationName":"hello"}',
        });
        expect([coding, response.status, await response.json()]).toEqual([
          coding,
          415,
          { error: expect.stringContaining('Content-Encoding'), code: 'DRV_CONTENT_TYPE_UNKNOWN' },
        ]);
      }
      expect((await world.call('GET', '/templates/g/t')).status).toBe(200);
      expect(await (await world.call('GET', '/templates/g/t')).json()).toMatchObject({ exists: false });
    },
  );

  it('are left unread where a route takes none: broken, packed or of a wrong type', async () => {
    for (const [type, body] of [
      ['text/plain', 'x'],
      ['application/json', '{"a":'],
      ['multipart/form-data; boundary=x', '--x--'],
      [';', 'x'],
      ['application/json', '{"a":1,"a":2}'],
    ] as const) {
      const headers = {
        authorization: `Bearer ${world.admin}`,
        'content-type': type,
        'content-encoding': 'gzip',
      };
      const ask = async (method: string, path: string): Promise<number> =>
        (await fetch(world.url + path, { method, headers, body })).status;
      expect([body, await ask('POST', '/node/reload')]).toEqual([body, 501]);
      expect([body, await ask('POST', '/instances/aaaaaa/stop')]).toEqual([body, 200]);
      expect([body, await ask('PATCH', '/instances/aaaaaa/lifecycle?target=start')]).toEqual([body, 200]);
      expect([body, await ask('DELETE', '/configurations/none')]).toEqual([body, 404]);
      expect([body, await ask('POST', '/nothing')]).toEqual([body, 404]);
      expect([body, await ask('PATCH', '/instances')]).toEqual([body, 405]);
    }
  });

  it('that give a field twice are refused, at every level, with its place', async () => {
    for (const [method, path, body, place] of [
      ['PUT', '/configurations/new', '{"command":"a","command":"b"}', 'column 16: the field "command"'],
      [
        'PUT',
        '/configurations/new',
        '{"command":"a",\n"availablePorts":{"min":1,"max":2,"min":3}}',
        'line 2, ',
      ],
      ['POST', '/instances', '{"configurationName":"hello","configurationName":"hello"}', 'given twice'],
      ['PUT', '/instances/aaaaaa/state', '{"state":"ONLINE","\\u0073tate":"OFFLINE"}', 'the field "state"'],
      ['POST', '/plan', '{"configurations":[{"name":"a","name":"b"}]}', 'the field "name"'],
    ] as const) {
      const { status, error } = await send(method, path, 'application/json', body);
      expect([body, status, error]).toEqual([body, 400, expect.stringContaining(place)]);
    }
    expect(world.reports).toEqual([]);
  });

  it('of a null field are as if the field were not there, at every level', async () => {
    expect((await world.call('PUT', '/configurations/nulls', NULL_FIELDS)).status).toBe(204);
    const state = { state: 'ONLINE', lastHeartbeat: null, players: null };
    expect((await world.call('PUT', '/instances/aaaaaa/state', state)).status).toBe(200);
    const update = await world.call('POST', '/cluster/nodes/none/drain', { deadlineSeconds: null });
    expect(update.status).not.toBe(400);
  });

  it('that are no JSON are refused with 400', async () => {
    const broken = [
      '{',
      '{"configurationName":"hello"',
      "{'configurationName':'hello'}",
      '{"configurationName":"hello",}',
      'configurationName=hello',
      'NaN',
      '\u0000',
      Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
      Buffer.from('{"configurationName":"hello"}', 'utf16le'),
    ];
    for (const body of broken) {
      const { status, error } = await send('POST', '/instances', 'application/json', body);
      expect([body, status, error]).toEqual([body, 400, expect.stringContaining('not valid JSON')]);
    }
  });

  it('with keys that reach for prototypes are refused with 400', async () => {
    const keys = [
      '"__proto__":{"x":1}',
      '"\\u005f_proto__":{}',
      '"a":{"__proto__":[]}',
      '"constructor":{"prototype":{}}',
    ];
    for (const key of keys) {
      const { status } = await send('PUT', '/configurations/x', 'application/json', `{"command":"x",${key}}`);
      expect([key, status]).toEqual([key, 400]);
    }
    expect(world.written).toEqual([]);
    expect(Object.prototype).not.toHaveProperty('x');
  });

  it('that are absurd do no harm: 10,000 deep, 1e400, lone surrogates, a million keys', async () => {
    const deep = (open: string, close: string): string => open.repeat(10_000) + close.repeat(10_000);
    const deepObject = (): string => `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`;
    const absurd: [string, number][] = [
      [deep('[', ']'), 400],
      [`{"configurationName":${deep('[', ']')}}`, 400],
      [`{"configurationName":"hello","more":${deepObject()}}`, 400],
      ['{"configurationName":1e400}', 400],
      ['{"configurationName":"\\ud800"}', 400],
      [`{${Array.from({ length: 50_000 }, (_, index) => `"k${index}":0`).join(',')}}`, 400],
    ];
    for (const [body, expected] of absurd) {
      expect([
        body.slice(0, 40),
        (await send('POST', '/instances', 'application/json', body)).status,
      ]).toEqual([body.slice(0, 40), expected]);
    }
    expect((await send('GET', '/instances', null)).status).toBe(200);
  });

  it('are asked for in words, also where the request has no Host or expects the unknown', async () => {
    const head = (...lines: string[]): string =>
      [
        'GET /api/whoami HTTP/1.1',
        `Authorization: Bearer ${world.admin}`,
        'Connection: close',
        ...lines,
      ].join('\r\n');
    const hostless = await exchange(port(), `${head()}\r\n\r\n`);
    expect([statusOf(hostless), bodyOf(hostless)]).toEqual([
      400,
      refusal('header Host: is missing, and HTTP/1.1 asks for it'),
    ]);
    expect(hostless).toMatch(/\r\nContent-Type: application\/json/i);
    const upgrade = `${head('Upgrade: websocket').replace('whoami', 'console')}\r\n\r\n`;
    expect(bodyOf(await exchange(port(), upgrade))).toEqual(refusal(expect.stringContaining('header Host')));
    expect(statusOf(await exchange(port(), `${head('Host: x', 'Expect: wonders')}\r\n\r\n`))).toBe(200);
    expect(statusOf(await exchange(port(), `${head().replace('HTTP/1.1', 'HTTP/1.0')}\r\n\r\n`))).toBe(200);
  });

  it('are limited to 1 MiB: one byte more is 413', async () => {
    const fill = (bytes: number): string => {
      const head = '{"configurationName":"hello","pad":"';
      return `${head}${'x'.repeat(bytes - head.length - 2)}"}`;
    };
    expect((await send('POST', '/instances', 'application/json', fill(1_048_576))).status).toBe(201);
    const { status, error } = await send('POST', '/instances', 'application/json', fill(1_048_577));
    expect([status, error]).toEqual([413, expect.stringContaining('1 MiB')]);
  });
});

describe('errors', () => {
  it('of ours are a 500 without stack, path or message, and logged with them', async () => {
    world.answers.tolerates = (problem) => problem.includes(': 500: ');
    world.instances.get = () => {
      throw new Error('ENOENT: /var/lib/secret-path');
    };
    const { status, text } = await send('PATCH', '/instances/aaaaaa/lifecycle?target=stop', null);
    expect([status, JSON.parse(text)]).toEqual([
      500,
      refusal('unexpected fault of the server: its log says more'),
    ]);
    expect(world.log).toContainEqual(
      expect.objectContaining({
        level: 50,
        msg: expect.stringContaining('secret-path'),
        err: expect.anything(),
      }),
    );
  });

  it('of the HTTP itself are {error} too', async () => {
    const bad = await exchange(port(), 'NONSENSE\r\n\r\n');
    expect([statusOf(bad), bodyOf(bad)]).toEqual([400, refusal('this is not a well-formed HTTP request')]);
    const huge = await exchange(
      port(),
      `GET /api/ping HTTP/1.1\r\nHost: x\r\nX: ${'a'.repeat(17_000)}\r\n\r\n`,
    );
    expect([statusOf(huge), bodyOf(huge)]).toEqual([431, refusal('the headers are larger than 16 KiB')]);
  });

  it('answer requests that try to smuggle another with 400 and close', async () => {
    const authorization = `Authorization: Bearer ${world.admin}`;
    const smuggled = 'GET /api/instances HTTP/1.1\r\nHost: x\r\n\r\n';
    const forms = [
      ['Content-Length: 4', 'Transfer-Encoding: chunked'],
      ['Content-Length: 4', 'Content-Length: 5'],
      ['Transfer-Encoding: chunked, identity'],
      ['Content-Length: +4'],
    ];
    for (const form of forms) {
      const head = ['POST /api/instances HTTP/1.1', 'Host: x', authorization, ...form].join('\r\n');
      const answer = await exchange(port(), `${head}\r\n\r\n0\r\n\r\n${smuggled}`);
      expect([form, statusOf(answer)]).toEqual([form, 400]);
      expect(answer).not.toContain('aaaaaa');
    }
  });
});

describe('slow clients', () => {
  it('get 408 when the headers do not arrive in time, and again when the body does not', async () => {
    const slow = await another({ limits: { headersMs: 100, requestMs: 200 } });
    await slow.server.start();
    const slowPort = slow.server.address?.port ?? 0;
    const headers = await exchange(slowPort, 'GET /api/ping HTTP/1.1\r\nHost: x\r\nX-Drip: ');
    expect([statusOf(headers), bodyOf(headers)]).toEqual([
      408,
      refusal('the request took too long to arrive'),
    ]);
    const head = `POST /api/instances HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${slow.admin}\r\nContent-Length: 9\r\n\r\n{`;
    expect(statusOf(await exchange(slowPort, head))).toBe(408);
  });

  it('get 503 when the work takes too long, and its late end changes nothing', async () => {
    const slow = await another({ limits: { handlerMs: 50 } });
    await slow.putInstance(instanceRecord({ id: 'aaaaaa' }));
    let release = (): void => {};
    slow.hold = () =>
      new Promise((resolve) => {
        release = resolve;
      });
    const headers = { authorization: `Bearer ${slow.admin}` };
    const url = '/api/instances/aaaaaa/lifecycle?target=stop';
    const { statusCode, body } = await slow.server.inject({ method: 'PATCH', url, headers });
    expect([statusCode, JSON.parse(body)]).toEqual([
      503,
      refusal('the request took too long and was given up: look at the state before repeating it'),
    ]);
    release();
    slow.hold = async () => {};
    expect((await slow.server.inject({ method: 'PATCH', url, headers })).statusCode).toBe(200);
  });

  it('may pipeline: answers come in order', async () => {
    const one = 'GET /api/ping HTTP/1.1\r\nHost: x\r\n\r\n';
    const two = `GET /api/nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;
    const answer = await exchange(port(), one + two);
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 401']);
  });
});

describe('starting and stopping', () => {
  it('says which port is in use and what to do', async () => {
    const second = await another({ configuration: { apiPort: port() } });
    await expect(second.server.start()).rejects.toMatchObject({
      code: 'DRV_NODE_PORT_IN_USE',
      message: expect.stringMatching(new RegExp(`port ${port()} on 127.0.0.1 is in use.*apiPort`)),
    });
  });

  it('says when the address is not one of this machine', async () => {
    const second = await another({ configuration: { bindAddress: '203.0.113.7' } });
    await expect(second.server.start()).rejects.toMatchObject({
      code: 'DRV_NODE_CONFIG_INVALID',
      message: expect.stringContaining('bindAddress'),
    });
  });

  it('listens on loopback only while the advertised address is loopback', async () => {
    expect(world.server.address?.host).toBe('127.0.0.1');
    const open = await another({ configuration: { address: '192.0.2.1' } });
    await open.server.start();
    expect(open.server.address?.host).toBe('0.0.0.0');
  });

  it('stops twice, before and after it listened', async () => {
    const second = await another();
    await second.server.stop();
    await second.server.stop();
    await world.server.stop();
    await world.server.stop();
    expect(world.server.address).toBeUndefined();
  });

  it('does not wait for idle keep-alive connections', async () => {
    const socket = openSocket(port());
    socket.write('GET /api/ping HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(socket, 'data');
    const closed = once(socket, 'close');
    const before = performance.now();
    await world.server.stop();
    await closed;
    expect(performance.now() - before).toBeLessThan(STOP_MS);
  });

  it('lets a running request end, on a connection that would stay open, and takes no new one', async () => {
    const gate = new EventEmitter();
    const running = once(gate, 'running');
    const released = once(gate, 'release');
    world.hold = async () => {
      gate.emit('running');
      await released;
    };
    const request = send('PATCH', '/instances/aaaaaa/lifecycle?target=stop', null);
    await running;
    const oldPort = port();
    const stopping = world.server.stop();
    const late = openSocket(oldPort);
    const [error] = await once(late, 'error');
    expect(error).toMatchObject({ code: expect.stringMatching(/^ECONN(REFUSED|RESET)$/) });
    gate.emit('release');
    expect((await request).status).toBe(200);
    const before = performance.now();
    await stopping;
    expect(performance.now() - before).toBeLessThan(STOP_MS);
  });
});
