/**
 * Control groups of version 1: a tree for each controller, in which a group may hold both processes and groups. The
 * groups of this root are made below the daemon's own in each tree.
 */
import { join } from 'node:path';
import type { GroupFiles } from './group-files.js';
import { directoriesOf, Hierarchy, reasonOf, VERSION_1 } from './hierarchy.js';
import type { OwnGroup } from './own-groups.js';

/** Makes the root's groups. A string: the reason why no group can be made. */
export async function openVersion1(
  files: GroupFiles,
  own: ReadonlyMap<string, OwnGroup>,
  name: string,
): Promise<Hierarchy | string> {
  const problems: string[] = [];
  const make = async (controller: string): Promise<string | undefined> => {
    const parent = own.get(controller);
    let problem = parent === undefined ? 'no such controller' : 'mounted read-only';
    try {
      if (parent?.isReadOnly === false) {
        const directory = join(parent.directory, name);
        await files.make(directory);
        return directory;
      }
    } catch (error) {
      problem = reasonOf(error);
    }
    problems.push(`${controller}: ${problem}`);
    return undefined;
  };
  const root = {
    memory: await make('memory'),
    cpu: await make('cpu'),
    accounting: await make('cpuacct'),
    pids: await make('pids'),
  };
  if (root.memory === undefined && root.cpu === undefined) {
    for (const directory of directoriesOf(root)) await files.remove(directory);
    return `no control group can be made (${problems.join('; ')})`;
  }
  const isWhole = root.memory !== undefined && root.cpu !== undefined;
  const what = root.memory === undefined ? 'ramMB is' : 'cpu is';
  return new Hierarchy(files, VERSION_1, root, isWhole ? null : `${what} advisory (${problems.join('; ')})`);
}
