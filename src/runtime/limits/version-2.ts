/**
 * Control groups of version 2: one tree. A group that gives controllers to the groups below it must not hold processes
 * itself, so the daemon first moves into a group below its own. It does that only where its whole own group was handed
 * to Drover.
 *
 * ```
 * <own group>/drover-<root>/daemon            the daemon, and the owners that hold terminals for it
 *                          /<instance>.<run>  one run, or a later run that took its group over
 * ```
 */
import { basename, dirname, join } from 'node:path';
import { ignoring } from '../../files/system-error.js';
import type { GroupFiles } from './group-files.js';
import { Hierarchy, reasonOf, VERSION_2 } from './hierarchy.js';
import type { OwnGroup } from './own-groups.js';

const CONTROLLERS = ['memory', 'cpu'];
/** The controllers of the number of processes and of disks: limits of RAM and CPU hold without them. */
const PIDS = 'pids';
const IO = 'io';
const DAEMON = 'daemon';
/** How many times the processes are listed again, because they may fork while they are moved. */
const MOST_PASSES = 20;

export interface Version2Options {
  readonly files: GroupFiles;
  readonly own: OwnGroup;
  /** The name of the root's group: `drover-<root>`. */
  readonly name: string;
  /** True when the starter of the daemon says that the daemon's whole control group belongs to Drover. */
  readonly isDelegated: boolean;
}

/** Makes the root's group, and moves this process when needed. A string: the reason why limits cannot hold here. */
export async function openVersion2(options: Version2Options): Promise<Hierarchy | string> {
  const { files, own, name, isDelegated } = options;
  const home = homeOf(own.directory, name);
  const problem = refusal(files, { ...own, directory: home }, isDelegated || home !== own.directory);
  if (problem !== undefined) return problem;
  const given = (files.text(home, 'cgroup.controllers') ?? '').trim().split(' ');
  const missing = CONTROLLERS.filter((controller) => !given.includes(controller));
  if (missing.length === CONTROLLERS.length)
    return 'the control group of Drover was given neither memory nor cpu to control';
  const accounting = join(home, name);
  try {
    await files.make(accounting);
    if (!isTop(files, home)) await moveAll(files, home, join(accounting, DAEMON));
    for (const controller of [...CONTROLLERS, PIDS, IO])
      if (given.includes(controller))
        for (const group of [home, accounting])
          await files.write(group, 'cgroup.subtree_control', `+${controller}`);
  } catch (error) {
    return `the control group of Drover cannot be divided: ${reasonOf(error)}`;
  }
  const of = (controller: string) => (given.includes(controller) ? accounting : undefined);
  const what = missing.map((controller) => (controller === 'memory' ? 'ramMB' : controller));
  const advisory =
    missing.length === 0
      ? null
      : `${what.join(' and ')} is advisory (its control group was not given the controller ${missing})`;
  return new Hierarchy(
    files,
    VERSION_2,
    { memory: of('memory'), cpu: of('cpu'), accounting, pids: of(PIDS) },
    advisory,
    given.includes(IO),
  );
}

/**
 * The group that was handed to Drover. An earlier daemon may have moved this process's parent into a group below it.
 */
function homeOf(directory: string, name: string): string {
  const isMoved = basename(directory) === DAEMON && basename(dirname(directory)) === name;
  return isMoved ? dirname(dirname(directory)) : directory;
}

function refusal(files: GroupFiles, home: OwnGroup, isOurs: boolean): string | undefined {
  if (home.isReadOnly) return 'control groups are mounted read-only, as is usual in a container';
  // Drover may divide the topmost visible group: it is a container's own group, or the top of a machine without a
  // service manager.
  if (isOurs || home.directory === home.mountPoint) return undefined;
  return files.text(home.directory, 'cgroup.procs') === undefined
    ? 'the control group of Drover cannot be read'
    : 'the control group that Drover was started in is not its own; run it as the service of manifests/systemd';
}

/**
 * True for the top of the machine's whole tree: only that group may hold processes and also give controllers to
 * groups below it. The topmost group of a container may not.
 */
function isTop(files: GroupFiles, directory: string): boolean {
  return files.text(directory, 'cgroup.type') === undefined;
}

async function moveAll(files: GroupFiles, from: string, to: string): Promise<void> {
  await files.make(to);
  for (let pass = 0; pass < MOST_PASSES; pass++) {
    const pids = files.pids(from) ?? [];
    if (pids.length === 0) return;
    // ESRCH: the process ended meanwhile.
    for (const pid of pids) await files.write(to, 'cgroup.procs', pid).catch(ignoring('ESRCH'));
  }
}
