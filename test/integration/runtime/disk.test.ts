/** The disk under a directory, in a tree such as sysfs, and on this machine. */
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { diskOf, diskUnder } from '../../../src/runtime/limits/disk.js';

let system: string;
beforeEach(() => {
  system = mkdtempSync(join(tmpdir(), 'drover-sys-'));
  mkdirSync(join(system, 'dev/block'), { recursive: true });
});
afterEach(() => rmSync(system, { recursive: true }));

function addDevice(path: string, numbers: string, files: Readonly<Record<string, string>> = {}): void {
  const directory = join(system, 'devices', path);
  mkdirSync(join(directory, 'queue'), { recursive: true });
  for (const [name, text] of Object.entries({ dev: `${numbers}\n`, ...files }))
    writeFileSync(join(directory, name), text);
  symlinkSync(directory, join(system, 'dev/block', numbers));
}

/** A device number as the C library puts it together. */
function numberOf(major: bigint, minor: bigint): bigint {
  return ((major & ~0xfffn) << 32n) | ((major & 0xfffn) << 8n) | ((minor & ~0xffn) << 12n) | (minor & 0xffn);
}

describe('the disk under a directory', () => {
  it('is the whole one that a partition is on', () => {
    addDevice('pci/sdb', '8:16', { 'queue/scheduler': 'none mq-deadline [bfq]\n' });
    addDevice('pci/sdb/sdb1', '8:17', { partition: '1\n' });
    const disk = { numbers: '8:16', path: '/dev/sdb', hasWeights: true };
    expect(diskOf(numberOf(8n, 17n), system)).toEqual(disk);
    expect(diskOf(numberOf(8n, 16n), system)).toEqual(disk);
  });

  it('has no weights by another scheduler, unless the kernel keeps accounts of it', () => {
    addDevice('pci/nvme0n1', '259:1048575', { 'queue/scheduler': '[none] mq-deadline bfq\n' });
    expect(diskOf(numberOf(259n, 1_048_575n), system)).toMatchObject({
      path: '/dev/nvme0n1',
      hasWeights: false,
    });
    mkdirSync(join(system, 'fs/cgroup'), { recursive: true });
    writeFileSync(join(system, 'fs/cgroup/io.cost.qos'), '259:1048575 enable=1 ctrl=auto\n');
    expect(diskOf(numberOf(259n, 1_048_575n), system)).toMatchObject({ hasWeights: true });
  });

  it('has the name of its device file, where sysfs writes a slash as another character', () => {
    addDevice('pci/cciss!c0d0', '104:0');
    expect(diskOf(numberOf(104n, 0n), system).path).toBe('/dev/cciss/c0d0');
  });

  it('is none for a file system without one, and for a directory that is not there', () => {
    expect(diskUnder('/proc')).toBeUndefined();
    expect(diskUnder(join(system, 'nothing'))).toBeUndefined();
  });

  it('is found where this machine knows the device of a directory, and nowhere else', () => {
    const device = statSync(tmpdir(), { bigint: true }).dev;
    const [major, minor] = [(device >> 8n) & 0xfffn, device & 0xffn];
    const disk = diskUnder(tmpdir());
    expect(disk !== undefined).toBe(existsSync(`/sys/dev/block/${major}:${minor}`));
    if (disk !== undefined) expect(existsSync(`/sys/dev/block/${disk.numbers}/queue`)).toBe(true);
  });
});
