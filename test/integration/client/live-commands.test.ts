/** `drover wait`, `drover top` and `--watch` against an API server in this process, through a proxy that cuts. */
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { watchRollout } from '../../../src/client/live/rollout-watch.js';
import type { Goal, Kind } from '../../../src/client/live/states.js';
import { top } from '../../../src/client/live/top.js';
import { wait } from '../../../src/client/live/wait.js';
import { watchList } from '../../../src/client/live/watch-list.js';
import type { CommandPath } from '../../../src/command-tree/commands.js';
import { EXIT } from '../../../src/command-tree/runs/client-error.js';
import type { InstanceRecord } from '../../../src/model/instance.js';
import type { RolloutRecord } from '../../../src/model/rollout.js';
import { ApiWorld, instanceRecord } from '../../support/api/api-world.js';
import { LiveRun } from '../../support/client/live-run.js';
import { rolloutRecord, withStatus } from '../../support/control-plane/records.js';
import { until } from '../../support/until.js';

let world: ApiWorld;
let run: LiveRun;
const running: Promise<void>[] = [];

beforeEach(async () => {
  world = await new ApiWorld().start();
  await world.server.start();
  run = await LiveRun.over(world.url, world.admin);
});
afterEach(async () => {
  await run.stop();
  await world.stop();
  await Promise.allSettled(running.splice(0));
});

function inBackground(promise: Promise<void>): Promise<void> {
  promise.catch(() => undefined);
  running.push(promise);
  return promise;
}

/** Waits while the clock of the master goes on: it sends at most one frame in 100 ms. */
function untilSeen(look: () => void): Promise<void> {
  return until(async () => {
    await world.clock.advance(100);
    look();
  });
}

/** Until the promise is settled. */
async function settled(promise: Promise<void>): Promise<void> {
  let isOver = false;
  const over = (): void => {
    isOver = true;
  };
  promise.then(over, over);
  await untilSeen(() => expect(isOver).toBe(true));
  await promise;
}

function put(id: string, status: Partial<InstanceRecord['status']> = {}): Promise<InstanceRecord> {
  const record = instanceRecord({ id });
  return world.putInstance({ ...record, status: withStatus(record.status, status) });
}

const ofHello = (fields: Partial<RolloutRecord> = {}): RolloutRecord =>
  rolloutRecord({
    name: 'hello',
    to: world.configurations.get('hello')?.value.hash ?? 'new',
    counts: { total: 2, updated: 1, good: 1, outdated: 1, waiting: 0 },
    ...fields,
  });

const ONLINE = { state: 'ONLINE', reason: null, message: null } as const;
const STOPPED = { state: 'STOPPED', reason: 'stopped', pid: null } as const;

