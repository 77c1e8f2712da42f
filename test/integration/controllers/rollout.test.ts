/** Rollouts over a real master with wrappers, fake runtimes and a virtual clock. */
import pino from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TemplateSource } from '../../../src/master-term.js';
import type { InstanceRecord } from '../../../src/model/instance.js';
import type { RolloutRecord } from '../../../src/model/rollout.js';
import { TreeUnsteady } from '../../../src/templates/tree/tree.js';
import { ControlPlane, type TestNode } from '../../support/control-plane/control-plane.js';
import { FakeClock } from '../../support/fake-clock.js';

const MINUTE = 60_000;
const SERVICE = {
  name: 'lobby',
  runtime: 'process',
  command: 'one',
  ramMB: 100,
  cpu: 10,
  minimumServiceCount: 6,
};
const UPDATE = { strategy: 'rolling', minReadySeconds: 2, progressSeconds: 30 } as const;
/** Programs of this command end at once. */
const BAD = 'bad';
const OUTPUT = { from: { segment: 1, offset: 0 }, to: { segment: 1, offset: 9 } };

/** The one template that there is, and who is told when it changes. */
let digest: string;
/** Thrown in place of the digest; undefined: nothing is. */
let fault: Error | undefined;
let tell: (group: string, name: string) => void = () => undefined;
const noTrees = (): never => {
  throw new Error('no trees in this test');
};
const templates: TemplateSource = {
  groups: () => new Map([['games', ['lobby']]]),
  storages: () => [],
  digest: async () => {
    if (fault !== undefined) throw fault;
    return digest;
  },
  news: () => undefined,
  openBundle: noTrees,
  parts: { manifest: noTrees, files: noTrees },
  onChange: (listener) => {
    tell = listener;
    return () => undefined;
  },
};
/** The lines of the log from warnings on. */
let lines: { level: number; msg: string; err?: unknown }[];
let clock: FakeClock;
let plane: ControlPlane;
let alpha: TestNode;
/** When each process of a good content began, and how many live: at most, and at least of those that live for a while. */
const since = new Map<string, number>();
let most = 0;
let least = Number.POSITIVE_INFINITY;

beforeEach(async () => {
  clock = new FakeClock();
  since.clear();
  digest = 'a'.repeat(64);
  fault = undefined;
  lines = [];
  const logger = pino({ level: 'warn' }, { write: (line: string) => lines.push(JSON.parse(line)) });
  plane = new ControlPlane({
    clock,
    templates,
    logger,
    adaptInstallation: (installation) => ({
      ...installation,
      readOutput: async () => ({ lines: ['starting', 'FATAL: no schema', ''], isKept: true }),
    }),
  });
  await plane.start();
  alpha = await plane.addNode('alpha');
});

afterEach(async () => {
  const stopped = plane.stop();
  await clock.advance(20_000);
  await stopped;
});

const alive = (): string[] =>
  [...plane.nodes.values()].flatMap(({ runtime }) =>
    runtime.alive.filter((id) => runtime.specOf(id)?.command !== BAD),
  );
const commands = (): string[] =>
  [...plane.nodes.values()]
    .flatMap(({ runtime }) => runtime.alive.map((id) => runtime.specOf(id)?.command ?? '?'))
    .toSorted();
const wanted = (): InstanceRecord[] => plane.records().filter(({ desired }) => desired.goal === 'run');
const ids = (): string[] => wanted().map(({ id }) => id);
const rollout = (): RolloutRecord | undefined => plane.master.state.rollouts.get('lobby')?.value;
const all = (count: number, command: string): string[] => Array.from({ length: count }, () => command);

/** How many have lived for about `minReadySeconds`. */
function seasoned(): number {
  const now = clock.monotonic();
  const runs = [...plane.nodes.values()].flatMap(({ runtime }) =>
    alive().flatMap((id) => {
      const spec = runtime.specOf(id);
      return spec === undefined ? [] : `${id} ${spec.run}`;
    }),
  );
  for (const run of since.keys()) if (!runs.includes(run)) since.delete(run);
  for (const run of runs) if (!since.has(run)) since.set(run, now);
  return runs.filter((run) => now - (since.get(run) ?? now) >= 1500).length;
}

