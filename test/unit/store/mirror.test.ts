/** The mirror and its lookups over a MemoryStore. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { DroverError } from '../../../src/model/errors.js';
import { Mirror, type MirrorOptions } from '../../../src/store/mirror.js';
import type { Operation } from '../../../src/store/store.js';
import { MemoryStore } from '../../support/store/memory-store.js';

const shipSchema = z.object({ port: z.string(), crew: z.array(z.string()).default([]) });
type Ship = z.output<typeof shipSchema>;

const put = (id: string, port: string, crew: string[] = []): Operation => ({
  do: 'put',
  key: `ships/${id}`,
  value: { port, crew },
});
const remove = (id: string): Operation => ({ do: 'remove', key: `ships/${id}` });

let store: MemoryStore;
let mirror: Mirror<Ship>;

function makeMirror(options: Partial<MirrorOptions<Ship>> = {}): Mirror<Ship> {
  return new Mirror({ store, prefix: 'ships/', decode: (value) => shipSchema.parse(value), ...options });
}

/** Notes every change as text such as `a: kiel -> riga`. */
function listen(to: Mirror<Ship>): string[] {
  const heard: string[] = [];
  to.onChange((id, after, before) =>
    heard.push(`${id}: ${before?.value.port ?? '-'} -> ${after?.value.port ?? '-'}`),
  );
  return heard;
}

const portsOf = (of: Mirror<Ship>): Record<string, string> =>
  Object.fromEntries([...of.entries()].map(([id, { value }]) => [id, value.port]));

/** A promise that resolves with what was thrown. */
const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

beforeEach(() => {
  store = new MemoryStore({ historyCapacity: 8 });
  mirror = makeMirror();
});
afterEach(async () => {
  await mirror.stop();
  await store.close();
});

