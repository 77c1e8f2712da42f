/** `drover attach` on a terminal of the test, against a WebSocket server that plays the master. */
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { HttpConnection } from '../../../src/client/connection/http-connection.js';
import { attach } from '../../../src/client/live/attach.js';
import type { RawTerminal } from '../../../src/client/live/raw-terminal.js';
import { EXIT } from '../../../src/command-tree/runs/client-error.js';
import { until } from '../../support/until.js';

class FakeTerminal implements RawTerminal {
  readonly input = new PassThrough();
  readonly output = new PassThrough();
  columns = 100;
  isTaken = false;
  shown = '';
  resized: () => void = () => undefined;
  ends: () => void = () => undefined;

  constructor() {
    this.output.setEncoding('latin1').on('data', (text: string) => {
      this.shown += text;
    });
  }

  takeOver(): void {
    this.isTaken = true;
  }

  giveBack(): void {
    this.isTaken = false;
  }

  size() {
    return { columns: this.columns, rows: 40 };
  }

  onResize(listener: () => void) {
    this.resized = listener;
    return () => undefined;
  }

  onEnd(listener: () => void) {
    this.ends = listener;
    return () => undefined;
  }
}

let server: WebSocketServer;
let terminal: FakeTerminal;
let typed: Buffer[];
let texts: unknown[];
let path: string | undefined;

beforeEach(async () => {
  server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  terminal = new FakeTerminal();
  typed = [];
  texts = [];
});
afterEach(async () => {
  for (const client of server.clients) client.terminate();
  server.close();
  await once(server, 'close');
});

async function attached(
  isTransparent: boolean,
): Promise<{ readonly end: Promise<string>; readonly master: WebSocket }> {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('it listens on no port');
  const key = { kind: 'text', key: 'drv_0123456789', from: 'it' } as const;
  const url = `http://127.0.0.1:${address.port}`;
  const target = { name: 'prod', kind: 'context', url, key, trust: { kind: 'system' } } as const;
  const opened = once(server, 'connection');
  const end = attach(new HttpConnection(target, { version: '0.1.0' }), 'ab12cd', terminal);
  end.catch(() => undefined);
  const [master, request] = (await opened) as [WebSocket, { readonly url?: string }];
  path = request.url;
  master.on('message', (data: Buffer, isBinary) =>
    isBinary ? typed.push(data) : texts.push(JSON.parse(data.toString())),
  );
  master.send(JSON.stringify({ type: 'attached', isTransparent }));
  await until(() => expect(terminal.isTaken).toBe(true));
  return { end, master };
}

const sent = (): string => Buffer.concat(typed).toString('latin1');

it('gives every key to the session, and the size of the window', async () => {
  const { end, master } = await attached(false);
  expect(path).toBe('/api/instances/ab12cd/attach?columns=100&rows=40');
  master.send(Buffer.from('down\nhere \x1b[?1049h'), { binary: true });
  await until(() => expect(terminal.shown).toBe('down\x1bDhere \x1b[?1049h'));
  const paste = 'x'.repeat(100_000);
  terminal.input.write(`\x03\x01ls\r${paste}`);
  await until(() => expect(sent()).toBe(`\x03\x01ls\r${paste}`));
  expect(Math.max(...typed.map(({ length }) => length))).toBeLessThanOrEqual(64 * 1024);
  terminal.columns = 5000;
  terminal.resized();
  await until(() => expect(texts).toEqual([{ type: 'resize', columns: 1000, rows: 40 }]));
  terminal.input.write('bye\x10\x11');
  expect(await end).toBe('detached from instance ab12cd: it goes on');
  await until(() => expect(sent()).toMatch(/bye$/));
  expect(terminal.isTaken).toBe(false);
  await until(() => expect(terminal.shown).toMatch(/\x1b\[r\x1b\[\?1049l\x1b\[0m\r\n$/));
});

it('sends line feeds to a program that reads lines, and shows what was refused', async () => {
  const { end, master } = await attached(true);
  master.send(Buffer.from('one\ntwo\n'), { binary: true });
  master.send(JSON.stringify({ type: 'refused', message: 'the program is \x1b[2Jnot reading' }));
  terminal.input.write('say hi\r');
  await until(() => expect(sent()).toBe('say hi\n'));
  await until(() => expect(terminal.shown).toBe('one\ntwo\n\r\n[the program is not reading]\r\n'));
  master.send(
    JSON.stringify({ type: 'ended', reason: 'exited', message: 'instance ab12cd exited with code 0' }),
  );
  master.close();
  expect(await end).toBe('instance ab12cd exited with code 0');
  expect(terminal.isTaken).toBe(false);
});

it('waits once for a terminal that takes no more, however many messages are here already', async () => {
  const { end, master } = await attached(true);
  let waiting = 0;
  terminal.output.on('newListener', (event) => {
    if (event === 'drain') waiting = Math.max(waiting, terminal.output.listenerCount('drain') + 1);
  });
  const pieces = Array.from({ length: 40 }, (_piece, index) => `${index} `.repeat(index === 0 ? 100_000 : 1));
  terminal.output.cork();
  for (const piece of pieces) master.send(Buffer.from(piece), { binary: true });
  await until(() => expect(waiting).toBeGreaterThan(0));
  terminal.output.uncork();
  await until(() => expect(terminal.shown).toBe(pieces.join('')));
  expect(waiting).toBe(1);
  master.terminate();
  await expect(end).rejects.toThrow(/was cut/);
});

it.each<[string, (master: WebSocket) => void, number, RegExp]>([
  ['is cut', (master) => master.terminate(), EXIT.unreachable, /was cut; instance ab12cd goes on$/],
  [
    'loses the node',
    (master) => {
      master.send(JSON.stringify({ type: 'ended', reason: 'lost', message: 'node n1 is gone' }));
      master.close(1011);
    },
    EXIT.unreachable,
    /^node n1 is gone$/,
  ],
  [
    'is too slow',
    (master) => {
      master.send('no JSON');
      master.send(JSON.stringify({ type: 'ended', reason: 'too-slow', message: 'too slow' }));
      master.close(1013);
    },
    EXIT.failed,
    /^too slow$/,
  ],
])('gives the terminal back when the connection %s', async (_how, happens, exitCode, message) => {
  const { end, master } = await attached(true);
  happens(master);
  await expect(end).rejects.toMatchObject({ exitCode, message: expect.stringMatching(message) });
  expect(terminal.isTaken).toBe(false);
});

it('gives the terminal back before a signal ends the process', async () => {
  const { master } = await attached(true);
  terminal.ends();
  expect(terminal.isTaken).toBe(false);
  master.terminate();
});
