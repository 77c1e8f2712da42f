/** Secrets over the API and the client: who may set, list and refer to them, and that no answer repeats a value. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EXIT } from '../../../src/command-tree/runs/client-error.js';
import { ApiWorld } from '../../support/api/api-world.js';
import { connectionTo, type InProcessOptions, runInProcess } from '../../support/client/in-process.js';

const VALUE = 'canary-77-value';
const USER = { command: 'run', environmentVariables: { DB: '%SECRET:db/password%' } };

let world: ApiWorld;
beforeEach(async () => {
  world = await new ApiWorld().start();
  await world.server.start();
});
afterEach(() => world.stop());

const drover = (words: readonly string[], options: InProcessOptions = {}) =>
  runInProcess(words, {
    connection: connectionTo(world.url.replace(/\/api$/, ''), world.admin),
    ...options,
  });

async function statusOf(method: string, path: string, body: unknown, token: string): Promise<number> {
  const answer = await world.call(method, path, body, token);
  expect(await answer.text()).not.toContain('canary');
  return answer.status;
}

describe('a secret', () => {
  it('is set, listed and removed by keys with SECRETS that are not restricted, and by no others', async () => {
    const of = (scope: 'READ' | 'CONFIGURE' | 'SECRETS' | 'ALL', configurations?: string[]) =>
      world.addKey(`${scope}-${configurations ?? ''}`.toLowerCase().replace('*', ''), scope, {
        ...(configurations !== undefined && { configurations }),
      });
    const keys = [
      [await of('READ'), [403, 200, 403]],
      [await of('CONFIGURE'), [403, 200, 403]],
      [await of('SECRETS', ['lobby*']), [403, 403, 403]],
      [await of('ALL', ['lobby*']), [403, 403, 403]],
      [await of('SECRETS'), [200, 200, 200]],
    ] as const;
    const path = '/secrets/db%2Fpassword';
    for (const [token, statuses] of keys)
      expect([
        await statusOf('PUT', path, { value: VALUE }, token),
        await statusOf('GET', '/secrets', undefined, token),
        await statusOf('DELETE', path, undefined, token),
      ]).toEqual(statuses);
    const stored = JSON.stringify([(await world.store.list('')).entries, world.audit.entries]);
    expect(stored).not.toContain('canary');
  });

  it.each([
    { value: `${VALUE}\0` },
    { value: '' },
    { value: [VALUE] },
    { value: VALUE, file: '/a' },
    { command: VALUE },
    `{"value": "${VALUE}`,
  ])('is refused without a word of it: %j', async (body) => {
    const answer = await fetch(`${world.url}/secrets/db`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${world.admin}`, 'content-type': 'application/json' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    expect(answer.status).toBe(400);
    expect(await answer.text()).not.toContain('canary');
  });
});

describe('a configuration that refers to a secret', () => {
  const put = async (token: string, content: object, name = 'lobby') => {
    const answer = await world.call('PUT', `/configurations/${name}`, content, token);
    return [answer.status, await answer.text()];
  };
  const refused = [403, expect.stringContaining('may not add a reference to the secret ')];

  it('is not written by a restricted key without SECRETS, which could read the secret that way', async () => {
    const token = await world.addKey('team', 'CONFIGURE', { configurations: ['lobby*'] });
    for (const content of [
      USER,
      { command: 'run', fileEdits: [{ path: 'a', format: 'ini', set: { a: '%SECRET:db%' } }] },
      { command: 'run', secretFiles: [{ secret: 'db', path: 'a' }] },
    ])
      expect(await put(token, content)).toEqual(refused);
    const batch = { changes: [{ do: 'put', name: 'lobby', content: USER }] };
    expect((await world.call('POST', '/configurations/batch', batch, token)).status).toBe(403);
    expect(world.written).toEqual([]);
  });

  it('is changed by that key where it refers to the secret already', async () => {
    await world.addConfiguration('lobby', USER);
    const token = await world.addKey('team', 'CONFIGURE', { configurations: ['lobby*'] });
    expect((await put(token, { ...USER, ramMB: 100 }))[0]).toBe(204);
    const more = { ...USER.environmentVariables, OTHER: '%SECRET:other%' };
    expect(await put(token, { ...USER, environmentVariables: more })).toEqual(refused);
  });

  it('is written by a restricted key with SECRETS, and by a key of all configurations', async () => {
    const team = await world.addKey('team', 'SECRETS', { configurations: ['lobby*'] });
    const ci = await world.addKey('ci', 'CONFIGURE');
    expect((await put(team, USER))[0]).toBe(204);
    expect((await put(ci, USER, 'survival'))[0]).toBe(204);
  });
});

describe('secret set', () => {
  it('takes the value from standard input, without its line end', async () => {
    const { code, out } = await drover(['secret', 'set', 'db/password'], { input: `${VALUE}\n` });
    expect([code, out]).toEqual([0, 'secret db/password is set; what runs gets it at its next start\n']);
    const listed = await drover(['secret', 'list']);
    expect(listed.out).toMatch(/^NAME +SOURCE +AGE +BY +USED BY\ndb\/password +value /);
  });

  it.each([
    ['secret', 'set', 'db', VALUE],
    ['secret', 'set', 'db', '--', VALUE],
    ['secret', 'set', 'db', '--node-file', '/a', VALUE],
    ['secret', 'set', 'db', '--node-command'],
    ['secret', 'set', 'db', '--node-command', '--node-file', '/a', '--', 'cat'],
  ])('takes no value as an argument, and does not repeat it: %s %s %s %s', async (...words) => {
    const { code, out, err } = await drover(words, { input: 'x' });
    expect([code, out]).toEqual([EXIT.usage, '']);
    expect(err.join()).toContain('a value is no argument: it is read from standard input');
    expect(err.join()).not.toContain('canary');
    expect(world.programSecrets.size).toBe(0);
  });

  it('takes a file or a command of the nodes', async () => {
    await drover(['secret', 'set', 'a', '--node-file', '/run/secrets/a']);
    const { code } = await drover(['secret', 'set', 'b', '--node-command', '--', 'vault', 'kv', '-field=x']);
    expect(code).toBe(0);
    expect((await drover(['secret', 'list'])).out).toMatch(/^a +file .*\nb +command /m);
    const removed = await drover(['secret', 'remove', 'a', '--yes']);
    expect(removed.out).toContain('secret a is removed');
  });
});
