/** `template sync`: master and wrappers over the real channel, and the parts of it by themselves. */
import { pino } from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import { DroverError } from '../../../src/model/errors.js';
import type { TreeResult } from '../../../src/model/template.js';
import { TemplatePrefetch } from '../../../src/node/template-prefetch.js';
import type { StoredTemplate } from '../../../src/templates/storage/storage-provider.js';
import { ClusterSync, type ClusterSyncOptions } from '../../../src/templates/sync/cluster-sync.js';
import { describeNodeSync } from '../../../src/templates/sync/node-sync-text.js';
import { ControlPlane } from '../../support/control-plane/control-plane.js';
import { FakeClock } from '../../support/fake-clock.js';
import { quietLogger } from '../../support/templates/template-trees.js';
import { until } from '../../support/until.js';

const GROUPS = new Map([
  ['base', ['core']],
  ['games', ['arena', 'lobby']],
]);

/** A digest that shows whose it is. */
function digestOf(group: string, name: string, storage = 'local'): string {
  return Buffer.from(`${storage} ${group} ${name}`).toString('hex').padEnd(64, '0');
}

async function* results(...given: readonly TreeResult[]): AsyncGenerator<TreeResult> {
  yield* given;
}

function sync(options: Partial<ClusterSyncOptions> = {}): ClusterSync {
  return new ClusterSync({
    templates: {
      rescan: async () => {},
      groups: () => GROUPS,
      digest: async (...template) => digestOf(...template),
      news: () => undefined,
    },
    stored: { copied: () => [], refresh: () => undefined },
    nodes: { connected: () => ['a', 'b'], fetch: () => results() },
    clock: new FakeClock(),
    logger: quietLogger,
    ...options,
  });
}

describe('a template sync', () => {
  let plane: ControlPlane | undefined;

  afterEach(async () => {
    await plane?.stop();
    plane = undefined;
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
          if (nodeId === 'b' && digest === digestOf('games', 'lobby')) throw new Error('the disk is full');
          return { transferredBytes: 1000, transferredFiles: 4 };
        },
      }),
    });
    await plane.start();
    for (const node of ['b', 'a']) await plane.addNode(node);
    await plane.whenIdle();
    const revision = await plane.store.barrier();
    const cluster = sync({ nodes: plane.master.prefetching });
    expect(await cluster.toCluster('games/*')).toMatchObject({
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
    expect(await plane.store.barrier()).toBe(revision);
    expect(cluster.latest).toMatchObject({
      pattern: 'games/*',
      isOver: true,
      leftOut: [],
      nodes: [
        { nodeId: 'a', state: 'done', trees: 2, had: 1, fetched: 1, failed: 0, bytes: 1000, files: 4 },
        {
          nodeId: 'b',
          state: 'failed',
          trees: 2,
          had: 0,
          fetched: 1,
          failed: 1,
          problems: ['the disk is full'],
        },
      ],
    });
    expect(cluster.latest?.nodes.map(describeNodeSync)).toEqual([
      'a: 2 trees: 1 was there, 1 fetched (4 files, 1000 bytes) in 0.0 s',
      'b: 2 trees: 1 fetched (4 files, 1000 bytes) in 0.0 s, 1 missing: the disk is full',
    ]);
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
      templates: {
        rescan: async () => {},
        groups: () => GROUPS,
        digest: () => waiting.then(() => 'd'.repeat(64)),
        news: () => undefined,
      },
      nodes: {
        connected: () => ['a'],
        fetch: (node) => {
          told.push(node);
          return results();
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
        rescan: async () => {},
        groups: () => GROUPS,
        digest: async (group, name) => {
          if (name === 'arena') throw new DroverError('DRV_TEMPLATE_UNSAFE', 'arena holds a link');
          return digestOf(group, name);
        },
        news: () => undefined,
      },
      nodes: {
        connected: () => ['a', 'b'],
        fetch: async function* (node, digests) {
          if (node === 'a') throw new DroverError('DRV_NODE_DISCONNECTED', 'a is gone');
          for (const digest of digests) {
            told.push(digest);
            yield { digest, outcome: 'had', bytes: 0, files: 0, problem: null };
          }
        },
      },
      logger: pino({ level: 'info' }, { write: (line) => lines.push(line) }),
    });
    await cluster.toCluster('games/*');
    await cluster.whenIdle();
    expect(told).toEqual([digestOf('games', 'lobby')]);
    const log = lines.join('');
    for (const said of ['arena holds a link', 'a is gone', 'b: 1 tree: 1 was there'])
      expect(log).toContain(said);
    expect(cluster.latest?.leftOut).toEqual(['games/arena: arena holds a link']);
    expect(cluster.latest?.nodes).toMatchObject([
      { nodeId: 'a', state: 'failed', problems: ['a is gone'] },
      { nodeId: 'b', state: 'done' },
    ]);
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
        copied: () => held,
        refresh: (isMeant) => {
          refreshed.push(...held.filter(isMeant));
        },
      },
      nodes: {
        connected: () => ['a'],
        fetch: (_node, digests) => {
          told.push(...digests);
          return results();
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
  /** Each result as one line. */
  async function results(fetched: AsyncIterable<TreeResult>): Promise<string[]> {
    const lines: string[] = [];
    for await (const { digest, outcome, problem } of fetched) lines.push(`${digest} ${outcome} ${problem}`);
    return lines;
  }

  it('fetches one tree after the other, each once, and goes on after one that fails', async () => {
    const log: string[] = [];
    let running = 0;
    const prefetch = new TemplatePrefetch({
      installation: {
        isCached: (digest) => digest === 'have',
        fetch: async (digest) => {
          expect(++running).toBe(1);
          await Promise.resolve();
          running--;
          log.push(digest);
          if (digest === 'broken') throw new Error('no such tree');
          return undefined;
        },
      },
      calls: () => undefined,
      onFetched: () => undefined,
      logger: quietLogger,
    });
    const first = results(prefetch.fetch(['have', 'broken', 'one']));
    const second = results(prefetch.fetch(['one', 'two']));
    expect(await first).toEqual(['have had null', 'broken failed no such tree', 'one fetched null']);
    expect(await second).toEqual(['one fetched null', 'two fetched null']);
    expect(log).toEqual(['broken', 'one', 'two']);
    expect(await results(prefetch.fetch(['broken', 'three']))).toEqual([
      'broken failed no such tree',
      'three fetched null',
    ]);
    expect(log).toEqual(['broken', 'one', 'two', 'broken', 'three']);
  });

  it('breaks off when the node stops', async () => {
    const begun: string[] = [];
    const prefetch = new TemplatePrefetch({
      installation: {
        isCached: () => false,
        fetch: (digest, _calls, signal) => {
          begun.push(digest);
          return new Promise((_resolve, reject) =>
            signal.addEventListener('abort', () => reject(new Error('stopped'))),
          );
        },
      },
      calls: () => undefined,
      onFetched: () => undefined,
      logger: quietLogger,
    });
    const under = results(prefetch.fetch(['one', 'two']));
    await until(() => expect(begun).toEqual(['one']));
    await prefetch.stop();
    expect(await under).toEqual(['one failed the node stops', 'two failed the node stops']);
    expect(await results(prefetch.fetch(['three']))).toEqual(['three failed the node stops']);
    expect(begun).toEqual(['one']);
  });
});
