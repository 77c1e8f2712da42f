/**
 * Clients of the live-log benchmark, in a process of their own: `<url> <token> <clients> <lines> [<lines before>]`. Says
 * `open` when all are connected, and its findings when each client has the last line. Each line begins with its number
 * and the instant it was written. Lines before those compile this process's own code: it says `warm` after them, and the
 * numbers begin again.
 */
import { WebSocket } from 'ws';

export interface ClientFindings {
  readonly received: number;
  /** Numbers that were missing, repeated or out of order. */
  readonly wrong: number;
  /** From writing to arrival in ms: of every line of every client. */
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

const [url = '', token = '', clients = '', lines = '', before = '0'] = process.argv.slice(2);
const last = Number(lines);
const linesBefore = Number(before);
let cold = linesBefore === 0 ? 0 : Number(clients);
const HISTOGRAM_MS = 10_000;
/** By tenth of a millisecond. */
const histogram = new Uint32Array(HISTOGRAM_MS * 10);
let received = 0;
let wrong = 0;

function follow(): { opened: Promise<void>; ended: Promise<void> } {
  const headers = { authorization: `Bearer ${token}` };
  const socket = new WebSocket(url, { headers, perMessageDeflate: false });
  let next = 1;
  const ended = new Promise<void>((resolve, reject) => {
    socket.on('error', reject);
    socket.on('close', (code) => reject(new Error(`closed with ${code}`)));
    socket.on('message', (data: Buffer) => {
      const text = data.toString('latin1', 0, 32);
      const [number = '', at = ''] = text.split(' ');
      if (Number(number) !== next) wrong++;
      next = Number(number) + 1;
      received++;
      const lateMs = performance.timeOrigin + performance.now() - Number(at);
      const slot = Math.min(histogram.length - 1, Math.max(0, Math.round(lateMs * 10)));
      histogram[slot] = (histogram[slot] ?? 0) + 1;
      if (cold > 0 && next > linesBefore) {
        next = 1;
        if (--cold === 0) beginMeasuring();
      } else if (cold === 0 && next > last) resolve();
    });
  });
  return { opened: new Promise((resolve) => socket.once('open', () => resolve())), ended };
}

function beginMeasuring(): void {
  histogram.fill(0);
  received = 0;
  wrong = 0;
  process.send?.('warm');
}

function quantile(share: number): number {
  let seen = 0;
  const slot = histogram.findIndex((count) => {
    seen += count;
    return seen >= received * share && seen > 0;
  });
  return slot / 10;
}

const followed = Array.from({ length: Number(clients) }, follow);
await Promise.all(followed.map(({ opened }) => opened));
process.send?.('open');
await Promise.all(followed.map(({ ended }) => ended));
const findings: ClientFindings = {
  received,
  wrong,
  p50: quantile(0.5),
  p99: quantile(0.99),
  max: quantile(1),
};
process.send?.(findings, () => process.exit(0));
