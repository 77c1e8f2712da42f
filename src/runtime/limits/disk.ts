/** Finds the disk that holds a directory, whose reads and writes can be limited. */
import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { IoLimits } from '../../model/fields/limits.js';
import { attempt } from '../../model/plain/attempt.js';

export interface Disk {
  /** The numbers by which control groups know the disk: `8:0`. */
  readonly numbers: string;
  /** The device file, for container engines. */
  readonly path: string;
  /** True when its scheduler or the kernel divides it by weights. */
  readonly hasWeights: boolean;
}

type IoReasons = { readonly [limit in keyof IoLimits]: string };

/**
 * The whole disk under a directory. Undefined: the file system has none of its own, such as tmpfs, overlay, zfs and
 * btrfs. `system`: where sysfs is mounted.
 */
export function diskUnder(directory: string, system = '/sys'): Disk | undefined {
  return attempt(() => diskOf(statSync(directory, { bigint: true }).dev, system));
}

/** The disk with a device number, or the one that a partition with it is on. Throws when there is none. */
export function diskOf(device: bigint, system: string): Disk {
  const major = ((device >> 8n) & 0xfffn) | ((device >> 32n) & ~0xfffn);
  const minor = (device & 0xffn) | ((device >> 12n) & ~0xffn & 0xffffffffn);
  const found = realpathSync(join(system, 'dev/block', `${major}:${minor}`));
  const disk = existsSync(join(found, 'partition')) ? dirname(found) : found;
  const read = (path: string): string => attempt(() => readFileSync(path, 'latin1'), '');
  const numbers = readFileSync(join(disk, 'dev'), 'latin1').trim();
  return {
    numbers,
    path: `/dev/${basename(disk).replaceAll('!', '/')}`,
    hasWeights:
      read(join(disk, 'queue/scheduler')).includes('[bfq]') ||
      read(join(system, 'fs/cgroup/io.cost.qos')).includes(`${numbers} enable=1`),
  };
}

/** Why limits of the disk do not hold, by limit. `hasIo`: control groups or a container engine can limit disks. */
export function unheldIo(hasIo: boolean, disk: Disk | undefined): IoReasons {
  const reason = hasIo ? 'its directory is on no disk of its own' : 'Drover was not given the controller io';
  if (!hasIo || disk === undefined) return { ioWeight: reason, readMBps: reason, writeMBps: reason };
  return disk.hasWeights
    ? {}
    : { ioWeight: `${disk.path} is not divided by weights, as by the scheduler bfq` };
}
