/** A real etcd behind a faulty connection: what the client and its followers make of it. Needs Debian's etcd-server. */
import { createPublicKey, randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  generatePrivateKey,
  issueCertificate,
  makeAuthority,
} from '../../../src/channel/trust/certificates.js';
import { SystemClock } from '../../../src/loop/system-clock.js';
import { DroverError } from '../../../src/model/errors.js';
import { endOfPrefix, type KeyEvent } from '../../../src/store/etcd/etcd.js';
import { CompactedError, EtcdError } from '../../../src/store/etcd/etcd-error.js';
import { followRange, type RangeNews, readRange } from '../../../src/store/etcd/follow.js';
import { EtcdClient } from '../../../src/store/etcd/wire/client.js';
import type { Operation } from '../../../src/store/store.js';
import { type EtcdCluster, hasEtcd, startEtcd } from '../../support/etcd/etcd-server.js';
import { newPrefix, openTestStore } from '../../support/etcd/etcd-world.js';
import type { FaultProxy } from '../../support/etcd/fault-proxy.js';
import { shareEtcd } from '../../support/etcd/shared-etcd.js';
import { until } from '../../support/until.js';

const clock = new SystemClock();
const clients: EtcdClient[] = [];
afterEach(() => {
  for (const client of clients.splice(0)) client.close();
});

function connect(
  endpoints: readonly string[],
  options: Partial<ConstructorParameters<typeof EtcdClient>[0]> = {},
) {
  const client = new EtcdClient({ endpoints, clock, ...options });
  clients.push(client);
  return client;
}

async function put(client: EtcdClient, entries: Readonly<Record<string, string>>): Promise<number> {
  const changes = Object.entries(entries).map(
    ([key, value]) => ({ do: 'put', key, value: Buffer.from(value) }) as const,
  );
  return (await client.transact({ comparisons: [], changes, otherwiseRead: [] })).revision;
}

/** Follows a prefix until told to end. */
class Follower {
  readonly news: RangeNews[] = [];
  readonly failures: string[] = [];
  readonly #stopping = new AbortController();
  readonly #following: Promise<void>;

  constructor(etcd: EtcdClient, prefix: string) {
    this.#following = this.#follow(etcd, prefix);
  }

  get events(): string[] {
    const events = this.news.flatMap((news): readonly KeyEvent[] =>
      news.kind === 'events' ? news.events : [],
    );
    return events.map(
      ({ key, value }) => `${key.split('/').at(-1)}=${value?.toString().slice(0, 8) ?? 'gone'}`,
    );
  }

  get snapshots(): number {
    return this.news.filter(({ kind }) => kind === 'snapshot').length;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#following;
  }

  async #follow(etcd: EtcdClient, prefix: string): Promise<void> {
    const onFailure = (error: EtcdError): void => void this.failures.push(error.message);
    const { signal } = this.#stopping;
    for await (const news of followRange({ etcd, prefix, clock, signal, onFailure })) this.news.push(news);
  }
}

