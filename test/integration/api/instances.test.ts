/** The rows of `/instances` in the API contract, over a listening server. */

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { instanceInfoSchema } from '../../../src/model/instance.js';
import { ApiWorld, instanceRecord, instanceStatus } from '../../support/api/api-world.js';
import { refusal } from '../../support/api/refusal.js';
import { withStatus } from '../../support/control-plane/records.js';
import { cpuMsOf } from '../../support/cpu-time.js';

let world: ApiWorld;

beforeAll(async () => {
  world = await new ApiWorld().start();
  await world.server.start();
  await world.addConfiguration('hello');
});
afterAll(() => world.stop());
beforeEach(async () => {
  for (const [id] of [...world.instances.entries()]) await world.dropInstance(id);
  await world.putInstance(instanceRecord({ id: 'aaaaaa' }));
  world.stdin.length = 0;
  world.reports.length = 0;
  world.lifecycles.length = 0;
});

async function answer(response: Promise<Response>): Promise<{ status: number; body: unknown }> {
  const { status, ...rest } = await response.then(async (got) => ({
    status: got.status,
    text: await got.text(),
  }));
  return { status, body: rest.text === '' ? null : JSON.parse(rest.text) };
}
const call = (method: string, path: string, body?: unknown) => answer(world.call(method, path, body));
const anError = (status: number, text: string | RegExp) => ({
  status,
  body: refusal(expect.stringMatching(text)),
});

describe('GET /instances', () => {
  it('lists all instances as a bare array of flat records, oldest first', async () => {
    await world.putInstance(
      instanceRecord({ id: 'bbbbbb', createdAt: 1, status: instanceStatus('STOPPED') }),
    );
    const { status, body } = await call('GET', '/instances');
    expect(status).toBe(200);
    expect(body).toMatchObject([
      { id: 'bbbbbb', state: 'STOPPED', processPid: null },
      {
        id: 'aaaaaa',
        configurationName: 'hello',
        wrapperNodeId: 'n1',
        hostAddress: '127.0.0.1',
        allocatedPort: 25_565,
        state: 'ONLINE',
        lastHeartbeat: 2000,
        processPid: 4242,
        allocatedRamMB: 64,
        allocatedCpu: 10,
        runtime: 'process',
      },
    ]);
    for (const info of instanceInfoSchema.array().parse(body)) {
      expect(Object.values(info).filter((value) => value !== null && typeof value === 'object')).toEqual([]);
    }
  });

  it('answers application/json with the length of the bytes, to HEAD without them', async () => {
    const got = await world.call('GET', '/instances');
    expect(got.headers.get('content-type')).toBe('application/json; charset=utf-8');
    const length = got.headers.get('content-length');
    expect((await got.arrayBuffer()).byteLength).toBe(Number(length));
    const head = await world.call('HEAD', '/instances');
    expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, length, '']);
  });
});

describe('POST /instances', () => {
  it('answers 201 with the new instance', async () => {
    const { status, body } = await call('POST', '/instances', { configurationName: 'hello' });
    expect(status).toBe(201);
    expect(body).toMatchObject({ id: 'new001', configurationName: 'hello', allocatedPort: 25_565 });
    expect((await call('GET', '/instances/new001')).status).toBe(200);
  });

  it('answers 400 for an unknown configuration and for a body without a name', async () => {
    expect(await call('POST', '/instances', { configurationName: 'nope' })).toEqual(
      anError(400, 'no configuration "nope"'),
    );
    expect(await call('POST', '/instances')).toEqual(
      anError(400, /configurationName: must be a text, is missing/),
    );
    expect(await call('POST', '/instances', { configurationName: 7 })).toEqual(
      anError(400, 'configurationName'),
    );
    expect(await call('POST', '/instances', '[]')).toEqual(
      anError(400, 'body: must be an object in { }, is a list of 0 entries'),
    );
    expect(await call('POST', '/instances', { configurationName: '\n<x>' })).toEqual(
      anError(400, /^there is no such configuration/),
    );
  });
});

