/** The client of etcd before members that answer pings and nothing else, as one does that is cut from the others. */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Http2Server, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { endOfPrefix } from '../../../src/store/etcd/etcd.js';
import { EtcdClient } from '../../../src/store/etcd/wire/client.js';
import { FakeClock } from '../../support/fake-clock.js';
import { until } from '../../support/until.js';

/** Takes every call and stream, and answers none. */
class SilentMember {
  readonly #server: Http2Server = createServer();
  readonly #streams = new Set<ServerHttp2Stream>();
  /** The paths that were asked for, and whether only a member with a leader may answer. */
  readonly asked: { readonly path: string; readonly hasLeader: unknown }[] = [];

  async start(): Promise<void> {
    this.#server.on('stream', (stream, headers) => {
      this.#streams.add(stream);
      stream.on('error', () => undefined).on('close', () => this.#streams.delete(stream));
      this.asked.push({ path: String(headers[':path']), hasLeader: headers.hasleader });
    });
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  paths(): string[] {
    return this.asked.map(({ path }) => path.split('/').at(-1) ?? '');
  }

  stop(): void {
    for (const stream of this.#streams) stream.destroy();
    this.#server.close();
  }
}

const RANGE = { key: '/a/', end: endOfPrefix('/a/'), revision: 2 };
let members: SilentMember[];
let clock: FakeClock;
let client: EtcdClient;
beforeEach(async () => {
  members = [new SilentMember(), new SilentMember()];
  for (const member of members) await member.start();
  clock = new FakeClock();
  client = new EtcdClient({ endpoints: members.map(({ endpoint }) => endpoint), clock });
});
afterEach(() => {
  client.close();
  for (const member of members) member.stop();
});

const errorOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'none',
    (error: Error) => error.message,
  );

it('moves its watches, too, to another member after a call without an answer, and leaves other calls their time', async () => {
  const [first, second] = members;
  const { signal } = new AbortController();
  const watching = errorOf(client.watch(RANGE, signal)[Symbol.asyncIterator]().next());
  const slow = errorOf(client.range({ key: '/a' }, 900));
  const quick = errorOf(client.renewLease(1, 100));
  await until(() => expect(first?.paths().toSorted()).toEqual(['LeaseKeepAlive', 'Range', 'Watch']));
  await clock.advance(100);
  expect(await quick).toBe(`${first?.endpoint}: no answer within 100 ms`);
  expect(await watching).toBe(`${first?.endpoint}: given up for another one`);
  const again = errorOf(client.watch(RANGE, signal)[Symbol.asyncIterator]().next());
  await until(() => expect(second?.paths()).toEqual(['Watch']));
  await clock.advance(800);
  expect(await slow).toBe(`${first?.endpoint}: no answer within 900 ms`);
  client.close();
  expect(await again).toBe(`${second?.endpoint}: the connection was closed`);
});

it('asks members only that have a leader', async () => {
  const call = errorOf(client.transact({ comparisons: [], changes: [], otherwiseRead: [] }));
  const watching = errorOf(client.watch(RANGE, new AbortController().signal)[Symbol.asyncIterator]().next());
  await until(() => expect(members[0]?.paths()).toHaveLength(2));
  expect(members[0]?.asked.map(({ hasLeader }) => hasLeader)).toEqual(['true', 'true']);
  client.close();
  await Promise.all([call, watching]);
});

it('waits for a token no longer than the call has', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'drover-etcd-'));
  const passwordFile = join(directory, 'password');
  writeFileSync(passwordFile, 'secret');
  const [first] = members;
  const user = { name: 'drover', passwordFile };
  const known = new EtcdClient({ endpoints: [first?.endpoint ?? ''], clock, user });
  try {
    const slow = errorOf(known.range({ key: '/a' }));
    await until(() => expect(first?.paths()).toEqual(['Authenticate']));
    const quick = errorOf(known.renewLease(1, 300));
    await clock.advance(300);
    expect(await quick).toBe(`${first?.endpoint}: no token for drover within 300 ms`);
    expect(first?.paths(), 'one question for both').toEqual(['Authenticate']);
    // The question goes on to a deadline of its own.
    await clock.advance(5000);
    expect(await slow).toContain(first?.endpoint);
  } finally {
    known.close();
    rmSync(directory, { recursive: true });
  }
});