describe.skipIf(!hasEtcd)('etcd behind a faulty connection', () => {
  let etcd: EtcdCluster;
  let proxy: FaultProxy;
  let direct: EtcdClient;
  let prefix: string;
  shareEtcd((shared) => {
    ({ etcd, proxy } = shared);
  });
  beforeEach(() => {
    direct = connect(etcd.endpoints);
    prefix = `${newPrefix()}/`;
  });
  afterEach(() => {
    proxy.fault = { kind: 'none' };
    proxy.cut();
  });

  it('gives a follower every event once, whenever its stream is cut', async () => {
    await put(direct, { [`${prefix}0`]: '0' });
    let cutAt = 150;
    proxy.fault = { kind: 'cut', afterBytes: () => (cutAt += 100) };
    const follower = new Follower(connect([proxy.endpoint]), prefix);
    await until(() => expect(follower.snapshots).toBe(1));
    const expected: string[] = [];
    for (let n = 1; n <= 20; n++) {
      await put(direct, { [`${prefix}${n}`]: String(n) });
      expected.push(`${n}=${n}`);
    }
    await until(() => expect(follower.events).toEqual(expected));
    expect(proxy.cuts).toBeGreaterThan(5);
    expect(follower.snapshots).toBe(1);
    await follower.stop();
  });

  it('reads a range whole at one revision, also when the connection is cut in the middle', async () => {
    const big = 'x'.repeat(20_000);
    for (let n = 0; n < 10; n++)
      await put(
        direct,
        Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`${prefix}${n}-${i}`, big])),
      );
    let cutAt = 500_000;
    proxy.fault = { kind: 'cut', afterBytes: () => (cutAt += 2_000_000) };
    const follower = new Follower(connect([proxy.endpoint]), prefix);
    await until(() => expect(follower.snapshots).toBe(1));
    const [snapshot] = follower.news;
    expect(snapshot?.kind === 'snapshot' && snapshot.entries.map(({ value }) => value.length)).toEqual(
      Array(300).fill(20_000),
    );
    expect(proxy.cuts).toBeGreaterThan(1);
    await follower.stop();
    expect((await readRange(direct, prefix)).entries).toHaveLength(300);
  });

  it('joins the fragments of one large revision', async () => {
    const follower = new Follower(connect(etcd.endpoints), prefix);
    await until(() => expect(follower.snapshots).toBe(1));
    const big = 'x'.repeat(60_000);
    // etcd sends fragments of at most 2 MiB, and takes requests of 1.5 MiB: two revisions that it sends at once.
    await put(direct, Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`${prefix}a${i}`, big])));
    await put(direct, Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`${prefix}b${i}`, big])));
    await until(() => expect(follower.events).toHaveLength(40));
    const watch = direct.watch(
      { key: prefix, end: endOfPrefix(prefix), revision: follower.news[0]?.revision ?? 0 },
      new AbortController().signal,
    );
    for await (const { events, revision } of watch) {
      const whole = events.filter(({ modRevision }) => modRevision === revision);
      expect(whole).toHaveLength(20);
      break;
    }
    await follower.stop();
  });

  it('lists again when what it watched is compacted', async () => {
    const follower = new Follower(connect([proxy.endpoint]), prefix);
    await until(() => expect(follower.snapshots).toBe(1));
    await put(direct, { [`${prefix}a`]: '1' });
    await until(() => expect(follower.events).toEqual(['a=1']));
    proxy.fault = { kind: 'hole' };
    proxy.cut();
    await put(direct, { [`${prefix}a`]: '2' });
    const revision = await put(direct, { [`${prefix}a`]: '3' });
    await direct.compact(revision);
    proxy.fault = { kind: 'none' };
    proxy.cut();
    await until(() => expect(follower.snapshots).toBe(2));
    await put(direct, { [`${prefix}a`]: '4' });
    await until(() => expect(follower.events).toEqual(['a=1', 'a=4']));
    await follower.stop();
    const signal = new AbortController().signal;
    const watch = direct.watch({ key: prefix, end: endOfPrefix(prefix), revision: 2 }, signal);
    await expect(watch[Symbol.asyncIterator]().next()).rejects.toBeInstanceOf(CompactedError);
  });

  it('does not wait for a revision that etcd, set back to a backup, has yet to come to', async () => {
    const { revision } = await direct.range({ key: prefix });
    const stopping = new AbortController();
    const range = { key: prefix, end: endOfPrefix(prefix), revision: revision + 1 };
    const present = direct.watch(range, stopping.signal)[Symbol.asyncIterator]().next();
    const lost = direct.watch({ ...range, revision: revision + 2 }, stopping.signal);
    await expect(lost[Symbol.asyncIterator]().next()).rejects.toBeInstanceOf(CompactedError);
    await put(direct, { [`${prefix}a`]: '1' });
    expect((await present).value).toMatchObject({ revision: revision + 1 });
    stopping.abort();
  });

  it('ends a call at its deadline, and goes on to another endpoint after a peer that never speaks', async () => {
    proxy.fault = { kind: 'hole' };
    const client = connect([proxy.endpoint, ...etcd.endpoints]);
    const startedAt = performance.now();
    // The message says what was left of the 300 ms when this endpoint was asked.
    await expect(client.range({ key: 'k' }, 300)).rejects.toThrow(
      new RegExp(`^${proxy.endpoint.replaceAll('.', '\\.')}: no answer within \\d+ ms$`),
    );
    expect((await client.range({ key: 'k' })).entries).toEqual([]);
    expect(performance.now() - startedAt).toBeLessThan(30_000);
  });

  it('notices that the peer of a watch has fallen silent', async () => {
    const follower = new Follower(connect([proxy.endpoint]), prefix);
    await until(() => expect(follower.snapshots).toBe(1));
    proxy.fault = { kind: 'hole' };
    await until(() => expect(follower.failures.join()).toMatch(/does not answer any more|silent/));
    await put(direct, { [`${prefix}a`]: '1' });
    proxy.fault = { kind: 'none' };
    proxy.cut();
    await until(() => expect(follower.events).toEqual(['a=1']));
    await follower.stop();
  });

  it('keeps its store over a slow connection', async () => {
    proxy.fault = { kind: 'slow', ms: 150 };
    const store = await openTestStore([proxy.endpoint], { prefix: prefix.slice(0, -1) });
    const writes = Array.from({ length: 300 }, (_, n) =>
      store.transact([{ do: 'put', key: `k${n}`, value: n }]),
    );
    expect(await Promise.all(writes)).toEqual(writes.map((_, n) => n + 1));
    await store.close();
  });

  it('takes two records of 1 MiB in one transaction, and says what is too large for etcd', async () => {
    /** Beside load, encoding megabytes may outlast the lease: such an answer says nothing of the size, and it asks again. */
    const answerTo = (value: string): Promise<unknown> =>
      until(async () => {
        const store = await openTestStore(etcd.endpoints, { prefix: prefix.slice(0, -1) });
        const pair: readonly Operation[] = [
          { do: 'put', key: 'a', value },
          { do: 'put', key: 'b', value },
        ];
        const answer: unknown = await store.transact(pair).catch((error: unknown) => error);
        await store.close();
        for (const code of ['DRV_NOT_LEADER', 'DRV_STORE_UNAVAILABLE'] as const)
          expect(DroverError.is(answer, code)).toBe(false);
        return answer;
      });
    const text = 'a line of a configuration\n'.repeat(40_000);
    expect(await answerTo(text)).toBeTypeOf('number');
    // Two of them are more than the 1.5 MiB of etcd: noise is not deflated.
    const noise = randomBytes(850_000).toString('base64');
    expect(await answerTo(noise)).toMatchObject({
      code: 'DRV_STORE_WRITE_FAILED',
      message: expect.stringContaining('nothing was changed'),
    });
    const again = await openTestStore(etcd.endpoints, { prefix: prefix.slice(0, -1) });
    expect((await again.get('b'))?.value).toBe(text);
    await again.close();
  });
});

