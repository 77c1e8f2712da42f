/**
 * Lists the files of a configurations directory and its subdirectories, and tells which names are configurations. It
 * reads no contents.
 */
import type { Dirent } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ABSENT_SUBMODULE, isAbsentSubmodule } from '../files/git-leftovers.js';
import { isMissing } from '../files/system-error.js';
import { fileReason } from './file-reason.js';

/** How deep subdirectories are read, and how many. Each takes a watch of the system. */
const MAX_DEPTH = 8;
const MAX_DIRECTORIES = 1000;
/** The name of directories whose files are parts that others extend, and no configurations of their own. */
const PARTS = 'base';
const LOOK_ALIKE = /\.(?:json[c5]?|ya?ml|toml)$/i;

/** True for paths in the directory that are read: `*.json`, in no directory that is left out. */
export function isConfigurationFile(path: string): boolean {
  const names = path.split('/');
  return names.every(isRead) && path.endsWith('.json');
}

function isRead(name: string): boolean {
  return name !== '' && !name.startsWith('.') && name !== 'node_modules';
}

/** True for a file that only others extend: it lies in a directory `base`. */
export function isPart(path: string): boolean {
  return basename(dirname(path)) === PARTS;
}

/** The name of the fault of a subdirectory, among the readings of files. */
export function faultOfAll(subdirectory: string): string {
  return `${subdirectory}/*.json`;
}

export interface FileNames {
  /** The paths of files in the directory, in order. */
  readonly files: readonly string[];
  /** The files that are symbolic links. */
  readonly links: readonly string[];
  /** The paths of the subdirectories that are read, each after the one that holds it. */
  readonly directories: readonly string[];
  /** Why a subdirectory cannot be read or trusted, by its path. Its files are not in `files`. */
  readonly faults: ReadonlyMap<string, string>;
  /** Why a name that looks like configurations is not read. */
  readonly unread: ReadonlyMap<string, string>;
}

/** Lists the directory. Throws the system's error when the directory itself cannot be read. */
export async function listFileNames(directory: string): Promise<FileNames> {
  const files: string[] = [];
  const links: string[] = [];
  const directories: string[] = [];
  const faults = new Map<string, string>();
  const unread = new Map<string, string>();
  const take = async (entry: Dirent, path: string): Promise<void> => {
    if (!isRead(entry.name)) return;
    if (entry.isDirectory()) {
      if (path.split('/').length > MAX_DEPTH) faults.set(path, `lies deeper than ${MAX_DEPTH} directories`);
      else if (directories.length === MAX_DIRECTORIES)
        faults.set(path, `is beyond the limit of ${MAX_DIRECTORIES} subdirectories`);
      else directories.push(path);
    } else if (isConfigurationFile(path)) {
      files.push(path);
      if (entry.isSymbolicLink()) links.push(path);
    } else if (LOOK_ALIKE.test(entry.name))
      unread.set(path, 'the name of a configuration file ends with .json, in small letters');
    else if (entry.isSymbolicLink() && (await isDirectory(join(directory, path))))
      unread.set(path, 'links to directories are not followed');
  };
  for (const entry of await readdir(directory, { withFileTypes: true })) await take(entry, entry.name);
  // The list grows while it is gone through.
  for (const inner of directories)
    try {
      if (await isAbsentSubmodule(join(directory, inner))) faults.set(inner, ABSENT_SUBMODULE);
      for (const entry of await readdir(join(directory, inner), { withFileTypes: true }))
        await take(entry, `${inner}/${entry.name}`);
    } catch (error) {
      if (!isMissing(error)) faults.set(inner, `cannot be read: ${fileReason(error)}`);
    }
  return { files: files.sort(), links, directories, faults, unread };
}

async function isDirectory(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() === true;
}
