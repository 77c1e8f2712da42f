/** What the API's port answers before the master has its state: who it is, and what it waits for. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, expect, it } from 'vitest';
import { WaitingApi } from '../../../src/api/waiting-api.js';
import { readServerPair } from '../../../src/channel/trust/authority.js';
import { SystemClock } from '../../../src/loop/system-clock.js';
import { nodeConfigurationSchema } from '../../../src/model/node.js';
import { bodyOf, exchange, statusOf } from '../../support/api/raw-http.js';
import { refusal } from '../../support/api/refusal.js';
import { askTls } from '../../support/api/tls.js';
import { MemoryFile, testAuthority } from '../../support/cluster/cluster-files.js';
import { freePorts } from '../../support/free-ports.js';

let api: WaitingApi;
afterEach(() => api.stop());

const nobody = (reason: string) => ({ reason: () => reason, leader: () => null });

async function start(pair: ConstructorParameters<typeof WaitingApi>[1]): Promise<number> {
  const apiPort = await freePorts(1);
  const configuration = nodeConfigurationSchema.parse({ nodeId: 'a', clusterName: 'prod', apiPort });
  api = new WaitingApi(configuration, pair, nobody('it waits for etcd'));
  await api.start();
  return apiPort;
}

it('says who it is, that nobody leads, and to all else what it waits for, until it makes room', async () => {
  const port = await start(undefined);
  const ping = await fetch(`http://127.0.0.1:${port}/api/ping`);
  expect([ping.status, await ping.json()]).toEqual([
    200,
    { status: 'ok', nodeId: 'a', clusterName: 'prod', master: true, leader: null },
  ]);
  const write = await fetch(`http://127.0.0.1:${port}/api/instances`, {
    method: 'POST',
    body: '{}',
    headers: { authorization: 'Bearer key' },
  });
  expect([write.status, write.headers.get('retry-after'), await write.json()]).toEqual([
    503,
    '1',
    refusal('it waits for etcd'),
  ]);
  const configuration = nodeConfigurationSchema.parse({ nodeId: 'b', apiPort: port });
  const second = new WaitingApi(configuration, undefined, nobody(''));
  await expect(second.start()).rejects.toMatchObject({ code: 'DRV_NODE_PORT_IN_USE' });
  await api.stop();
  await second.start();
  await second.stop();
});

it('answers in JSON whatever is wrong with a request', async () => {
  const port = await start(undefined);
  for (const [head, status] of [
    ['GET /api/instances HTTP/1.1\r\nConnection: close', 503],
    ['GET /api/instances HTTP/1.1\r\nHost: x\r\nExpect: wonders\r\nConnection: close', 503],
    ['this is no request', 400],
  ] as const) {
    const answer = await exchange(port, `${head}\r\n\r\n`);
    expect([head, statusOf(answer), bodyOf(answer)]).toEqual([head, status, refusal(expect.any(String))]);
  }
});

it('shows the certificate of the last start', async () => {
  const serverFile = new MemoryFile('data/cluster/server.json');
  const authority = testAuthority(new SystemClock(), { serverFile });
  const { certificate } = await authority.ensure();
  await authority.serverCredential();
  const port = await start(readServerPair(serverFile.text));
  const answer = await askTls({ port, ca: certificate.toString(), path: '/api/instances' });
  expect([answer.status, answer.text]).toEqual([503, '{"error":"it waits for etcd","code":"DRV_NOT_READY"}']);
  for (const text of [undefined, '', '{}', '{"key":"x"}']) expect(readServerPair(text)).toBeUndefined();
});

it('says who leads as soon as it knows', async () => {
  const apiPort = await freePorts(1);
  const configuration = nodeConfigurationSchema.parse({ nodeId: 'a', apiPort });
  api = new WaitingApi(configuration, undefined, { reason: () => '', leader: () => 'b' });
  await api.start();
  const ping = await fetch(`http://127.0.0.1:${apiPort}/api/ping`);
  expect(await ping.json()).toMatchObject({ nodeId: 'a', leader: 'b' });
});

it('hands its socket over: no connection is refused, and none that is open is lost', async () => {
  const port = await start(undefined);
  const early = connect(port, '127.0.0.1');
  await once(early, 'connect');
  const answered: string[] = [];
  let isOver = false;
  const asking = (async () => {
    for (let more = 3; more > 0; more -= Number(isOver))
      answered.push(await (await fetch(`http://127.0.0.1:${port}/api/instances`)).text());
  })();
  const next = createServer((incoming, response) => response.end(`next ${incoming.url}`));
  try {
    while (answered.length < 3) await new Promise(setImmediate);
    await api.handOverTo(next);
    isOver = true;
    await asking;
    expect(answered.at(-1)).toBe('next /api/instances');
    early.write('GET /api/ping HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    expect(await text(early)).toMatch(/^HTTP\/1\.1 200 [\s\S]*next \/api\/ping/);
  } finally {
    await new Promise((resolve) => next.close(resolve));
  }
  expect(await once(connect(port, '127.0.0.1'), 'error')).toMatchObject([{ code: 'ECONNREFUSED' }]);
});
