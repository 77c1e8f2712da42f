/**
 * Control groups of version 1: a tree for each controller, in which a group may hold both processes and groups. The
 * groups of this root are made below the daemon's own in each tree.
 */
import { join } from 'node:path';
import { GroupFigures, VERSION_1 } from './group-figures.js';
import type { GroupFiles } from './group-files.js';
import {
  BYTES_PER_MB,
  CPU_PERIOD_US,
  cpuQuotaUs,
  directoriesOf,
  type Hierarchy,
  type RunGroup,
  reasonOf,
  type Setting,
} from './hierarchy.js';
import type { OwnGroup } from './own-groups.js';
import type { RunLimits } from './resource-limits.js';

/** The control file that limits memory and swap together. */
const SWAP_TOO = 'memory.memsw.limit_in_bytes';

export class Version1 extends GroupFigures implements Hierarchy {
  readonly root: RunGroup;
  readonly advisory: string | null;
  readonly #files: GroupFiles;

  private constructor(files: GroupFiles, root: RunGroup, advisory: string | null) {
    super(files, VERSION_1);
    this.#files = files;
    this.root = root;
    this.advisory = advisory;
  }

  /** Makes the root's groups. A string: the reason why no group can be made. */
  static async open(
    files: GroupFiles,
    own: ReadonlyMap<string, OwnGroup>,
    name: string,
  ): Promise<Version1 | string> {
    const problems: string[] = [];
    const make = async (controller: string): Promise<string | undefined> => {
      const made = await makeIn(files, own.get(controller), name);
      if (made.problem !== undefined) problems.push(`${controller}: ${made.problem}`);
      return made.directory;
    };
    const root = {
      memory: await make('memory'),
      cpu: await make('cpu'),
      accounting: await make('cpuacct'),
    };
    if (root.memory === undefined && root.cpu === undefined) {
      for (const directory of directoriesOf(root)) await files.remove(directory);
      return `no control group can be made (${problems.join('; ')})`;
    }
    const isWhole = root.memory !== undefined && root.cpu !== undefined;
    const what = root.memory === undefined ? 'ramMB is' : 'cpu is';
    return new Version1(files, root, isWhole ? null : `${what} advisory (${problems.join('; ')})`);
  }

  settings({ memory, cpu: processor }: RunGroup, { ramMB, cpu }: RunLimits): Setting[] {
    const settings: Setting[] = [];
    if (memory !== undefined && ramMB > 0) {
      const value = ramMB * BYTES_PER_MB;
      // In this order, because the memory limit may not exceed the limit of memory and swap.
      settings.push({ directory: memory, name: 'memory.limit_in_bytes', value });
      // Without this limit the rest would go to swap. Not every kernel counts swap.
      if (this.#files.number(memory, SWAP_TOO) !== undefined)
        settings.push({ directory: memory, name: SWAP_TOO, value });
    }
    const quota = cpuQuotaUs(cpu);
    if (processor !== undefined && quota !== undefined)
      settings.push(
        { directory: processor, name: 'cpu.cfs_period_us', value: CPU_PERIOD_US },
        { directory: processor, name: 'cpu.cfs_quota_us', value: quota },
      );
    return settings;
  }
}

async function makeIn(
  files: GroupFiles,
  own: OwnGroup | undefined,
  name: string,
): Promise<{ readonly directory?: string; readonly problem?: string }> {
  if (own === undefined) return { problem: 'no such controller' };
  if (own.isReadOnly) return { problem: 'mounted read-only' };
  const directory = join(own.directory, name);
  try {
    await files.make(directory);
    return { directory };
  } catch (error) {
    return { problem: reasonOf(error) };
  }
}
