/**
 * One control group for each run of this root, in the machine's version of control groups. Making a group takes
 * milliseconds, so a run takes over the empty group of an earlier run of its instance. A group is therefore named after
 * its first run. The next daemon finds the groups by their names and their processes. It never touches a group outside
 * of this root's group.
 */
import { basename, dirname, join } from 'node:path';
import { messageOf } from '../../model/errors.js';
import { attempt } from '../../model/plain/attempt.js';
import { countText } from '../../model/words.js';
import type { Logger } from '../../telemetry/logger.js';
import type { RunId, Usage } from '../runtime.js';
import type { Disk } from './disk.js';
import type { GroupFiles } from './group-files.js';
import { directoriesOf, type Hierarchy, mapGroup, type RunGroup } from './hierarchy.js';
import { readOwnGroups } from './own-groups.js';
import { parseRunKey, type ResourceLimits, type RunLimits, runKeyOf } from './resource-limits.js';

/** How many times `kill` looks again, because processes may fork while they are ended. */
const MOST_KILL_PASSES = 5;

/** The limits that a group is made with. */
const SET = ['ramMB', 'cpu', 'pids', 'ioWeight', 'readMBps', 'writeMBps'] as const;

interface OpenGroup {
  readonly run: number;
  readonly group: RunGroup;
  /** The limits that were set on the group; undefined: not known. */
  limits?: RunLimits | undefined;
  /** Processor time used by earlier runs in the same group. */
  readonly cpuSecondsBefore: number;
  /** How many memory-limit kills were already reported, including those before this daemon. */
  killsTold: number;
  /** How many memory-limit kills the last look found. */
  killsSeen: number;
}

type Noted = Pick<OpenGroup, 'group'> & {
  readonly limits?: RunLimits;
  readonly cpuSecondsBefore?: number;
  /** How many memory-limit kills happened before this moment. */
  readonly kills?: number;
};

export class ControlGroups implements ResourceLimits {
  readonly advisory: string | null;
  readonly holdsPids: boolean;
  readonly hasIo: boolean;
  readonly disk: Disk | undefined;
  readonly #hierarchy: Hierarchy;
  readonly #files: GroupFiles;
  readonly #logger: Logger;
  /** The open group of each instance, by instance id. */
  readonly #open = new Map<string, OpenGroup>();
  /** Directories of closed groups that still had processes and could not be removed. */
  readonly #left = new Set<string>();

  constructor(hierarchy: Hierarchy, files: GroupFiles, logger: Logger, disk?: Disk) {
    this.#hierarchy = hierarchy;
    this.#files = files;
    this.#logger = logger;
    this.advisory = hierarchy.advisory;
    this.holdsPids = hierarchy.root.pids !== undefined;
    this.hasIo = hierarchy.hasIo;
    this.disk = disk;
  }

