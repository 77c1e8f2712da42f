/** Commands of extensions over HTTP: what is listed, what reaches the command, and who may run it. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ApiWorld } from '../../support/api/api-world.js';

let world: ApiWorld;
beforeEach(async () => {
  world = await new ApiWorld().start();
  await world.server.start();
  world.extensionCommands.push({ name: 'greet', description: 'says hello', run: () => undefined });
});
afterEach(() => world.stop());

it('are listed with what the help says of them', async () => {
  const listed = await world.call('GET', '/extensions/commands', undefined, await world.addKey('r', 'READ'));
  expect([listed.status, await listed.json()]).toEqual([
    200,
    [{ name: 'greet', usage: '', description: 'says hello' }],
  ]);
});

it('run with their words as they are, for a key with scope ALL', async () => {
  const ran: unknown[] = [];
  world.runCommand = async (words, { write }) => {
    ran.push(words);
    write('error: no\n');
    return { isOk: false };
  };
  const words = ['a "quoted" word', '--loud', ''];
  const answer = await world.call('POST', '/extensions/commands/greet', { words });
  expect([answer.status, await answer.json(), ran]).toEqual([
    200,
    { output: 'error: no\n', isOk: false },
    [['greet', ...words]],
  ]);
  expect((await world.call('POST', '/extensions/commands/stop', { words: [] })).status).toBe(404);
  const operator = await world.addKey('o', 'OPERATE');
  expect((await world.call('POST', '/extensions/commands/greet', { words }, operator)).status).toBe(403);
  expect(ran).toHaveLength(1);
});