describe('GET /instances/{id}', () => {
  it('answers the instance, with the beat of its node', async () => {
    world.beats.beat('n1', 7000);
    expect(await call('GET', '/instances/aaaaaa')).toMatchObject({
      status: 200,
      body: { id: 'aaaaaa', lastHeartbeat: 7000 },
    });
  });

  it('answers 404 for unknown, malformed, over-long and encoded ids', async () => {
    const ids = [
      'zzzzzz',
      'AAAAAA',
      'short',
      'x'.repeat(5000),
      '..%2Faaaaaa',
      '%00',
      'aaaaaa%20',
      '__proto__',
    ];
    for (const id of ids) expect(await call('GET', `/instances/${id}`)).toEqual(anError(404, 'there is no'));
  });
});

describe('DELETE /instances/{id}', () => {
  it('answers message and id, and hides the instance at once', async () => {
    expect(await call('DELETE', '/instances/aaaaaa')).toEqual({
      status: 200,
      body: { message: 'instance aaaaaa is being removed', instanceId: 'aaaaaa' },
    });
    expect((await call('GET', '/instances/aaaaaa')).status).toBe(404);
    expect((await call('GET', '/instances')).body).toEqual([]);
    const again: [string, string, unknown?][] = [
      ['DELETE', '/instances/aaaaaa'],
      ['GET', '/instances/aaaaaa/logs'],
      ['PUT', '/instances/aaaaaa/state', { state: 'ONLINE' }],
      ['POST', '/instances/aaaaaa/execute', { command: 'x' }],
    ];
    for (const [method, path, body] of again) {
      expect(await call(method, path, body)).toEqual(anError(404, 'no instance "aaaaaa"'));
    }
    // Its node keeps the log, for those who ask for that of a removed one.
    expect(await call('GET', '/instances/aaaaaa/logs?removed=true')).toMatchObject({
      status: 200,
      body: { instanceId: 'aaaaaa' },
    });
  });
});

