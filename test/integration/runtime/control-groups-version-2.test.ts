import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import { ControlGroups } from '../../../src/runtime/limits/control-groups.js';
import { type Disk, unheldIo } from '../../../src/runtime/limits/disk.js';
import { openHierarchy } from '../../../src/runtime/limits/open-limits.js';
import { REPOSITORY } from '../../support/repository-root.js';
import { FakeCgroup2 } from '../../support/runtime/fake-cgroup2.js';

const SERVICE = 'system.slice/drover.service';
const NAME = 'drover-root1';
const RUN = { instanceId: 'abc123', run: 4 };
const RUN_GROUP = `${SERVICE}/${NAME}/abc123.4`;

let fake: FakeCgroup2 | undefined;
afterEach(() => {
  fake?.close();
  fake = undefined;
});

/** Of a service that holds the daemon (10), what an earlier daemon left (11), and nothing else. */
function service(controllers?: string[]): FakeCgroup2 {
  fake = FakeCgroup2.withOwn(SERVICE, [10, 11], controllers);
  return fake;
}

async function groupsOf(
  files: FakeCgroup2,
  path = SERVICE,
  isDelegated = true,
  disk?: Disk,
): Promise<ControlGroups> {
  const own = { version1: new Map(), version2: files.own(path) };
  const hierarchy = await openHierarchy({ files, own, name: NAME, isDelegated });
  if (typeof hierarchy === 'string') throw new Error(hierarchy);
  return new ControlGroups(hierarchy, files, pino({ enabled: false }), disk);
}

async function refusalOf(files: FakeCgroup2, path: string, isReadOnly = false): Promise<unknown> {
  const own = { version1: new Map(), version2: files.own(path, isReadOnly) };
  return openHierarchy({ files, own, name: NAME, isDelegated: false });
}

