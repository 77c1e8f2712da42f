/** Rows of the API contract, sections WebSocket connection rules and Events, on a real daemon. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { refusal } from '../../support/api/refusal.js';
import { until } from '../../support/until.js';
import { RowWorld } from './rows.js';

const UPGRADE = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
};

let world: RowWorld;
let id: string;
beforeAll(async () => {
  world = await RowWorld.start((daemon) => {
    daemon.configure('echo', { command: 'echo first; cat', minimumServiceCount: 1 });
  });
  const [instance] = await world.daemon.untilOnline('echo', 1);
  id = instance?.id ?? '';
  await world.daemon.untilLogged(id, /first/);
});
afterAll(() => world.stop());

describe('WebSocket connection rules', () => {
  it('1. Connect to the same port with ws://, path as above', async () => {
    const { socket } = await world.open('/console');
    expect(socket.url).toBe(`ws://127.0.0.1:${world.daemon.apiPort}/api/console`);
  });

  it('2. The bearer token travels as an Authorization header on the upgrade request and is validated before the socket opens', async () => {
    await expect(world.open('/console', { token: `${world.adminKey.slice(0, -1)}_` })).rejects.toThrow('401');
    await expect(world.open('/console')).resolves.toBeDefined();
  });

  it('2. never in the query string', async () => {
    for (const name of ['token', 'key', 'access_token', 'authorization']) {
      const path = `/console?${name}=${world.adminKey}`;
      await expect(world.open(path, { token: null })).rejects.toThrow('401');
    }
  });

  it('3. A missing or invalid token gives 401 and no socket', async () => {
    for (const path of ['/console', `/instances/${id}/live-log`]) {
      for (const token of [null, 'drv_wrong']) {
        const { status, json } = await world.send({ method: 'GET', path, token, headers: UPGRADE });
        expect([path, status, json]).toEqual([path, 401, refusal('Unauthorized')]);
      }
    }
  });

  it('3. An unknown instance is 404 before the upgrade', async () => {
    const path = '/instances/zzzzzz/live-log';
    const { status, json } = await world.send({ method: 'GET', path, headers: UPGRADE });
    expect([status, json]).toEqual([404, refusal()]);
  });

  it('4. Success gives 101 Switching Protocols; frames are UTF-8 text', async () => {
    const { frames } = await world.open(`/instances/${id}/live-log`);
    await world.call(`POST /instances/${id}/execute`, { body: { command: 'grüße 💥' } });
    await until(() => expect(frames).toContain('grüße 💥'));
    expect(frames).not.toContain('<binary>');
  });

  it('5. /instances/{id}/live-log is server-to-client only: what a client sends reaches nobody', async () => {
    const { socket, frames } = await world.open(`/instances/${id}/live-log`);
    socket.send('from the reader');
    await world.call(`POST /instances/${id}/execute`, { body: { command: 'from the writer' } });
    await until(() => expect(frames).toContain('from the writer'));
    expect(frames).not.toContain('from the reader');
  });

  it('5. /console is bidirectional', async () => {
    const { socket, frames } = await world.open('/console');
    socket.send('instance list');
    await until(() => expect(frames.join('')).toContain(id));
  });

  it('6. A client that cannot set headers offers the key as a subprotocol, without a proxy', async () => {
    const token = Buffer.from(world.adminKey).toString('base64url');
    const protocols = [`base64url.bearer.authorization.drover.${token}`, 'drover'];
    const { socket } = await world.open('/console', { token: null, protocols });
    expect(socket.protocol).toBe('drover');
  });
});

describe('Events', () => {
  it('live log lines of one instance: /instances/{id}/live-log, each frame is one text message, one line', async () => {
    const { frames } = await world.open(`/instances/${id}/live-log?tail=1000`);
    for (const line of ['one', 'two', 'three']) {
      await world.call(`POST /instances/${id}/execute`, { body: { command: line } });
    }
    await until(() => expect(frames.filter((frame) => frame === 'three').length).toBeGreaterThan(0));
    expect(frames[0]).toBe('first');
    expect(frames.filter((frame) => frame.includes('\n'))).toEqual([]);
  });

  it('console output: /console, each frame is one text message', async () => {
    const { socket, frames } = await world.open('/console');
    socket.send('help');
    await until(() => expect(frames.length).toBeGreaterThan(0));
  });

  it('close codes: the live log ends with 1000 and a reason when the instance is removed', async () => {
    const { json } = await world.call('POST /instances', { body: { configurationName: 'echo' } });
    const { id: made } = JSON.parse(JSON.stringify(json));
    const { closed } = await world.open(`/instances/${made}/live-log`);
    await world.call(`DELETE /instances/${made}`);
    expect(await closed).toEqual({ code: 1000, reason: expect.stringMatching(/./) });
  });
});
