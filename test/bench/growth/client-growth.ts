/** What a request costs the daemon, with ever more clients that ask at once: a read, and a durable write. */
import autocannon from 'autocannon';
import { cpuTicks, TICKS_PER_SECOND } from '../process-figures.js';
import type { Row } from '../table.js';
import { BenchDaemon, until } from '../world.js';
import { growthRows, type Measured } from './growth-row.js';

const CLIENTS = [1, 4, 16, 64, 256];
const SECONDS = 4;
/** Real ones: they are ONLINE, and nothing is to be done about them. */
const INSTANCES = 50;

/** The next request of a kind. */
type Ask = () => { readonly method: 'GET' | 'PUT'; readonly path: string; readonly body?: string };

export async function benchClientGrowth(): Promise<Row[]> {
  const daemon = await BenchDaemon.start();
  try {
    await daemon.request('PUT', '/configurations/many', {
      name: 'many',
      command: 'sleep 100000',
      runtime: 'process',
      ramMB: 64,
      cpu: 0,
      minimumServiceCount: INSTANCES,
    });
    const online = async (): Promise<string[]> =>
      (await daemon.instances()).filter(({ state }) => state === 'ONLINE').map(({ id }) => id);
    await until(async () => (await online()).length === INSTANCES);
    const ids = await online();
    let count = 0;
    const next = (): string => `/api/instances/${ids[count++ % INSTANCES]}`;
    const read: Ask = () => ({ method: 'GET', path: next() });
    // Other players each time: what changes nothing is not written.
    const write: Ask = () => ({
      method: 'PUT',
      path: `${next()}/state`,
      body: JSON.stringify({ state: 'ONLINE', players: count }),
    });
    // Compiles the code first.
    for (const ask of [read, write]) await costOf(daemon, ask, 16);
    const lines = [
      { label: 'GET one instance', costs: await costsOf(daemon, read) },
      { label: 'PUT state, durable', costs: await costsOf(daemon, write) },
    ];
    return growthRows({
      name: 'clients',
      title: 'A request, by number of API clients',
      xLabel: 'clients that ask without a pause',
      yLabel: 'µs of CPU of the daemon, per request',
      unit: 'µs of CPU',
      of: 'clients',
      lines,
    });
  } finally {
    await daemon.stop();
  }
}

async function costsOf(daemon: BenchDaemon, ask: Ask): Promise<Measured[]> {
  const costs: Measured[] = [];
  for (const clients of CLIENTS) costs.push({ size: clients, cost: await costOf(daemon, ask, clients) });
  return costs;
}

/** Microseconds of the daemon's processor time, per request. */
async function costOf(daemon: BenchDaemon, ask: Ask, connections: number): Promise<number> {
  const before = await cpuTicks(daemon.pid);
  const { requests, non2xx, errors } = await autocannon({
    url: daemon.url,
    requests: [{ setupRequest: (request) => ({ ...request, ...ask() }) }],
    headers: { authorization: `Bearer ${daemon.token}`, 'content-type': 'application/json' },
    connections,
    duration: SECONDS,
  });
  if (non2xx > 0 || errors > 0) throw new Error(`${ask().path}: ${non2xx} refused, ${errors} errors`);
  const ticks = (await cpuTicks(daemon.pid)) - before;
  return (ticks * 1e6) / TICKS_PER_SECOND / requests.total;
}
