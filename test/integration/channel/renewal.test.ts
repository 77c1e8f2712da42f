/** Renewals of a node's certificate that break off: whatever was lost, and however often, the node is let in again. */
import { X509Certificate } from 'node:crypto';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CallPeer } from '../../../src/channel/protocol/calls.js';
import { createInProcessPair, type Transport } from '../../../src/channel/protocol/transport.js';
import { generatePrivateKey } from '../../../src/channel/trust/certificates.js';
import { Renewal, renewalServices } from '../../../src/channel/trust/renewal.js';
import type { Membership } from '../../../src/channel/wrapper/membership.js';
import type { TimerHandle } from '../../../src/loop/clock.js';
import { ClusterWorld, type MemberFiles } from '../../support/cluster/cluster-world.js';
import { publicHalf } from '../../support/cluster/keys.js';
import { FakeClock } from '../../support/fake-clock.js';
import { until } from '../../support/until.js';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** Two calls and their results. */
const MESSAGES = 4;
const BREAKS = Array.from({ length: MESSAGES + 1 }, (_, passed) => passed);

let clock: FakeClock;
let world: ClusterWorld;
let files: MemberFiles;
let membership: Membership;

beforeEach(async () => {
  clock = new FakeClock();
  world = new ClusterWorld(clock);
  await world.start();
  const joined = await world.member('alpha', { token: await world.token() });
  ({ files, membership } = joined);
  (await membership.connect(new AbortController().signal)).close('done');
});

afterEach(() => world.stop());

const certificate = (): X509Certificate =>
  new X509Certificate(JSON.parse(files.member.text ?? '').certificate);

/** The node connects with what is on its disk. */
const comeBack = async (): Promise<void> => {
  expect(await world.members.authenticate(certificate())).toEqual({ nodeId: 'alpha' });
};

const startAgain = async (): Promise<void> => {
  ({ membership } = await world.member('alpha', { files }));
  await comeBack();
};

class LookingClock extends FakeClock {
  /** Looks that are over: the next one is an hour away. */
  looks = 0;

  override setTimer(delayMs: number, callback: () => void): TimerHandle {
    if (delayMs === HOUR_MS) this.looks++;
    return super.setTimer(delayMs, callback);
  }
}

/** Both ends of a connection that carries so many messages, and loses what comes after. */
function losingAfter(messages: number): [Transport, Transport] {
  const ends = createInProcessPair();
  let passed = 0;
  for (const end of ends) {
    const send = end.send.bind(end);
    end.send = (message, body) => {
      if (passed++ < messages) send(message, body);
    };
  }
  return ends;
}

/** One look of the master's, on a connection that carries so many of its messages. */
async function renew(messages = Number.POSITIVE_INFINITY): Promise<void> {
  const [mine, its] = losingAfter(messages);
  const node = new CallPeer(its, renewalServices(membership));
  its.onFrame((frame) => node.handle(frame));
  const calls = new CallPeer(mine, {});
  mine.onFrame((frame) => calls.handle(frame));
  const looking = new LookingClock({ startAt: clock.now() });
  const renewal = new Renewal({
    members: world.members,
    connected: () => ['alpha'],
    callsOf: () => calls,
    renewServer: async () => undefined,
    clock: looking,
    logger: pino({ level: 'silent' }),
  });
  renewal.start();
  await until(async () => {
    await looking.advance(10_000);
    expect(looking.looks).toBe(1);
  });
  await renewal.stop();
}

describe('a renewal of a certificate', () => {
  const pairs = BREAKS.flatMap((first) => BREAKS.map((second) => [first, second] as const));

  it.each<[string, typeof pairs, () => Promise<void>]>([
    ['on one connection', pairs, async () => undefined],
    [
      'with a start of the node between them',
      pairs.filter(([first, second]) => first === second),
      startAgain,
    ],
  ])(
    'that breaks off after any message, twice in a row, never locks the node out: %s',
    async (_how, cases, between) => {
      for (const [first, second] of cases) {
        clock.jumpWallClock(250 * DAY_MS);
        await renew(first);
        await between();
        await renew(second);
        await startAgain().catch((error: unknown) => expect.fail(`${first}, then ${second}: ${error}`));
        await renew();
        await comeBack();
        expect(await world.members.get('alpha')).toMatchObject({ issuedAt: clock.now(), nextKey: null });
      }
    },
  );

  it('asks a node that cannot keep it for the same key again, however often', async () => {
    const { write } = files.member;
    files.member.write = async () => {
      throw new Error('the disk is full');
    };
    clock.jumpWallClock(250 * DAY_MS);
    for (let tries = 0; tries < 20; tries++) await renew();
    const record = await world.members.get('alpha');
    expect([record?.nextKey, record?.earlierKeys]).toEqual([expect.any(String), undefined]);
    files.member.write = write;
    await comeBack();
    await renew();
    await comeBack();
  });

  it('keeps the keys that came after the one that is shown, and ends those before it', async () => {
    const before = certificate();
    const made = [];
    for (let count = 0; count < 3; count++)
      made.push((await world.members.renew('alpha', publicHalf(generatePrivateKey()))).certificate);
    const [oldest, middle, newest] = made.map((text) => new X509Certificate(text));
    const isLetIn = (shown = before): Promise<boolean> =>
      world.members.authenticate(shown).then(
        () => true,
        () => false,
      );
    expect([await isLetIn(), await isLetIn(middle)]).toEqual([true, true]);
    expect([await isLetIn(), await isLetIn(oldest), await isLetIn(middle)]).toEqual([false, false, true]);
    expect([await isLetIn(newest), await isLetIn(middle)]).toEqual([true, false]);
  });

  it('remembers the keys of sixteen that broke off', async () => {
    const made = [];
    for (let count = 0; count < 17; count++)
      made.push((await world.members.renew('alpha', publicHalf(generatePrivateKey()))).certificate);
    const [first = '', second = ''] = made;
    await expect(world.members.authenticate(new X509Certificate(first))).rejects.toMatchObject({
      code: 'DRV_JOIN_REFUSED',
    });
    await world.members.authenticate(new X509Certificate(second));
  });
});