/** Lets `ms` pass in small steps, watching how many processes live. */
async function pass(ms: number): Promise<void> {
  for (let done = 0; done < ms; done += 100) {
    for (const { runtime } of plane.nodes.values())
      for (const id of runtime.alive)
        if (runtime.specOf(id)?.command === BAD) runtime.end(id, { code: 1, signal: null, output: OUTPUT });
    await clock.advance(100);
    most = Math.max(most, alive().length);
    least = Math.min(least, seasoned());
  }
}

async function service(fields: object = {}, update: object = {}): Promise<void> {
  await plane.putConfiguration({ ...SERVICE, update: { ...UPDATE, ...update }, ...fields });
  await clock.advance(500);
}

/** A service that stands, and then gets another content. */
async function change(fields: object = {}, update: object = {}, command = 'two'): Promise<void> {
  await service(fields, update);
  await pass(3000);
  most = alive().length;
  least = most;
  await service({ ...fields, command }, update);
}

async function players(id: string | undefined, count: number): Promise<void> {
  await plane.master.writer.reportState(id ?? '', { state: 'ONLINE', players: count });
}

describe('a rollout', () => {
  it('brings a changed content to all instances, one more at a time, and none missing', async () => {
    await change();
    expect(rollout()).toMatchObject({ state: 'rolling', cause: 'content' });
    await pass(40_000);
    expect(commands()).toEqual(all(6, 'two'));
    expect([least, most]).toEqual([6, 7]);
    expect(rollout()).toMatchObject({
      state: 'complete',
      counts: { total: 6, updated: 6, good: 6, outdated: 0, waiting: 0 },
    });
    expect(ids()).toHaveLength(6);
    const revision = await plane.store.barrier();
    await clock.advance(10 * MINUTE);
    expect(await plane.store.barrier(), 'a world that is rolled out writes nothing').toBe(revision);
  });

  it('is nobody in the way of a configuration without the block', async () => {
    await plane.putConfiguration(SERVICE);
    await pass(2000);
    const before = ids();
    await plane.putConfiguration({ ...SERVICE, command: 'two' });
    await pass(20_000);
    expect(ids()).toEqual(before);
    expect(rollout()).toBeUndefined();
  });

  it('does not begin for fields that hold without a restart', async () => {
    await service();
    await pass(3000);
    const before = ids();
    await service({ minimumServiceCount: 7, restartPolicy: 'on-failure' });
    await pass(20_000);
    expect(ids()).toHaveLength(7);
    expect(ids()).toEqual(expect.arrayContaining(before));
    expect(rollout()).toMatchObject({ state: 'complete' });
    expect(rollout()?.to).toBe(plane.master.state.configurations.get('lobby')?.value.hash);
  });

  it('counts those as good that have the content without a restart', async () => {
    await plane.addNode('beta');
    await service();
    await pass(3000);
    const onBeta = (): string[] =>
      wanted().flatMap(({ id, placement }) => (placement?.nodeId === 'beta' ? id : []));
    const before = onBeta();
    expect(before).toHaveLength(3);
    await service({ nodes: ['beta'] });
    await pass(40_000);
    expect(rollout()).toMatchObject({ state: 'complete', counts: { total: 6, good: 6 } });
    expect(onBeta()).toHaveLength(6);
    expect(onBeta()).toEqual(expect.arrayContaining(before));
  });

  it('ends old ones first, as many as may be missing, where none more may stand', async () => {
    await change({}, { maxSurge: 0, maxUnavailable: 2 });
    await pass(30_000);
    expect(commands()).toEqual(all(6, 'two'));
    expect([least, most]).toEqual([4, 6]);
  });

  it('never passes the maximum: there the old one goes first', async () => {
    await change({ maximumServiceCount: 6 }, { maxSurge: 3 });
    await pass(40_000);
    expect(commands()).toEqual(all(6, 'two'));
    expect([least, most]).toEqual([5, 6]);
  });

  it('counts percentages of the ready ones without players', async () => {
    await service({}, { maxSurge: 0, maxUnavailable: '50%' });
    await pass(3000);
    for (const id of ids().slice(0, 4)) await players(id, 3);
    most = 6;
    least = 6;
    await service({ command: 'two' }, { maxSurge: 0, maxUnavailable: '50%' });
    await pass(20_000);
    // Half of the two that are free: one at a time, and not half of six.
    expect(least).toBe(5);
    expect(commands()).toEqual([...all(4, 'one'), ...all(2, 'two')]);
    expect(rollout()?.counts).toMatchObject({ waiting: 4, good: 2 });
  });

  it('takes all older contents in one list, those that are not up first', async () => {
    await service({ minimumServiceCount: 4 });
    await pass(3000);
    const [busy] = ids();
    await players(busy, 1);
    await service({ minimumServiceCount: 4, command: 'two' });
    await pass(30_000);
    expect(commands()).toEqual(['one', 'two', 'two', 'two']);
    const sick = ids().find((id) => id !== busy) ?? '';
    await service({ minimumServiceCount: 4, command: 'three' });
    alpha.runtime.end(sick, { code: 1, signal: null });
    await pass(30_000);
    expect(commands()).toEqual(['one', 'three', 'three', 'three']);
    await players(busy, 0);
    await pass(10_000);
    expect(commands()).toEqual(all(4, 'three'));
    expect(rollout()?.state).toBe('complete');
  });
});