describe('GET /instances/{id}/logs', () => {
  it('answers the last lines, 100 unless told, with the total', async () => {
    const lines = Array.from({ length: 150 }, (_, index) => `line ${index}`);
    world.logs = { lines, totalLines: 5000 };
    expect(await call('GET', '/instances/aaaaaa/logs')).toEqual({
      status: 200,
      body: { lines: lines.slice(-100), totalLines: 5000, instanceId: 'aaaaaa' },
    });
    for (const count of [1, 3, 1000]) {
      const { body } = await call('GET', `/instances/aaaaaa/logs?lines=${count}`);
      expect(body).toMatchObject({ lines: lines.slice(-count) });
    }
  });

  it('is byte for byte the old answer while nothing new is asked for', async () => {
    world.logs = { lines: ['one', 'two'], totalLines: 7 };
    const before = '{"lines":["one","two"],"totalLines":7,"instanceId":"aaaaaa"}';
    for (const query of ['', '?lines=5', '?ansi=true', '?timestamps=false&previous=false', '?unknown=1'])
      expect(await (await world.call('GET', `/instances/aaaaaa/logs${query}`)).text()).toBe(before);
  });

  it('answers with a part of the log and its times when asked to', async () => {
    const asked: unknown[] = [];
    const { readLogRange } = world.nodeLogs;
    world.nodeLogs.readLogRange = async (_record, part) => {
      asked.push(part);
      return {
        first: 4,
        last: 9,
        firstLine: 7,
        lines: ['\x1b[31mseven', 'eight', 'nine'],
        times: [
          [7, null],
          [8, 1_769_860_805],
        ],
        untimedLines: 7,
        totalLines: 12,
        isUnfinished: false,
      };
    };
    const log = {
      lines: ['seven', 'eight', 'nine'],
      totalLines: 12,
      instanceId: 'aaaaaa',
      firstLine: 7,
      range: { first: 4, last: 9 },
      untimedLines: 7,
    };
    const times = [null, '2026-01-31T12:00:05Z', '2026-01-31T12:00:05Z'];
    const get = (query: string) => call('GET', `/instances/aaaaaa/logs?${query}`);
    expect(await get('since=10m&lines=3')).toEqual({ status: 200, body: log });
    expect(await get('timestamps=true&until=2026-01-31T12:00:05Z')).toEqual({
      status: 200,
      body: { ...log, times },
    });
    expect(await get('previous=true&until=9')).toEqual({ status: 200, body: log });
    expect(asked).toEqual([
      { lines: 3, since: { ago: 600_000 }, previous: false },
      { lines: 100, until: { at: Date.UTC(2026, 0, 31, 12, 0, 5) }, previous: false },
      { lines: 100, until: { line: 9 }, previous: true },
    ]);
    expect(await get('since=yesterday')).toEqual(
      anError(400, /since: must be a time such as 2026-01-31T12:00:00Z/),
    );
    expect(await get('since=1m&until=2m')).toEqual(anError(400, 'exchange since and until'));
    world.nodeLogs.readLogRange = readLogRange;
  });

  it('answers 400 naming the range for anything but 1 to 1000', async () => {
    for (const lines of ['0', '-1', '1001', '1.5', 'abc', '', '1e9', 'NaN', 'Infinity', '5&lines=6']) {
      expect(await call('GET', `/instances/aaaaaa/logs?lines=${lines}`)).toEqual(
        anError(400, /lines: must be a whole number from 1 to 1000/),
      );
    }
  });

  it('strips terminal sequences unless asked for them', async () => {
    const raw = [
      '\x1b[1;31mred\x1b[0m\tx',
      '\x1b]0;title\x07text',
      '\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\',
      'a\x00b\x9bc\r',
    ];
    world.logs = { lines: raw, totalLines: 4 };
    expect((await call('GET', '/instances/aaaaaa/logs')).body).toMatchObject({
      lines: ['red\tx', 'text', 'link', expect.stringMatching(/^ab/)],
    });
    expect((await call('GET', '/instances/aaaaaa/logs?ansi=true')).body).toMatchObject({ lines: raw });
    expect(await call('GET', '/instances/aaaaaa/logs?ansi=maybe')).toEqual(anError(400, 'true or false'));
  });

  it('strips a megabyte of hostile sequences in no time', async () => {
    const hostile = ['\x9d'.repeat(300_000), '\x1b]'.repeat(300_000), '\x1b[;'.repeat(300_000)];
    world.logs = { lines: hostile.map((text) => `${text}\x1bend`), totalLines: 3 };
    let status: number | undefined;
    const took = await cpuMsOf(async () => {
      ({ status } = await call('GET', '/instances/aaaaaa/logs'));
    });
    expect(status).toBe(200);
    expect(took).toBeLessThan(5000);
  });

  it('answers no lines for an instance that no node holds yet, and 404 for none', async () => {
    const status = instanceStatus('CREATING');
    await world.putInstance(instanceRecord({ id: 'cccccc', placement: null, status }));
    expect(await call('GET', '/instances/cccccc/logs')).toEqual({
      status: 200,
      body: { lines: [], totalLines: 0, instanceId: 'cccccc' },
    });
    expect(await call('GET', '/instances/zzzzzz/logs')).toEqual(anError(404, 'no instance "zzzzzz"'));
  });
});

