/** What sockets and streams rely on: the end of an access is told once, at its time, and idleness spares what is followed. */
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { KeyAccess } from '../../../src/access/access.js';
import { LastUses } from '../../../src/access/last-uses.js';
import { withoutLimits } from '../../../src/model/access/api-key.js';
import { testAccess } from '../../support/api/test-access.js';
import { FakeClock } from '../../support/fake-clock.js';

const HOUR = 3_600_000;

function session(clock: FakeClock): KeyAccess {
  const now = clock.now();
  return new KeyAccess({
    label: 'ci',
    keyHash: '',
    session: 'aaaaaaaaaaaa',
    grant: { ...withoutLimits('READ'), expiresAt: now + 168 * HOUR },
    idleMs: 12 * HOUR,
    lastUse: { at: now, address: '::1' },
    clock,
  });
}

describe('the end of an access', () => {
  it('is told to each listener once, and at once to one that comes later', () => {
    const access = testAccess('ci');
    const heard: string[] = [];
    const unsubscribe = access.onEnded((reason) => heard.push(`1 ${reason}`));
    access.onEnded((reason) => heard.push(`2 ${reason}`));
    unsubscribe();
    access.end('the key was deleted');
    access.end('again');
    access.onEnded((reason) => heard.push(`3 ${reason}`));
    expect(heard).toEqual(['2 the key was deleted', '3 the key was deleted']);
  });

  it('comes with the expiry, to the millisecond, and needs no timer while nobody follows it', async () => {
    const clock = new FakeClock();
    const access = testAccess('ci', { expiresAt: clock.now() + 90 * HOUR }, clock);
    expect(clock.pending).toBe(0);
    const heard: number[] = [];
    access.onEnded(() => heard.push(clock.now()));
    await clock.advance(90 * HOUR - 1);
    expect([heard, access.isOver(clock.now())]).toEqual([[], false]);
    await clock.advance(1);
    expect([heard, access.isOver(clock.now())]).toEqual([[clock.now()], true]);
    expect(clock.pending).toBe(0);
  });

  it('never comes for a key without an expiry, which needs no timer at all', () => {
    const clock = new FakeClock();
    testAccess('ci', {}, clock).onEnded(() => undefined);
    expect(clock.pending).toBe(0);
  });

  it('comes after 12 h without use, but not to what follows it, and then 12 h after that has left', async () => {
    const clock = new FakeClock();
    const access = session(clock);
    await clock.advance(12 * HOUR - 1);
    expect(access.isOver(clock.now())).toBe(false);
    const unsubscribe = access.onEnded(() => expect.fail('it is in use'));
    await clock.advance(30 * HOUR);
    expect(access.isOver(clock.now())).toBe(false);
    unsubscribe();
    expect(clock.pending).toBe(0);
    await clock.advance(12 * HOUR - 1);
    expect(access.isOver(clock.now())).toBe(false);
    await clock.advance(1);
    expect(access.isOver(clock.now())).toBe(true);
  });

  it('comes after 7 days, however much the session is used and followed', async () => {
    const clock = new FakeClock();
    const access = session(clock);
    const heard: string[] = [];
    access.onEnded((reason) => heard.push(reason));
    await clock.advance(168 * HOUR - 1);
    access.use(clock.now(), '::1');
    expect(heard).toEqual([]);
    await clock.advance(1);
    expect([heard, access.isOver(clock.now())]).toEqual([['the session has ended'], true]);
  });
});

describe('what an access sees', () => {
  it('are all configurations without a restriction, and else those that a pattern fits', () => {
    const names = ['lobby', 'lobby-2', 'survival', 'x'];
    const seen = (configurations: string[] | null): string[] =>
      names.filter((name) => testAccess('ci', { configurations }).sees(name));
    expect(seen(null)).toEqual(names);
    expect(seen(['lobby*', 'survival'])).toEqual(['lobby', 'lobby-2', 'survival']);
    const access = testAccess('ci', { configurations: ['lobby*'] });
    const many = Array.from({ length: 25_000 }, (_, index) => `lobby${index % 15_000}`);
    expect(many.filter((name) => !access.sees(name))).toEqual([]);
  });
});

describe('last uses', () => {
  it('are written at once, then once a minute, the newest of them, and the rest with the stop', async () => {
    const clock = new FakeClock();
    const start = clock.now();
    const written: string[] = [];
    const uses = new LastUses({
      write: async ({ label }, { at, address }) => {
        written.push(`${(clock.now() - start) / 1000}: ${label} at ${(at - start) / 1000} from ${address}`);
      },
      clock,
      logger: pino({ level: 'silent' }),
    });
    const grant = withoutLimits('ALL');
    const [a, b] = ['a', 'b'].map(
      (label) => new KeyAccess({ label, keyHash: '', grant, clock, onUse: (used) => uses.note(used) }),
    );
    for (let second = 0; second < 150; second++) {
      a?.use(clock.now(), `10.0.0.${second}`);
      if (second === 70) b?.use(clock.now(), '::1');
      await clock.advance(1000);
    }
    a?.use(clock.now(), '10.0.0.9');
    await uses.stop();
    expect(written).toEqual([
      '0: a at 0 from 10.0.0.0',
      '60: a at 59 from 10.0.0.59',
      '70: b at 70 from ::1',
      '120: a at 119 from 10.0.0.119',
      '150: a at 150 from 10.0.0.9',
    ]);
  });
});
