import { expect, it } from 'vitest';
import { Metrics } from '../../../src/telemetry/metrics.js';
import { metricsText } from '../../support/metrics-text.js';

it('counts many services in few turns of the event loop, and not all of them in one', async () => {
  const names = Array.from({ length: 1000 }, (_, index) => `service-${index}`);
  let turn = 0;
  let isOver = false;
  const countTurns = (): void => {
    turn++;
    if (!isOver) setImmediate(countTurns);
  };
  const counted = new Map<string, number>();
  const metrics = new Metrics();
  metrics.addSources({
    instances: () => [],
    minimums: () => names.map((configuration) => ({ configuration, minimum: 1 })),
    actualOf: (name) => {
      counted.set(name, turn);
      return 1;
    },
    health: () => [],
    rollouts: () => [],
    timetables: () => [],
    configurationFileErrors: () => 0,
    unreadableRecords: () => new Map(),
    usages: () => [],
  });
  setImmediate(countTurns);
  const text = await metricsText(metrics);
  isOver = true;
  expect(text).toContain('drover_service_actual{configuration="service-999"} 1');
  const turns = new Set(counted.values()).size;
  expect(turns).toBeGreaterThan(1);
  expect(turns).toBeLessThanOrEqual(20);
});