describe('control groups of version 2', () => {
  it('are divided after all that was in the own group has moved into a group below it', async () => {
    const files = service();
    await groupsOf(files);
    expect(files.says(SERVICE, 'cgroup.procs')).toBe('');
    expect(files.says(`${SERVICE}/${NAME}/daemon`, 'cgroup.procs')).toBe('10\n11');
    expect(files.says(SERVICE, 'cgroup.subtree_control')).toBe('memory cpu pids');
    expect(files.says(`${SERVICE}/${NAME}`, 'cgroup.subtree_control')).toBe('memory cpu pids');
  });

  it('hold RAM without swap, and a quota of the processor', async () => {
    const files = service();
    const groups = await groupsOf(files);
    const directories = await groups.open(RUN, { ramMB: 64, cpu: 150 });
    expect(directories).toEqual([`${files.mountPoint}/${RUN_GROUP}`]);
    expect(files.says(RUN_GROUP, 'memory.max')).toBe(String(64 * 1024 * 1024));
    expect(files.says(RUN_GROUP, 'memory.swap.max')).toBe('0');
    expect(files.says(RUN_GROUP, 'cpu.max')).toBe('150000 100000');
    expect(files.says(RUN_GROUP, 'pids.max')).toBe('4096');
    expect(groups.advisory).toBeNull();
  });

  const CONTROLLERS = ['cpu', 'memory', 'pids', 'io'];
  const DISK: Disk = { numbers: '8:16', path: '/dev/sdb', hasWeights: true };
  const IO = { ioWeight: 300, readMBps: 5, writeMBps: 20 };

  it('hold the weight, the reads and the writes of a disk, and are not taken over with others', async () => {
    const files = service(CONTROLLERS);
    const groups = await groupsOf(files, SERVICE, true, DISK);
    expect(unheldIo(groups.hasIo, groups.disk)).toEqual({});
    const directories = await groups.open(RUN, { ramMB: 64, cpu: 0, ...IO });
    expect(files.says(RUN_GROUP, 'io.max')).toBe('8:16 rbps=5242880 wbps=20971520');
    expect(files.says(RUN_GROUP, 'io.weight')).toBe('300');
    expect(await groups.open({ ...RUN, run: 5 }, { ramMB: 64, cpu: 0, ...IO })).toEqual(directories);
    expect(await groups.open({ ...RUN, run: 6 }, { ramMB: 64, cpu: 0, readMBps: 6 })).not.toEqual(
      directories,
    );
    expect(files.says(`${SERVICE}/${NAME}/abc123.6`, 'io.max')).toBe('8:16 rbps=6291456 wbps=max');
    expect(files.says(`${SERVICE}/${NAME}/abc123.6`, 'io.weight')).toBe('default 100');
  });

  it('hold RAM where there is no disk, and where Drover was not given the controller of disks', async () => {
    const files = service(CONTROLLERS);
    const without = await groupsOf(files);
    await without.open(RUN, { ramMB: 64, cpu: 0, ...IO });
    expect(files.says(RUN_GROUP, 'memory.max')).toBe(String(64 * 1024 * 1024));
    expect(files.says(RUN_GROUP, 'io.max')).toBe('');
    expect(unheldIo(without.hasIo, without.disk)).toEqual({
      ioWeight: 'its directory is on no disk of its own',
      readMBps: 'its directory is on no disk of its own',
      writeMBps: 'its directory is on no disk of its own',
    });
    fake?.close();
    const others = service();
    const uncontrolled = await groupsOf(others, SERVICE, true, DISK);
    expect(await uncontrolled.open(RUN, { ramMB: 64, cpu: 0, ...IO })).toHaveLength(1);
    expect(uncontrolled.advisory).toBeNull();
    expect(unheldIo(uncontrolled.hasIo, DISK).readMBps).toBe('Drover was not given the controller io');
    expect(unheldIo(true, { ...DISK, hasWeights: false })).toEqual({
      ioWeight: '/dev/sdb is not divided by weights, as by the scheduler bfq',
    });
  });

  it('hold RAM where the disk refuses a limit', async () => {
    const files = service(CONTROLLERS);
    const groups = await groupsOf(files, SERVICE, true, DISK);
    const set = files.set.bind(files);
    files.set = (setting) => {
      if (setting.name === 'io.max') throw new Error('EOPNOTSUPP');
      set(setting);
    };
    expect(await groups.open(RUN, { ramMB: 64, cpu: 0, ...IO })).toHaveLength(1);
    expect(files.says(RUN_GROUP, 'memory.max')).toBe(String(64 * 1024 * 1024));
    expect(files.says(RUN_GROUP, 'io.weight')).toBe('300');
  });

  it('leave the processor alone where cpu is 0', async () => {
    const files = service();
    await (await groupsOf(files)).open(RUN, { ramMB: 64, cpu: 0 });
    expect(files.says(RUN_GROUP, 'cpu.max')).toBe('max 100000');
  });

  it('tell what is used, without the spare pages of files, and of kills by the limit', async () => {
    const files = service();
    const groups = await groupsOf(files);
    await groups.open(RUN, { ramMB: 64, cpu: 0 });
    files.put(RUN_GROUP, 'cgroup.procs', '20\n21\n22\n');
    expect(groups.usage(RUN)).toEqual({ cpuSeconds: 2.5, memoryBytes: 4_000_000, processes: 3 });
    expect(groups.wasOutOfMemory(RUN)).toBe(false);
    files.put(RUN_GROUP, 'memory.events', 'low 0\nmax 3\noom 1\noom_kill 1\n');
    expect(groups.wasOutOfMemory(RUN)).toBe(true);
  });

  it('name their processes, apart from those that cannot be seen here, and end all in one step', async () => {
    const files = service();
    const groups = await groupsOf(files);
    await groups.open(RUN, { ramMB: 64, cpu: 50 });
    files.put(RUN_GROUP, 'cgroup.procs', '0\n20\n21\n');
    expect([groups.pids(RUN), groups.allPids()]).toEqual([
      [20, 21],
      [20, 21],
    ]);
    expect(groups.pids({ ...RUN, run: 5 })).toEqual([]);
    await groups.kill(RUN);
    expect(files.says(RUN_GROUP, 'pids.max'), 'what forks meanwhile').toBe('0');
    expect(files.says(RUN_GROUP, 'cpu.max'), 'what ends needs the processor').toBe('max');
    expect(files.says(RUN_GROUP, 'cgroup.kill')).toBe('1');
  });

  it('are taken up by the next daemon, which starts in the moved one or in the own group again', async () => {
    const files = service();
    const first = await groupsOf(files);
    await first.open(RUN, { ramMB: 64, cpu: 0 });
    await first.open({ ...RUN, run: 5 }, { ramMB: 64, cpu: 0 });
    files.put(RUN_GROUP, 'cgroup.procs', '20\n');
    const second = await groupsOf(files, `${SERVICE}/${NAME}/daemon`, false);
    await second.removeUnused(() => false);
    expect(await files.groupsIn(`${files.mountPoint}/${SERVICE}/${NAME}`)).toEqual(['abc123.4', 'daemon']);
    files.put(RUN_GROUP, 'memory.events', 'oom_kill 1\n');
    expect(second.wasOutOfMemory(RUN)).toBe(true);
  });

  it('without the controller cpu hold RAM and say that cpu is advisory', async () => {
    const files = service(['memory']);
    const groups = await groupsOf(files);
    await groups.open(RUN, { ramMB: 64, cpu: 100 });
    expect(files.says(RUN_GROUP, 'memory.max')).toBe(String(64 * 1024 * 1024));
    expect(groups.advisory).toMatch(/^cpu is advisory \(.*controller cpu\)$/);
  });

  it('are used in a container, where all that can be seen is its own', async () => {
    const files = service();
    files.put(SERVICE, 'cgroup.procs', '');
    files.put('', 'cgroup.type', 'domain\n');
    files.put('', 'cgroup.subtree_control', '');
    files.put('', 'cgroup.procs', '1\n10\n');
    await groupsOf(files, '', false);
    expect(files.says(`${NAME}/daemon`, 'cgroup.procs')).toBe('1\n10');
  });

  it('are used at the top of a machine without moving anybody', async () => {
    const files = service();
    files.put('', 'cgroup.procs', '1\n10\n');
    await groupsOf(files, '', false);
    expect(files.says('', 'cgroup.procs')).toBe('1\n10');
    expect(files.says(NAME, 'cgroup.subtree_control')).toBe('memory cpu pids');
  });

  it('are undone by the unit of systemd when the daemon has ended', async () => {
    const files = service();
    await groupsOf(files);
    await files.make(`${files.mountPoint}/${SERVICE}/.control`);
    files.put('', 'self', `1:name=systemd:/elsewhere\n0::/${SERVICE}/.control\n`);
    const unit = readFileSync(join(REPOSITORY, 'manifests/systemd/drover.service'), 'utf8');
    const [, script = ''] = /^ExecStopPost=-\/bin\/sh -c '(.*)'$/m.exec(unit) ?? [];
    const here = script
      .replaceAll('$$', '$')
      .replace('/sys/fs/cgroup', files.mountPoint)
      .replace('/proc/self/cgroup', `${files.mountPoint}/self`);
    execFileSync('/bin/sh', ['-c', here]);
    expect(files.says(SERVICE, 'cgroup.subtree_control')).toBe('-memory -cpu -pids');
    expect(files.says(`${SERVICE}/${NAME}`, 'cgroup.subtree_control')).toBe('-memory -cpu -pids');
    expect(unit).toMatch(/^Delegate=yes\nEnvironment=DROVER_CONTROL_GROUP=delegated$/m);
  });

  it('that were not handed over are left as they are', async () => {
    const files = service();
    expect(await refusalOf(files, SERVICE)).toMatch(
      /not its own; run it as the service of manifests\/systemd/,
    );
    expect(files.says(SERVICE, 'cgroup.procs')).toBe('10\n11');
    expect(await files.groupsIn(`${files.mountPoint}/${SERVICE}`)).toEqual([]);
  });

  it('that are mounted read-only are said to be', async () => {
    expect(await refusalOf(service(), '', true)).toMatch(/mounted read-only/);
  });

  it('without memory and cpu are no use', async () => {
    const files = service(['hugetlb']);
    expect(await refusalOf(files, '')).toMatch(/neither memory nor cpu/);
    expect(files.says(SERVICE, 'cgroup.procs')).toBe('10\n11');
  });
});
