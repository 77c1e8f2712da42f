/** The address behind the master's name, where name servers fail or hang. */
import { expect, it } from 'vitest';
import { MasterIp } from '../../../src/runtime/installation/master-ip.js';
import { FakeClock } from '../../support/fake-clock.js';

const forever = new AbortController().signal;

it('is asked for once, and stands for itself until it is known', async () => {
  const asked: string[] = [];
  const ips = new MasterIp(new FakeClock(), async (name) => {
    asked.push(name);
    if (asked.length === 1) throw new Error('ENOTFOUND');
    return '10.0.0.1';
  });
  await ips.learn('master', forever);
  expect(ips.of('master')).toBe('master');
  await ips.learn('master', forever);
  expect(ips.learn('master', forever), 'a known one is waited for').toBeUndefined();
  expect(ips.of('master')).toBe('10.0.0.1');
  expect(asked).toHaveLength(2);
});

it('keeps an install waiting for a second at most', async () => {
  const clock = new FakeClock();
  const ips = new MasterIp(clock, () => new Promise(() => {}));
  let isOver = false;
  const learning = Promise.resolve(ips.learn('master', forever)).then(() => {
    isOver = true;
  });
  await clock.advance(999);
  expect(isOver).toBe(false);
  await clock.advance(1);
  await learning;
  expect(ips.of('master')).toBe('master');
});