describe('mirror', () => {
  it('holds what the store held and follows what it gets', async () => {
    await store.transact([put('a', 'kiel'), { do: 'put', key: 'other/x', value: 1 }]);
    expect(mirror.isReady).toBe(false);
    await mirror.start();
    await mirror.ready;
    expect([mirror.isReady, mirror.revision, mirror.size]).toEqual([true, 1, 1]);
    await mirror.until(await store.transact([put('a', 'riga'), put('b', 'kiel')]));
    expect(mirror.get('a')).toEqual({ value: { port: 'riga', crew: [] }, revision: 2 });
    await mirror.until(await store.transact([remove('a')]));
    expect(portsOf(mirror)).toEqual({ b: 'kiel' });
  });

  it('tells listeners every change once, the first list included', async () => {
    await store.transact([put('a', 'kiel')]);
    const heard = listen(mirror);
    await mirror.start();
    await store.transact([put('a', 'riga')]);
    await store.transact([remove('a')]);
    await mirror.until(await store.transact([put('b', 'oslo')]));
    expect(heard).toEqual(['a: - -> kiel', 'a: kiel -> riga', 'a: riga -> -', 'b: - -> oslo']);
  });

  it('never shows a listener half of a transaction', async () => {
    await mirror.start();
    const byPort = mirror.lookup((ship) => [ship.port]);
    const seen: unknown[] = [];
    mirror.onChange(() => seen.push([portsOf(mirror), [...byPort.get('kiel')]]));
    const revisions = [
      store.transact([put('a', 'kiel'), put('b', 'kiel')]),
      store.transact([put('a', 'riga')]),
    ];
    await mirror.until(Math.max(...(await Promise.all(revisions))));
    const both = [{ a: 'kiel', b: 'kiel' }, ['a', 'b']];
    expect(seen).toEqual([both, both, [{ a: 'riga', b: 'kiel' }, ['b']]]);
  });

  it('reaches revisions that did not touch its prefix', async () => {
    await mirror.start();
    const heard = listen(mirror);
    await mirror.until(await store.transact([{ do: 'put', key: 'other/x', value: 1 }]));
    expect(mirror.revision).toBe(1);
    expect(heard).toEqual([]);
  });

  it('lets a writer read its own write when it waits before the change has come', async () => {
    await mirror.start();
    const waiting = mirror.until(3).then(() => portsOf(mirror));
    for (const port of ['kiel', 'riga', 'oslo']) await store.transact([put('a', port)]);
    expect(await waiting).toEqual({ a: 'oslo' });
    await mirror.until(2);
  });

  it('lists again after lost history and tells the differences only', async () => {
    await store.transact([put('same', 'kiel'), put('changed', 'kiel'), put('gone', 'kiel')]);
    await mirror.start();
    const heard = listen(mirror);
    const byPort = mirror.lookup((ship) => [ship.port]);
    // All in one group: the mirror gets no turn before more has passed than is held.
    const writes = [store.transact([put('changed', 'riga')]), store.transact([remove('gone')])];
    for (let n = 0; n < 20; n++) writes.push(store.transact([put('new', `oslo-${n}`)]));
    await mirror.until(Math.max(...(await Promise.all(writes))));
    expect(heard).toEqual(['gone: kiel -> -', 'changed: kiel -> riga', 'new: - -> oslo-19']);
    expect([...byPort.keys()].sort()).toEqual(['kiel', 'oslo-19', 'riga']);
    await mirror.until(await store.transact([put('after', 'kiel')]));
    expect(heard).toHaveLength(4);
  });

  it('goes on when a listener throws, and reports it', async () => {
    const errors: unknown[] = [];
    mirror = makeMirror({ onListenerError: (error) => errors.push(error) });
    mirror.onChange(() => {
      throw new Error('listener broke');
    });
    const heard = listen(mirror);
    await mirror.start();
    await mirror.until(await store.transact([put('a', 'kiel')]));
    await mirror.until(await store.transact([put('a', 'riga')]));
    expect(heard).toEqual(['a: - -> kiel', 'a: kiel -> riga']);
    expect(errors.map(String)).toEqual(['Error: listener broke', 'Error: listener broke']);
  });

  it('stops telling a listener that unsubscribed', async () => {
    await mirror.start();
    const heard: string[] = [];
    const unsubscribe = mirror.onChange((id) => heard.push(id));
    await mirror.until(await store.transact([put('a', 'kiel')]));
    unsubscribe();
    unsubscribe();
    await mirror.until(await store.transact([put('b', 'kiel')]));
    expect(heard).toEqual(['a']);
  });

  it('sets a value of the first list aside that does not decode, and starts on all others', async () => {
    await store.transact([{ do: 'put', key: 'ships/a', value: { port: 5, hold: [1] } }, put('b', 'kiel')]);
    const told: string[] = [];
    mirror = makeMirror({ onSetAside: (id, { problem }) => told.push(`${id} ${problem}`) });
    const events: unknown[] = [];
    mirror.onChange((id, after, before) => events.push([id, after?.value.port, before?.value.port]));
    await mirror.start();
    expect(portsOf(mirror)).toEqual({ b: 'kiel' });
    expect(mirror.setAside.get('a')).toMatchObject({ value: { port: 5, hold: [1] }, revision: 1 });
    expect(told).toEqual(['a port: must be a text']);
    expect(events).toEqual([
      ['a', undefined, undefined],
      ['b', 'kiel', undefined],
    ]);
    expect(await store.get('ships/a')).toMatchObject({ value: { port: 5, hold: [1] }, revision: 1 });
  });

  it('sets a value aside that a change made unreadable, and takes it up again', async () => {
    const failed: string[] = [];
    mirror = makeMirror({ onSetAside: (id) => failed.push(id) });
    await store.transact([put('a', 'kiel')]);
    await mirror.start();
    const heard = listen(mirror);
    const byPort = mirror.lookup((ship) => [ship.port]);
    const bad = ['a', 'b'].map((id): Operation => ({ do: 'put', key: `ships/${id}`, value: 'no ship' }));
    await mirror.until(await store.transact([...bad, put('c', 'riga')]));
    expect([failed, [...mirror.setAside.keys()]]).toEqual([
      ['a', 'b'],
      ['a', 'b'],
    ]);
    expect(portsOf(mirror)).toEqual({ c: 'riga' });
    expect([...byPort.get('kiel')]).toEqual([]);
    await mirror.until(await store.transact([put('a', 'oslo'), remove('b')]));
    expect(portsOf(mirror)).toEqual({ a: 'oslo', c: 'riga' });
    expect(mirror.setAside.size).toBe(0);
    expect(heard).toEqual(['a: kiel -> -', 'b: - -> -', 'c: - -> riga', 'a: - -> oslo', 'b: - -> -']);
  });

  it('finds by a new list which values are set aside', async () => {
    mirror = makeMirror({ onSetAside: () => undefined });
    await store.transact([{ do: 'put', key: 'ships/bad', value: 1 }, put('good', 'kiel')]);
    await mirror.start();
    const writes = [
      store.transact([{ do: 'put', key: 'ships/good', value: 2 }]),
      store.transact([remove('bad')]),
    ];
    // All in one group: the mirror gets no turn before more has passed than is held.
    for (let n = 0; n < 20; n++) writes.push(store.transact([put('new', `oslo-${n}`)]));
    await mirror.until(Math.max(...(await Promise.all(writes))));
    expect([...mirror.setAside.keys()]).toEqual(['good']);
    expect(portsOf(mirror)).toEqual({ new: 'oslo-19' });
  });

  it('decodes every change as it decodes the first list', async () => {
    await store.transact([{ do: 'put', key: 'ships/a', value: { port: 'kiel', lost: true } }]);
    await mirror.start();
    expect(mirror.get('a')?.value).toEqual({ port: 'kiel', crew: [] });
    await mirror.until(
      await store.transact([{ do: 'put', key: 'ships/a', value: { port: 'riga', lost: 1 } }]),
    );
    expect(mirror.get('a')?.value).toEqual({ port: 'riga', crew: [] });
  });

  it('rejects those who wait when it stops or its store closes', async () => {
    await mirror.start();
    const waiting = failureOf(mirror.until(1));
    await mirror.stop();
    await mirror.stop();
    expect(DroverError.is(await waiting, 'DRV_STORE_CLOSED')).toBe(true);
    mirror = makeMirror();
    await mirror.start();
    const orphaned = failureOf(mirror.until(1));
    await store.close();
    expect(DroverError.is(await orphaned, 'DRV_STORE_CLOSED')).toBe(true);
    expect(DroverError.is(await failureOf(mirror.until(1)), 'DRV_STORE_CLOSED')).toBe(true);
  });

  it('stops before it was ever started', async () => {
    await mirror.stop();
    expect(DroverError.is(await failureOf(mirror.ready), 'DRV_STORE_CLOSED')).toBe(true);
  });
});

