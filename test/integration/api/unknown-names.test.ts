/** A name that nothing has is answered with the name that was probably meant, for every client alike. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ApiWorld, instanceRecord } from '../../support/api/api-world.js';
import { refusal } from '../../support/api/refusal.js';

let world: ApiWorld;
beforeEach(async () => {
  world = await new ApiWorld().start();
  await world.server.start();
  await world.addConfiguration('lobby');
  await world.addNode('alpha');
  await world.putInstance(instanceRecord({ id: 'aaaaaa', configurationName: 'lobby' }));
});
afterEach(() => world.stop());

const answer = async (path: string, token?: string, method = 'GET'): Promise<unknown> => {
  const response = await world.call(method, path, undefined, token);
  return [response.status, await response.json()];
};

it('answers with the nearest name, and says where all are listed when none is near', async () => {
  const meant = (text: string, code: Parameters<typeof refusal>[1]) => [404, refusal(text, code)];
  expect(await answer('/configurations/loby')).toEqual(
    meant('there is no configuration "loby". Did you mean lobby?', 'DRV_CONFIGURATION_UNKNOWN'),
  );
  expect(await answer('/configurations/other')).toEqual(
    meant('there is no configuration "other": "config list" shows all', 'DRV_CONFIGURATION_UNKNOWN'),
  );
  expect(await answer('/instances/aaaaab')).toEqual(
    meant('there is no instance "aaaaab". Did you mean aaaaaa?', 'DRV_INSTANCE_UNKNOWN'),
  );
  expect(await answer('/cluster/nodes/alpa')).toEqual(
    meant('there is no node "alpa". Did you mean alpha?', 'DRV_NODE_UNKNOWN'),
  );
  expect(await answer('/keys/bos', undefined, 'DELETE')).toEqual(
    meant('there is no key "bos". Did you mean boss?', 'DRV_KEY_UNKNOWN'),
  );
});

it('names nothing that the key does not see', async () => {
  const token = await world.addKey('team', 'READ', { configurations: ['lob*', 'surviv*'] });
  await world.addConfiguration('arena');
  expect(JSON.stringify(await answer('/configurations/aren', token))).not.toContain('arena');
  expect(JSON.stringify(await answer('/configurations/lobb', token))).toContain('Did you mean lobby?');
  const other = await world.addKey('other', 'READ', { configurations: ['arena'] });
  expect(JSON.stringify(await answer('/instances/aaaaab', other))).not.toContain('aaaaaa');
});

it('lets no client in by the header that requests of its own process have', async () => {
  const response = await fetch(`${world.url}/instances`, {
    headers: { authorization: `Own ${'a'.repeat(43)}` },
  });
  expect([response.status, await response.json()]).toEqual([401, refusal('Unauthorized', 'DRV_KEY_REFUSED')]);
});