describe('rollout watch', () => {
  const watch = (isJson = false, screen?: { columns: number }): Promise<void> =>
    inBackground(watchRollout(run.api, 'hello', { isJson, screen }, run.output));

  it('draws a bar of cells in place on a terminal', async () => {
    await world.addConfiguration('hello');
    await world.putRollout(ofHello());
    const end = watch(false, { columns: 80 });
    await untilSeen(() => expect(run.lines[0]).toBe('hello  ■□  1 of 2 good, 0 new, 1 old'));
    const counts = { total: 2, updated: 2, good: 2, outdated: 0, waiting: 0 };
    await world.putRollout(ofHello({ state: 'complete', endedAt: 5, counts }));
    await settled(end);
    expect(run.lines.slice(2)).toEqual([
      '\x1b[2A\x1b[Jhello  ■■  2 of 2 good, 0 new, 0 old',
      'the rollout of hello is complete: 2 of 2 instances good',
    ]);
  });

  it('prints each step over a cut, and ends with the rollout', async () => {
    await world.addConfiguration('hello');
    await world.putRollout(ofHello());
    const end = watch();
    await untilSeen(() =>
      expect(run.lines).toEqual([
        'the rollout of hello is under way: 1 of 2 instances good, 1 to be replaced',
      ]),
    );
    run.proxy.cut();
    const counts = { total: 2, updated: 2, good: 2, outdated: 0, waiting: 0 };
    await world.putRollout(ofHello({ state: 'complete', endedAt: 5, counts }));
    await settled(end);
    expect(run.lines.slice(1)).toEqual(['the rollout of hello is complete: 2 of 2 instances good']);
  });

  it('goes on where a change was written and its rollout has not begun yet', async () => {
    await world.addConfiguration('hello');
    await world.putRollout(ofHello({ to: 'before', state: 'complete', endedAt: 5 }));
    const end = watch();
    await untilSeen(() => expect(run.lines).toHaveLength(1));
    await world.putRollout(ofHello());
    await untilSeen(() => expect(run.lines).toHaveLength(2));
    await world.putRollout(ofHello({ state: 'failed', reason: 'no-progress', endedAt: 9 }));
    await expect(settled(end)).rejects.toMatchObject({ exitCode: EXIT.failed });
  });

  it('ends with 1 when the rollout fails, and says why', async () => {
    await world.addConfiguration('hello');
    await world.putRollout(
      ofHello({ state: 'failed', reason: 'no-progress', message: 'none became good', endedAt: 5 }),
    );
    await expect(settled(watch())).rejects.toMatchObject({
      exitCode: EXIT.failed,
      message: 'the rollout of hello failed: none became good',
    });
  });

  it('prints a line of JSON for each step, and refuses what has had no rollout', async () => {
    await world.addConfiguration('hello');
    await expect(settled(watch(true))).rejects.toThrow('configuration hello has had no rollout');
    await world.putRollout(ofHello({ state: 'complete', endedAt: 5 }));
    await settled(watch(true));
    expect(run.lines.map((line) => JSON.parse(line))).toMatchObject([
      { configurationName: 'hello', state: 'complete' },
    ]);
  });
});

describe('wait', () => {
  const waitFor = (kind: Kind, goal: Goal, names: readonly string[], timeoutMs = 60_000): Promise<void> =>
    inBackground(wait(run.api, { kind, names, goal, timeoutMs }, run.output));

  it('ends when an instance that was not there is online, over a cut', async () => {
    const end = waitFor('instance', 'online', ['aaaaaa', 'bbbbbb']);
    await put('aaaaaa', ONLINE);
    await untilSeen(() => expect(run.lines).toEqual(['instance aaaaaa is online']));
    run.proxy.cut();
    await put('bbbbbb', { state: 'CREATING' });
    await put('bbbbbb', ONLINE);
    await settled(end);
    expect(run.lines).toEqual(['instance aaaaaa is online', 'instance bbbbbb is online']);
  });

  it('knows stopped from stopping, and what is gone or was never there', async () => {
    await put('aaaaaa', { state: 'STOPPED', reason: 'stopping' });
    const stopped = waitFor('instance', 'stopped', ['aaaaaa']);
    const gone = waitFor('instance', 'gone', ['aaaaaa', 'zzzzzz']);
    await untilSeen(() => expect(run.lines).toEqual(['instance zzzzzz is gone']));
    await put('aaaaaa', STOPPED);
    await settled(stopped);
    await world.dropInstance('aaaaaa');
    await settled(gone);
    expect(run.lines.slice(1)).toEqual(['instance aaaaaa is stopped', 'instance aaaaaa is gone']);
  });

  it('follows configurations and nodes', async () => {
    await world.addNode('n1', { condition: 'lost' });
    const [online, node, stopped] = [
      waitFor('config', 'online', ['hello']),
      waitFor('node', 'online', ['n1']),
      waitFor('node', 'stopped', ['n1']),
    ];
    await settled(stopped);
    const gone = waitFor('config', 'gone', ['nothing']);
    await settled(gone);
    await put('aaaaaa', ONLINE);
    await put('bbbbbb', { state: 'CREATING' });
    await world.addConfiguration('hello');
    await settled(waitFor('config', 'minimum', ['hello']));
    await world.addNode('n1');
    await settled(node);
    expect(run.lines).not.toContain('config hello is online');
    await put('bbbbbb', ONLINE);
    await settled(online);
  });

  it('follows rollouts', async () => {
    await world.addConfiguration('hello');
    const complete = waitFor('rollout', 'complete', ['hello']);
    const ended = waitFor('rollout', 'ended', ['hello']);
    await world.putRollout(ofHello());
    await world.putRollout(ofHello({ state: 'failed', endedAt: 5 }));
    await settled(ended);
    expect(run.lines).toEqual(['rollout hello is ended']);
    await world.putRollout(ofHello({ state: 'complete', endedAt: 6 }));
    await settled(complete);
  });

  it('says why of each when the time is over, and ends with 6', async () => {
    await put('aaaaaa', { state: 'CREATING', reason: 'installing', message: 'copies the template' });
    await expect(waitFor('instance', 'online', ['aaaaaa', 'zzzzzz'], 300)).rejects.toMatchObject({
      exitCode: EXIT.timedOut,
      message: '',
    });
    expect(run.said[0]).toBe('instance aaaaaa, zzzzzz: not online within 0.3 s');
    expect(run.said.slice(1).join('\n')).toMatch(/aaaaaa/);
    expect(run.said.at(-1)).toMatch(/no instance.*zzzzzz/);
  });

  it('refuses a state that there is not', async () => {
    await expect(waitFor('node', 'minimum', ['n1'])).rejects.toMatchObject({
      exitCode: EXIT.usage,
      message: '--for minimum is not for node: there are online, stopped, gone',
    });
  });
});

