/**
 * Two masters take turns on one etcd that loses, delays and swallows what it pleases: whatever was acknowledged is there
 * for whoever leads later, and nothing of an old leader comes back.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { DroverError } from '../../src/model/errors.js';
import type { EtcdStore } from '../../src/store/etcd/etcd-store.js';
import { type Elected, openElected } from '../../src/store/etcd/open.js';
import { type FakeClient, FakeEtcd, type FakeFault } from '../support/etcd/fake-etcd.js';
import { FakeClock } from '../support/fake-clock.js';

const RUNS = Number(process.env.DROVER_PROPERTY_RUNS ?? 60);

type Action =
  | { readonly do: 'write'; readonly master: number }
  | { readonly do: 'fault'; readonly master: number; readonly fault: FakeFault }
  | { readonly do: 'arrive' }
  | { readonly do: 'wait'; readonly ms: number };

const master = fc.nat({ max: 1 });
const faults: readonly FakeFault[] = ['none', 'away', 'no-answers', 'late', 'full'];
const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('write' as const), master }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('fault' as const), master, fault: fc.constantFrom(...faults) }),
  },
  { weight: 1, arbitrary: fc.constant({ do: 'arrive' } as const) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      ms: fc.constantFrom(10, 300, 1500, 4000, 9000),
    }),
  },
);

/** A master that follows the store, and stands for leader again after each of its terms. */
class Member {
  readonly client: FakeClient;
  readonly losses: DroverError[] = [];
  readonly #ending = new AbortController();
  #opened: Elected | undefined;
  readonly #running: Promise<void>;

  constructor(etcd: FakeEtcd, clock: FakeClock, nodeId: string) {
    this.client = etcd.client();
    this.#running = this.#run(clock, nodeId);
  }

  get store(): EtcdStore | undefined {
    return this.#opened?.store;
  }

  get isLeader(): boolean {
    return this.#opened?.election.term !== undefined;
  }

  /** What the store says of the key. */
  async read(): Promise<unknown> {
    return (await this.store?.get('k'))?.value;
  }

  async end(): Promise<void> {
    this.#ending.abort();
    await this.store?.close();
    await this.#running;
  }

  async #run(clock: FakeClock, nodeId: string): Promise<void> {
    try {
      this.#opened = await openElected({
        etcd: this.client,
        prefix: '/p',
        own: { nodeId, clusterAddress: `${nodeId}:6000`, root: nodeId },
        clock,
        signal: this.#ending.signal,
        onLost: (error) => this.losses.push(error),
      });
      for (;;) {
        const { term } = await this.#opened.election.campaign();
        await new Promise((resolve) => term.signal.addEventListener('abort', resolve));
      }
    } catch (error) {
      if (!DroverError.is(error, 'DRV_STORE_CLOSED')) throw error;
    }
  }
}

async function play(actions: readonly Action[]): Promise<number> {
  const clock = new FakeClock({ settleTurns: 2 });
  const etcd = new FakeEtcd(clock);
  const members = [new Member(etcd, clock, 'a'), new Member(etcd, clock, 'b')];
  await clock.advance(100);
  let number = 0;
  let acknowledged = 0;
  for (const one of actions) {
    const member = 'master' in one ? members[one.master] : undefined;
    if (one.do === 'wait') await clock.advance(one.ms);
    if (one.do === 'arrive') etcd.arrive();
    if (one.do === 'fault' && member !== undefined) member.client.fault = one.fault;
    if (one.do === 'write') {
      const value = ++number;
      member?.store?.transact([{ do: 'put', key: 'k', value }]).then(
        () => {
          acknowledged = Math.max(acknowledged, value);
        },
        () => undefined,
      );
      await clock.advance(1);
    }
  }
  for (const { client } of members) client.fault = 'none';
  await clock.advance(15_000);
  etcd.arrive();
  const [leader, ...others] = members.filter(({ isLeader }) => isLeader);
  expect(others).toEqual([]);
  const writing = leader?.store?.transact([{ do: 'put', key: 'end', value: 1 }]);
  await clock.advance(10_000);
  expect(await writing).toBeGreaterThan(0);
  const value = Number((await leader?.read()) ?? 0);
  expect(value).toBeGreaterThanOrEqual(acknowledged);
  // A follower has in memory what the leader has.
  for (const member of members) expect(Number((await member.read()) ?? 0)).toBe(value);
  expect(members.flatMap(({ losses }) => losses)).toEqual([]);
  const ends = members.map((member) => member.end());
  await clock.advance(10_000);
  await Promise.all(ends);
  // What the leader held in memory is what etcd has.
  const next = new Member(etcd, clock, 'c');
  await clock.advance(5000);
  expect(Number((await next.read()) ?? 0)).toBe(value);
  const ended = next.end();
  await clock.advance(2000);
  await ended;
  return acknowledged;
}

it('keeps what was acknowledged, whatever is lost, late or silent, and whoever leads', async () => {
  let acknowledged = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(action, { minLength: 5, maxLength: 30 }), async (actions) => {
      acknowledged += await play(actions);
    }),
    { numRuns: RUNS },
  );
  expect(acknowledged).toBeGreaterThan(RUNS);
});
