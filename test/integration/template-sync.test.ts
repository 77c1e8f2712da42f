/** `template sync`: master and wrappers over the real channel, and the parts of it by themselves. */
import { pino } from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import { DroverError } from '../../src/model/errors.js';
import { TemplatePrefetch } from '../../src/node/template-prefetch.js';
import { ClusterSync, type ClusterSyncOptions } from '../../src/templates/cluster-sync.js';
import type { StoredTemplate } from '../../src/templates/storage-provider.js';
import { ControlPlane } from '../support/control-plane.js';
import { FakeClock } from '../support/fake-clock.js';
import { quietLogger } from '../support/template-trees.js';
import { until } from '../support/until.js';

const GROUPS = new Map([
  ['base', ['core']],
  ['games', ['arena', 'lobby']],
]);

/** A digest that shows whose it is. */
function digestOf(group: string, name: string, storage = 'local'): string {
  return Buffer.from(`${storage} ${group} ${name}`).toString('hex').padEnd(64, '0');
}

function sync(options: Partial<ClusterSyncOptions> = {}): ClusterSync {
  return new ClusterSync({
    templates: { groups: () => GROUPS, digest: async (...template) => digestOf(...template) },
    stored: { held: () => [], refresh: () => undefined },
    nodes: { connected: () => ['a', 'b'], prefetch: async () => 0 },
    logger: quietLogger,
    ...options,
  });
}

describe('a template sync', () => {
  let plane: ControlPlane;

  afterEach(async () => {
    await plane.stop();
  });

  it('makes every connected node fetch what it lacks, and changes nothing that is desired', async () => {
    const fetched: string[] = [];
    plane = new ControlPlane({
      clock: new FakeClock(),
      adaptInstallation: (installation, nodeId) => ({
        ...installation,
        isCached: (digest) => nodeId === 'a' && digest === digestOf('games', 'lobby'),
        fetch: async (digest, calls) => {
          fetched.push(`${nodeId} ${digest} ${calls === undefined ? 'alone' : 'by the channel'}`);
        },
      }),
    });
    await plane.start();
    for (const node of ['b', 'a']) await plane.addNode(node);
    await plane.whenIdle();
    const { revision } = plane.store;
    const cluster = sync({ nodes: plane.master.prefetching });
    expect(await cluster.toCluster('games/*')).toEqual({
      templates: ['games/arena', 'games/lobby'],
      nodes: ['a', 'b'],
    });
    await cluster.whenIdle();
    await until(() => expect(fetched).toHaveLength(3));
    expect(fetched.toSorted()).toEqual([
      `a ${digestOf('games', 'arena')} by the channel`,
      `b ${digestOf('games', 'arena')} by the channel`,
      `b ${digestOf('games', 'lobby')} by the channel`,
    ]);
    expect(plane.store.revision).toBe(revision);
  });
});

describe('the master half of a sync', () => {
  it('answers at once, however long the digests take', async () => {
    let release = (): void => undefined;
    const waiting = new Promise<void>((resolve) => {
      release = resolve;
    });
    const told: string[] = [];
    const cluster = sync({
      templates: { groups: () => GROUPS, digest: () => waiting.then(() => 'd'.repeat(64)) },
      nodes: {
        connected: () => ['a'],
        prefetch: async (node) => {
          told.push(node);
          return 1;
        },
      },
    });
    expect((await cluster.toCluster('*')).templates).toEqual(['base/core', 'games/arena', 'games/lobby']);
    expect(told).toEqual([]);
    release();
    await cluster.whenIdle();
    expect(told).toEqual(['a']);
  });

  it('leaves out a template that cannot be used and a node that cannot be told, and says so', async () => {
    const lines: string[] = [];
    const told: string[] = [];
    const cluster = sync({
      templates: {
        groups: () => GROUPS,
        digest: async (group, name) => {
          if (name === 'arena') throw new DroverError('DRV_TEMPLATE_UNSAFE', 'arena holds a link');
          return digestOf(group, name);
        },
      },
      nodes: {
        connected: () => ['a', 'b'],
        prefetch: async (node, digests) => {
          if (node === 'a') throw new DroverError('DRV_NODE_DISCONNECTED', 'a is gone');
          told.push(...digests);
          return digests.length;
        },
      },
      logger: pino({ level: 'info' }, { write: (line) => lines.push(line) }),
    });
    await cluster.toCluster('games/*');
    await cluster.whenIdle();
    expect(told).toEqual([digestOf('games', 'lobby')]);
    const log = lines.join('');
    for (const said of ['arena holds a link', 'a is gone', 'node b fetches 1 of 1 trees'])
      expect(log).toContain(said);
  });

  it('has the copies of storages looked at again, those that the pattern means', async () => {
    const held: StoredTemplate[] = [
      { storage: 'depot', group: 'games', name: 'lobby' },
      { storage: 'depot', group: 'base', name: 'core' },
    ];
    const refreshed: StoredTemplate[] = [];
    const told: string[] = [];
    const cluster = sync({
      stored: {
        held: () => held,
        refresh: (isMeant) => {
          refreshed.push(...held.filter(isMeant));
        },
      },
      nodes: {
        connected: () => ['a'],
        prefetch: async (_node, digests) => {
          told.push(...digests);
          return 0;
        },
      },
    });
    expect((await cluster.toCluster('games/lobby')).templates).toEqual(['games/lobby']);
    await cluster.whenIdle();
    expect(refreshed).toEqual([held[0]]);
    expect(told).toEqual([digestOf('games', 'lobby'), digestOf('games', 'lobby', 'depot')]);
  });

  it('refuses what is no pattern, and finds nothing for a name that nothing has', async () => {
    await expect(sync().toCluster('games')).rejects.toMatchObject({ code: 'DRV_REQUEST_INVALID' });
    expect((await sync().toCluster('games/none')).templates).toEqual([]);
  });
});

describe('the wrapper half of a sync', () => {
  it('fetches one tree after the other, each once, and goes on after one that fails', async () => {
    const log: string[] = [];
    let running = 0;
    const prefetch = new TemplatePrefetch({
      isCached: (digest) => digest === 'have',
      fetch: async (digest) => {
        expect(++running).toBe(1);
        await Promise.resolve();
        running--;
        log.push(digest);
        if (digest === 'broken') throw new Error('no such tree');
      },
      logger: quietLogger,
    });
    expect(prefetch.take(['have', 'broken', 'one'])).toBe(2);
    expect(prefetch.take(['one', 'two'])).toBe(2);
    await prefetch.whenIdle();
    expect(log).toEqual(['broken', 'one', 'two']);
    expect(prefetch.take(['three'])).toBe(1);
    await prefetch.whenIdle();
    expect(log.at(-1)).toBe('three');
  });

  it('breaks off when the node stops', async () => {
    const begun: string[] = [];
    const prefetch = new TemplatePrefetch({
      isCached: () => false,
      fetch: (digest, signal) => {
        begun.push(digest);
        return new Promise((_resolve, reject) =>
          signal.addEventListener('abort', () => reject(new Error('stopped'))),
        );
      },
      logger: quietLogger,
    });
    prefetch.take(['one', 'two']);
    await prefetch.stop();
    expect(begun).toEqual(['one']);
    expect(prefetch.take(['three'])).toBe(1);
    await prefetch.whenIdle();
    expect(begun).toEqual(['one']);
  });
});
