/** Rows of the API contract: Node, Cluster, and the fields of nodes and their main configuration. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { refusal } from '../../support/api/refusal.js';
import { RowWorld } from './rows.js';

let world: RowWorld;
beforeAll(async () => {
  world = await RowWorld.start((daemon) => {
    daemon.configure('service', { command: 'exec sleep 1000', ramMB: 32, cpu: 7, minimumServiceCount: 2 });
  });
});
afterAll(() => world.stop());

const withoutKey = { token: null };
const anError = refusal();

describe('Node', () => {
  it('GET /ping: no auth, 200 {status: always ok while serving, nodeId, clusterName, master}', async () => {
    const { status, json } = await world.call('GET /ping', withoutKey);
    expect([status, json]).toEqual([
      200,
      { status: 'ok', nodeId: 'node-a', clusterName: 'drover', master: true, leader: 'node-a' },
    ]);
  });

  it('GET /metrics: no auth, 200 text in Prometheus exposition format', async () => {
    const { status, headers, bytes } = await world.call('GET /metrics', withoutKey);
    expect([status, headers['content-type']]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
    const lines = bytes.toString().trimEnd().split('\n');
    for (const line of lines)
      expect(line).toMatch(/^(#.*|[a-zA-Z_:][\w:]*(\{.*\})? (-?[\d.e+-]+|\+Inf|NaN)|)$/i);
  });

  it('GET /node: 200 {nodeId, uptime: human readable, systemStats: object}', async () => {
    const { status, json } = await world.call('GET /node');
    expect([status, json]).toEqual([
      200,
      {
        nodeId: 'node-a',
        uptime: expect.stringMatching(/^[\d.]+ (s|min)$/),
        systemStats: expect.any(Object),
      },
    ]);
  });

  it('GET /node/config: 200 node main configuration object, every field of its table', async () => {
    const { status, json } = await world.call('GET /node/config');
    expect(status).toBe(200);
    expect(json).toMatchObject({
      address: '127.0.0.1',
      port: world.daemon.apiPort + 1,
      apiPort: world.daemon.apiPort,
      nodeId: 'node-a',
      clusterName: 'drover',
      isMasterNode: true,
      masterAddress: expect.any(String),
      masterPort: 6000,
      masterApiPort: 7000,
      debug: false,
      maxRamMB: 65_536,
      maxCpu: 10_000,
    });
  });

  it('POST /node/reload: always 501 {error}', async () => {
    for (const body of [undefined, {}, { force: true }]) {
      const { status, json } = await world.call('POST /node/reload', { body });
      expect([status, json]).toEqual([501, anError]);
    }
  });
});

describe('Cluster', () => {
  it('GET /cluster/nodes: 200 array of node summaries {nodeId, address, master, resources: {usedRamMB, usedCpu}}', async () => {
    await world.daemon.untilOnline('service', 2);
    const { status, json } = await world.call('GET /cluster/nodes');
    const resources = { usedRamMB: 64, usedCpu: 14 };
    expect([status, json]).toEqual([
      200,
      [{ nodeId: 'node-a', address: '127.0.0.1', master: true, resources }],
    ]);
  });

  it('GET /cluster/nodes/{id}: 200 node detail (with instances)', async () => {
    await world.daemon.untilOnline('service', 2);
    const { status, json } = await world.call('GET /cluster/nodes/node-a');
    expect(status).toBe(200);
    expect(json).toMatchObject({
      nodeId: 'node-a',
      address: '127.0.0.1',
      master: true,
      resources: { usedRamMB: 64, usedCpu: 14 },
      instances: Array(2).fill({ configurationName: 'service', wrapperNodeId: 'node-a', allocatedRamMB: 32 }),
    });
  });

  it('GET /cluster/nodes/{id}: 404 for an unknown node', async () => {
    const { status, json } = await world.call('GET /cluster/nodes/nope');
    expect([status, json]).toEqual([404, anError]);
  });

  it('POST /cluster/nodes/{id}: 400 without command, which is required', async () => {
    for (const body of [undefined, {}, { command: 1 }]) {
      expect((await world.call('POST /cluster/nodes/node-a', { body })).status).toBe(400);
    }
  });

  it('POST /cluster/nodes/{id}: 400 {error} when id is the node serving the request', async () => {
    const { status, json } = await world.call('POST /cluster/nodes/node-a', { body: { command: 'help' } });
    const error = expect.stringContaining('cannot execute command on local node via API');
    expect([status, json]).toEqual([400, refusal(error)]);
  });

  // A remote node is answered with 501: test/integration/api/cluster.test.ts has one.
  it('POST /cluster/nodes/{id}: 404 for an unknown node', async () => {
    const { status, json } = await world.call('POST /cluster/nodes/nope', { body: { command: 'help' } });
    expect([status, json]).toEqual([404, anError]);
  });
});
