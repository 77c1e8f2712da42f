/**
 * A stored record that its schema refuses, in a whole control plane: it is set aside, kept and told, what it stands for
 * is left alone, and everything else works.
 */
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { messageSchema, type Report } from '../../../src/channel/protocol/messages.js';
import { clusterStatusSchema } from '../../../src/operations/cluster-status.js';
import { instanceKey, nodeKey, PREFIX, revisionKey } from '../../../src/store/keys.js';
import type { Store } from '../../../src/store/store.js';
import { Gate, GatedTransport } from '../../support/cluster/gated-transport.js';
import { ControlPlane, type TestNode } from '../../support/control-plane/control-plane.js';
import { NO_FILES } from '../../support/control-plane/explain-facts.js';
import { FlakyStore } from '../../support/control-plane/flaky-store.js';
import { FakeClock } from '../../support/fake-clock.js';

const SERVICE = {
  name: 'lobby',
  runtime: 'process',
  command: 'run',
  ramMB: 100,
  cpu: 10,
  availablePorts: { min: 30_000, max: 30_009 },
};

let clock: FakeClock;
let store: FlakyStore;
let gate: Gate;
let plane: ControlPlane;
let alpha: TestNode;
let lines: { level: number; msg: string }[];

beforeEach(async () => {
  clock = new FakeClock();
  store = new FlakyStore(clock);
  gate = new Gate();
  lines = [];
  plane = new ControlPlane({
    clock,
    masterStore: store,
    logger: pino({ level: 'warn' }, { write: (line: string) => lines.push(JSON.parse(line)) }),
    adaptTransport: (transport) => new GatedTransport(transport, gate),
  });
  await plane.start();
  alpha = await plane.addNode('alpha');
});

afterEach(async () => {
  await plane.stop();
});

const settle = (): Promise<void> => clock.advance(300);

async function service(count: number): Promise<string[]> {
  await plane.putConfiguration({ ...SERVICE, minimumServiceCount: count });
  await settle();
  const ids = plane.records().map(({ id }) => id);
  expect(ids).toHaveLength(count);
  expect(alpha.runtime.alive).toHaveLength(count);
  return ids;
}

/** Changes a stored value as another version, or a message that should have been refused, might have. */
async function spoil(where: Store, key: string, change: (value: object) => unknown): Promise<unknown> {
  const value = change(Object((await where.get(key))?.value));
  await where.transact([{ do: 'put', key, value }]);
  return value;
}

const withNegativeRestarts = (value: object): unknown => ({
  ...value,
  status: { ...Reflect.get(value, 'status'), restarts: -1 },
});

/** The master dies, something happens to its store, and another one takes the store up. */
async function restartMaster(meanwhile: () => Promise<unknown>): Promise<void> {
  gate.shut();
  await plane.master.stop();
  await meanwhile();
  await plane.replaceMaster();
  gate.reset();
  await clock.advance(10_000);
}

/** All ports that the ledger has given out, by asking for more instances than there are. */
async function portsOfMore(count: number): Promise<(number | null | undefined)[]> {
  const more = [];
  for (let made = 0; made < count; made++) more.push((await created()).placement?.port);
  return more;
}

async function created() {
  const creating = plane.master.led().controllers.creations.create('lobby');
  await settle();
  return creating;
}