describe('players', () => {
  it('are waited for without an end, and their instance shows that it is outdated', async () => {
    await service();
    await pass(3000);
    const [busy = ''] = ids();
    await players(busy, 2);
    await service({ command: 'two' });
    await pass(10 * MINUTE);
    expect(commands()).toEqual(['one', ...all(5, 'two')]);
    expect(plane.master.state.instances.get(busy)?.value.outdated).toBe(true);
    expect(rollout()).toMatchObject({
      state: 'rolling',
      progressAt: null,
      counts: { waiting: 1, outdated: 1 },
    });
    await players(busy, 0);
    await pass(5000);
    expect(commands()).toEqual(all(6, 'two'));
    expect(rollout()?.state).toBe('complete');
  });

  it('are waited for until playersSeconds after the rollout began', async () => {
    await service({}, { playersSeconds: 60 });
    await pass(3000);
    for (const id of ids()) await players(id, 2);
    await service({ command: 'two' }, { playersSeconds: 60 });
    await pass(59_000);
    expect(commands().filter((command) => command === 'one')).toHaveLength(6);
    await pass(40_000);
    expect(commands()).toEqual(all(6, 'two'));
  });

  it('get one instance of the new content where all are taken, and the first empty one goes for it', async () => {
    await service();
    await pass(3000);
    const before = ids();
    for (const id of before) await players(id, 2);
    await service({ command: 'two' });
    await pass(10_000);
    expect(commands()).toEqual([...all(6, 'one'), 'two']);
    await players(before[4], 0);
    await pass(2000);
    expect(ids()).not.toContain(before[4]);
    expect(commands()).toEqual([...all(5, 'one'), 'two']);
  });

  it('count as there where an instance has said how many once, and does not say it now', async () => {
    await service({ minimumServiceCount: 1 });
    await pass(3000);
    const [busy = ''] = ids();
    await players(busy, 0);
    alpha.runtime.failWith = 'out of processes';
    alpha.runtime.end(busy, { code: 1, signal: null });
    await pass(1000);
    alpha.runtime.failWith = undefined;
    await pass(20_000);
    expect(plane.master.state.instances.get(busy)?.value.status).toMatchObject({
      state: 'ONLINE',
      players: null,
    });
    await service({ minimumServiceCount: 1, command: 'two' });
    await pass(20_000);
    expect(commands()).toContain('one');
    await players(busy, 0);
    await pass(10_000);
    expect(commands()).toEqual(['two']);
  });
});

