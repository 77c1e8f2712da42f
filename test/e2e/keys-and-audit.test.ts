/** Keys and the audit trail over restarts of a real daemon: what an operator who lost the key does, and what is kept. */
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { auditEntrySchema } from '../../src/model/audit.js';
import { DaemonWorld, failedOf } from '../support/daemon/daemon.js';
import { until } from '../support/until.js';

let world: DaemonWorld;
beforeEach(async () => {
  world = await DaemonWorld.create();
});
afterEach(({ task }) => world.finish(failedOf(task)));

const token = (): string => readFileSync(world.paths.adminKey, 'utf8').trim();
const statusWith = async (key: string): Promise<number> => {
  const headers = { authorization: `Bearer ${key}` };
  return (await fetch(`http://127.0.0.1:${world.apiPort}/api/node`, { headers })).status;
};
async function audited(): Promise<(string | null)[][]> {
  const { text } = await world.api.send('GET', '/audit?limit=1000');
  const entries = auditEntrySchema.array().parse(JSON.parse(text));
  return entries.map(({ key, action, subject, result }) => [key, action, subject, result]);
}

it('makes the admin key anew when the operator empties its file, while the instances go on', async () => {
  world.configure('service', { command: 'exec sleep 1000' });
  await world.start();
  const [before] = await world.untilOnline('service', 1);
  const lost = token();
  await world.kill('SIGTERM');
  writeFileSync(world.paths.adminKey, '');
  await world.start();
  expect(token()).not.toBe(lost);
  expect([await statusWith(lost), await statusWith(token())]).toEqual([401, 200]);
  expect(await audited()).toContainEqual([null, 'admin key made anew', 'admin', 'ok']);
  await until(() => expect(world.daemon.stdout).toContain('key admin was made anew'));
  expect(await world.untilOnline('service', 1)).toMatchObject([
    { id: before?.id, processPid: before?.processPid },
  ]);
});

it('has the key in its file before the API answers anything', async () => {
  const { isRunning } = world.spawn();
  expect(isRunning).toBe(true);
  const ping = () => fetch(`http://127.0.0.1:${world.apiPort}/api/ping`).catch(() => undefined);
  // No pause: a script may be that quick.
  while ((await ping()) === undefined && world.daemon.isRunning);
  expect(token()).toMatch(/^drv_/);
});

it('keeps the audit trail over kill -9, for the owner alone, without tokens', async () => {
  await world.start();
  await world.api.putConfiguration('one', {
    runtime: 'process',
    command: 'exec sleep 1000',
    minimumServiceCount: 0,
    environmentVariables: { PASSWORD: 'hunter2-secret' },
  });
  await statusWith(`drv_${'A'.repeat(36)}`);
  await world.restart('SIGKILL');
  await world.api.removeConfiguration('one');
  expect(await audited()).toEqual([
    ['admin', 'PUT /configurations/:name', 'one', '204'],
    [null, 'GET /node', null, '401'],
    ['admin', 'DELETE /configurations/:name', 'one', '204'],
  ]);
  expect(statSync(world.paths.auditLog).mode & 0o777).toBe(0o600);
  const written = readFileSync(world.paths.auditLog, 'utf8');
  for (const secret of ['hunter2', token().slice(4), 'drv_AAAA']) expect(written).not.toContain(secret);
});