describe('PUT /instances/{id}/state', () => {
  it('records state and heartbeat from the body and answers the instance', async () => {
    world.beats.beat('n1', 99_000);
    expect(
      await call('PUT', '/instances/aaaaaa/state', { state: 'OFFLINE', lastHeartbeat: 5000 }),
    ).toMatchObject({
      status: 200,
      body: { id: 'aaaaaa', state: 'OFFLINE', lastHeartbeat: 5000 },
    });
    for (const state of ['CREATING', 'ONLINE', 'OFFLINE', 'STOPPED']) {
      expect(await call('PUT', '/instances/aaaaaa/state', { state })).toMatchObject({
        status: 200,
        body: { state },
      });
    }
  });

  it('resets the heartbeat when the body has none', async () => {
    await call('PUT', '/instances/aaaaaa/state', { state: 'ONLINE' });
    await call('PUT', '/instances/aaaaaa/state', { state: 'ONLINE', lastHeartbeat: null });
    expect(world.reports.map(({ report }) => report.lastHeartbeat)).toEqual([undefined, undefined]);
  });

  it('keeps players, maxPlayers and tps when they are finite numbers, and accepts unknown fields', async () => {
    const extras = '"players":3,"maxPlayers":1e400,"tps":"fast","motd":{"a":[1]}';
    expect((await call('PUT', '/instances/aaaaaa/state', `{"state":"ONLINE",${extras}}`)).status).toBe(200);
    expect(world.reports[0]?.report).toEqual({
      state: 'ONLINE',
      lastHeartbeat: undefined,
      players: 3,
      maxPlayers: undefined,
      tps: undefined,
    });
  });

  it.each([
    [
      { players: 1e308, maxPlayers: -2, tps: -1e9 },
      { players: undefined, maxPlayers: undefined, tps: undefined },
    ],
    [
      { players: '999999999999', maxPlayers: '-1' },
      { players: undefined, maxPlayers: -1 },
    ],
    [
      { players: 1e9, maxPlayers: 0 },
      { players: 1e9, maxPlayers: 0 },
    ],
  ])('leaves numbers out that cannot be: %j', async (said, kept) => {
    expect((await call('PUT', '/instances/aaaaaa/state', { state: 'ONLINE', ...said })).status).toBe(200);
    expect(world.reports[0]?.report).toMatchObject(kept);
  });

  it('takes any heartbeat that is a whole number: seconds, 0, and one of the future', async () => {
    for (const lastHeartbeat of [0, 1_700_000_000, 9e15]) {
      await call('PUT', '/instances/aaaaaa/state', { state: 'ONLINE', lastHeartbeat });
      expect(world.reports.at(-1)?.report.lastHeartbeat).toBe(lastHeartbeat);
    }
  });

  it('answers 400 naming the accepted states, and 404 for no instance', async () => {
    for (const state of ['online', 'RUNNING', 7, null]) {
      expect(await call('PUT', '/instances/aaaaaa/state', { state })).toEqual(
        anError(400, /state:.*"CREATING".*"STOPPED"/),
      );
    }
    expect(await call('PUT', '/instances/aaaaaa/state', '{"state":"ONLINE","lastHeartbeat":1e400}')).toEqual(
      anError(400, 'lastHeartbeat'),
    );
    expect((await call('PUT', '/instances/zzzzzz/state', { state: 'ONLINE' })).status).toBe(404);
  });
});

describe('PATCH /instances/{id}/lifecycle', () => {
  it('answers message, id and target, with an empty JSON body as real clients send it', async () => {
    for (const target of ['start', 'stop', 'restart']) {
      expect(await call('PATCH', `/instances/aaaaaa/lifecycle?target=${target}`)).toEqual({
        status: 200,
        body: { message: `instance aaaaaa: ${target} requested`, instanceId: 'aaaaaa', target },
      });
    }
    expect(world.lifecycles.map(({ target }) => target)).toEqual(['start', 'stop', 'restart']);
  });

  it('answers 400 naming the targets for any other, and 400 for a missing or malformed instance', async () => {
    for (const query of ['', '?target=', '?target=pause', '?target=START', '?target=stop&target=start']) {
      expect(await call('PATCH', `/instances/aaaaaa/lifecycle${query}`)).toEqual(
        anError(400, 'query field target: must be one of "start", "stop", "restart", is '),
      );
    }
    for (const id of ['zzzzzz', 'NOPE', '..%2f']) {
      expect(await call('PATCH', `/instances/${id}/lifecycle?target=stop`)).toEqual(
        anError(400, 'there is no'),
      );
    }
    expect(world.lifecycles).toEqual([]);
  });
});