describe('--watch', () => {
  const watch = (path: CommandPath, format: 'table' | 'json' | 'name', input = {}): Promise<void> =>
    inBackground(watchList(run.api, path, input, { format, terminal: undefined }, run.output));

  it('prints all instances, then each that changed, and that are gone, over a cut', async () => {
    await put('aaaaaa', ONLINE);
    void watch('instance list', 'table', { configuration: undefined });
    await untilSeen(() => expect(run.lines).toHaveLength(2));
    expect(run.lines[0]).toMatch(/^ID +CONFIGURATION +STATE/);
    await put('bbbbbb', ONLINE);
    await untilSeen(() => expect(run.lines.at(-1)).toMatch(/^bbbbbb +hello +ONLINE/));
    run.proxy.cut();
    await world.dropInstance('aaaaaa');
    await untilSeen(() => expect(run.lines.at(-1)).toBe('aaaaaa  gone'));
    expect(run.lines).toHaveLength(4);
  });

  it('prints one JSON value a line', async () => {
    await world.addNode('n1');
    void watch('cluster nodes', 'json');
    await untilSeen(() => expect(run.lines).toHaveLength(1));
    await world.addNode('n1', { cordoned: true });
    await untilSeen(() => expect(run.lines).toHaveLength(2));
    expect(run.lines.map((line) => JSON.parse(line))).toMatchObject([
      { type: 'put', entry: { nodeId: 'n1', cordoned: false } },
      { type: 'put', entry: { nodeId: 'n1', cordoned: true } },
    ]);
  });

  it('follows configurations with their instances', async () => {
    await world.addConfiguration('hello');
    void watch('config list', 'table');
    await untilSeen(() => expect(run.lines[1]).toMatch(/^hello +process +0 +0 /));
    await put('aaaaaa', ONLINE);
    await untilSeen(() => expect(run.lines.at(-1)).toMatch(/^hello +process +1 +1 /));
  });

  it('is refused as the list itself is, and ends when nobody reads', async () => {
    await expect(watch('instance list', 'table', { configuration: 'nothing' })).rejects.toMatchObject({
      exitCode: EXIT.notFound,
    });
    await put('aaaaaa', ONLINE);
    run.close();
    await settled(watch('instance list', 'name', { configuration: undefined }));
    expect(run.lines).toEqual(['aaaaaa']);
  });

  it('draws on a terminal, and names a lost connection there', async () => {
    await put('aaaaaa', ONLINE);
    const terminal = Object.assign(new PassThrough(), { columns: 200, rows: 20 });
    void inBackground(
      watchList(
        run.api,
        'instance list',
        { configuration: undefined },
        { format: 'table', terminal },
        run.output,
      ),
    );
    const screen = (): string => run.out.split('\x1b[H').at(-1) ?? '';
    await untilSeen(() => expect(screen()).toMatch(/^ID .*\naaaaaa +hello +ONLINE/));
    await put('aaaaaa', STOPPED);
    await untilSeen(() => expect(screen()).toMatch(/^ID .*\naaaaaa +hello +STOPPED/));
    run.proxy.goDeaf();
    run.proxy.cut();
    await untilSeen(() => expect(screen()).toMatch(/\nthe connection to prod was lost/));
    run.proxy.hear();
    run.proxy.cut();
    await put('aaaaaa', ONLINE);
    await untilSeen(() => expect(screen()).toMatch(/^ID .*\naaaaaa +hello +ONLINE/));
    await untilSeen(() => expect(screen()).not.toContain('connection'));
    expect(run.said).toEqual([]);
  });
});

