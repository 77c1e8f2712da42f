/** Real control groups, of this machine; skipped where they are not to be had. Needs `npm run build`. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { pino } from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import { SystemClock } from '../../../src/loop/system-clock.js';
import { openLimits } from '../../../src/runtime/limits/open-limits.js';
import type { ResourceLimits } from '../../../src/runtime/limits/resource-limits.js';
import { NOT_LIMITED } from '../../../src/runtime/process/shell-prelude.js';
import type { RunId } from '../../../src/runtime/runtime.js';
import { ControlPlane } from '../../support/control-plane/control-plane.js';
import { kill } from '../../support/daemon/root-processes.js';
import { hasTool, ProcessWorld } from '../../support/runtime/process-world.js';
import { SessionWorld } from '../../support/runtime/session-world.js';
import { until } from '../../support/until.js';

const RUN: RunId = { instanceId: 'abc123', run: 1 };
const LIMITS = { ramMB: 16, cpu: 0 };
/** Takes all the memory that it can get. */
const HOG = 'tail /dev/zero';

const logger = pino({ enabled: false });
const open = (rootId: string): Promise<ResourceLimits> =>
  openLimits({ rootId, directory: tmpdir(), environment: {}, logger });

async function isHere(): Promise<boolean> {
  const limits = await open(`probe${process.pid}`);
  await limits.stop();
  return limits.advisory === null;
}

const closing: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

function newRootId(): string {
  return randomBytes(6).toString('hex');
}

/** A shell that is in the groups before it becomes `command`. */
function spawnIn(directories: readonly string[], command: string): ChildProcess {
  const join = 'while [ $# -gt 1 ]; do echo 0 >"$1/cgroup.procs"; shift; done; exec /bin/sh -c "$1"';
  const child = spawn('/bin/sh', ['-c', join, 'sh', ...directories, command], { stdio: 'ignore' });
  const whenGone = new Promise((resolve) => child.once('close', resolve));
  closing.push(() => {
    child.kill('SIGKILL');
    for (const pid of pidsIn(directories)) kill(pid);
    return whenGone;
  });
  return child;
}

function untilUsed(limits: ResourceLimits, processes: number): Promise<void> {
  return until(() => expect(limits.usage(RUN)?.processes).toBe(processes));
}