describe('a failed rollout', () => {
  it.each([
    ['pause', 1, 0],
    ['pause', 0, 2],
    ['rollback', 2, 1],
  ] as const)(
    '(%s, surge %i, unavailable %i) holds a content back that ends at once, and all old ones stand again',
    async (onFailure, maxSurge, maxUnavailable) => {
      await change({}, { onFailure, maxSurge, maxUnavailable }, BAD);
      await pass(40_000);
      expect(least).toBeGreaterThanOrEqual(6 - maxUnavailable);
      await pass(3 * MINUTE);
      expect(commands()).toEqual(all(6, 'one'));
      expect(ids()).toHaveLength(6);
      expect(rollout()).toMatchObject({
        state: onFailure === 'pause' ? 'failed' : 'rolled-back',
        reason: 'no-progress',
        message: expect.stringMatching(
          /^no new instance became good within 30 s: \w{6} exited with code 1, [1-9]\d* times.*; last line: FATAL: no schema$/,
        ),
        failure: { code: 1, signal: null, lines: ['starting', 'FATAL: no schema', ''] },
      });
      // New instances are made from the last good content.
      await plane.master.led().controllers.creations.create('lobby');
      await pass(3000);
      expect(commands()).toEqual(all(7, 'one'));
    },
  );

  it('fails for want of room, and says so', async () => {
    await change({}, {}, 'two');
    await pass(40_000);
    await service({ command: 'three', runtime: 'docker' });
    await pass(40_000);
    expect(rollout()).toMatchObject({ state: 'failed', reason: 'not-placeable' });
    expect(rollout()?.message).toContain('does not offer runtime docker');
    expect(commands()).toEqual(all(6, 'two'));
  });

  it('ends with a changed file, and with a retry', async () => {
    await change({}, {}, BAD);
    await pass(40_000);
    expect(rollout()?.state).toBe('failed');
    // Only a count: what is held back stays so.
    await service({ command: BAD, minimumServiceCount: 7 });
    await pass(5000);
    expect(rollout()?.state).toBe('failed');
    expect(commands()).toEqual(all(7, 'one'));
    await plane.master.rolloutWriter.retry('lobby', 'ann');
    await pass(2000);
    expect(rollout()).toMatchObject({ state: 'rolling', cause: 'retry' });
    await service({ command: 'three', minimumServiceCount: 7 });
    await pass(3 * MINUTE);
    expect(commands()).toEqual(all(7, 'three'));
    expect(rollout()?.state).toBe('complete');
  });
});

describe('canaries', () => {
  it('come first, and the others wait for a promotion', async () => {
    await change({}, { canary: 2, promote: 'manual', maxSurge: 2 });
    await pass(MINUTE);
    expect(commands()).toEqual([...all(4, 'one'), ...all(2, 'two')]);
    expect(rollout()?.state).toBe('awaiting-promotion');
    // What is made meanwhile is of the last good content.
    await plane.master.led().controllers.creations.create('lobby');
    await pass(2000);
    expect(commands()).toEqual([...all(5, 'one'), ...all(2, 'two')]);
    await plane.master.rolloutWriter.promote('lobby');
    await pass(MINUTE);
    expect(commands()).toEqual(all(7, 'two'));
  });

  it('keep their content while they start, also when everything is looked at again', async () => {
    await service({}, { canary: 1, promote: 'manual' });
    await pass(3000);
    alpha.runtime.failWith = 'not yet';
    await service({ command: 'two' }, { canary: 1, promote: 'manual' });
    const canary = ids().at(-1);
    const revision = (): string | undefined => wanted().find(({ id }) => id === canary)?.revision;
    const before = revision();
    expect(before).toBe(rollout()?.to);
    await plane.replaceMaster();
    await pass(2000);
    expect(revision()).toBe(before);
    alpha.runtime.failWith = undefined;
    await pass(20_000);
    expect([commands(), rollout()?.state]).toEqual([[...all(5, 'one'), 'two'], 'awaiting-promotion']);
  });

  it('are promoted by themselves once they are good', async () => {
    await change({}, { canary: 1 });
    await pass(MINUTE);
    expect(commands()).toEqual(all(6, 'two'));
  });
});

