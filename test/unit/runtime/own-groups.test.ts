import { describe, expect, it } from 'vitest';
import { findOwnGroups } from '../../../src/runtime/limits/own-groups.js';

const SYSFS = '23 28 0:21 / /sys rw,nosuid - sysfs sysfs rw';

function directories(groups: ReturnType<typeof findOwnGroups>): Record<string, string> {
  return Object.fromEntries([...groups.version1].map(([name, { directory }]) => [name, directory]));
}

describe('the own control groups', () => {
  it('are found on a machine with version 2 alone', () => {
    const groups = findOwnGroups(
      '0::/system.slice/drover.service\n',
      `${SYSFS}\n33 23 0:28 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate\n`,
    );
    expect(groups).toEqual({
      version1: new Map(),
      version2: {
        directory: '/sys/fs/cgroup/system.slice/drover.service',
        mountPoint: '/sys/fs/cgroup',
        isReadOnly: false,
      },
    });
  });

  it('are found in each tree of version 1, also where controllers share one', () => {
    const groups = findOwnGroups(
      [
        '12:memory:/system.slice/drover.service',
        '5:cpu,cpuacct:/system.slice/drover.service',
        '1:name=systemd:/system.slice/drover.service',
      ].join('\n'),
      [
        SYSFS,
        '30 25 0:26 / /sys/fs/cgroup/memory rw,relatime shared:10 - cgroup cgroup rw,memory',
        '31 25 0:27 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:11 - cgroup cgroup rw,cpu,cpuacct',
        '32 25 0:28 / /sys/fs/cgroup/systemd rw,relatime shared:12 - cgroup cgroup rw,xattr,name=systemd',
      ].join('\n'),
    );
    expect(directories(groups)).toMatchObject({
      memory: '/sys/fs/cgroup/memory/system.slice/drover.service',
      cpu: '/sys/fs/cgroup/cpu,cpuacct/system.slice/drover.service',
      cpuacct: '/sys/fs/cgroup/cpu,cpuacct/system.slice/drover.service',
    });
    expect(groups.version2).toBeUndefined();
  });

  it('are found in both versions on a machine that has both', () => {
    const groups = findOwnGroups(
      '4:memory:/agent/3f2a\n1:cpu:/\n0::/\n',
      [
        '32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu',
        '35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory',
        '41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw',
      ].join('\n'),
    );
    expect(directories(groups)).toEqual({
      memory: '/sys/fs/cgroup/memory/agent/3f2a',
      cpu: '/sys/fs/cgroup/cpu',
    });
    expect(groups.version2?.directory).toBe('/sys/fs/cgroup/unified');
  });

  it('of a container are what it can see of them, and said to be read-only', () => {
    const groups = findOwnGroups(
      '9:memory:/docker/3fd8944bee3a\n0::/../../other\n',
      [
        '600 590 0:30 /docker/3fd8944bee3a /sys/fs/cgroup/memory ro,nosuid master:16 - cgroup cgroup rw,memory',
        '601 590 0:31 / /sys/fs/cgroup/unified ro,nosuid - cgroup2 cgroup2 rw',
      ].join('\n'),
    );
    expect([...groups.version1]).toEqual([
      [
        'memory',
        { directory: '/sys/fs/cgroup/memory', mountPoint: '/sys/fs/cgroup/memory', isReadOnly: true },
      ],
    ]);
    expect(groups.version2).toBeUndefined();
  });

  it('are none without a mounted tree', () => {
    expect(findOwnGroups('3:memory:/x\n0::/y\n', SYSFS)).toEqual({
      version1: new Map(),
      version2: undefined,
    });
  });

  it('may lie below a directory with a space in its name, and have a colon in their own', () => {
    const groups = findOwnGroups('0::/a:b\n', '33 23 0:28 / /mnt/control\\040groups rw - cgroup2 cgroup2 rw');
    expect(groups.version2?.directory).toBe('/mnt/control groups/a:b');
  });
});
