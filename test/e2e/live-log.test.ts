/** Live logs of real instances: rotation, the end of an instance, the death of the node. Needs `npm run build`. */
import { readFileSync } from 'node:fs';
import { afterEach, expect, it } from 'vitest';
import { SocketClient } from '../support/api/socket-client.js';
import type { DaemonWorld } from '../support/daemon/daemon.js';
import { shareDaemon } from '../support/daemon/shared-daemon.js';
import { until } from '../support/until.js';

const GAP = /^\[drover\] lines? (\d+)(?: to (\d+))? (?:are|is) no longer kept$/;

let world: DaemonWorld;
const clients: SocketClient[] = [];
shareDaemon(
  (shared) => {
    world = shared;
  },
  { settings: { instanceLogs: { segmentMB: 1, segments: 2 } } },
);
afterEach(() => {
  for (const client of clients.splice(0)) client.websocket.terminate();
});

async function open(id: string, query: string): Promise<SocketClient> {
  const url = `http://127.0.0.1:${world.apiPort}/api/instances/${id}/live-log${query}`;
  const token = readFileSync(world.paths.adminKey, 'utf8').trim();
  const client = await SocketClient.open(url, { token });
  clients.push(client);
  return client;
}

/** The numbers of all lines from 1 on, shown or said to be gone; throws where one is missing or comes twice. */
function coveredUpTo(texts: readonly string[]): number {
  let next = 1;
  for (const text of texts) {
    const gap = GAP.exec(text);
    const number = Number(gap?.[1] ?? text.split(' ')[0]);
    if (number !== next) throw new Error(`"${text}" came where line ${next} should be`);
    next = Number(gap?.[2] ?? number) + 1;
  }
  return next - 1;
}

it('shows a line that is typed in, and every line of a flood or that it was rotated away', async () => {
  world.configure('flood', {
    command: 'echo ready; while read -r count; do seq "$count"; done',
    minimumServiceCount: 1,
  });
  const [{ id } = { id: '' }] = await world.untilOnline('flood', 1);
  await world.untilLogged(id, /ready/);
  const live = await open(id, '?since=1&numbered=true');
  await until(() => expect(live.texts).toEqual(['1 ready']));
  await world.api.execute(id, '1');
  await until(() => expect(live.texts).toEqual(['1 ready', '2 1']));
  await world.api.execute(id, '600000');
  await until(() => expect(live.texts.at(-1)).toBe('600002 600000'));
  expect(coveredUpTo(live.texts)).toBe(600_002);
  const flood = live.texts.filter((text) => !GAP.test(text)).slice(2);
  for (const text of flood) {
    const [number = '', value = ''] = text.split(' ');
    if (Number(number) !== Number(value) + 2) throw new Error(`line ${number} shows ${value}`);
  }
  const late = await open(id, '?since=2&numbered=true');
  await until(() => expect(late.texts.at(-1)).toBe('600002 600000'));
  expect(late.texts[0]).toMatch(/^\[drover\] lines 2 to \d+ are no longer kept$/);
  expect(coveredUpTo(['1 ready', ...late.texts])).toBe(600_002);
});

it('shows the last words of an instance that is removed, and closes with 1000', async () => {
  world.configure('polite', {
    command: 'trap "echo closing; printf bye; exit 0" TERM; echo up; while :; do sleep 0.1; done',
    minimumServiceCount: 0,
  });
  await world.untilConfigured('polite');
  const { id } = await world.api.create('polite');
  await world.untilLogged(id, /up/);
  const live = await open(id, '');
  await world.api.remove(id);
  expect(await live.closed).toEqual({ code: 1000, reason: `instance ${id} was removed` });
  // The shell says it of its `sleep`, or does not.
  const said = live.texts.filter((text) => text !== 'Terminated');
  expect(said).toEqual(['up', 'closing', 'bye']);
});

it('goes on over a restart of the instance, with numbers that go on', async () => {
  world.configure('service', { command: 'echo up; exec sleep 1000', minimumServiceCount: 0 });
  await world.untilConfigured('service');
  const { id } = await world.api.create('service');
  const live = await open(id, '?numbered=true');
  await until(() => expect(live.texts).toEqual(['1 up']));
  await world.api.lifecycle(id, 'restart');
  await until(() => expect(live.texts).toEqual(['1 up', '2 up']));
  await world.untilOnline('service', 1);
});

it('loses and repeats nothing for a client that resumes after the death of the node', async () => {
  world.configure('counter', {
    command: 'i=0; while :; do i=$((i+1)); echo "count $i"; sleep 0.02; done',
    minimumServiceCount: 1,
  });
  const [{ id } = { id: '' }] = await world.untilOnline('counter', 1);
  const before = await open(id, '?since=1&numbered=true');
  await until(() => expect(before.texts.length).toBeGreaterThan(20));
  await world.kill();
  await before.closed;
  const seen = coveredUpTo(before.texts);
  await world.start();
  const after = await open(id, `?since=${seen + 1}&numbered=true`);
  await until(() => expect(after.texts.length).toBeGreaterThan(50));
  const all = [...before.texts, ...after.texts];
  expect(coveredUpTo(all)).toBe(all.length);
  expect(all.map((text) => text.replace(/^(\d+) count \1$/, 'same'))).toEqual(all.map(() => 'same'));
});
