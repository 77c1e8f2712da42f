/** `/console` on a real socket: several consoles at once, floods, huge frames, and clients that never read. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { ApiWorld } from '../../support/api/api-world.js';
import { SocketClient } from '../../support/api/socket-client.js';
import { until } from '../../support/until.js';

let world: ApiWorld;
const clients: SocketClient[] = [];
beforeEach(async () => {
  world = await new ApiWorld().start();
  await world.server.start();
  world.runCommand = async (line, { write }) => {
    if (line !== 'silent') write(`did ${line}\n`);
    return { isOk: true };
  };
});
afterEach(async () => {
  for (const client of clients.splice(0)) client.websocket.terminate();
  await world.stop();
});

async function open(): Promise<SocketClient> {
  const client = await SocketClient.open(`${world.url}/console`, { token: world.admin });
  clients.push(client);
  return client;
}

it('streams what commands print, as they print it', async () => {
  let finish: () => void = () => undefined;
  world.runCommand = async (line, { write }) => {
    write(`${line} begins\n`);
    await new Promise<void>((resolve) => {
      finish = resolve;
    });
    write('one\ntwo\n');
    return { isOk: true };
  };
  const client = await open();
  client.send('work');
  await until(() => expect(client.texts).toEqual(['work begins']));
  finish();
  await until(() => expect(client.texts).toEqual(['work begins', 'one\ntwo']));
});

it('runs the lines of a frame in order, and answers a silent one with an empty frame', async () => {
  const client = await open();
  client.send('one\ntwo\n\nsilent');
  client.send('three');
  await until(() => expect(client.texts).toEqual(['did one', 'did two', '', 'did three']));
});

it('serves several consoles at once, each for itself', async () => {
  world.runCommand = async (line, { write, signal }) => {
    if (line === 'hang') await new Promise((resolve) => signal.addEventListener('abort', resolve));
    write(`did ${line}\n`);
    return { isOk: true };
  };
  const [a, b, c] = [await open(), await open(), await open()];
  a.send('hang');
  b.send('b');
  c.send('c');
  await until(() => expect([a.texts, b.texts, c.texts]).toEqual([[], ['did b'], ['did c']]));
});

it('closes with 1000 on exit', async () => {
  const client = await open();
  client.send('one\nexit\ntwo');
  expect(await client.closed).toEqual({ code: 1000, reason: 'bye' });
  expect(client.texts).toEqual(['did one']);
});

it('closes on a frame over 64 KiB, runs nothing of it, and leaves others alone', async () => {
  const run = vi.fn(world.runCommand);
  world.runCommand = run;
  const [huge, other] = [await open(), await open()];
  huge.send('x'.repeat(70_000));
  expect(await huge.closed).toMatchObject({ code: 1009 });
  expect(run).not.toHaveBeenCalled();
  other.send('one');
  await until(() => expect(other.texts).toEqual(['did one']));
});

it('keeps 100 commands waiting and refuses more, then goes on', async () => {
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  world.runCommand = async (line, { write }) => {
    await released;
    write(`did ${line}\n`);
    return { isOk: true };
  };
  const client = await open();
  for (let index = 0; index < 500; index++) client.send(`line ${index}`);
  await until(() => expect(client.texts).toHaveLength(399));
  expect(new Set(client.texts)).toEqual(new Set(['error: 1 command refused: 100 are waiting already']));
  release();
  await until(() => expect(client.texts).toHaveLength(500));
  expect(client.texts.at(-1)).toBe('did line 100');
  client.send('again');
  await until(() => expect(client.texts.at(-1)).toBe('did again'));
});

it('does not run on for a client that never reads, and serves others meanwhile', async () => {
  let runs = 0;
  world.runCommand = async (line, { write }) => {
    if (line === 'big') {
      runs++;
      write(`${'x'.repeat(4 * 1024 * 1024)}\n`);
    } else write(`did ${line}\n`);
    return { isOk: true };
  };
  const deaf = await open();
  deaf.websocket.pause();
  for (let index = 0; index < 50; index++) deaf.send('big');
  const other = await open();
  for (let index = 0; index < 20; index++) other.send(`line ${index}`);
  await until(() => expect(other.texts).toHaveLength(20));
  // As many as fit into the buffers of the system, and one more in Drover's.
  expect(runs).toBeLessThan(10);
  const before = runs;
  deaf.websocket.resume();
  await until(() => expect(runs).toBeGreaterThan(before));
});

it('stops working for a client that has gone', async () => {
  let wasAborted = false;
  world.runCommand = async (_line, { signal }) => {
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    wasAborted = true;
    return { isOk: false };
  };
  const client = await open();
  client.send('work');
  client.websocket.terminate();
  await until(() => expect(wasAborted).toBe(true));
});
