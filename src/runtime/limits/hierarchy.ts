/**
 * The control groups of runs: where a run's group is, its limits, and its figures. The two versions of control groups
 * keep limits and figures in other files.
 */
import { systemCodeOf } from '../../files/system-error.js';
import { messageOf } from '../../model/errors.js';
import type { IoLimits } from '../../model/fields/limits.js';
import type { Usage } from '../runtime.js';
import type { Disk } from './disk.js';
import type { GroupFiles } from './group-files.js';
import { MOST_PROCESSES, type RunLimits } from './resource-limits.js';

/** The period for which a share of the processor is given out, in microseconds. */
const CPU_PERIOD_US = 100_000;
const BYTES_PER_MB = 1024 * 1024;

/** The control file with the limit of processes, in both versions. */
const MOST_PROCESSES_FILE = 'pids.max';

/** The directories of one run's group. In version 2 all are the same. Undefined: that controller is missing. */
export interface RunGroup {
  readonly memory: string | undefined;
  readonly cpu: string | undefined;
  /** The directory in which processor time is counted. */
  readonly accounting: string | undefined;
  /** The directory in which the number of processes is limited. */
  readonly pids: string | undefined;
}

/** A value to write into a control file. */
export interface Setting {
  readonly directory: string;
  readonly name: string;
  readonly value: string | number;
}

type FileValue = readonly [file: string, value: string | number];

/** Where one version of control groups keeps its figures and limits. */
export interface Version {
  /** The file with the memory in use. */
  readonly used: string;
  /** The field of `memory.stat` with the file pages that the kernel would give up at once. */
  readonly spare: string;
  /** The field of `memory.stat` with the files in memory (tmpfs). */
  readonly inMemory: string;
  /** The file with the field `oom_kill`. */
  readonly kills: string;
  readonly cpuSeconds: (files: GroupFiles, directory: string) => number;
  /** The limit of memory. */
  readonly memory: (bytes: number) => FileValue;
  /** The limit of swap, so that memory above the RAM limit does not go to swap. Not every kernel counts swap. */
  readonly swap: (bytes: number) => FileValue;
  /** The limit of the processor, in microseconds per period. */
  readonly cpu: (quotaUs: number) => readonly FileValue[];
  /** Takes that limit away. */
  readonly wholeCpu: FileValue;
}

export const VERSION_1: Version = {
  used: 'memory.usage_in_bytes',
  spare: 'total_inactive_file',
  inMemory: 'total_shmem',
  kills: 'memory.oom_control',
  cpuSeconds: (files, directory) => (files.number(directory, 'cpuacct.usage') ?? 0) / 1e9,
  memory: (bytes) => ['memory.limit_in_bytes', bytes],
  // The limit of memory and swap together, which the limit of memory may not exceed.
  swap: (bytes) => ['memory.memsw.limit_in_bytes', bytes],
  cpu: (quotaUs) => [
    ['cpu.cfs_period_us', CPU_PERIOD_US],
    ['cpu.cfs_quota_us', quotaUs],
  ],
  wholeCpu: ['cpu.cfs_quota_us', -1],
};

export const VERSION_2: Version = {
  used: 'memory.current',
  spare: 'inactive_file',
  inMemory: 'shmem',
  kills: 'memory.events',
  cpuSeconds: (files, directory) => (files.field(directory, 'cpu.stat', 'usage_usec') ?? 0) / 1e6,
  memory: (bytes) => ['memory.max', bytes],
  swap: () => ['memory.swap.max', 0],
  cpu: (quotaUs) => [['cpu.max', `${quotaUs} ${CPU_PERIOD_US}`]],
  wholeCpu: ['cpu.max', 'max'],
};

export class GroupFigures {
  readonly #files: GroupFiles;
  readonly #version: Version;

  constructor(files: GroupFiles, version: Version) {
    this.#files = files;
    this.#version = version;
  }

  /** The present usage; undefined: there is no such group. */
  usage(group: RunGroup): Usage | undefined {
    const members = group.accounting ?? group.memory ?? group.cpu;
    const pids = members === undefined ? undefined : this.#files.pids(members);
    if (pids === undefined) return undefined;
    return {
      cpuSeconds: this.cpuSeconds(group),
      memoryBytes: group.memory === undefined ? 0 : this.#memoryOf(group.memory),
      processes: pids.length,
    };
  }

  /** Processor time of all processes that were ever in the group, in seconds; 0: not counted. */
  cpuSeconds({ accounting }: RunGroup): number {
    return accounting === undefined ? 0 : this.#version.cpuSeconds(this.#files, accounting);
  }

