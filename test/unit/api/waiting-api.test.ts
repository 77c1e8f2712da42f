/** What the API's port answers before the master has its state: who it is, and what it waits for. */
import { afterEach, expect, it } from 'vitest';
import { WaitingApi } from '../../../src/api/waiting-api.js';
import { readServerPair } from '../../../src/channel/trust/authority.js';
import { nodeConfigurationSchema } from '../../../src/model/node.js';
import { refusal } from '../../support/api/refusal.js';
import { askTls } from '../../support/api/tls.js';
import { MemoryFile, testAuthority } from '../../support/cluster/cluster-files.js';
import { freePorts } from '../../support/free-ports.js';

let api: WaitingApi;
afterEach(() => api.stop());

async function start(pair: ConstructorParameters<typeof WaitingApi>[1]): Promise<number> {
  const apiPort = await freePorts(1);
  const configuration = nodeConfigurationSchema.parse({ nodeId: 'a', clusterName: 'prod', apiPort });
  api = new WaitingApi(configuration, pair, () => 'it waits for etcd');
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
  const second = new WaitingApi(configuration, undefined, () => '');
  await expect(second.start()).rejects.toMatchObject({ code: 'DRV_NODE_PORT_IN_USE' });
  await api.stop();
  await second.start();
  await second.stop();
});

it('shows the certificate of the last start', async () => {
  const serverFile = new MemoryFile('data/cluster/server.json');
  const authority = testAuthority({ now: () => Date.now() }, { serverFile });
  const { certificate } = await authority.ensure();
  await authority.serverCredential();
  const port = await start(readServerPair(serverFile.text));
  const answer = await askTls({ port, ca: certificate.toString(), path: '/api/instances' });
  expect([answer.status, answer.text]).toEqual([503, '{"error":"it waits for etcd","code":"DRV_NOT_READY"}']);
  for (const text of [undefined, '', '{}', '{"key":"x"}']) expect(readServerPair(text)).toBeUndefined();
});
