/**
 * Holds a configuration's `ramMB` and `cpu` for all processes of a run together, and measures them together. The
 * supervisor opens it before a start and closes it when nothing of the run lives any more. Runtimes that limit by
 * themselves (docker) do not use it.
 */
import type { IoLimits } from '../../model/fields/limits.js';
import { isInstanceId } from '../../model/names.js';
import { NO_GROUPS, type RunGroups } from '../instance-processes.js';
import type { RunId, Usage } from '../runtime.js';
import type { Disk } from './disk.js';

/**
 * The most processes and threads of one run or container: enough for a large JVM, and a bound for fork bombs, which
 * would take all that the machine has.
 */
export const MOST_PROCESSES = 4096;

export interface RunLimits extends IoLimits {
  /** The limit of RAM and swap together; 0: no limit. */
  readonly ramMB: number;
  /** The limit of processor time; 100: one core; 0: no limit. */
  readonly cpu: number;
  /** The most processes and threads; absent: MOST_PROCESSES. */
  readonly pids?: number | undefined;
}

export interface ResourceLimits extends RunGroups {
  /** The reason why limits do not hold on this node, for the operator; null: they hold. */
  readonly advisory: string | null;

  /**
   * Creates the run's control groups (for `StartSpec.controlGroups`), or reuses those of an earlier run of the instance
   * whose processes are all gone. Never throws: when that fails the start goes on without limits, and the log says so.
   */
  open(run: RunId, limits: RunLimits): Promise<readonly string[]>;

  /**
   * Takes over the groups that an earlier daemon opened for a run whose process `pid` lives. False: no group was found.
   * Repeatable.
   */
  adopt(run: RunId, pid: number, limits: RunLimits): Promise<boolean>;

  /** The run of the instance that has a control group, which holds all its processes wherever they go. */
  openRun(instanceId: string): number | undefined;

  /** True when the number of processes can be limited on this node. */
  readonly holdsPids: boolean;

  /** True when reads and writes of disks can be limited on this node. */
  readonly hasIo: boolean;

  /** The disk with the directories of instances; undefined: their file system has none of its own. */
  readonly disk: Disk | undefined;

  /** True when the memory limit ended a process of the run and `noteKills` has not reported it. */
  wasOutOfMemory(run: RunId): boolean;

  /**
   * How many of the run's processes the memory limit ended while the run went on, for a warning. Each kill is
   * reported once, one call late. So a kill that ends the run itself is not in the count, but is reported as the
   * run's end.
   */
  noteKills(run: RunId): number;

  /** The run's present usage; undefined: unknown here. */
  usage(run: RunId): Usage | undefined;

  /**
   * Called when nothing of the run lives and no start will take over its group. A group still in use is removed later.
   * Repeatable.
   */
  close(run: RunId): Promise<void>;

  /**
   * Removes the groups that earlier runs of this root left. Called when the live runs are adopted. In a group whose
   * run is over by `isOver`, the processes are ended first. Other groups are removed only when they are empty.
   */
  removeUnused(isOver: (run: RunId) => boolean): Promise<void>;

  /** Removes the remaining groups when nothing runs. Running instances keep their limits. Idempotent. */
  stop(): Promise<void>;
}

/** Limits that do not hold, with the reason. */
export function advisoryLimits(reason: string, disk?: Disk): ResourceLimits {
  return {
    ...NO_GROUPS,
    advisory: reason,
    open: async () => [],
    adopt: async () => false,
    openRun: () => undefined,
    holdsPids: false,
    hasIo: false,
    disk,
    wasOutOfMemory: () => false,
    noteKills: () => 0,
    usage: () => undefined,
    close: async () => undefined,
    removeUnused: async () => undefined,
    stop: async () => undefined,
  };
}

export function runKeyOf(run: RunId): string {
  return `${run.instanceId}.${run.run}`;
}

/** The run that a name `<instance>.<run>` stands for; undefined: the name has another form. */
export function parseRunKey(name: string): RunId | undefined {
  const [instanceId = '', run = '', ...rest] = name.split('.');
  const isOne = isInstanceId(instanceId) && /^[0-9]+$/.test(run) && rest.length === 0;
  return isOne ? { instanceId, run: Number(run) } : undefined;
}