describe('lookup', () => {
  it('groups ids by several keys and forgets empty groups', async () => {
    await store.transact([put('a', 'kiel', ['ada', 'bo']), put('b', 'riga', ['bo'])]);
    await mirror.start();
    const byCrew = mirror.lookup((ship) => ship.crew);
    expect([...byCrew.get('bo')]).toEqual(['a', 'b']);
    await mirror.until(await store.transact([put('a', 'kiel', ['cy']), remove('b')]));
    expect([...byCrew.keys()]).toEqual(['cy']);
    expect(byCrew.get('bo').size).toBe(0);
  });

  it('is up to date before listeners run', async () => {
    await mirror.start();
    const byPort = mirror.lookup((ship, id) => [`${ship.port}/${id}`]);
    const seen: string[][] = [];
    mirror.onChange(() => seen.push([...byPort.keys()]));
    await store.transact([put('a', 'kiel')]);
    await mirror.until(await store.transact([put('a', 'riga')]));
    expect(seen).toEqual([['kiel/a'], ['riga/a']]);
  });

  it('drops an id from its groups when its keys cannot be computed, and reports it', async () => {
    const errors: unknown[] = [];
    mirror = makeMirror({ onListenerError: (error) => errors.push(error) });
    await mirror.start();
    const byPort = mirror.lookup((ship) => {
      if (ship.port === 'atlantis') throw new Error('no such port');
      return [ship.port];
    });
    await mirror.until(await store.transact([put('a', 'kiel'), put('b', 'kiel')]));
    await mirror.until(await store.transact([put('a', 'atlantis')]));
    expect([...byPort.get('kiel')]).toEqual(['b']);
    expect(errors.map(String)).toEqual(['Error: no such port']);
  });
});
