/** What a node has to give out: CPU is reserved several times over, RAM once. */
import { describe, expect, it } from 'vitest';
import { nodeConfigurationSchema } from '../../../src/model/node.js';
import { capacityOf } from '../../../src/node/capacity.js';

const MACHINE = { cores: 2, ramBytes: 8192 * 1024 * 1024 };
const capacity = (fields: object, machine = MACHINE) =>
  capacityOf(nodeConfigurationSchema.parse(fields), machine);

describe('a node gives out', () => {
  it('four times its cores and 90 % of its RAM by default, so that two cores hold eight instances of cpu 100', () => {
    expect(capacity({})).toEqual({ maxCpu: 800, maxRamMB: 7372 });
  });

  it.each([
    [1, 200],
    [0.5, 100],
    [1.25, 250],
    [16, 3200],
  ])(
    'with cpuOvercommit %d %d CPU units on two cores, and as much RAM as before',
    (cpuOvercommit, maxCpu) => {
      expect(capacity({ cpuOvercommit })).toEqual({ maxCpu, maxRamMB: 7372 });
    },
  );

  it('what maxCpu and maxRamMB say, whatever the machine has', () => {
    expect(capacity({ maxCpu: 150, maxRamMB: 100, cpuOvercommit: 4 })).toEqual({
      maxCpu: 150,
      maxRamMB: 100,
    });
  });

  it('at least 1 of each on the smallest machine', () => {
    expect(capacity({ cpuOvercommit: 0.001 }, { cores: 1, ramBytes: 1 })).toEqual({ maxCpu: 1, maxRamMB: 1 });
  });

  it.each([0, -1, 1001, '4', null])('refuses cpuOvercommit %j', (cpuOvercommit) => {
    expect(nodeConfigurationSchema.safeParse({ cpuOvercommit }).success).toBe(false);
  });
});
