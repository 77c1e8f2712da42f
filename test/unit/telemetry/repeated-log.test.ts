/** A log that writes a repeated message only now and then. */
import { describe, expect, it } from 'vitest';
import { RepeatedLog } from '../../../src/telemetry/repeated-log.js';

const MINUTE = 60_000;

describe('the repeated log', () => {
  const said: string[] = [];
  let now = 0;
  const note = (_fields: object, message?: string): number => said.push(message ?? '');
  const log = new RepeatedLog({ warn: note, error: note }, { monotonic: () => now });

  const every = (stepMs: number, forMs: number, cause = 'a'): string[] => {
    said.length = 0;
    for (const endAt = now + forMs; now < endAt; now += stepMs) log.say(cause, `trouble ${cause}`);
    return [...said];
  };

  it('says a cause at once, and then after one, two and four minutes with the count', () => {
    expect(every(1000, 8 * MINUTE)).toEqual([
      'trouble a',
      'trouble a (60 times more)',
      'trouble a (120 times more)',
      'trouble a (240 times more)',
    ]);
  });

  it('says another cause at once', () => {
    expect(every(1000, 2000, 'b')).toEqual(['trouble b']);
  });

  it('says one that was not heard of for long as news', () => {
    now += 100 * MINUTE;
    expect(every(1000, 2000)).toEqual(['trouble a']);
  });

  it('begins anew when things have gone well', () => {
    log.clear();
    expect(every(1000, 2000)).toEqual(['trouble a']);
  });

  it('remembers a bounded number of causes', () => {
    said.length = 0;
    for (let cause = 0; cause < 600; cause++) log.say(`cause ${cause}`, 'x');
    log.say('cause 599', 'x');
    log.say('cause 0', 'again');
    expect(said).toHaveLength(601);
  });
});
