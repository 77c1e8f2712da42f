/** The `update` block: defaults, limits, and amounts in numbers and percentages. */
import { describe, expect, it } from 'vitest';
import { configurationSchema, hashConfiguration } from '../../../src/model/configuration.js';
import { amountOf, NO_UPDATE, updateSchema } from '../../../src/model/update.js';

const problemOf = (update: unknown): string | undefined => {
  const { error } = updateSchema.safeParse(update);
  return error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ');
};

describe('the update block', () => {
  it('replaces nothing by itself', () => {
    expect(NO_UPDATE).toEqual({
      strategy: 'manual',
      maxSurge: 1,
      maxUnavailable: 0,
      minReadySeconds: 10,
      players: 'wait',
      playersSeconds: 0,
      progressSeconds: 600,
      onFailure: 'pause',
      canary: 0,
      promote: 'auto',
      templates: false,
    });
  });

  it('changes no hash of a configuration that has none', () => {
    const configuration = configurationSchema.parse({ name: 'lobby', command: 'run' });
    expect(configuration).not.toHaveProperty('update');
    expect(hashConfiguration(configuration)).toBe('acb22c1c354f7da8ab5465ef75e2c5f3');
  });

  it.each([
    [{ maxSurge: 0 }, 'maxUnavailable: must not be 0 while maxSurge is 0'],
    [{ maxSurge: '0%', maxUnavailable: '0%' }, 'maxUnavailable: must not be 0 while maxSurge is 0'],
    [{ maxSurge: '101%' }, 'maxSurge: must be a percentage from 0% to 100%'],
    [{ maxSurge: '1.5%' }, 'maxSurge: must be a percentage'],
    [{ maxSurge: true }, 'maxSurge: must be a number of instances, or a percentage such as "25%"'],
    [{ maxUnavailable: -1 }, 'maxUnavailable: '],
    [{ promote: 'manual' }, 'canary: must be 1 or more where "promote" is "manual"'],
    [{ strategy: 'recreate' }, 'strategy: '],
    [{ progressSeconds: 0 }, 'progressSeconds: '],
  ])('refuses %j', (update, problem) => {
    expect(problemOf(update)).toContain(problem);
  });

  it.each([
    { maxSurge: 0, maxUnavailable: 1 },
    { maxSurge: '25%' },
    { maxSurge: '0%', maxUnavailable: '100%' },
    { canary: 1, promote: 'manual' },
  ])('takes %j', (update) => {
    expect(problemOf(update)).toBeUndefined();
  });

  it.each([
    [3, 10, 'up', 3],
    ['25%', 10, 'up', 3],
    ['25%', 10, 'down', 2],
    ['100%', 7, 'down', 7],
    ['30%', 0, 'up', 0],
    ['0%', 50, 'up', 0],
  ] as const)('%s of %i, rounded %s, is %i', (amount, base, round, expected) => {
    expect(amountOf(amount, base, round)).toBe(expected);
  });
});