describe.skipIf(!(await isHere()))('control groups', () => {
  async function limitsOf(rootId = newRootId()): Promise<ResourceLimits> {
    const limits = await open(rootId);
    closing.push(() => until(() => limits.close(RUN).then(() => limits.stop())));
    return limits;
  }

  /** A control plane with real processes in real control groups, and the directory of the groups. */
  async function startPlane(): Promise<{ plane: ControlPlane; groups: string }> {
    const world = new ProcessWorld();
    const limits = await limitsOf(world.rootId);
    const runtime = world.runtime({ groups: limits });
    const plane = new ControlPlane({ clock: new SystemClock(), realRuntimes: [runtime], limits });
    closing.push(async () => {
      await plane.stop();
      await world.close();
    });
    await plane.start();
    await plane.addNode('node-a');
    const [directory = ''] = await limits.open(RUN, LIMITS);
    closing.push(() => limits.close(RUN));
    return { plane, groups: dirname(directory) };
  }

  it('count everything that a run started, and go when it is closed', async () => {
    const limits = await limitsOf();
    const directories = await limits.open(RUN, LIMITS);
    const child = spawnIn(directories, 'setsid sleep 1000 & sleep 1000 & wait');
    await untilUsed(limits, 3);
    expect(limits.usage(RUN)?.memoryBytes).toBeGreaterThan(0);
    await limits.close(RUN);
    // It is in use: nothing is taken from what lives.
    expect(directories.map((directory) => existsSync(directory))).toEqual(directories.map(() => true));
    for (const pid of pidsIn(directories)) kill(pid);
    await until(() => expect(child.exitCode ?? child.signalCode).not.toBeNull());
    await until(async () => {
      await limits.close(RUN);
      expect(directories.filter((directory) => existsSync(directory))).toEqual([]);
    });
  });

  it('keep a program that computes without end to its share of a core', async () => {
    const limits = await limitsOf();
    const directories = await limits.open(RUN, { ramMB: 16, cpu: 20 });
    spawnIn(directories, 'while :; do :; done');
    const periods = (name: string): number => Number(fieldOf(directories, 'cpu.stat', name));
    // On a machine that has other work it does not use up its share in each period.
    await until(() => expect(periods('nr_throttled')).toBeGreaterThan(5));
    const seconds = limits.usage(RUN)?.cpuSeconds ?? 0;
    // Read afterwards: a fifth of each period that has begun by now, and one slice more.
    expect(seconds).toBeLessThan((periods('nr_periods') + 1) * 0.02 + 0.03);
    expect(seconds).toBeGreaterThan(0.05);
  });

  it('are taken up by the next daemon, which removes what nothing uses and nothing else', async () => {
    const rootId = newRootId();
    const before = await limitsOf(rootId);
    const directories = await before.open(RUN, LIMITS);
    const unused = await before.open({ ...RUN, instanceId: 'unused' }, LIMITS);
    const foreign = (await (await limitsOf()).open(RUN, LIMITS)).concat(
      directories.map((directory) => join(dirname(directory), 'kept')),
    );
    for (const directory of foreign) mkdirSync(directory, { recursive: true });
    closing.push(() => {
      for (const directory of foreign) if (basename(directory) === 'kept') rmdirSync(directory);
    });
    const child = spawnIn(directories, 'exec sleep 1000');
    await untilUsed(before, 1);

    const after = await limitsOf(rootId);
    await after.adopt(RUN, child.pid ?? 0, LIMITS);
    await after.removeUnused(() => false);
    expect(after.usage(RUN)?.processes).toBe(1);
    expect(unused.filter((directory) => existsSync(directory))).toEqual([]);
    expect(foreign.filter((directory) => !existsSync(directory))).toEqual([]);
    await after.stop();
    expect(directories.filter((directory) => !existsSync(directory))).toEqual([]);
  });

  it('tell of a part that the limit ended while the run went on, once, and not at once', async () => {
    const limits = await limitsOf();
    const directories = await limits.open(RUN, LIMITS);
    spawnIn(directories, `${HOG}; sleep 1000; :`);
    await until(() => expect(limits.wasOutOfMemory(RUN)).toBe(true));
    expect([limits.noteKills(RUN), limits.noteKills(RUN), limits.noteKills(RUN)]).toEqual([0, 1, 0]);
    expect(limits.wasOutOfMemory(RUN)).toBe(false);
  });

  it('bound a program that forks without end, and end all of it while it forks', async (context) => {
    const limits = await limitsOf();
    const directories = await limits.open(RUN, { ramMB: 64, cpu: 50 });
    const counting = directories.find((directory) => existsSync(join(directory, 'pids.max')));
    if (counting === undefined) return context.skip('this machine has no controller pids');
    expect(readFileSync(join(counting, 'pids.max'), 'utf8')).toBe('4096\n');
    // So that the machine does not notice.
    writeFileSync(join(counting, 'pids.max'), '60');
    spawnIn(directories, 'trap "" TERM; fork() { fork & fork & wait; }; fork');
    await until(() => expect(fieldOf(directories, 'pids.events', 'max')).not.toBe('0'));
    await limits.kill(RUN);
    await until(() => expect(limits.pids(RUN)).toEqual([]));
    const next = { ...RUN, run: 2 };
    closing.push(() => limits.close(next));
    for (const directory of await limits.open(next, { ramMB: 64, cpu: 50 }))
      expect(directories).not.toContain(directory);
  });

  it('hold the number of processes, and of no other run', async () => {
    const world = new ProcessWorld();
    closing.push(() => world.close());
    const limits = await limitsOf(world.rootId);
    const controlGroups = await limits.open(RUN, { ramMB: 64, cpu: 0, pids: 10 });
    closing.push(() => {
      for (const pid of pidsIn(controlGroups)) kill(pid);
    });
    const command =
      "exec python3 -c \"import subprocess\nfor i in range(20):\n try: subprocess.Popen(['sleep', '1000']); print('made', flush=True)\n except OSError: print('refused', flush=True)\nimport time; time.sleep(1000)\"";
    await world.runtime({ groups: limits }).start(world.spec(RUN.instanceId, command, { controlGroups }));
    await until(async () => expect(await world.lines(RUN.instanceId)).toHaveLength(20));
    const made = (await world.lines(RUN.instanceId)).filter((line) => line === 'made');
    expect(made).toHaveLength(9);
    expect(pidsIn(controlGroups)).toHaveLength(10);
    const other = { ...RUN, run: 2 };
    closing.push(() => limits.close(other));
    expect(await limits.open(other, { ramMB: 64, cpu: 0 })).not.toEqual(controlGroups);
  });

  it('that cannot be joined are said so in the log, once, and the command runs', async () => {
    const world = new ProcessWorld();
    closing.push(() => world.close());
    const controlGroups = ['/sys/fs/cgroup/nowhere/a', '/sys/fs/cgroup/nowhere/b'];
    await world.runtime().start(world.spec('abc123', 'echo "f $-"', { controlGroups }));
    await until(async () =>
      expect(await world.lines('abc123')).toEqual([NOT_LIMITED, expect.stringMatching(/^f /)]),
    );
  });

  describe.each(['process', 'screen', 'tmux'] as const)('of runtime %s', (key) => {
    it.runIf(key === 'process' || hasTool(key))(
      'reach what left its session and its environment, once with each signal, and say gone when it is',
      async () => {
        const world = key === 'process' ? new ProcessWorld() : new SessionWorld(key);
        closing.push(() => world.close());
        const limits = await limitsOf(world.rootId);
        const runtime = world.runtime({ groups: limits });
        const controlGroups = await limits.open(RUN, { ramMB: 64, cpu: 0 });
        closing.push(() => {
          for (const pid of pidsIn(controlGroups)) kill(pid);
        });
        const stubborn = 'trap "echo got it >>far" TERM; echo far is there; while :; do sleep 0.1; done';
        const command = `env -i setsid /bin/sh -c '${stubborn}' & trap "" HUP; exec sleep 1000`;
        const started = await runtime.start(world.spec(RUN.instanceId, command, { controlGroups }));
        await until(async () => expect(await world.lines(RUN.instanceId)).toContain('far is there'));
        await runtime.signal(RUN, 'SIGTERM');
        // The terminal of a session ends with its program, so the other one writes into a file.
        const got = (): string => readFileSync(join(world.workingDirectory, 'far'), 'utf8');
        await until(() => expect(got()).not.toBe(''));
        const leader = 'pid' in started ? started.pid : 0;
        await until(() => expect(existsSync(`/proc/${leader}`)).toBe(false));
        expect(await runtime.isAlive(RUN)).toBe(true);
        await until(async () => {
          await runtime.signal(RUN, 'SIGKILL');
          expect(await runtime.isAlive(RUN)).toBe(false);
        });
        expect(pidsIn(controlGroups)).toEqual([]);
        expect(got()).toBe('got it\n');
      },
    );
  });

  it('leave nothing of a daemon by nature: not after a crash, not when its instance is gone', async () => {
    const { plane, groups } = await startPlane();
    const command = 'env -i setsid sleep 1000 & sleep 0.05; exit 1';
    await plane.putConfiguration({ name: 'daemon', command, runtime: 'process', minimumServiceCount: 1 });
    await until(() => expect(plane.records()[0]?.status.restarts).toBeGreaterThanOrEqual(2));
    const { id = '' } = plane.records()[0] ?? {};
    const inAll = (): number[] => groupsIn(groups).flatMap((name) => pidsIn([join(groups, name)]));
    // The run of this moment, and what it has begun.
    expect(inAll().length).toBeLessThanOrEqual(3);
    await plane.putConfiguration({ name: 'daemon', command, runtime: 'process', minimumServiceCount: 0 });
    await plane.master.writer.remove(id);
    await until(() => expect(plane.records()).toEqual([]));
    expect(inAll()).toEqual([]);
  });

  it('go on over a crash, and are gone with the stop', async () => {
    const { plane, groups } = await startPlane();
    const service = { name: 'service', command: 'exec sleep 1000', runtime: 'process' };
    await plane.putConfiguration({ ...service, minimumServiceCount: 1 });
    const runsOf = (id: string): string[] => groupsIn(groups).filter((name) => name.startsWith(id));
    await until(() => expect(plane.records()[0]?.status.state).toBe('ONLINE'));
    const { id = '', status } = plane.records()[0] ?? {};
    process.kill(status?.pid ?? expect.fail('it runs'), 'SIGKILL');
    await until(() => expect(plane.records()[0]?.status).toMatchObject({ state: 'ONLINE', restarts: 1 }));
    expect(runsOf(id)).toEqual([`${id}.1`]);
    // The shell of the run moves itself there, after the runtime has told its pid.
    await until(() => expect(pidsIn([join(groups, `${id}.1`)])).toEqual([plane.records()[0]?.status.pid]));
    await plane.putConfiguration({ ...service, minimumServiceCount: 0 });
    await plane.master.writer.setLifecycle(id, 'stop');
    await until(() => expect(plane.records()[0]?.status.state).toBe('STOPPED'));
    expect(runsOf(id)).toEqual([]);
  });

  it('go to the next run of the instance when nothing is in them, without the usage of the runs before', async () => {
    const rootId = newRootId();
    const before = await limitsOf(rootId);
    const next = { ...RUN, run: 2 };
    const directories = await before.open(RUN, LIMITS);
    const first = spawnIn(directories, 'while :; do :; done');
    await until(() => expect(before.usage(RUN)?.cpuSeconds).toBeGreaterThan(0.1));
    first.kill('SIGKILL');
    await until(() => expect(pidsIn(directories)).toEqual([]));

    expect(await before.open(next, LIMITS)).toEqual(directories);
    closing.push(() => before.close(next));
    const { pid = 0 } = spawnIn(directories, 'exec sleep 1000');
    await until(() => expect(before.usage(next)?.processes).toBe(1));
    expect(before.usage(next)?.cpuSeconds).toBeLessThan(0.1);
    // The late end of the run before touches nothing of the next one.
    expect(before.pids(RUN)).toEqual([]);
    await before.kill(RUN);
    await before.close(RUN);
    expect(before.pids(next)).toEqual([pid]);

    const after = await limitsOf(rootId);
    await after.adopt(next, pid, LIMITS);
    await after.removeUnused(() => true);
    expect(after.pids(next)).toEqual([pid]);
  });

  it('that a run took over are known by a process in a group that it made there', async () => {
    const rootId = newRootId();
    const before = await limitsOf(rootId);
    const next = { ...RUN, run: 2 };
    closing.push(() => before.close(next));
    const directories = await before.open(RUN, LIMITS);
    expect(await before.open(next, LIMITS)).toEqual(directories);
    const own = directories.map((directory) => join(directory, 'own'));
    for (const directory of own) mkdirSync(directory);
    const { pid = 0 } = spawnIn(own, 'exec sleep 1000');
    await until(() => expect(pidsIn(own)).toEqual([pid]));
    const after = await limitsOf(rootId);
    expect(await after.adopt(next, pid, LIMITS)).toBe(true);
    await after.removeUnused(() => true);
    expect(after.pids(next)).toEqual([pid]);
  });

  it('are made anew when the run before left files in memory, which count against the limit', async () => {
    const limits = await limitsOf();
    const next = { ...RUN, run: 2 };
    closing.push(() => limits.close(next));
    const left = `/dev/shm/drover-test-${newRootId()}`;
    closing.push(() => rmSync(left, { force: true }));
    const directories = await limits.open(RUN, LIMITS);
    const writer = spawnIn(directories, `head -c 4194304 /dev/zero >${left}`);
    await until(() => expect([writer.exitCode, pidsIn(directories)]).toEqual([0, []]));
    for (const directory of await limits.open(next, LIMITS)) expect(directories).not.toContain(directory);
  });

  it('are made anew for a run with other limits', async () => {
    const limits = await limitsOf();
    const directories = await limits.open(RUN, LIMITS);
    const next = { ...RUN, run: 2 };
    closing.push(() => limits.close(next));
    for (const directory of await limits.open(next, { ...LIMITS, ramMB: 32 }))
      expect(directories).not.toContain(directory);
  });

  it('of runs that are over are emptied by the next daemon, those that it cannot judge are not', async () => {
    const rootId = newRootId();
    const before = await limitsOf(rootId);
    const [over, unclear] = [RUN, { ...RUN, run: 2 }];
    const ended = await before.open(over, LIMITS);
    // Groups that the program made itself.
    const own = ended.map((directory) => join(directory, 'own'));
    for (const directory of own) mkdirSync(directory);
    spawnIn(own, 'exec setsid sleep 1000');
    spawnIn(ended, 'exec setsid sleep 1000');
    const left = await before.open(unclear, LIMITS);
    closing.push(() => until(() => before.close(unclear).then(() => before.stop())));
    spawnIn(left, 'exec setsid sleep 1000');
    for (const directories of [own, ended, left])
      await until(() => expect(pidsIn(directories)).toHaveLength(1));
    const after = await limitsOf(rootId);
    await after.removeUnused(({ run }) => run === 1);
    await until(() => expect([...pidsIn(own), ...pidsIn(ended)]).toEqual([]));
    await until(async () => {
      await after.close(over);
      expect(ended.filter((directory) => existsSync(directory))).toEqual([]);
    });
    expect(pidsIn(left)).toHaveLength(1);
  });

  it('end a hog and its children, the record says why, and they go with their runs', async () => {
    const world = new ProcessWorld();
    const limits = await open(world.rootId);
    const plane = new ControlPlane({ clock: new SystemClock(), realRuntimes: [world.runtime()], limits });
    closing.push(async () => {
      await plane.stop();
      await world.close();
      await limits.close(RUN);
      await limits.stop();
    });
    await plane.start();
    await plane.addNode('node-a');
    const service = { runtime: 'process', ramMB: 16, cpu: 0, minimumServiceCount: 1 };
    const hog = { ...service, name: 'hog', command: `exec ${HOG}` };
    const parent = { ...service, name: 'parent', command: `(exec ${HOG}); exit $?` };
    for (const configuration of [hog, parent]) await plane.putConfiguration(configuration);
    for (const name of ['hog', 'parent'])
      await until(() => {
        const status = plane.records().find(({ configurationName }) => configurationName === name)?.status;
        expect(status).toMatchObject({ reason: 'exited' });
        expect(status?.message).toMatch(/^killed: out of memory at 16 MB, restart \d+ (at once|in \d+ s)$/);
      });
    for (const configuration of [hog, parent])
      await plane.putConfiguration({ ...configuration, minimumServiceCount: 0 });
    for (const { id } of plane.records()) await plane.master.writer.setLifecycle(id, 'stop');
    const [directory = ''] = await limits.open(RUN, LIMITS);
    await until(() => expect(groupsIn(dirname(directory))).toEqual([basename(directory)]));
  });
});

function pidsIn(directories: readonly string[]): number[] {
  const [path = ''] = directories.map((directory) => join(directory, 'cgroup.procs'));
  return existsSync(path) ? readFileSync(path, 'latin1').split('\n').filter(Boolean).map(Number) : [];
}

function groupsIn(directory: string): string[] {
  const entries = readdirSync(directory, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}

function fieldOf(directories: readonly string[], file: string, name: string): string | undefined {
  for (const directory of directories) {
    const path = join(directory, file);
    if (!existsSync(path)) continue;
    const line = readFileSync(path, 'latin1')
      .split('\n')
      .find((text) => text.startsWith(`${name} `));
    if (line !== undefined) return line.slice(name.length + 1);
  }
  return undefined;
}
