/**
 * Two masters take turns on one etcd that loses, delays and swallows what it pleases: whatever was acknowledged is there
 * for whoever leads later, and nothing of an old leader comes back.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { EtcdStore } from '../../src/store/etcd/etcd-store.js';
import { openEtcdStore } from '../../src/store/etcd/open.js';
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

/** A master that opens the store, again and again: after the loss of it, a service manager starts it anew. */
class Member {
  readonly client: FakeClient;
  store: EtcdStore | undefined;
  readonly #clock: FakeClock;
  readonly #ending = new AbortController();

  constructor(etcd: FakeEtcd, clock: FakeClock) {
    this.#clock = clock;
    this.client = etcd.client();
    this.open();
  }

  open(): void {
    this.store = undefined;
    const options = {
      etcd: this.client,
      prefix: '/p',
      nodeId: 'm',
      clock: this.#clock,
      signal: this.#ending.signal,
    };
    openEtcdStore({ ...options, onLost: () => this.open() }).then(
      (store) => {
        this.store = store;
      },
      () => undefined,
    );
  }

  /** What the store says of the key; undefined: this master does not lead. */
  async read(): Promise<unknown> {
    return (await this.store?.get('k'))?.value;
  }

  async end(): Promise<void> {
    this.#ending.abort();
    await this.store?.close();
  }
}

async function play(actions: readonly Action[]): Promise<number> {
  const clock = new FakeClock({ settleTurns: 2 });
  const etcd = new FakeEtcd(clock);
  const members = [new Member(etcd, clock), new Member(etcd, clock)];
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
  const leaders = members.filter(({ store }) => store !== undefined);
  const [leader] = leaders;
  // Reaches etcd: a master that has lost its store hears of it.
  await Promise.all([
    ...leaders.map(({ store }) => store?.transact([{ do: 'put', key: 'end', value: 1 }]).catch(() => 0)),
    clock.advance(10_000),
  ]);
  const standing = members.filter(({ store }) => store !== undefined);
  expect(standing).toHaveLength(1);
  expect(leader).toBeDefined();
  const value = Number((await standing[0]?.read()) ?? 0);
  expect(value).toBeGreaterThanOrEqual(acknowledged);
  const ends = members.map((member) => member.end());
  await clock.advance(10_000);
  await Promise.all(ends);
  // What the leader held in memory is what etcd has.
  const next = new Member(etcd, clock);
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
    {
      numRuns: RUNS,
      ...(process.env.DROVER_PROPERTY_SEED !== undefined && {
        seed: Number(process.env.DROVER_PROPERTY_SEED),
      }),
    },
  );
  expect(acknowledged).toBeGreaterThan(RUNS);
});