describe('what people ask', () => {
  it('a pause stops everything, and a resume goes on', async () => {
    await change();
    await pass(8000);
    await plane.master.rolloutWriter.pause('lobby', 'ann');
    await pass(1000);
    const standing = commands();
    await pass(MINUTE);
    expect(commands()).toEqual(standing);
    expect(rollout()).toMatchObject({ state: 'paused', paused: { by: 'ann', was: 'rolling' } });
    await plane.master.rolloutWriter.resume('lobby');
    await pass(40_000);
    expect(commands()).toEqual(all(6, 'two'));
  });

  it('a restart makes all instances anew with the same content, also without the block', async () => {
    await plane.putConfiguration(SERVICE);
    await pass(3000);
    const before = ids();
    await plane.master.rolloutWriter.restart('lobby', 'ann');
    await pass(3 * MINUTE);
    expect(commands()).toEqual(all(6, 'one'));
    expect(ids().filter((id) => before.includes(id))).toEqual([]);
    expect(rollout()).toMatchObject({ state: 'complete', cause: 'restart', generation: 1 });
  });

  it('a rollback brings the last good content back, and holds the one of the file back', async () => {
    await change();
    await pass(40_000);
    await plane.master.rolloutWriter.rollback('lobby', { reason: 'lag', by: 'ann' });
    await pass(40_000);
    expect(commands()).toEqual(all(6, 'one'));
    expect(rollout()).toMatchObject({ state: 'rolled-back', reason: 'rollback', message: 'lag' });
    await plane.master.led().controllers.creations.create('lobby');
    await pass(2000);
    expect(commands()).toEqual(all(7, 'one'));
  });

  it('a deleted configuration takes its rollout with it', async () => {
    await change();
    await pass(5000);
    await plane.removeConfiguration('lobby');
    await pass(2000);
    expect(rollout()).toBeUndefined();
  });
});

describe('a master that takes over', () => {
  it('goes on with the rollout', async () => {
    await change();
    await pass(8000);
    const good = rollout()?.counts.good ?? 0;
    expect(good).toBeGreaterThan(0);
    await plane.replaceMaster();
    await pass(MINUTE);
    expect(commands()).toEqual(all(6, 'two'));
    expect(rollout()?.state).toBe('complete');
    expect([least, most]).toEqual([6, 7]);
  });

  it('goes on holding a content back', async () => {
    await change({}, {}, BAD);
    await pass(3 * MINUTE);
    await plane.replaceMaster();
    await pass(10_000);
    expect(rollout()?.state).toBe('failed');
    await plane.master.led().controllers.creations.create('lobby');
    await pass(2000);
    expect(commands()).toEqual(all(7, 'one'));
  });
});

describe('static instances', () => {
  it('take the content in place, one at a time', async () => {
    await change({ static: true, minimumServiceCount: 3 });
    const before = ids();
    await pass(MINUTE);
    expect(ids()).toEqual(before);
    expect(commands()).toEqual(all(3, 'two'));
    expect([least, most]).toEqual([2, 3]);
    expect(rollout()?.state).toBe('complete');
  });

  it('take it in containers too, which have no pid to tell one run from the next', async () => {
    alpha.runtime.inContainers = true;
    await change({ static: true, minimumServiceCount: 3 });
    await pass(MINUTE);
    expect(commands()).toEqual(all(3, 'two'));
    expect([least, most]).toEqual([2, 3]);
    expect(rollout()?.state).toBe('complete');
  });

  it('are not good by the run from before the restart, when the master that asked for it is gone', async () => {
    const fields = { static: true, minimumServiceCount: 1 };
    await service(fields, { minReadySeconds: 0 });
    alpha.runtime.stubborn.add(ids()[0] ?? '');
    await service({ ...fields, command: 'two' }, { minReadySeconds: 0 });
    await plane.replaceMaster();
    await pass(2000);
    expect([commands(), rollout()?.state]).toEqual([['one'], 'rolling']);
    await pass(MINUTE);
    expect([commands(), rollout()?.state]).toEqual([['two'], 'complete']);
  });

  it('keep their directories where the new content is not static: that is held back at once', async () => {
    await change({ static: true, minimumServiceCount: 2 });
    await pass(MINUTE);
    const before = ids();
    await service({ static: false, minimumServiceCount: 2, command: 'three' }, { progressSeconds: 86_400 });
    await pass(1000);
    expect(rollout()).toMatchObject({
      state: 'failed',
      reason: 'loses-files',
      message: expect.stringMatching(/is static and the new content is not/),
    });
    expect([ids(), commands()]).toEqual([before, all(2, 'two')]);
  });

  it('take the last good one back where the new one fails', async () => {
    await change({ static: true, minimumServiceCount: 3 }, {}, BAD);
    const before = ids();
    await pass(3 * MINUTE);
    expect(ids()).toEqual(before);
    expect(commands()).toEqual(all(3, 'one'));
    expect(least).toBe(2);
    expect(rollout()?.state).toBe('failed');
  });
});