  async open(run: RunId, limits: RunLimits): Promise<readonly string[]> {
    const taken = this.#takeOver(run, limits);
    if (taken !== undefined) return directoriesOf(taken);
    const former = this.openRun(run.instanceId);
    if (former !== undefined) await this.close({ ...run, run: former });
    const group = this.#groupOf(run);
    if (this.#left.size > 0) await this.#removeLeft();
    // Note the group before it is made: `removeUnused` may run at this moment.
    this.#note(run, { group, limits });
    try {
      await this.#make(run, group);
      for (const setting of this.#hierarchy.settings(group, limits)) this.#files.set(setting);
      // Some disks refuse limits, which is no reason to go without those of RAM.
      for (const setting of this.#hierarchy.ioSettings(group, limits, this.disk))
        if (attempt(() => this.#files.set(setting), 'refused') === 'refused')
          this.#logger.warn(
            { instance: run.instanceId, run: run.run },
            `its disk refuses ${setting.name}: ${setting.value}`,
          );
      return directoriesOf(group);
    } catch (error) {
      this.#logger.warn(
        { instance: run.instanceId, run: run.run, reason: messageOf(error) },
        `the limits of ${run.instanceId} do not hold for this start: its control group could not be made`,
      );
      await this.close(run);
      return [];
    }
  }

  async adopt(run: RunId, pid: number, limits: RunLimits): Promise<boolean> {
    const group = this.#groupOfProcess(run, pid);
    if (group === undefined) return false;
    this.#note(run, { group, kills: this.#hierarchy.memoryKills(group) });
    try {
      // Set the limits again: a service manager may have removed them while no daemon ran.
      for (const { directory, name, value } of this.#hierarchy.settings(group, limits))
        await this.#files.write(directory, name, value);
      for (const { directory, name, value } of this.#hierarchy.ioSettings(group, limits, this.disk))
        await this.#files.write(directory, name, value);
    } catch (error) {
      this.#logger.warn(
        { instance: run.instanceId, run: run.run, reason: messageOf(error) },
        `the limits of ${run.instanceId} could not be set again`,
      );
    }
    return true;
  }

  openRun(instanceId: string): number | undefined {
    return this.#open.get(instanceId)?.run;
  }

  wasOutOfMemory(run: RunId): boolean {
    return this.#hierarchy.memoryKills(this.#knownGroup(run)) > (this.#openGroup(run)?.killsTold ?? 0);
  }

  noteKills(run: RunId): number {
    const known = this.#openGroup(run);
    if (known === undefined) return 0;
    const fresh = known.killsSeen - known.killsTold;
    known.killsTold = known.killsSeen;
    known.killsSeen = this.#hierarchy.memoryKills(known.group);
    return fresh;
  }

  usage(run: RunId): Usage | undefined {
    const known = this.#openGroup(run);
    const usage = known && this.#hierarchy.usage(known.group);
    return usage && { ...usage, cpuSeconds: Math.max(0, usage.cpuSeconds - known.cpuSecondsBefore) };
  }

  pids(run: RunId): readonly number[] {
    return [
      ...new Set(directoriesOf(this.#knownGroup(run)).flatMap((directory) => this.#files.allPids(directory))),
    ];
  }

  allPids(): readonly number[] {
    return [...this.#open.values()].flatMap(({ group }) => {
      const [directory] = directoriesOf(group);
      return directory === undefined ? [] : this.#files.allPids(directory);
    });
  }

  async kill(run: RunId): Promise<void> {
    const known = this.#openGroup(run);
    const group = this.#knownGroup(run);
    // No later run takes over a group with other limits.
    if (known !== undefined) known.limits = undefined;
    for (const { directory, name, value } of this.#hierarchy.lastSettings(group))
      await this.#files.write(directory, name, value).catch(() => undefined);
    // Only version 2 has `cgroup.kill`; failures of this write are ignored.
    for (const directory of directoriesOf(group))
      await this.#files.write(directory, 'cgroup.kill', 1).catch(() => undefined);
    for (let pass = 0; pass < MOST_KILL_PASSES; pass++) {
      const pids = this.pids(run);
      if (pids.length === 0) return;
      // The process may have ended.
      for (const pid of pids) attempt(() => process.kill(pid, 'SIGKILL'));
    }
  }

  async close(run: RunId): Promise<void> {
    const group = this.#knownGroup(run);
    if (this.#openGroup(run) !== undefined) this.#open.delete(run.instanceId);
    for (const directory of directoriesOf(group)) await this.#remove(directory);
  }

  async removeUnused(isOver: (run: RunId) => boolean): Promise<void> {
    const roots = directoriesOf(this.#hierarchy.root);
    const names = new Set((await Promise.all(roots.map((root) => this.#files.groupsIn(root)))).flat());
    for (const name of names) {
      const run = parseRunKey(name);
      if (run === undefined || roots.some((root) => this.#isHeld(join(root, name)))) continue;
      if (isOver(run)) await this.#end(run);
      await this.close(run);
    }
  }

  /** Ends processes that outlived their run while no daemon watched the group. */
  async #end(run: RunId): Promise<void> {
    const pids = this.pids(run);
    if (pids.length === 0) return;
    this.#logger.warn(
      { instance: run.instanceId, run: run.run, pids },
      `ending ${countText(pids.length, 'process', 'processes')} that a past run of ${run.instanceId} left behind`,
    );
    await this.kill(run);
  }

  async stop(): Promise<void> {
    await this.#removeLeft();
    for (const root of directoriesOf(this.#hierarchy.root)) await this.#files.remove(root);
  }

  /** Records that this run, and no other, holds the group. */
  #note({ instanceId, run }: RunId, { group, limits, cpuSecondsBefore = 0, kills = 0 }: Noted): void {
    this.#open.set(instanceId, { run, group, limits, cpuSecondsBefore, killsTold: kills, killsSeen: kills });
  }

  #openGroup({ instanceId, run }: RunId): OpenGroup | undefined {
    const open = this.#open.get(instanceId);
    return open?.run === run ? open : undefined;
  }

  /** True when a run holds the directory. */
  #isHeld(directory: string): boolean {
    const open = this.#open.get(parseRunKey(basename(directory))?.instanceId ?? '');
    return open !== undefined && directoriesOf(open.group).includes(directory);
  }

  /** Takes over the group of an earlier run of the instance, when nothing is in it and its limits are the same. */
  #takeOver(run: RunId, limits: RunLimits): RunGroup | undefined {
    const former = this.#open.get(run.instanceId);
    if (former === undefined || SET.some((limit) => former.limits?.[limit] !== limits[limit]))
      return undefined;
    const { group } = former;
    if (!directoriesOf(group).every((directory) => this.#files.isEmpty(directory))) return undefined;
    // Leave a group with files in memory, which count against its limit: each run might leave more, until no run can
    // start.
    if (this.#hierarchy.fileBytesInMemory(group) > 0) return undefined;
    const [kills, cpuSecondsBefore] = [this.#hierarchy.memoryKills(group), this.#hierarchy.cpuSeconds(group)];
    this.#note(run, { group, limits, kills, cpuSecondsBefore });
    return group;
  }

  /**
   * The group opened for a run. For an unknown run: the group that it would get, without directories that another run
   * holds.
   */
  #knownGroup(run: RunId): RunGroup {
    return (
      this.#openGroup(run)?.group ??
      mapGroup(this.#groupOf(run), (directory) => (this.#isHeld(directory) ? undefined : directory))
    );
  }

  #groupOf(run: RunId): RunGroup {
    return mapGroup(this.#hierarchy.root, (root) => join(root, runKeyOf(run)));
  }

  async #make(run: RunId, group: RunGroup): Promise<void> {
    const isNew = await Promise.all(directoriesOf(group).map((directory) => this.#files.make(directory)));
    if (isNew.every(Boolean)) return;
    // An instance that was dropped and came back counts its runs from 1 again. So this group is left from the
    // instance's earlier time on this node, with old processes and counts.
    await this.#end(run);
    for (const directory of directoriesOf(group)) {
      await this.#files.removeTree(directory);
      await this.#files.make(directory);
    }
  }

  async #remove(directory: string): Promise<void> {
    if (!(await this.#files.removeTree(directory))) {
      this.#left.add(directory);
      return;
    }
    this.#left.delete(directory);
    // The parent may be the group of an earlier daemon that ran in another control group. Remove it once it is empty,
    // because no other code does.
    const parent = dirname(directory);
    if (!directoriesOf(this.#hierarchy.root).includes(parent)) await this.#files.remove(parent);
  }

  async #removeLeft(): Promise<void> {
    for (const directory of [...this.#left]) if (!this.#isHeld(directory)) await this.#remove(directory);
  }

  /**
   * The group of a live process of the run. The daemon that opened it may have run in another group than this daemon.
   */
  #groupOfProcess(run: RunId, pid: number): RunGroup | undefined {
    const { root } = this.#hierarchy;
    // Undefined: most likely the process has ended.
    const own = attempt(() => readOwnGroups(pid));
    if (own === undefined) return undefined;
    const { version1, version2 } = own;
    const find = (controller: string, parent: string | undefined): string | undefined => {
      const directory = (version1.get(controller) ?? version2)?.directory;
      if (directory === undefined || parent === undefined) return undefined;
      return withParents(directory).find(
        (group) =>
          parseRunKey(basename(group))?.instanceId === run.instanceId &&
          basename(dirname(group)) === basename(parent),
      );
    };
    const group = {
      memory: find('memory', root.memory),
      cpu: find('cpu', root.cpu),
      accounting: find('cpuacct', root.accounting),
      pids: find('pids', root.pids),
    };
    return directoriesOf(group).length === 0 ? undefined : group;
  }
}

/**
 * The directory and all its parents. A program may have made groups below the group of its run, and moved into them.
 */
function withParents(directory: string): string[] {
  const parent = dirname(directory);
  return parent === directory ? [directory] : [directory, ...withParents(parent)];
}
