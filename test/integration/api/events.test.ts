/** `GET /events`, `GET /exits` and their topics: order, filters, and what a restricted key sees of them. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { z } from 'zod';
import { recordOf } from '../../../controllers/master/events/plan.js';
import type { NewEvent } from '../../../src/model/event.js';
import type { ExitRecord } from '../../../src/model/exit-record.js';
import { eventKey, exitKey } from '../../../src/store/keys.js';
import { ApiWorld } from '../../support/api/api-world.js';
import { SocketClient } from '../../support/api/socket-client.js';
import { until } from '../../support/until.js';

let world: ApiWorld;

beforeEach(async () => {
  world = await new ApiWorld().start();
  await world.server.start();
  await put(
    '000000000001',
    { kind: 'crashed', configuration: 'lobby', instance: 'aaaaaa', node: 'n1' },
    5000,
  );
  await put('000000000002', { kind: 'made', configuration: 'survival', instance: 'bbbbbb' }, 2000);
  await put('000000000003', { kind: 'node', node: 'n1', detail: 'joined' }, 3000);
});
afterEach(() => world.stop());

async function put(id: string, event: NewEvent, at: number): Promise<void> {
  const revision = await world.store.transact([{ do: 'put', key: eventKey(id), value: recordOf(event, at) }]);
  await world.events.until(revision);
}

const texts = async (query: string, token = world.admin): Promise<string[]> => {
  const answer = await world.call('GET', `/events${query}`, undefined, token);
  expect(answer.status).toBe(200);
  return z
    .array(z.looseObject({ text: z.string() }))
    .parse(await answer.json())
    .map(({ text }) => text);
};

const MADE = 'bbbbbb of survival was made';
const JOINED = 'n1 joined';
const CRASHED = 'aaaaaa of lobby ended unasked';

it('lists events by the time of their last one, and filters them', async () => {
  expect(await texts('')).toEqual([MADE, JOINED, CRASHED]);
  expect(await texts('?limit=2')).toEqual([JOINED, CRASHED]);
  expect(await texts('?since=3000')).toEqual([JOINED, CRASHED]);
  expect(await texts('?configuration=survival')).toEqual([MADE]);
  expect(await texts('?node=n1')).toEqual([JOINED, CRASHED]);
  const wrong = await world.call('GET', '/events?limit=0');
  expect([wrong.status, await wrong.text()]).toEqual([400, expect.stringContaining('limit')]);
});

it('shows a restricted key the events of its configurations, and none of the cluster', async () => {
  const token = await world.addKey('lobby', 'READ', { configurations: ['lobby'] });
  expect(await texts('', token)).toEqual([CRASHED]);
  const client = await SocketClient.open(`${world.url}/watch?subscribe=events`, { token });
  await until(async () => {
    await world.clock.advance(100);
    expect(client.texts.join()).toContain(CRASHED);
  });
  await put('000000000004', { kind: 'node', node: 'n1', detail: 'is lost' }, 6000);
  await put('000000000005', { kind: 'up', configuration: 'lobby', instance: 'aaaaaa' }, 7000);
  await until(async () => {
    await world.clock.advance(100);
    expect(client.texts.join()).toContain('aaaaaa of lobby is up');
  });
  expect(client.texts.join()).not.toMatch(/n1 (joined|is lost)|survival/);
  client.websocket.terminate();
});

async function putExit(instance: string, at: number, fields: Partial<ExitRecord> = {}): Promise<void> {
  const value: ExitRecord = {
    instance,
    configuration: 'lobby',
    node: 'n1',
    run: 1,
    revision: 'f00',
    at,
    code: 1,
    signal: null,
    players: null,
    lines: ['one', 'two', 'three', 'four'],
    ...fields,
  };
  const key = exitKey(`${instance}-${at}`);
  await world.exits.until(await world.store.transact([{ do: 'put', key, value }]));
}

it('lists ends by time with their last lines, filters them, and shows a restricted key its own', async () => {
  await putExit('bbbbbb', 2000, { code: null, signal: 'SIGKILL' });
  await putExit('aaaaaa', 1000);
  await putExit('cccccc', 3000, { configuration: 'survival', node: 'n2' });
  const exits = async (query: string, token = world.admin) => {
    const answer = await world.call('GET', `/exits${query}`, undefined, token);
    return z
      .array(z.looseObject({ text: z.string(), lines: z.array(z.string()) }))
      .parse(await answer.json())
      .map(({ text, lines }) => `${text}: ${lines.join(' ')}`);
  };
  const one = 'aaaaaa of lobby exited with code 1 on n1: one two three four';
  const two = 'bbbbbb of lobby was ended by SIGKILL on n1: one two three four';
  const three = 'cccccc of survival exited with code 1 on n2: one two three four';
  expect(await exits('')).toEqual([one, two, three]);
  expect(await exits('?configuration=lobby&cause=signal')).toEqual([two]);
  expect(await exits('?instance=aaaaaa')).toEqual([one]);
  expect(await exits('?node=n2')).toEqual([three]);
  expect(await exits('?since=2000&limit=1&lines=1')).toEqual([three.replace('one two three ', '')]);
  const token = await world.addKey('survival', 'READ', { configurations: ['survival'] });
  expect(await exits('', token)).toEqual([three]);
  const client = await SocketClient.open(`${world.url}/watch?subscribe=exits`, { token });
  await until(async () => {
    await world.clock.advance(100);
    expect(client.texts.join()).toContain('"lines":["two","three","four"]');
  });
  expect(client.texts.join()).not.toContain('lobby');
  client.websocket.terminate();
});
