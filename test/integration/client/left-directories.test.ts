/** `instance list --left` and `instance adopt` of the client, over a real master, its API and a wrapper. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { connectionTo, type InProcessRun, runInProcess } from '../../support/client/in-process.js';
import { OperationsWorld } from '../../support/control-plane/operations-world.js';
import { until } from '../../support/until.js';

let world: OperationsWorld;
beforeEach(async () => {
  world = await OperationsWorld.create();
});
afterEach(() => world.stop());

const drover = (line: string): Promise<InProcessRun> =>
  runInProcess(line.split(' '), { connection: connectionTo(world.url, world.token) });

it('lists a directory that was left, and makes an instance of it again', async () => {
  await world.commands.configure('redis', { static: true, availablePorts: { min: 4000, max: 4009 } });
  const id = (await drover('instance create redis -o name')).out.trim();
  await world.commands.untilOnline('redis', 1);
  expect(await drover('instance list --left -o json')).toMatchObject({
    code: 0,
    out: expect.stringMatching(/"directories": \[\],\s+"silent": \[\]/),
  });
  expect(await drover(`instance adopt ${id}`)).toMatchObject({
    code: 5,
    err: [`directory ${id} is in use: it belongs to an instance of redis`],
  });
  await drover(`instance delete ${id} --yes`);
  await until(async () =>
    expect((await drover('instance list redis --left')).out).toMatch(
      new RegExp(`^DIRECTORY +NODE +CONFIGURATION .*\\n${id} +alpha +redis `),
    ),
  );
  expect((await drover('instance list other --left -o json')).out).not.toContain(id);
  expect(await drover('instance adopt zzzzzz')).toMatchObject({
    code: 3,
    err: [expect.stringContaining('no node has a directory zzzzzz')],
  });
  expect(await drover(`instance adopt ${id} --configuration nothing`)).toMatchObject({ code: 3 });
  await until(async () =>
    expect(await drover(`instance adopt ${id}`)).toMatchObject({
      code: 0,
      out: `adopted ${id} (redis) on node alpha, 127.0.0.1:4000\n`,
    }),
  );
  expect(await world.commands.untilOnline('redis', 1)).toMatchObject([{ id }]);
});