  /** Bytes of files in memory (tmpfs), which outlive the processes that wrote them; 0: not counted. */
  fileBytesInMemory({ memory }: RunGroup): number {
    return memory === undefined ? 0 : (this.#files.field(memory, 'memory.stat', this.#version.inMemory) ?? 0);
  }

  /** How many processes the memory limit has ended. */
  memoryKills({ memory }: RunGroup): number {
    return memory === undefined ? 0 : (this.#files.field(memory, this.#version.kills, 'oom_kill') ?? 0);
  }

  /** The settings that put the limits on an existing group, to be written in this order. */
  settings({ memory, cpu: processor, pids }: RunGroup, { ramMB, cpu, pids: most }: RunLimits): Setting[] {
    const settings: Setting[] = [];
    const set = (directory: string, [name, value]: FileValue): number =>
      settings.push({ directory, name, value });
    if (memory !== undefined && ramMB > 0) {
      const swap = this.#version.swap(ramMB * BYTES_PER_MB);
      set(memory, this.#version.memory(ramMB * BYTES_PER_MB));
      if (this.#files.text(memory, swap[0]) !== undefined) set(memory, swap);
    }
    if (processor !== undefined && cpu > 0)
      for (const limit of this.#version.cpu((cpu * CPU_PERIOD_US) / 100)) set(processor, limit);
    if (pids !== undefined) set(pids, [MOST_PROCESSES_FILE, most ?? MOST_PROCESSES]);
    return settings;
  }

  /** The settings that put the limits of a disk on an existing group, as far as the kernel has their files. */
  ioSettings({ accounting }: RunGroup, limits: IoLimits, disk: Disk | undefined): Setting[] {
    const { ioWeight, readMBps, writeMBps } = limits;
    const rate = (most: number | undefined) => (most === undefined ? 'max' : most * BYTES_PER_MB);
    const rates =
      disk && (readMBps ?? writeMBps) && `${disk.numbers} rbps=${rate(readMBps)} wbps=${rate(writeMBps)}`;
    // Each scheduler of the kernel has a file of its own.
    const values = { 'io.max': rates, 'io.weight': ioWeight, 'io.bfq.weight': ioWeight };
    return Object.entries(values).flatMap(([name, value]) => {
      if (accounting === undefined || value === undefined) return [];
      return this.#files.text(accounting, name) === undefined ? [] : [{ directory: accounting, name, value }];
    });
  }

  /**
   * The settings for a group whose processes are to end. It makes no more of them, because some fork faster than they
   * can be ended. It has the whole processor, because a process needs a turn to end.
   */
  lastSettings({ cpu, pids }: RunGroup): Setting[] {
    const settings: Setting[] = [];
    if (pids !== undefined) settings.push({ directory: pids, name: MOST_PROCESSES_FILE, value: 0 });
    if (cpu !== undefined) {
      const [name, value] = this.#version.wholeCpu;
      settings.push({ directory: cpu, name, value });
    }
    return settings;
  }

  /** The memory in use, less the file pages that the kernel would give up at once. */
  #memoryOf(directory: string): number {
    const used = this.#files.number(directory, this.#version.used) ?? 0;
    return Math.max(0, used - (this.#files.field(directory, 'memory.stat', this.#version.spare) ?? 0));
  }
}

/** The groups of the node's root, in the machine's version of control groups. */
export class Hierarchy extends GroupFigures {
  /** The group that holds the groups of the root's runs. */
  readonly root: RunGroup;
  /** The reason why some limit does not hold; null: all hold. */
  readonly advisory: string | null;
  /** True when reads and writes of disks can be limited: in version 2, in the directory of all controllers. */
  readonly hasIo: boolean;

  constructor(files: GroupFiles, version: Version, root: RunGroup, advisory: string | null, hasIo = false) {
    super(files, version);
    this.root = root;
    this.advisory = advisory;
    this.hasIo = hasIo;
  }
}

export function directoriesOf({ memory, cpu, accounting, pids }: RunGroup): string[] {
  return [...new Set([memory, cpu, accounting, pids])].filter((directory) => directory !== undefined);
}

export function mapGroup(
  { memory, cpu, accounting, pids }: RunGroup,
  change: (directory: string) => string | undefined,
): RunGroup {
  const changed = (directory: string | undefined) =>
    directory === undefined ? undefined : change(directory);
  return { memory: changed(memory), cpu: changed(cpu), accounting: changed(accounting), pids: changed(pids) };
}

/** Why the kernel refused, without the path. */
export function reasonOf(error: unknown): string {
  const code = systemCodeOf(error);
  return code === undefined ? messageOf(error) : (REASONS[code] ?? code);
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'not permitted to this user',
  EPERM: 'not permitted to this user',
  EROFS: 'mounted read-only',
  ENOENT: 'not there',
  ENODEV: 'not there',
};
