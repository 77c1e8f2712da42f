/** Rows of the API contract, section Commands and console, on a real daemon. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../support/until.js';
import { RowWorld } from './rows.js';

let world: RowWorld;
beforeAll(async () => {
  world = await RowWorld.start((daemon) => {
    daemon.configure('idle', { command: 'sleep 1000', minimumServiceCount: 0 });
    daemon.template('games', 'lobby', { 'readme.txt': 'hello' });
  });
});
afterAll(() => world.stop());

async function run(command: string): Promise<string> {
  const { status, json } = await world.call('POST /commands/execute', { body: { command } });
  expect([status, json]).toEqual([200, { command, output: expect.any(String) }]);
  return JSON.parse(JSON.stringify(json)).output;
}

describe('Commands and console', () => {
  it('POST /commands/execute: 200 {command: string (echo), output: string (everything the command printed)}', async () => {
    expect(await run('config list')).toContain('idle');
  });

  it('POST /commands/execute: output is empty when nothing was printed', async () => {
    expect(await run('')).toBe('');
  });

  it('POST /commands/execute: 400 when command, which is required, is missing', async () => {
    for (const body of [{}, { command: 1 }, undefined]) {
      expect((await world.call('POST /commands/execute', { body })).status).toBe(400);
    }
  });

  it('GET /console: 101; the client sends console commands as text frames, responses stream back as text frames', async () => {
    const { socket, frames } = await world.open('/console');
    socket.send('config list');
    await until(() => expect(frames.join('')).toContain('idle'));
    socket.send('cluster nodes');
    await until(() => expect(frames.join('')).toContain('node-a'));
    expect(frames).not.toContain('<binary>');
  });

  it('the command runs through the same registry as the interactive console', async () => {
    const { socket, frames } = await world.open('/console');
    const help = await run('help');
    socket.send('help');
    await until(() => expect(frames.join('').trim()).toContain(help.trim()));
  });

  it('help lists every registered command', async () => {
    const help = await run('help');
    for (const group of ['instance', 'config', 'template', 'cluster', 'key', 'extension', 'help']) {
      expect(help).toMatch(new RegExp(`\\b${group}\\b`));
    }
  });

  it('instance list, instance create <config>, instance stop <id>', async () => {
    await run('instance create idle');
    const [instance] = await world.daemon.untilOnline('idle', 1);
    const id = instance?.id ?? '';
    expect(await run('instance list')).toContain(id);
    await run(`instance stop ${id}`);
    await until(async () => expect((await world.daemon.api.instance(id)).state).toBe('STOPPED'));
    await run(`instance delete ${id}`);
  });

  it('config list, config reload', async () => {
    world.daemon.configure('added', { command: 'sleep 1000', minimumServiceCount: 0 });
    await run('config reload');
    expect(await run('config list')).toContain('added');
  });

  it('template list, template sync <pattern>', async () => {
    expect(await run('template list')).toMatch(/games.*lobby/);
    expect(await run('template sync games/*')).toContain('lobby');
  });

  it('cluster status, cluster nodes', async () => {
    expect(await run('cluster status')).toContain('node');
    expect(await run('cluster nodes')).toContain('node-a');
  });

  it('key create <label> <ALL|PUBLIC>: the full token is printed once; key list: shows masked tokens only; key delete <label>: revokes the key', async () => {
    const token = /drv_[A-Za-z0-9]+/.exec(await run('key create visitor ALL'))?.[0] ?? '';
    expect((await world.call('GET /instances', { token })).status).toBe(200);
    const list = await run('key list');
    expect(list).toContain('visitor');
    expect(list).not.toContain(token);
    await run('key delete visitor');
    expect((await world.call('GET /instances', { token })).status).toBe(401);
  });

  it('extension list', async () => {
    expect(await run('extension list')).toContain('s3');
  });
});
