/** The files of a template as a tree of folders. Pure. */
import type { Configuration } from '../../../model/configuration.js';

export interface Folder {
  readonly name: string;
  /** The path of the folder; '' is the template itself. */
  readonly path: string;
  readonly folders: readonly Folder[];
  readonly files: readonly TreeFile[];
  /** How many files are below it. */
  readonly count: number;
}

interface TreeFile {
  readonly name: string;
  readonly path: string;
}

interface Growing {
  readonly name: string;
  readonly path: string;
  readonly folders: Map<string, Growing>;
  readonly files: TreeFile[];
}

export function treeOf(paths: readonly string[]): Folder {
  const root: Growing = { name: '', path: '', folders: new Map(), files: [] };
  for (const path of paths) {
    const parts = path.split('/');
    const name = parts.pop() ?? '';
    let folder = root;
    for (const part of parts) folder = childOf(folder, part);
    folder.files.push({ name, path });
  }
  return grown(root);
}

function childOf(parent: Growing, name: string): Growing {
  const there = parent.folders.get(name);
  if (there !== undefined) return there;
  const path = parent.path === '' ? name : `${parent.path}/${name}`;
  const made: Growing = { name, path, folders: new Map(), files: [] };
  parent.folders.set(name, made);
  return made;
}

function grown({ name, path, folders, files }: Growing): Folder {
  const below = [...folders.values()].map(grown).sort(byName);
  const count = below.reduce((sum, one) => sum + one.count, files.length);
  return { name, path, folders: below, files: files.sort(byName), count };
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : 1;
}

/** The folders above a file, the outermost first. */
export function foldersAbove(path: string): string[] {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_, place) => parts.slice(0, place + 1).join('/'));
}

/** True when a file may have this path. The server judges again. */
export function isGoodPath(path: string): boolean {
  return (
    !/[\\\0]/.test(path) && path.split('/').every((part) => part !== '' && part !== '.' && part !== '..')
  );
}

/** The names of the configurations that may install the local template. */
export function usersOf(
  { group, name }: { readonly group: string; readonly name: string },
  configurations: Iterable<Configuration>,
): string[] {
  const isThis = (one: { group: string; name: string; storage: string }): boolean =>
    one.group === group && one.name === name && one.storage === 'local';
  return [...configurations]
    .filter(
      ({ templateInstallationConfig: { allOf, oneOf, allInGroups, oneInGroups } }) =>
        [...allOf, ...oneOf].some(isThis) || [...allInGroups, ...oneInGroups].includes(group),
    )
    .map((configuration) => configuration.name)
    .sort();
}
