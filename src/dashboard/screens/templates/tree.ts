/** The files of a template as a tree of folders. Pure. */
import type { Configuration } from '../../../model/configuration.js';

export interface Folder {
  readonly name: string;
  /** The path of the folder; '' is the template itself. */
  readonly path: string;
  readonly folders: readonly Folder[];
  readonly files: readonly { readonly name: string; readonly path: string }[];
  /** How many files are below it. */
  readonly count: number;
}

/**
 * Makes the tree of a folder from the paths of its files. `start`: the index in these paths at which the names
 * inside the folder begin.
 */
export function treeOf(paths: readonly string[], path = '', start = 0): Folder {
  const files: string[] = [];
  const folders = new Map<string, string[]>();
  for (const file of paths) {
    const end = file.indexOf('/', start);
    const folder = file.slice(0, end);
    if (end < 0) files.push(file);
    else if (folders.get(folder)?.push(file) === undefined) folders.set(folder, [file]);
  }
  return {
    name: path.slice(path.lastIndexOf('/') + 1),
    path,
    folders: [...folders].map(([folder, inside]) => treeOf(inside, folder, folder.length + 1)).sort(byName),
    files: files.map((file) => ({ name: file.slice(start), path: file })).sort(byName),
    count: paths.length,
  };
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
