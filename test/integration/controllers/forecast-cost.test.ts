/** What a plan costs when one content has many instances. */
import { afterEach, expect, test } from 'vitest';
import {
  type Configuration,
  configurationSchema,
  hashConfiguration,
} from '../../../src/model/configuration.js';
import { ControlPlane } from '../../support/control-plane/control-plane.js';
import { FakeClock } from '../../support/fake-clock.js';

const INSTANCES = 200;
const FIELDS = {
  name: 'lobby',
  runtime: 'process',
  command: 'run',
  minimumServiceCount: INSTANCES,
  availablePorts: { min: 20_000, max: 20_999 },
};

let plane: ControlPlane;
afterEach(() => plane.stop());

/** The content, and how often it was compared as a whole: each comparison lists its fields. */
function counted(configuration: Configuration): { configuration: Configuration; listed: () => number } {
  let count = 0;
  const ownKeys = (target: Configuration): (string | symbol)[] => {
    count++;
    return Reflect.ownKeys(target);
  };
  return { configuration: new Proxy(configuration, { ownKeys }), listed: () => count };
}

test.each([
  ['without a place', 0],
  ['with a place', INSTANCES],
])('the content of a plan is compared a few times, not once for each instance %s', async (_what, ramMB) => {
  plane = new ControlPlane({ clock: new FakeClock() });
  await plane.start();
  await plane.addNode('a', { capacity: { maxRamMB: ramMB, maxCpu: 10 * INSTANCES } });
  await plane.putConfiguration({ ...FIELDS, ramMB: 1, cpu: 1 });
  await plane.whenIdle();
  expect(plane.records()).toHaveLength(INSTANCES);

  const changed = configurationSchema.parse({
    ...FIELDS,
    ramMB: 1,
    cpu: 1,
    command: 'walk',
    update: { strategy: 'rolling' },
  });
  const { configuration, listed } = counted(changed);
  const to = { configuration, hash: hashConfiguration(changed) };
  const { services } = await plane.master.led().controllers.forecaster.forecast([{ name: 'lobby', to }]);
  expect(services.get('lobby')).toMatchObject(ramMB === 0 ? { keep: INSTANCES } : { replace: INSTANCES });
  expect(listed()).toBeLessThan(10);
});
