/**
 * Whatever changes, and however slowly a client reads: what it has after the last message is what is there, as far as
 * its filter goes. Resumed or not, with ends forgotten meanwhile or not.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { z } from 'zod';
import type { Traits } from '../../src/api/watch/change-order.js';
import { Topic } from '../../src/api/watch/topic.js';
import { type FilterOptions, WatchFilter } from '../../src/api/watch/watch-filter.js';
import { WatchRound } from '../../src/api/watch/watch-round.js';
import { Watcher } from '../../src/api/watch/watcher.js';

const EPOCH = 'e';
const EVERYTHING = { configurations: null, sees: () => true };
const IDS = 6;
/** Three of these fill a packet. */
const PAD = 'x'.repeat(90_000);
const MOST_ENDS = 4;

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('put' as const),
      id: fc.nat(IDS),
      node: fc.constantFrom('a', 'b', undefined),
      state: fc.constantFrom('ONLINE', 'STOPPED'),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('remove' as const), id: fc.nat(IDS) }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('take' as const), packets: fc.integer({ min: 1, max: 3 }) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('reconnect' as const), isResuming: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('forget' as const) }) },
);

const filter: fc.Arbitrary<FilterOptions> = fc.record(
  {
    configuration: fc.constantFrom(['lobby*'], ['*'], ['bed', 'lobby1']),
    node: fc.constantFrom(['a'], ['a', 'b']),
    state: fc.constant(['ONLINE']),
  },
  { requiredKeys: [] },
);

const entrySchema = z.object({ id: z.string(), value: z.number(), pad: z.string() });
const messagesSchema = z.array(
  z.discriminatedUnion('type', [
    z.object({
      type: z.literal('snapshot'),
      epoch: z.string(),
      revision: z.number(),
      first: z.boolean(),
      last: z.boolean(),
      put: z.array(entrySchema),
    }),
    z.object({
      type: z.literal('changes'),
      epoch: z.string(),
      revision: z.number(),
      put: z.array(entrySchema),
      gone: z.array(z.string()),
    }),
  ]),
);

/** A topic whose entries fill a packet with three, and the client that follows it. */
class Scene {
  readonly #there = new Map<string, { traits: Traits; value: number }>();
  readonly #held = new Map<string, number>();
  readonly #filter: FilterOptions;
  readonly #topic: Topic;
  #entries: { put(id: string, traits: Traits): void; remove(id: string): void } | undefined;
  #watcher: Watcher;
  #value = 0;
  #position: { epoch: string; revision: number } | undefined;

  constructor(filterOptions: FilterOptions) {
    this.#filter = filterOptions;
    const source = {
      filters: ['configuration', 'node', 'state'] as const,
      textOf: (id: string) => JSON.stringify({ id, value: this.#there.get(id)?.value, pad: PAD }),
      follow: (entries: { put(id: string, traits: Traits): void; remove(id: string): void }) => {
        this.#entries = entries;
        return () => undefined;
      },
    };
    this.#topic = new Topic('instances', source, () => undefined, MOST_ENDS);
    this.#watcher = this.#connect(undefined);
  }

  put(id: number, node: string | undefined, state: string): void {
    const name = `i${id}`;
    const traits = {
      configuration: id % 3 === 0 ? 'bed' : `lobby${id % 2}`,
      state,
      ...(node !== undefined && { node }),
    };
    this.#there.set(name, { traits, value: ++this.#value });
    this.#entries?.put(name, traits);
  }

  remove(id: number): void {
    this.#there.delete(`i${id}`);
    this.#entries?.remove(`i${id}`);
  }

  /** So much comes and goes that the topic forgets the ends before. */
  forget(): void {
    for (let index = 0; index <= MOST_ENDS; index++) {
      this.#entries?.put(`gone${index}`, {});
      this.#entries?.remove(`gone${index}`);
    }
  }

  reconnect(isResuming: boolean): void {
    if (!isResuming) this.#position = undefined;
    this.#watcher = this.#connect(this.#position);
  }

  /** Takes so many packets of a new round, or all. */
  take(packets = Number.POSITIVE_INFINITY): void {
    const round = new WatchRound(EPOCH, [this.#topic]);
    for (let count = 0; count < packets; count++) {
      const packet = this.#watcher.take(round);
      if (packet === undefined) return;
      const lines = packet.lines.toString().trimEnd().split('\n');
      for (const message of messagesSchema.parse(lines.map((line): unknown => JSON.parse(line))))
        this.#apply(message);
    }
  }

  expectAll(): void {
    const wanted = new WatchFilter(this.#filter, EVERYTHING);
    const there = [...this.#there].filter(([, { traits }]) => wanted.matches(traits));
    expect(new Map([...this.#held].sort())).toEqual(
      new Map(there.map(([id, { value }]): [string, number] => [id, value]).sort()),
    );
  }

  #connect(resume: { epoch: string; revision: number } | undefined): Watcher {
    const sink = {
      outlet: {
        signal: new AbortController().signal,
        bufferedBytes: 0,
        whenDrained: async () => undefined,
      },
      send: () => undefined,
      fail: () => undefined,
    };
    const watcher = new Watcher(sink, EVERYTHING, EPOCH);
    watcher.subscribe(this.#topic, { filter: this.#filter, resume });
    return watcher;
  }

  #apply(message: z.output<typeof messagesSchema>[number]): void {
    const { epoch, revision } = message;
    if (message.type === 'snapshot') {
      if (message.first) this.#held.clear();
      this.#position = message.last ? { epoch, revision } : undefined;
    } else {
      for (const id of message.gone) this.#held.delete(id);
      this.#position = { epoch, revision };
    }
    for (const { id, value } of message.put) this.#held.set(id, value);
  }
}

it('a client has what is there when it has read everything', () => {
  fc.assert(
    fc.property(filter, fc.array(step, { minLength: 10, maxLength: 40 }), (filterOptions, steps) => {
      const scene = new Scene(filterOptions);
      for (const next of steps) {
        if (next.do === 'put') scene.put(next.id, next.node, next.state);
        else if (next.do === 'remove') scene.remove(next.id);
        else if (next.do === 'take') scene.take(next.packets);
        else if (next.do === 'forget') scene.forget();
        else scene.reconnect(next.isResuming);
      }
      scene.take();
      scene.expectAll();
    }),
    {
      numRuns: 500,
      // An entry that ended and came back elsewhere, between what a reader that resumes was sent and its next message.
      examples: [
        [
          { node: ['a'] },
          [
            { do: 'put', id: 4, node: 'a', state: 'ONLINE' },
            { do: 'take', packets: 1 },
            { do: 'remove', id: 4 },
            { do: 'reconnect', isResuming: true },
            { do: 'put', id: 4, node: 'b', state: 'ONLINE' },
            { do: 'take', packets: 1 },
          ],
        ],
      ],
    },
  );
});