describe('an instance whose record cannot be read', () => {
  it('is left alone by a master that starts, keeps its port and its place, and all others are managed', async () => {
    const [bad = '', ...others] = await service(3);
    const { pid } = plane.records().find(({ id }) => id === bad)?.status ?? {};
    let kept: unknown;
    await restartMaster(async () => {
      kept = await spoil(store, instanceKey(bad), withNegativeRestarts);
    });
    expect(alpha.runtime.signals).toEqual([]);
    expect(alpha.runtime.starts).toHaveLength(3);
    expect(pid).toBeTypeOf('number');
    expect(
      plane
        .records()
        .map(({ id, status }) => `${id} ${status.state}`)
        .toSorted(),
    ).toEqual(others.map((id) => `${id} ONLINE`).toSorted());
    expect((await store.get(instanceKey(bad)))?.value).toEqual(kept);
    expect((await portsOfMore(2)).toSorted()).toEqual([30_003, 30_004]);
    await plane.master.writer.setLifecycle(others[0] ?? '', 'stop');
    await settle();
    expect(alpha.runtime.signals).toEqual([`${others[0]} SIGTERM`]);
    expect(alpha.runtime.alive).toContain(bad);
  });

  it('is said in the log, `why`, the figures and the status', async () => {
    const [bad = ''] = await service(2);
    await restartMaster(() => spoil(store, instanceKey(bad), withNegativeRestarts));
    const problem = 'status.restarts: must be at least 0';
    expect(lines.map(({ msg }) => msg)).toContainEqual(
      `the record instances/${bad} cannot be read (${problem}): it is set aside and kept as it is`,
    );
    const explainer = plane.master.explainer(NO_FILES);
    expect(await explainer.instance(bad)).toMatchObject({
      verdict: `${bad} (lobby) has a record that cannot be read (${problem}).`,
      isSettled: false,
      node: 'alpha',
      port: 30_000,
    });
    expect((await explainer.configuration('lobby')).notes.join()).toContain(bad);
    expect(plane.master.state.unreadableCounts().get('instances')).toBe(1);
    expect([...plane.master.state.unreadable()]).toEqual([{ key: `instances/${bad}`, problem }]);
    expect(
      clusterStatusSchema.shape.unreadableRecords.parse([...plane.master.state.unreadable()]),
    ).toHaveLength(1);
  });

  it('may become so while a master runs: nothing retries, and nothing is ended', async () => {
    const [bad = '', other = ''] = await service(2);
    await spoil(store, instanceKey(bad), withNegativeRestarts);
    await settle();
    const transact = vi.spyOn(store, 'transact');
    alpha.runtime.end(bad, { code: 1, signal: null });
    await clock.advance(5000);
    await expect(plane.master.writer.setLifecycle(bad, 'stop')).rejects.toThrow('cannot be read');
    await plane.master.writer.setLifecycle(other, 'stop');
    await clock.advance(5000);
    // Its node still restarts it after a crash, and what it reports is taken and dropped.
    expect(alpha.runtime.starts.filter(({ instanceId }) => instanceId === bad)).toHaveLength(2);
    expect(alpha.runtime.signals).toEqual([`${other} SIGTERM`]);
    // The stop of the other, the one in its place, and their reports: no write is tried again.
    expect(transact.mock.calls.length).toBeLessThan(12);
    expect(plane.records().filter(({ desired }) => desired.goal === 'run')).toHaveLength(1);
  });

  it('is ended and its port given back when it is deleted', async () => {
    const [bad = ''] = await service(2);
    await restartMaster(() => spoil(store, instanceKey(bad), withNegativeRestarts));
    await plane.master.writer.remove(bad);
    await clock.advance(1000);
    expect(await store.get(instanceKey(bad))).toBeUndefined();
    expect(alpha.runtime.signals).toEqual([`${bad} SIGTERM`]);
    expect(
      plane
        .records()
        .map(({ placement }) => placement?.port)
        .toSorted(),
    ).toEqual([30_000, 30_001]);
    expect(alpha.runtime.alive).not.toContain(bad);
    expect(alpha.runtime.alive).toHaveLength(2);
  });

  it('is taken up again by a master that can read it', async () => {
    const [bad = ''] = await service(1);
    const good = (await store.get(instanceKey(bad)))?.value;
    await restartMaster(() => spoil(store, instanceKey(bad), () => ({ ...Object(good), status: 'fine' })));
    await restartMaster(() => spoil(store, instanceKey(bad), () => good));
    expect(plane.describe()).toEqual(['lobby ONLINE - alpha:30000']);
    expect(alpha.runtime.starts).toHaveLength(1);
    expect(alpha.runtime.signals).toEqual([]);
  });

  it('goes with its node', async () => {
    const [bad = ''] = await service(1);
    await restartMaster(() => spoil(store, instanceKey(bad), withNegativeRestarts));
    await plane.master.nodeWriter.forget('alpha', { force: true });
    expect(await store.get(instanceKey(bad))).toBeUndefined();
  });

  it('is left alone also by a node that has lost its own record of it', async () => {
    const [bad = ''] = await service(1);
    await restartMaster(async () => {
      await spoil(store, instanceKey(bad), () => ({ configurationName: 'lobby' }));
      await alpha.wrapper.stop();
      await spoil(alpha.store, `assignments/${bad}`, () => ({ id: bad }));
      await plane.replaceWrapper(alpha);
    });
    expect(alpha.runtime.signals).toEqual([]);
    expect(alpha.runtime.alive).toEqual([bad]);
  });
});

