/** Durable writes of small records: PUT state beside a put of as many bytes in etcd, through its HTTP gateway. */
import { BenchEtcd, hasEtcd, putRequest } from '../etcd.js';
import type { Row } from '../table.js';
import type { BenchDaemon } from '../world.js';
import { compare, rateOf, rateRow } from './load.js';

const CONNECTIONS = 64;
const WARM_UP_SECONDS = 2;

/** Every instance of the daemon is written in turn. */
export async function writeRows(daemon: BenchDaemon): Promise<Row[]> {
  const instances = await daemon.instances();
  const figure = `PUT state, ${CONNECTIONS} connections, ${instances.length} instances, durable, requests/s`;
  const drover = {
    url: daemon.url,
    headers: { authorization: `Bearer ${daemon.token}`, 'content-type': 'application/json' },
    connections: CONNECTIONS,
    requests: instances.map(({ id }, index) => ({
      method: 'PUT' as const,
      path: `/api/instances/${id}/state`,
      body: JSON.stringify({ state: 'ONLINE', players: index, maxPlayers: 1000, tps: 20 }),
    })),
  };
  if (!hasEtcd()) {
    const rate = await rateOf(drover, WARM_UP_SECONDS);
    return [
      {
        figure,
        value: `${Math.round(rate)}`,
        baseline: 'no etcd (apt: etcd-server)',
        target: '>= 1.50 x',
        ok: false,
      },
    ];
  }
  const etcd = await BenchEtcd.start();
  try {
    const puts = instances.map((info) => putRequest(`instances/${info.id}`, JSON.stringify(info)));
    const rates = await compare(drover, {
      url: etcd.url,
      headers: { 'content-type': 'application/json' },
      connections: CONNECTIONS,
      requests: puts,
    });
    const name = 'etcd, same client through its HTTP gateway, puts of as many bytes';
    return [rateRow(figure, rates, { name, atLeast: 1.5 })];
  } finally {
    await etcd.stop();
  }
}
