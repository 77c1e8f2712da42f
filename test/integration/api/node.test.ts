/** The rows of `/ping`, `/metrics`, `/node` and `/configurations` in the API contract, over a listening server. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiWorld } from '../../support/api/api-world.js';
import { refusal } from '../../support/api/refusal.js';

let world: ApiWorld;

beforeAll(async () => {
  world = await new ApiWorld({ configuration: { joinToken: 'very-secret', maxRamMB: 512 } }).start();
  await world.server.start();
  await world.addConfiguration('hello');
  await world.addConfiguration('alpha');
});
afterAll(() => world.stop());

const json = async (response: Promise<Response>): Promise<unknown> => (await response).json();

describe('the node', () => {
  it('answers GET /ping without a key', async () => {
    const response = await fetch(`${world.url}/ping`);
    expect(response.status).toBe(200);
    const node = { nodeId: 'n1', clusterName: 'test', master: true, leader: 'alpha' };
    expect(await response.json()).toEqual({ status: 'ok', ...node });
  });

  it('answers GET /metrics without a key, as Prometheus text', async () => {
    const responses = await Promise.all([1, 2, 3].map(() => fetch(`${world.url}/metrics`)));
    for (const response of responses) {
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
      expect(await response.text()).toMatch(/^# TYPE drover_reconcile_total counter$/m);
    }
  });

  it('answers GET /node with uptime in words and numbers of load and memory', async () => {
    expect(await json(world.call('GET', '/node'))).toEqual({
      nodeId: 'n1',
      // The process of the tests may run for more than an hour.
      uptime: expect.stringMatching(/^[\d.]+ (s|min|h( \d+ min)?)$/),
      systemStats: {
        version: '0.0.0-test',
        nodeVersion: process.version,
        pid: process.pid,
        uptimeSeconds: expect.any(Number),
        cpus: expect.any(Number),
        loadAverage: [expect.any(Number), expect.any(Number), expect.any(Number)],
        memoryTotalMB: expect.any(Number),
        memoryFreeMB: expect.any(Number),
        processRssMB: expect.any(Number),
        processHeapUsedMB: expect.any(Number),
        eventLoopDelayMs: expect.any(Number),
      },
    });
  });

  it('answers GET /node/config with every field and without the join token', async () => {
    const text = await (await world.call('GET', '/node/config')).text();
    expect(JSON.parse(text)).toMatchObject({
      nodeId: 'n1',
      isMasterNode: true,
      maxRamMB: 512,
      joinToken: '***',
    });
    expect(text).not.toContain('very-secret');
  });

  it('answers POST /node/reload with 501', async () => {
    const response = await world.call('POST', '/node/reload');
    expect(response.status).toBe(501);
    expect(await response.json()).toEqual(refusal(expect.stringContaining('not implemented')));
  });
});

describe('configurations', () => {
  it('are listed as a bare array by name, with their defaults', async () => {
    expect(await json(world.call('GET', '/configurations'))).toMatchObject([
      { name: 'alpha', command: 'sleep 1', ramMB: 2048, minimumServiceCount: 1, properties: {} },
      { name: 'hello' },
    ]);
  });

  it('are read by name, 404 when there is none', async () => {
    expect(await json(world.call('GET', '/configurations/hello'))).toMatchObject({ name: 'hello' });
    for (const name of ['nope', '..%2F..%2Fetc', '%00', '__proto__', 'x'.repeat(300)]) {
      const response = await world.call('GET', `/configurations/${name}`);
      expect(response.status).toBe(404);
      expect(await response.json()).toEqual(refusal(expect.stringContaining('configuration')));
    }
  });

  it('are written by PUT, answered 204 without a body, and handed on as they came', async () => {
    const input = { name: 'fresh', command: 'x', runtime: 'process', note: { kept: true } };
    const response = await world.call('PUT', '/configurations/fresh', input);
    expect([response.status, await response.text()]).toEqual([204, '']);
    expect(world.written).toEqual([{ name: 'fresh', input }]);
  });

  it('written without the effect that was meant are answered with Warning headers, five at most', async () => {
    const put = () => world.call('PUT', '/configurations/fresh', { command: 'x' });
    expect((await put()).headers.get('warning')).toBeNull();
    for (const field of ['a', 'b"\\\u00fc', 'c', 'd', 'e', 'f'])
      world.bodyWarnings.push({ line: null, column: null, field, message: 'unknown field, has no effect' });
    const response = await put();
    expect([response.status, await response.text()]).toEqual([204, '']);
    expect(response.headers.get('warning')).toBe(
      ['a', 'b\\"\\\\?', 'c', 'd', 'e']
        .map((field) => `299 - "${field}: unknown field, has no effect"`)
        .join(', '),
    );
    world.bodyWarnings.length = 0;
  });

  it('written to a file that is not in git then are answered with the consequence', async () => {
    await world.addConfiguration('fresh');
    const { sourceFile } = world.configurations.get('fresh')?.value ?? expect.fail('it was added');
    world.offCommit.add(sourceFile);
    const response = await world.call('PUT', '/configurations/fresh', { command: 'x' });
    expect(response.headers.get('warning')).toBe(
      `299 - "${sourceFile} is changed and not in git: commit it, or the next pull that brings it fails"`,
    );
  });

  it('have files whose warnings are listed', async () => {
    const warning = { file: 'a.json', name: 'a', line: 1, column: 2, field: 'b', message: 'unknown field' };
    world.fileWarnings.push(warning);
    expect(await json(world.call('GET', '/configuration-files/warnings'))).toEqual([warning]);
    world.fileWarnings.length = 0;
  });

  it('are refused with 400 when the name could leave the directory or the body is no object', async () => {
    world.written.length = 0;
    for (const name of ['..%2Fx', '.hidden', 'a%5Cb', 'a%00', 'a'.repeat(65)]) {
      const response = await world.call('PUT', `/configurations/${name}`, { command: 'x' });
      expect(response.status).toBe(400);
      expect(await response.json()).toEqual(refusal(expect.stringMatching(/name: must start with/)));
    }
    for (const body of ['[]', '"x"', 'null', '7']) {
      const response = await world.call('PUT', '/configurations/x', body);
      expect([body, response.status]).toEqual([body, 400]);
    }
    expect(world.written).toEqual([]);
  });

  it('are removed by DELETE, answered 204, 404 when there is none', async () => {
    expect((await world.call('DELETE', '/configurations/hello')).status).toBe(204);
    expect((await world.call('DELETE', '/configurations/nope')).status).toBe(404);
    expect((await world.call('DELETE', '/configurations/..%2Fx')).status).toBe(404);
  });
});
