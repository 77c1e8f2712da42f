/** What becomes of configuration files where the system has no more inotify watches to give. */
import { rename } from 'node:fs/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { ConfigurationWorld } from '../../support/control-plane/configuration-world.js';
import { until } from '../../support/until.js';

vi.mock('../../../src/files/watch-directory.js', async (original) => ({
  ...(await original<object>()),
  watchDirectory: () => {
    throw Object.assign(new Error('ENOSPC: no space left on device, watch'), { code: 'ENOSPC', errno: -28 });
  },
}));

let world: ConfigurationWorld | undefined;

afterEach(async () => {
  await world?.close();
});

test('looks every second, and warns, when the directory cannot be watched', async () => {
  world = new ConfigurationWorld();
  const current = world;
  await current.start({ 'a.json': { command: 'one' } });
  await until(() =>
    expect(
      current.lines(
        'cannot be watched, so Drover looks every 1 s: no inotify watch is left (ENOSPC); raise fs.inotify.max_user_watches',
      ),
    ).toHaveLength(1),
  );
  await current.write('b.json', { command: 'two' });
  await current.rename('a.json', 'c.json');
  await until(async () => expect(await current.stored()).toEqual(['b two b.json', 'c one c.json']));
  await rename(current.directory, `${current.directory}-away`);
  await until(() => expect(current.errors()).toHaveLength(1));
  expect(current.lines('cannot be watched')).toHaveLength(1);
});
