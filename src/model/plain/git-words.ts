/** The standing of a directory and of its files in git, in words. */
import type { FileInGit, GitStanding } from '../git-standing.js';
import { countText } from '../words.js';

const SHORT = 8;

/** A commit as people write it. */
export function shortCommit(commit: string): string {
  return commit.slice(0, SHORT);
}

/** The mark of a file that is not as git has it; undefined: it needs no word. */
export function fileInGitText(state: FileInGit | null): string | undefined {
  return state === null ? undefined : FILE_WORDS[state];
}

const FILE_WORDS: Readonly<Partial<Record<FileInGit, string>>> = {
  changed: 'changed, not in git',
  untracked: 'new, not in git',
  conflict: 'conflict in git',
};

/**
 * The directory in one line: `main at 24cca00a, 4 commits behind origin/main; 2 files changed, not in git`.
 */
export function gitStandingText(standing: GitStanding): string {
  const { commit, branch, underWay, changed, deleted, untracked, conflicts } = standing;
  const files = [
    [conflicts, 'in conflict'],
    [changed, 'changed, not in git'],
    [untracked, 'new, not in git'],
    [deleted, 'gone here, not in git'],
  ] as const;
  return [
    `${branch ?? 'no branch,'} at ${shortCommit(commit)}${apartText(standing)}`,
    ...(underWay === null ? [] : [`a ${underWay} is under way`]),
    ...files.flatMap(([count, what]) => (count === 0 ? [] : [`${countText(count, 'file')} ${what}`])),
  ].join('; ');
}

function apartText({ upstream, behind, ahead, isShallow }: GitStanding): string {
  if (upstream === null) return '';
  if (behind === null) return `; how far ${upstream} is, is not known`;
  const least = isShallow ? 'at least ' : '';
  const apart = [
    ...(behind === 0 ? [] : [`${least}${countText(behind, 'commit')} behind`]),
    ...(ahead === null || ahead === 0 ? [] : [`${least}${countText(ahead, 'commit')} ahead of`]),
  ].join(' and ');
  return apart === '' ? `, as ${upstream}` : `, ${apart} ${upstream}`;
}
