/** Reads what the root already has, so that an import overwrites nothing. Changes nothing. */
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { DirectoryReader, type Reading } from '../../src/configuration-files/directory.js';
import { ignoring } from '../../src/files/system-error.js';
import { SystemClock } from '../../src/loop/system-clock.js';
import { messageOf } from '../../src/model/errors.js';
import type { NodeConfiguration } from '../../src/model/node.js';
import { readMainConfiguration } from '../../src/node/main-configuration.js';
import { digestTree } from '../../src/templates/tree/digest.js';
import { readSteadily, type TreePlace, walkTree } from '../../src/templates/tree/tree.js';

export interface Target {
  /** The absolute path of the root. */
  readonly root: string;
  /** The content of config.json. Undefined: there is no such file. A text: the reason why the file cannot be used. */
  readonly node: NodeConfiguration | string | undefined;
  /** The configuration files, by file name. */
  readonly configurations: ReadonlyMap<string, Reading>;
  /** The digest of a template of the root; undefined: there is no template of that name. Throws DRV_TEMPLATE_UNSAFE. */
  digestOf(group: string, name: string): Promise<string | undefined>;
}

/** Reads the root. Throws the system's error, and DirectoryUnusable, for directories that cannot be read. */
export async function readTarget(root: string): Promise<Target> {
  const configurations = join(root, 'configurations');
  const isThere = await exists(configurations);
  const reader = new DirectoryReader(configurations, new SystemClock());
  return {
    root,
    node: await readMainConfiguration(join(root, 'config.json')).catch(messageOf),
    configurations: isThere ? (await reader.read()).files : new Map(),
    digestOf: async (group, name) => {
      const directory = join(root, 'templates', group, name);
      if (!(await exists(directory))) return undefined;
      return digestOfTree({ root: directory, label: `template ${group}/${name}` });
    },
  };
}

/** The digest of a tree that another program may write meanwhile. Throws DRV_TEMPLATE_UNSAFE. */
export function digestOfTree(place: TreePlace): Promise<string> {
  const { signal } = new AbortController();
  return readSteadily(async () => digestTree(place, await walkTree(place, signal), signal));
}

/** True for any entry at this path, also for a link that leads nowhere. */
export async function exists(path: string): Promise<boolean> {
  return (await lstat(path).catch(ignoring('ENOENT', 'ENOTDIR'))) !== undefined;
}
