/** `GET /events` and the topic `events`: order, filters, and what a restricted key sees of them. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { z } from 'zod';
import { recordOf } from '../../../controllers/master/events/plan.js';
import type { NewEvent } from '../../../src/model/event.js';
import { eventKey } from '../../../src/store/keys.js';
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
