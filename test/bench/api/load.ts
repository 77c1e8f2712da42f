/** Load on a server by autocannon, in a process of its own, and its rate beside that of a baseline. */
import autocannon from 'autocannon';
import type { Row } from '../table.js';

const SECONDS = 4;
const ROUNDS = 2;

interface Load {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly connections: number;
  /** Each connection sends them in turn, and begins at another one. Default: GET `url`. */
  readonly requests?: readonly Request[];
}

interface Request {
  readonly method: 'PUT' | 'POST';
  readonly path: string;
  readonly body: string;
}

interface Rates {
  readonly drover: number;
  readonly baseline: number;
}

/** Requests a second of both, in turns, so that a machine that slows down slows both. The first turns warm up. */
export async function compare(drover: Load, baseline: Load): Promise<Rates> {
  const rates = { drover: 0, baseline: 0 };
  await rateOf(baseline, 1);
  await rateOf(drover, 1);
  for (let round = 0; round < ROUNDS; round++) {
    rates.baseline += await rateOf(baseline, SECONDS);
    rates.drover += await rateOf(drover, SECONDS);
  }
  return { drover: rates.drover / ROUNDS, baseline: rates.baseline / ROUNDS };
}

export async function rateOf(
  { url, headers = {}, connections, requests }: Load,
  duration: number,
): Promise<number> {
  let started = 0;
  const result = await autocannon({
    url,
    headers,
    connections,
    duration,
    ...(requests !== undefined && {
      setupClient: (client) => {
        const from = Math.floor((started++ * requests.length) / connections) % requests.length;
        const own = [...requests.slice(from), ...requests.slice(0, from)];
        client.setRequests(own.map((request) => ({ ...request, headers })));
      },
    }),
  });
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${url}: ${result.non2xx} refused, ${result.errors} errors`);
  return result.requests.average;
}

export function rateRow(
  figure: string,
  { drover, baseline }: Rates,
  { name, atLeast }: { name: string; atLeast: number },
): Row {
  const ratio = drover / baseline;
  return {
    figure,
    value: `${Math.round(drover)} (${ratio.toFixed(2)} x)`,
    baseline: `${name}: ${Math.round(baseline)}`,
    target: `>= ${atLeast.toFixed(2)} x`,
    ok: ratio >= atLeast,
  };
}