describe('POST /instances/{id}/signal', () => {
  const send = (body: unknown, id = 'aaaaaa') => call('POST', `/instances/${id}/signal`, body);

  it('sends a named signal to the main process, or to all', async () => {
    world.signals.length = 0;
    expect(await send({ signal: 'SIGHUP' })).toEqual({
      status: 200,
      body: { message: 'SIGHUP sent to instance aaaaaa', instanceId: 'aaaaaa', signal: 'SIGHUP' },
    });
    expect((await send({ signal: 'SIGUSR1', all: true })).status).toBe(200);
    expect(world.signals).toEqual(['aaaaaa SIGHUP main', 'aaaaaa SIGUSR1 all']);
  });

  it('refuses other signals, and instances that are not running', async () => {
    world.signals.length = 0;
    for (const signal of ['SIGKILL', 'SIGSTOP', 'HUP', '1', 1])
      expect(await send({ signal })).toEqual(
        anError(400, 'body field signal: must be one of "SIGHUP", "SIGUSR1", '),
      );
    expect(await send({})).toEqual(anError(400, 'signal'));
    await world.putInstance(instanceRecord({ id: 'ssssss', status: instanceStatus('STOPPED') }));
    expect(await send({ signal: 'SIGHUP' }, 'ssssss')).toEqual(anError(409, 'takes no signals'));
    expect((await send({ signal: 'SIGHUP' }, 'zzzzzz')).status).toBe(404);
    expect(world.signals).toEqual([]);
  });
});

describe('POST /instances/{id}/execute', () => {
  const sent = async (command: string): Promise<string | undefined> => {
    world.stdin.length = 0;
    const { status } = await call('POST', '/instances/aaaaaa/execute', { command });
    return status === 200 ? world.stdin[0]?.bytes.toString() : undefined;
  };

  it('hands the bytes over with one newline and echoes the command', async () => {
    expect(await call('POST', '/instances/aaaaaa/execute', { command: 'say hi' })).toEqual({
      status: 200,
      body: { message: 'command sent to instance aaaaaa', instanceId: 'aaaaaa', command: 'say hi' },
    });
    expect(world.stdin).toEqual([{ id: 'aaaaaa', bytes: Buffer.from('say hi\n') }]);
    expect(await sent('stop\n')).toBe('stop\n');
    expect(await sent('a\nb')).toBe('a\nb\n');
    expect(await sent('')).toBe('\n');
  });

  it('changes no byte of it: escapes of screen, key names of tmux, shell text, control characters', async () => {
    for (const command of ['^a:quit \\015 $(id) `id`', 'C-c Enter', 'tab\tésc\x1b[A\x00\x03', '😀 "\'\\']) {
      expect(await sent(command)).toBe(`${command}\n`);
    }
  });

  it('answers 400 for a line over 4,000 bytes, counted as bytes, and takes several lines', async () => {
    const line = 'é'.repeat(2000);
    expect(await sent(line)).toBe(`${line}\n`);
    expect(await sent(`${line}\n${line}`)).toBe(`${line}\n${line}\n`);
    expect(await call('POST', '/instances/aaaaaa/execute', { command: `ok\n${line}x` })).toEqual(
      anError(400, /line of 4001 bytes.*4000/),
    );
  });

  it('answers 400 for half a surrogate pair and for a command that is no string', async () => {
    expect(await call('POST', '/instances/aaaaaa/execute', '{"command":"a\\ud800b"}')).toEqual(
      anError(400, 'well-formed Unicode'),
    );
    expect(await call('POST', '/instances/aaaaaa/execute', { command: ['ls'] })).toEqual(
      anError(400, 'command'),
    );
    expect(await call('POST', '/instances/aaaaaa/execute')).toEqual(anError(400, 'command'));
    expect(world.stdin).toEqual([]);
  });

  it('answers 409 when nothing runs and 404 when there is no instance', async () => {
    await world.putInstance(instanceRecord({ id: 'ssssss', status: instanceStatus('STOPPED') }));
    expect(await call('POST', '/instances/ssssss/execute', { command: 'x' })).toEqual(
      anError(409, 'ssssss is STOPPED'),
    );
    expect((await call('POST', '/instances/zzzzzz/execute', { command: 'x' })).status).toBe(404);
  });

  it('reaches a process whose app reported another state', async () => {
    const status = withStatus(instanceStatus('OFFLINE'), { pid: 17 });
    await world.putInstance(instanceRecord({ id: 'aaaaaa', status }));
    expect(await sent('x')).toBe('x\n');
  });
});
