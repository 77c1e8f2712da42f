/**
 * Subscribers of the watch benchmark, in a process of their own: `<url> <topics> <count> <how many never read> <token> ...`,
 * the sockets share the tokens evenly. Says `open` when all have their snapshots. Told `end <players>`, it says its
 * findings when each of those that read has that value, which is the last one written.
 * A change carries the instant of its writing as `tps`. Frames are not parsed but searched, so that the readers cost
 * less than what they measure.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { msOfDay } from '../api/changes.js';

export interface WatchFindings {
  readonly frames: number;
  readonly megabytes: number;
  /** From writing a value to its arrival in ms: of the newest and the oldest change of every frame. */
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

const HEAD_SHORT = 126;
const HEAD_LONG = 127;
const PING = 0x89;
/** Masked with zeros, as a client's frames must be. */
const PONG = Buffer.from([0x8a, 0x80, 0, 0, 0, 0]);
const LAST_PART = Buffer.from('"last":true');
const AT = Buffer.from('"tps":');

const [url = '', topics = '', count = '', unread = '', ...tokens] = process.argv.slice(2);
const { hostname, port, pathname } = new URL(url);
const lateMs: number[] = [];
let frames = 0;
let bytes = 0;

const players = (value: string): Buffer => Buffer.from(`"players":${value},`);

/** One connection, cut into frames. */
class Subscriber {
  readonly ready: Promise<void>;
  readonly #socket: Socket;
  #rest: Buffer = Buffer.alloc(0);
  #isUpgraded = false;
  /** Topics whose snapshot is not whole yet. */
  #due = topics.split(',').length;
  #onReady: () => void = () => undefined;
  #wanted: { readonly text: Buffer; readonly resolve: () => void } | undefined;
  #newest: Buffer = Buffer.alloc(0);

  constructor(token: string) {
    this.#socket = connect(Number(port), hostname);
    const lines = [
      `GET ${pathname}?subscribe=${topics} HTTP/1.1`,
      `Host: ${hostname}`,
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
      `Authorization: Bearer ${token}`,
    ];
    this.#socket.write(`${lines.join('\r\n')}\r\n\r\n`);
    this.#socket.on('data', (data) => this.#take(data));
    this.ready = new Promise((resolve, reject) => {
      this.#onReady = resolve;
      this.#socket.once('error', reject);
      this.#socket.once('close', () => reject(new Error('the server closed a subscriber')));
    });
  }

  /** Stands still: what comes waits in the kernel, and then at the server. */
  pause(): void {
    this.#socket.pause();
  }

  /** Resolves when a frame had that value. */
  until(value: string): Promise<void> {
    const text = players(value);
    if (this.#newest.includes(text)) return Promise.resolve();
    return new Promise((resolve) => {
      this.#wanted = { text, resolve };
    });
  }

  #take(data: Buffer): void {
    this.#rest = this.#rest.length === 0 ? data : Buffer.concat([this.#rest, data]);
    if (!this.#isUpgraded) {
      const end = this.#rest.indexOf('\r\n\r\n');
      if (end < 0) return;
      this.#isUpgraded = true;
      this.#rest = this.#rest.subarray(end + 4);
    }
    for (let frame = this.#next(); frame !== undefined; frame = this.#next()) this.#onFrame(frame);
  }

  #next(): Buffer | undefined {
    if (this.#rest.length < 10) return undefined;
    const short = this.#rest.readUInt8(1);
    const isLong = short === HEAD_LONG;
    const from = isLong ? 10 : short === HEAD_SHORT ? 4 : 2;
    const size = isLong
      ? Number(this.#rest.readBigUInt64BE(2))
      : short === HEAD_SHORT
        ? this.#rest.readUInt16BE(2)
        : short;
    if (this.#rest.length < from + size) return undefined;
    if (this.#rest.readUInt8(0) === PING) this.#socket.write(PONG);
    const frame = this.#rest.subarray(from, from + size);
    this.#rest = this.#rest.subarray(from + size);
    return frame;
  }

  #onFrame(frame: Buffer): void {
    frames++;
    bytes += frame.length;
    if (this.#due > 0) {
      // One frame may end the snapshots of several topics.
      for (let at = frame.indexOf(LAST_PART); at >= 0; at = frame.indexOf(LAST_PART, at + 1)) this.#due--;
      if (this.#due === 0) this.#onReady();
      return;
    }
    const now = msOfDay();
    for (const at of [frame.indexOf(AT), frame.lastIndexOf(AT)]) {
      const writtenAt = Number.parseFloat(frame.toString('latin1', at + AT.length, at + AT.length + 20));
      // An instance that nobody has written yet has no `tps`.
      if (at >= 0 && !Number.isNaN(writtenAt)) lateMs.push(now - writtenAt);
    }
    this.#newest = frame;
    if (this.#wanted === undefined || !frame.includes(this.#wanted.text)) return;
    this.#wanted.resolve();
    this.#wanted = undefined;
  }
}

function quantile(share: number): number {
  const late = lateMs[Math.min(lateMs.length - 1, Math.floor(lateMs.length * share))];
  if (late === undefined) throw new Error('no frame had an instant of writing');
  return late;
}

const all: Subscriber[] = [];
for (let index = 0; index < Number(count); index++) {
  const subscriber = new Subscriber(tokens[index % tokens.length] ?? '');
  all.push(subscriber);
  await subscriber.ready;
  if (index < Number(unread)) subscriber.pause();
}
const reading = all.slice(Number(unread));
process.send?.('open');
const [end] = (await once(process, 'message')) as [string];
await Promise.all(reading.map((subscriber) => subscriber.until(end.replace('end ', ''))));
lateMs.sort((a, b) => a - b);
const findings: WatchFindings = {
  frames,
  megabytes: bytes / 1024 / 1024,
  p50: quantile(0.5),
  p99: quantile(0.99),
  max: quantile(1),
};
process.send?.(findings, () => process.exit(0));
