/**
 * Tells how a directory stands in its git work tree: branch, upstream, and the files that differ from the commit. It
 * asks git again only after something changed: a file as it was read, or what git keeps of HEAD, index and branches.
 */
import { realpath, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { gitOriginsOf } from '../git/git-origins.js';
import { git, isInWorkTree } from '../git/git-program.js';
import type { Clock } from '../loop/clock.js';
import { messageOf } from '../model/errors.js';
import type { FileInGit, GitStanding } from '../model/git-standing.js';
import { isConfigurationFile } from './file-names.js';

/** The answer about a directory. */
export interface DirectoryInGit {
  /** Null: the directory is in no work tree, git tracks none of its files, or git did not answer. */
  readonly standing: GitStanding | null;
  /** Why git did not answer; null: it did, or was not asked. */
  readonly fault: string | null;
  /** The files of the directory by name. Absent: unknown, as of a symbolic link. */
  readonly files: ReadonlyMap<string, FileInGit>;
  /** The names of the commit's files that are gone here. */
  readonly deleted: readonly string[];
}

const AGAIN_AFTER_MS = 30_000;
export const NOT_IN_GIT: DirectoryInGit = { standing: null, fault: null, files: new Map(), deleted: [] };

interface ReadFile {
  readonly signature: string;
}

/** The files in a git directory whose presence tells what git has begun and not ended. */
const UNDER_WAY = [
  ['rebase-merge', 'rebase'],
  ['rebase-apply', 'rebase'],
  ['MERGE_HEAD', 'merge'],
  ['CHERRY_PICK_HEAD', 'cherry-pick'],
  ['REVERT_HEAD', 'revert'],
] as const;

export class GitDirectory {
  readonly #directory: string;
  readonly #clock: Pick<Clock, 'monotonic'>;
  /** The files of git that tell whether its answer may be another one now. */
  #watched: readonly string[] = [];
  #seen: string | undefined;
  #answer = NOT_IN_GIT;
  /** When git is asked again after a fault, even if nothing changed. */
  #againAt = Number.POSITIVE_INFINITY;
  #looking: Promise<unknown> = Promise.resolve();

  constructor(directory: string, clock: Pick<Clock, 'monotonic'>) {
    this.#directory = directory;
    this.#clock = clock;
  }

  /** The standing of the directory. `files`: what was read of its files last. Never throws; may run concurrently. */
  look(files: ReadonlyMap<string, ReadFile>): Promise<DirectoryInGit> {
    const look = this.#looking.then(() => this.#look(files));
    this.#looking = look;
    return look;
  }

  async #look(files: ReadonlyMap<string, ReadFile>): Promise<DirectoryInGit> {
    // Read the marks first: what changes while git answers is then seen at the next look.
    const marks = await marksOf(this.#directory, this.#watched);
    const seen = JSON.stringify([marks, [...files].map(([name, { signature }]) => [name, signature])]);
    if (seen === this.#seen && this.#clock.monotonic() < this.#againAt) return this.#answer;
    this.#againAt = Number.POSITIVE_INFINITY;
    try {
      const found = (await isInWorkTree(this.#directory))
        ? await standingOf(this.#directory, [...files.keys()])
        : undefined;
      this.#answer = found?.answer ?? NOT_IN_GIT;
      const watched = found?.watched ?? [];
      // The marks were read of other files than those that matter now: ask once more at the next look.
      this.#seen = String(watched) === String(this.#watched) ? seen : undefined;
      this.#watched = watched;
    } catch (error) {
      this.#answer = { ...NOT_IN_GIT, fault: messageOf(error) };
      this.#seen = seen;
      this.#againAt = this.#clock.monotonic() + AGAIN_AFTER_MS;
    }
    return this.#answer;
  }
}

/** The marks of the directory and of these files, which change whenever one of them does. */
async function marksOf(directory: string, files: readonly string[]): Promise<readonly string[]> {
  const top = await realpath(directory).catch(() => '');
  const marks = files.map(async (file) => {
    const status = await stat(file, { bigint: true }).catch(() => undefined);
    return status === undefined ? '' : `${status.ino}:${status.size}:${status.mtimeNs}`;
  });
  return [top, String(files.length > 0 || (await isInWorkTree(directory))), ...(await Promise.all(marks))];
}

async function standingOf(
  directory: string,
  files: readonly string[],
): Promise<{ readonly answer: DirectoryInGit | undefined; readonly watched: readonly string[] }> {
  const asked = ['--absolute-git-dir', '--git-common-dir', '--is-shallow-repository'];
  const head = await git(directory, 'rev-parse', ...asked, 'HEAD', '--symbolic-full-name', 'HEAD');
  const [own = '', common = '', shallow, commit = '', ref = ''] = head.split('\n');
  const shared = resolve(directory, common);
  const upstream = await upstreamOf(directory, ref);
  const [known, counts, underWay] = await Promise.all([
    filesOf(directory, files),
    upstream === undefined ? NOT_COUNTED : countsOf(directory, upstream.ref, shallow === 'true'),
    underWayIn(own),
  ]);
  const ofFiles = (state: FileInGit): number =>
    [...known.files.values()].filter((one) => one === state).length;
  const standing = {
    commit,
    branch: ref.startsWith('refs/heads/') ? ref.slice('refs/heads/'.length) : null,
    upstream: upstream?.name ?? null,
    ...counts,
    isShallow: shallow === 'true',
    underWay,
    changed: ofFiles('changed'),
    deleted: known.deleted.length,
    untracked: ofFiles('untracked'),
    conflicts: ofFiles('conflict'),
  };
  const ofAll = 'config packed-refs shallow reftable/tables.list info/exclude'.split(' ');
  const watched = [
    ...['HEAD', 'index', ...UNDER_WAY.map(([file]) => file)].map((file) => join(own, file)),
    ...[...ofAll, ref, upstream?.ref ?? ''].map((file) => join(shared, file)),
  ];
  const answer = { standing, fault: null, files: known.files, deleted: known.deleted };
  return { answer: known.isTracked ? answer : undefined, watched };
}

interface Upstream {
  readonly ref: string;
  readonly name: string;
}

async function upstreamOf(directory: string, ref: string): Promise<Upstream | undefined> {
  if (!ref.startsWith('refs/heads/')) return undefined;
  const said = await git(directory, 'for-each-ref', '--format=%(upstream)%00%(upstream:short)', '--', ref);
  const [upstream = '', name = ''] = said.trim().split('\0');
  return upstream === '' ? undefined : { ref: upstream, name: name === '' ? upstream : name };
}

type Counts = Pick<GitStanding, 'behind' | 'ahead'>;
const NOT_COUNTED: Counts = { behind: null, ahead: null };

/** How far HEAD and the upstream are apart. Unknown without the upstream's commits. */
async function countsOf(directory: string, upstream: string, isShallow: boolean): Promise<Counts> {
  try {
    const said = await git(directory, 'rev-list', '--left-right', '--count', `HEAD...${upstream}`, '--');
    const [ahead = 0, behind = 0] = said.split('\t').map(Number);
    if (!isShallow || ahead === 0 || behind === 0) return { behind, ahead };
    // The commit that both have in common may be older than the clone: then all of HEAD would count as ahead.
    const base = await git(directory, 'merge-base', 'HEAD', upstream).catch(() => '');
    return { behind, ahead: base === '' ? null : ahead };
  } catch {
    return NOT_COUNTED;
  }
}

async function underWayIn(gitDirectory: string): Promise<GitStanding['underWay']> {
  for (const [file, word] of UNDER_WAY)
    if (await stat(join(gitDirectory, file)).catch(() => undefined)) return word;
  return null;
}

/** An entry of `ls-files -t`: its mark, and its name in the directory. */
const LISTED = /(\S) ([^\0]+)\0/g;

async function filesOf(directory: string, files: readonly string[]) {
  const [listed, removed, origins] = await Promise.all([
    git(directory, ...'ls-files -z -t --cached --deleted --others --exclude-standard --directory'.split(' ')),
    // Compares the commit with the index alone: a removal that waits for its commit is in neither listing.
    git(directory, ...'diff-index -z --cached --name-only --diff-filter=D --relative HEAD --'.split(' ')),
    gitOriginsOf(directory, files),
  ]);
  const marked = new Map<string, Set<string>>();
  for (const [, mark = '', name = ''] of listed.matchAll(LISTED))
    marked.set(name, (marked.get(name) ?? new Set()).add(mark));
  const found = new Map<string, FileInGit>();
  for (const file of files) {
    const marks = marked.get(file) ?? marked.get(untrackedAbove(file, marked)) ?? new Set();
    const isDirty = origins.get(file)?.isDirty;
    if (marks.has('M')) found.set(file, 'conflict');
    else if (marks.has('?')) found.set(file, 'untracked');
    else if (marks.size === 0 && isDirty !== false) found.set(file, 'ignored');
    else if (isDirty != null) found.set(file, isDirty ? 'changed' : 'committed');
  }
  const gone = [...marked].flatMap(([name, marks]) => (marks.has('R') ? [name] : []));
  const isDeleted = (name: string): boolean => isConfigurationFile(name) && !found.has(name);
  return {
    files: found,
    deleted: [...new Set([...gone, ...removed.split('\0')])].filter(isDeleted),
    isTracked: [...marked.values()].some((marks) => !marks.has('?')),
  };
}

/** The directory above the file that git lists as a whole, because it tracks nothing in it; empty: there is none. */
function untrackedAbove(file: string, marked: ReadonlyMap<string, unknown>): string {
  for (let end = file.indexOf('/'); end >= 0; end = file.indexOf('/', end + 1)) {
    const directory = file.slice(0, end + 1);
    if (marked.has(directory)) return directory;
  }
  return '';
}