describe('the strategy idle', () => {
  it('replaces only what says that it has no players, or is not up', async () => {
    await change({ minimumServiceCount: 3 }, { strategy: 'idle' });
    await pass(MINUTE);
    expect(commands()).toEqual(all(3, 'one'));
    const [first, second] = ids();
    await players(first, 0);
    alpha.runtime.end(second ?? '', { code: 1, signal: null });
    await pass(MINUTE);
    expect(commands()).toEqual(['one', 'two', 'two']);
    expect(rollout()?.state).toBe('rolling');
  });
});

describe('templates', () => {
  const templateInstallationConfig = { allOf: [{ group: 'games', name: 'lobby' }] };

  it('are contents, too, where that is asked for', async () => {
    await service({ templateInstallationConfig }, { templates: true });
    await pass(3000);
    const before = ids();
    expect(rollout()).toMatchObject({ state: 'complete', generation: 0 });
    digest = 'b'.repeat(64);
    tell('games', 'lobby');
    await pass(40_000);
    expect(ids().filter((id) => before.includes(id))).toEqual([]);
    expect(ids()).toHaveLength(6);
    expect(rollout()).toMatchObject({ state: 'complete', cause: 'templates', generation: 1 });
  });

  it('say nothing while a template is being written, and a warning without a stack when that goes on', async () => {
    await service({ templateInstallationConfig }, { templates: true });
    await pass(3000);
    lines.length = 0;
    fault = new TreeUnsteady(
      'DRV_TEMPLATE_UNSAFE',
      'template games/lobby changed while it was read, 3 times in a row',
    );
    tell('games', 'lobby');
    await pass(1500);
    fault = undefined;
    digest = 'b'.repeat(64);
    tell('games', 'lobby');
    await pass(40_000);
    expect(rollout()).toMatchObject({ state: 'complete', cause: 'templates' });
    expect(lines).toEqual([]);
    fault = new TreeUnsteady(
      'DRV_TEMPLATE_UNSAFE',
      'template games/lobby changed while it was read, 3 times in a row',
    );
    tell('games', 'lobby');
    await pass(30_000);
    expect(lines.map(({ level, msg, err }) => [level, msg, err])).toEqual([
      [
        40,
        expect.stringMatching(/^rollout failed for \w+; trying again: template games\/lobby changed/),
        undefined,
      ],
    ]);
  });

  it.each([
    ['and the template change in one save', { strategy: 'rolling', templates: false }],
    ['and the block itself come with the template', undefined],
  ])('are rolled out when templates: true %s', async (_what, before) => {
    const { update: _update, ...plain } = { ...SERVICE, update: UPDATE };
    const at = (update: object | undefined) =>
      plane.putConfiguration({ ...plain, templateInstallationConfig, ...(update && { update }) });
    await at(before && { ...UPDATE, ...before });
    await pass(3000);
    const old = ids();
    digest = 'b'.repeat(64);
    await at({ ...UPDATE, templates: true });
    tell('games', 'lobby');
    await pass(40_000);
    expect(ids().filter((id) => old.includes(id))).toEqual([]);
    expect(rollout()).toMatchObject({ state: 'complete', generation: 1 });
    const versions = wanted().flatMap(({ status }) => status.installed?.templates.map((one) => one.digest));
    expect(versions).toEqual(all(6, digest));
  });

  it('are known from the first instance on, whenever that came', async () => {
    await service({ templateInstallationConfig, minimumServiceCount: 0 }, { templates: true });
    await pass(3000);
    const { id } = await plane.master.led().controllers.creations.create('lobby');
    await pass(3000);
    digest = 'b'.repeat(64);
    tell('games', 'lobby');
    await pass(20_000);
    expect(ids()).not.toContain(id);
    expect(ids()).toHaveLength(1);
  });

  it('are not, where it is not asked for', async () => {
    await service({ templateInstallationConfig });
    await pass(3000);
    const before = ids();
    digest = 'b'.repeat(64);
    tell('games', 'lobby');
    await pass(40_000);
    expect(ids()).toEqual(before);
  });
});