describe('another record that cannot be read', () => {
  it('of a node is written anew when the node says hello, and its cordon stays', async () => {
    await service(1);
    await plane.master.nodeWriter.cordon('alpha');
    await restartMaster(() => spoil(store, nodeKey('alpha'), (value) => ({ ...value, capacity: 'much' })));
    expect(plane.master.state.nodes.get('alpha')?.value).toMatchObject({
      cordoned: true,
      condition: 'connected',
      capacity: { maxCpu: 1_000_000_000 },
    });
    expect(alpha.runtime.starts).toHaveLength(1);
    expect(plane.describe()).toEqual(['lobby ONLINE - alpha:30000']);
  });

  it('of a node that is away goes when the node is forgotten', async () => {
    await service(1);
    await alpha.wrapper.stop();
    await restartMaster(() => spoil(store, nodeKey('alpha'), () => ({ nodeId: 'alpha' })));
    await plane.master.nodeWriter.forget('alpha', { force: true });
    await settle();
    expect([await store.get(nodeKey('alpha')), plane.records()[0]?.placement ?? null]).toEqual([
      undefined,
      null,
    ]);
  });

  it('of a revision ends nothing that was made from it', async () => {
    const [id = ''] = await service(1);
    const { revision = '' } = plane.records()[0] ?? {};
    await restartMaster(() => spoil(store, revisionKey(revision), (value) => ({ ...value, ramMB: -1 })));
    expect(alpha.runtime.signals).toEqual([]);
    expect(alpha.runtime.alive).toEqual([id]);
  });

  it.each([PREFIX.keys, PREFIX.members, PREFIX.joinTokens, PREFIX.configurations])(
    'under %s is told and kept',
    async (prefix) => {
      await service(1);
      await restartMaster(() => spoil(store, `${prefix}odd`, () => ({ from: 'the future' })));
      expect([...plane.master.state.unreadable()].map(({ key }) => key)).toEqual([`${prefix}odd`]);
      expect((await store.get(`${prefix}odd`))?.value).toEqual({ from: 'the future' });
      expect(plane.describe()).toEqual(['lobby ONLINE - alpha:30000']);
    },
  );
});

describe("a node's own record that cannot be read", () => {
  it.each(['assignments', 'handles', 'revisions'])(
    'under %s does not end its start, and its process is taken up',
    async (kind) => {
      const ids = await service(2);
      await alpha.wrapper.stop();
      const { entries } = await alpha.store.list(`${kind}/`);
      const key = entries[0]?.key ?? expect.fail(`nothing under ${kind}`);
      const kept = await spoil(alpha.store, key, (value) => ({
        ...value,
        restarts: 'many',
        id: 5,
        ramMB: 'all',
      }));
      await plane.replaceWrapper(alpha);
      await clock.advance(10_000);
      expect(alpha.runtime.signals).toEqual([]);
      expect(alpha.runtime.starts).toHaveLength(2);
      expect(alpha.runtime.alive.toSorted()).toEqual(ids.toSorted());
      expect(plane.records().map(({ status }) => status.state)).toEqual(['ONLINE', 'ONLINE']);
      expect((await alpha.store.get(`set-aside/${key}`))?.value).toEqual(kept);
    },
  );

  it('goes on with what can be read of a handle: a finished instance is not started again', async () => {
    await plane.putConfiguration({ ...SERVICE, minimumServiceCount: 1, restartPolicy: 'never' });
    await settle();
    const [{ id } = { id: '' }] = plane.records();
    alpha.runtime.end(id, { code: 0, signal: null });
    await settle();
    await alpha.wrapper.stop();
    await spoil(alpha.store, `handles/${id}`, (value) => ({ ...value, streak: 'long' }));
    await plane.replaceWrapper(alpha);
    await clock.advance(10_000);
    expect(alpha.runtime.starts).toHaveLength(1);
    expect(plane.records()[0]?.status).toMatchObject({ state: 'STOPPED', reason: 'exited' });
  });
});

it('a report that no record could hold ends the connection of its node and is never stored', () => {
  const report: Report = {
    id: 'aaaaaa',
    restartToken: 0,
    state: 'ONLINE',
    reason: null,
    message: null,
    pid: 1,
    restarts: -1,
    exitCode: null,
    exitSignal: null,
    busyPort: null,
    gone: false,
  };
  expect(
    messageSchema.safeParse({ type: 'status', sequence: 1, reports: [report] }).error?.issues,
  ).toMatchObject([{ path: ['reports', 0, 'restarts'] }]);
});