it('counts the time to a restart down on a terminal, though nothing changes', async () => {
  const message = 'exited with code 2, restart 3 in 95 s';
  await put('aaaaaa', { state: 'OFFLINE', reason: 'exited', pid: null, message, lastHeartbeat: Date.now() });
  const terminal = Object.assign(new PassThrough(), { columns: 200, rows: 20 });
  const options = { format: 'table', terminal } as const;
  void inBackground(watchList(run.api, 'instance list', { configuration: undefined }, options, run.output));
  const left = (): number => Number(/restart 3 in (\d+) s/.exec(run.out.split('\x1b[H').at(-1) ?? '')?.[1]);
  await untilSeen(() => expect(left()).toBeLessThanOrEqual(95));
  const first = left();
  await untilSeen(() => expect(left()).toBeLessThan(first));
});

describe('top', () => {
  const used = (cpuPercent: number, memoryMB: number) => [1, cpuPercent, memoryMB * 1024 * 1024, 2] as const;

  it('prints once what is most first', async () => {
    const samples = [
      ['aaaaaa', ...used(5, 300)],
      ['bbbbbb', ...used(50, 20)],
    ] as const;
    world.usageBook.take(
      'n1',
      samples.map((sample) => [...sample]),
      () => 'hello',
    );
    const options = { configuration: undefined, format: 'table', terminal: undefined } as const;
    await settled(inBackground(top(run.api, { ...options, sort: 'cpu' }, run.output)));
    expect(run.lines).toEqual([
      '2 instances, 55.0 % of a core, 320 MB of RAM',
      '',
      expect.stringMatching(/^ID +CONFIGURATION +NODE +CPU +MEMORY/),
      expect.stringMatching(/^bbbbbb +hello +n1 +50\.0 % +20 MB +2 +1 s$/),
      expect.stringMatching(/^aaaaaa /),
    ]);
    run.out = '';
    await settled(inBackground(top(run.api, { ...options, sort: 'memory', format: 'name' }, run.output)));
    expect(run.lines).toEqual(['aaaaaa', 'bbbbbb']);
  });

  it('refuses a configuration that is not known', async () => {
    const options = { configuration: 'nosuch', sort: 'cpu', format: 'table', terminal: undefined } as const;
    await expect(top(run.api, options, run.output)).rejects.toMatchObject({ exitCode: EXIT.notFound });
  });
});
