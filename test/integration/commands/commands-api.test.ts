/** `POST /commands/execute` as HTTP: its input and its answers, whatever the command does. */
import { request } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ApiWorld } from '../../support/api/api-world.js';
import { refusal } from '../../support/api/refusal.js';
import { until } from '../../support/until.js';

describe('POST /commands/execute', () => {
  let world: ApiWorld;
  beforeEach(async () => {
    world = await new ApiWorld().start();
    await world.server.start();
  });
  afterEach(() => world.stop());

  const execute = (body: unknown): Promise<Response> => world.call('POST', '/commands/execute', body);

  it('answers the command and all that it printed', async () => {
    world.runCommand = async (_line, { write }) => {
      write('one\n');
      write('two\n');
      return { isOk: true };
    };
    const answer = await execute({ command: 'instance list' });
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({ command: 'instance list', output: 'one\ntwo\n' });
  });

  it('answers an empty output when nothing was printed', async () => {
    world.runCommand = async () => ({ isOk: true });
    expect(await (await execute({ command: 'x' })).json()).toEqual({ command: 'x', output: '' });
  });

  it('answers 200 for a command that fails, with the error as its output', async () => {
    world.runCommand = async (_line, { write }) => {
      write('error: no\n');
      return { isOk: false };
    };
    const answer = await execute({ command: 'x' });
    expect([answer.status, await answer.json()]).toEqual([200, { command: 'x', output: 'error: no\n' }]);
  });

  it.each([
    ['no command', {}],
    ['a number', { command: 7 }],
    ['null', { command: null }],
    ['no object', '"instance list"'],
    ['broken JSON', '{"command":'],
  ])('answers 400 to a body with %s', async (_name, body) => {
    const answer = await execute(body);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toEqual(refusal());
  });

  it('says who runs the command and from where', async () => {
    let session: unknown;
    world.runCommand = async (_line, given) => {
      session = given;
      return { isOk: true };
    };
    await execute({ command: 'x' });
    expect(session).toMatchObject({ access: { name: 'boss' }, address: '127.0.0.1' });
  });

  it('needs a key with scope ALL', async () => {
    const token = await world.addKey('reader', 'PUBLIC');
    const answer = await world.call('POST', '/commands/execute', { command: 'x' }, token);
    expect(answer.status).toBe(401);
  });

  it('tells the command when its client has gone', async () => {
    let signal: AbortSignal | undefined;
    world.runCommand = async (_line, session) => {
      signal = session.signal;
      await new Promise((resolve) => session.signal.addEventListener('abort', resolve));
      return { isOk: false };
    };
    const call = request(`${world.url}/commands/execute`, {
      method: 'POST',
      headers: { authorization: `Bearer ${world.admin}`, 'content-type': 'application/json' },
      agent: false,
    });
    call.on('error', () => undefined);
    call.end(JSON.stringify({ command: 'x' }));
    await until(() => expect(signal).toBeDefined());
    call.destroy();
    await until(() => expect(signal?.aborted).toBe(true));
  });
});
