/** The differences between the two versions of control groups: where a run's group is, its limits, and its figures. */
import { systemCodeOf } from '../../files/system-error.js';
import { messageOf } from '../../model/errors.js';
import type { GroupFigures } from './group-figures.js';
import type { RunLimits } from './resource-limits.js';

/** The period for which a share of the processor is given out, in microseconds. */
export const CPU_PERIOD_US = 100_000;
export const BYTES_PER_MB = 1024 * 1024;

/** The directories of one run's group. In version 2 all are the same. Undefined: that controller is missing. */
export interface RunGroup {
  readonly memory: string | undefined;
  readonly cpu: string | undefined;
  /** The directory in which processor time is counted. */
  readonly accounting: string | undefined;
}

/** A value to write into a control file. */
export interface Setting {
  readonly directory: string;
  readonly name: string;
  readonly value: string | number;
}

export interface Hierarchy extends GroupFigures {
  /** The group of the node's root, which holds the groups of its runs. */
  readonly root: RunGroup;
  /** The reason why some limit does not hold; null: all hold. */
  readonly advisory: string | null;
  /** The settings that put the limits on an existing group, to be written in this order. */
  settings(group: RunGroup, limits: RunLimits): readonly Setting[];
}

/** The quota in microseconds per period; undefined: no limit. */
export function cpuQuotaUs(cpu: number): number | undefined {
  return cpu === 0 ? undefined : (cpu * CPU_PERIOD_US) / 100;
}

export function directoriesOf({ memory, cpu, accounting }: RunGroup): string[] {
  return [...new Set([memory, cpu, accounting])].filter((directory) => directory !== undefined);
}

export function mapGroup(
  { memory, cpu, accounting }: RunGroup,
  change: (directory: string) => string | undefined,
): RunGroup {
  const changed = (directory: string | undefined) =>
    directory === undefined ? undefined : change(directory);
  return { memory: changed(memory), cpu: changed(cpu), accounting: changed(accounting) };
}

/** Why the kernel refused, without the path. */
export function reasonOf(error: unknown): string {
  const code = systemCodeOf(error);
  switch (code) {
    case 'EACCES':
    case 'EPERM':
      return 'not permitted to this user';
    case 'EROFS':
      return 'mounted read-only';
    case 'ENOENT':
    case 'ENODEV':
      return 'not there';
    default:
      return typeof code === 'string' ? code : messageOf(error);
  }
}
