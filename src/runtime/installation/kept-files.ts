/**
 * Decides which files of a static instance an install replaces. Files that are as Drover installed them are replaced;
 * files that the instance or a person changed are kept.
 */
import { join } from 'node:path';
import { eachBounded, FILE_PARALLELISM } from '../../loop/each-bounded.js';
import { hashOfFile, hashOfTexts } from './installed-files.js';
import type { PrepareRequest } from './workspace.js';
import type { WorkspaceItem } from './workspace-layers.js';
import type { WorkspaceMerge } from './workspace-merge.js';

/** Stands before the template's hash of a file that Drover found in the directory, and did not install. */
export const UNKNOWN = '?';
/** How many kept files a warning names. */
const MOST_NAMED = 5;

/** A hash of everything that decides the content of the installed files. */
export function basisOf({ templates, fileModifications, fileEdits, variables }: PrepareRequest): string {
  const trees = templates.map(({ digest, priority }) => [digest, priority]);
  const edits = fileEdits === undefined ? [] : [fileEdits];
  return hashOfTexts([trees, fileModifications, [...variables].sort(), ...edits]);
}

interface ComparedFile {
  readonly present: string;
  /** The hash of the file as the templates have it now. */
  readonly wanted: string;
  /** The hash of the file as Drover installed it; undefined: Drover did not install it. */
  readonly installed: string | undefined;
  /** True when Drover has a record of the directory. */
  readonly isRecorded: boolean;
}

/**
 * - `same`: the file is as it should be.
 * - `replace`: the instance has not changed the file since its install.
 * - `own`: the instance has changed the file, and the templates have not.
 * - `kept`: both have changed the file.
 * - `unknown`: the file is from before Drover's record, so nothing is said of it.
 */
export function compareFile({
  present,
  wanted,
  installed,
  isRecorded,
}: ComparedFile): 'same' | 'replace' | 'own' | 'kept' | 'unknown' {
  if (present === wanted) return 'same';
  if (installed === undefined) return isRecorded ? 'kept' : 'unknown';
  if (installed === wanted || installed === UNKNOWN + wanted) return 'own';
  return installed === present ? 'replace' : 'kept';
}

/** The hashes of the files among `items` in a tree that nobody else writes, by path. */
export async function hashesIn(
  directory: string,
  items: Iterable<WorkspaceItem>,
  signal: AbortSignal,
): Promise<Record<string, string>> {
  const hashes: Record<string, string> = {};
  await eachBounded(items, FILE_PARALLELISM, signal, async ({ path, kind }) => {
    if (kind === 'file') hashes[path] = await hashOfFile(join(directory, path), signal);
  });
  return hashes;
}

/** The kept files that are there and still differ from the templates. */
export async function stillKept(
  kept: Readonly<Record<string, string>>,
  merge: WorkspaceMerge,
  missing: readonly WorkspaceItem[],
  signal: AbortSignal,
): Promise<Record<string, string>> {
  const gone = new Set(missing.map(({ path }) => path));
  const paths = new Set(Object.keys(kept).filter((path) => !gone.has(path)));
  if (paths.size === 0) return {};
  const present = await merge.hashes(signal, paths);
  return Object.fromEntries(
    Object.entries(kept).filter(([path, wanted]) => present.has(path) && present.get(path) !== wanted),
  );
}

/** The warning that names kept files; empty: there are none. */
export function keptWarnings(kept: Readonly<Record<string, string>>): string[] {
  const paths = Object.keys(kept).sort();
  if (paths.length === 0) return [];
  const more = paths.length > MOST_NAMED ? ` and ${paths.length - MOST_NAMED} more` : '';
  const names = paths.slice(0, MOST_NAMED).join(', ') + more;
  return [
    `kept ${names} as the instance changed it: the templates or their variables have another content for it now; a file that is moved away is installed anew`,
  ];
}