describe.skipIf(!hasEtcd)('etcd of several kinds', () => {
  let etcd: EtcdCluster | undefined;
  afterEach(async () => {
    await etcd?.stop();
    etcd = undefined;
  });

  it('goes on writing while three members change their leader', async () => {
    etcd = await startEtcd({ members: 3 });
    const store = await openTestStore(etcd.endpoints, { prefix: newPrefix() });
    const acknowledged: number[] = [];
    let isEnding = false;
    const writing = (async () => {
      for (let n = 0; !isEnding; n++) {
        await store.transact([{ do: 'put', key: `k${n}`, value: n }]);
        acknowledged.push(n);
      }
    })();
    for (const member of etcd.members) {
      const before = acknowledged.length;
      await member.kill();
      await until(() => expect(acknowledged.length).toBeGreaterThan(before + 20));
      await member.start();
    }
    isEnding = true;
    await writing;
    const { entries } = await store.list('');
    expect(entries.map(({ value }) => value).toSorted((a, b) => Number(a) - Number(b))).toEqual(acknowledged);
    await store.close();
  });

  it('is refused at once by a member that has lost the others', async () => {
    etcd = await startEtcd({ members: 3 });
    const [left, ...others] = etcd.members;
    for (const member of others) await member.kill();
    const client = connect([left?.endpoint ?? '']);
    const calls = [
      () => client.range({ key: 'k' }, 60_000),
      () => put(client, { k: '1' }),
      () => client.renewLease(1, 60_000),
    ];
    // It takes a moment until it has noticed.
    for (const call of calls)
      await until(async () => {
        const error: unknown = await call().catch((thrown: unknown) => thrown);
        expect(error).toMatchObject({ message: expect.stringContaining('no leader'), isRefusal: false });
      });
  });

  it('says that etcd is full, and goes on when there is room again', async () => {
    etcd = await startEtcd({ parameters: ['--quota-backend-bytes', String(16 * 1024 * 1024)] });
    const store = await openTestStore(etcd.endpoints, { prefix: newPrefix() });
    const client = connect(etcd.endpoints);
    const fill = async (): Promise<void> => {
      const filling = Buffer.alloc(1024 * 1024);
      for (;;) await put(client, { filling: filling.toString() });
    };
    await expect(fill()).rejects.toMatchObject({ isOutOfSpace: true });
    const write = () => store.transact([{ do: 'put', key: 'k', value: 1 }]);
    await expect(write()).rejects.toMatchObject({
      code: 'DRV_STORE_WRITE_FAILED',
      message: expect.stringContaining('alarm NOSPACE'),
    });
    expect(await client.alarms()).toEqual(['NOSPACE']);
    expect((await client.status()).databaseBytes).toBeGreaterThan(1024 * 1024);
    await makeRoom(etcd.endpoints[0] ?? '', client);
    await until(async () => expect(await write()).toBe(1));
    expect(await client.alarms()).toEqual([]);
    await store.close();
  });

  it('names itself by user and password, and gets a new token when etcd has forgotten the old one', async () => {
    etcd = await startEtcd();
    const [endpoint = ''] = etcd.endpoints;
    const prefix = newPrefix();
    await gateway(endpoint, 'auth/user/add', { name: 'root', password: 'other' });
    await gateway(endpoint, 'auth/user/grant', { user: 'root', role: 'root' });
    await gateway(endpoint, 'auth/user/add', { name: 'drover', password: 'secret' });
    await gateway(endpoint, 'auth/role/add', { name: 'drover' });
    const [from, to] = [Buffer.from(`${prefix}/`), Buffer.from(endOfPrefix(`${prefix}/`))];
    const perm = { permType: 'READWRITE', key: from.toString('base64'), range_end: to.toString('base64') };
    await gateway(endpoint, 'auth/role/grant', { name: 'drover', perm });
    await gateway(endpoint, 'auth/user/grant', { user: 'drover', role: 'drover' });
    await gateway(endpoint, 'auth/enable', {});
    const directory = await mkdtemp(join(tmpdir(), 'drover-etcd-'));
    const passwordFile = join(directory, 'password');
    await writeFile(passwordFile, 'wrong\n');
    const user = { name: 'drover', passwordFile };
    const open = () =>
      openTestStore(etcd?.endpoints ?? [], { prefix, etcd: connect(etcd?.endpoints ?? [], { user }) });
    await expect(open()).rejects.toMatchObject({
      code: 'DRV_STORE_UNAVAILABLE',
      message: expect.stringContaining('authentication failed'),
    });
    await expect(openTestStore(etcd.endpoints, { prefix })).rejects.toMatchObject({
      code: 'DRV_STORE_UNAVAILABLE',
    });
    await writeFile(passwordFile, 'secret\n');
    const store = await open();
    expect(await store.transact([{ do: 'put', key: 'k', value: 1 }])).toBe(1);
    const client = connect(etcd.endpoints, { user });
    expect(await client.alarms()).toEqual([]);
    expect((await client.status()).databaseBytes).toBeGreaterThan(0);
    const { revision } = await client.range({ key: `${prefix}/summary` });
    await client.compact(revision);
    await expect(client.range({ key: 'other' })).rejects.toMatchObject({ isHopeless: true });
    // Tokens live in the memory of a member.
    await etcd.members[0]?.kill();
    await etcd.members[0]?.start();
    expect(await store.transact([{ do: 'put', key: 'k', value: 2 }])).toBe(2);
    await store.close();
    await rm(directory, { recursive: true });
  });

  it('speaks TLS, and shows its own certificate', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'drover-etcd-'));
    const authority = await makeAuthority('test', Date.now() + 3_600_000);
    const pair = async (usage: 'server' | 'client') => {
      const key = generatePrivateKey();
      const cert = await issueCertificate(authority, {
        subject: { commonName: usage, clusterName: 'test' },
        usage,
        publicKey: createPublicKey(key),
        endsAt: Date.now() + 3_600_000,
        ...(usage === 'server' && { names: ['127.0.0.1'] }),
      });
      return { key: Buffer.from(key), cert: Buffer.from(cert) };
    };
    const [server, own] = [await pair('server'), await pair('client')];
    const files = { ca: authority.certificate, cert: server.cert, key: server.key };
    for (const [name, content] of Object.entries(files)) await writeFile(join(directory, name), content);
    etcd = await startEtcd({
      scheme: 'https',
      parameters: [
        ...['--cert-file', join(directory, 'cert'), '--key-file', join(directory, 'key')],
        ...['--trusted-ca-file', join(directory, 'ca'), '--client-cert-auth'],
      ],
    });
    const { endpoints } = etcd;
    const ca = Buffer.from(authority.certificate);
    const store = await openTestStore(endpoints, {
      prefix: newPrefix(),
      etcd: connect(endpoints, { tls: { ca, ...own } }),
    });
    expect(await store.transact([{ do: 'put', key: 'k', value: 1 }])).toBe(1);
    await store.close();
    await expect(connect(endpoints).range({ key: 'k' })).rejects.toThrow(
      /self.signed|unable to (verify|get)/,
    );
    await expect(connect(endpoints, { tls: { ca } }).range({ key: 'k' })).rejects.toBeInstanceOf(EtcdError);
    await rm(directory, { recursive: true });
  });
});

/** A call of etcd's HTTP gateway: what an operator does by etcdctl. */
async function gateway(endpoint: string, method: string, body: object): Promise<unknown> {
  const answer = await fetch(`${endpoint}/v3/${method}`, { method: 'POST', body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
}

async function makeRoom(endpoint: string, client: EtcdClient): Promise<void> {
  const { revision } = await client.range({ key: 'filling' });
  await gateway(endpoint, 'kv/compaction', { revision, physical: true });
  await gateway(endpoint, 'maintenance/defragment', {});
  const { alarms } = z
    .object({ alarms: z.array(z.object({ memberID: z.string(), alarm: z.string() })) })
    .parse(await gateway(endpoint, 'maintenance/alarm', { action: 'GET' }));
  for (const alarm of alarms)
    await gateway(endpoint, 'maintenance/alarm', { action: 'DEACTIVATE', ...alarm });
}
