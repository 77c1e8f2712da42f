/** Tells how commits of a work tree's repository descend from each other. It reads what is there, and fetches nothing. */
import { GitFailure, git } from './git-program.js';

/** The answer about two commits. `unknown`: git lacks one of them or a part of the history, or did not answer. */
export type Ancestry = 'yes' | 'no' | 'unknown';

/** A hash of a commit, in full or its first digits. It can be no option of git and no other name. */
const HASH = /^[0-9a-f]{4,64}$/;

/**
 * Tells whether commit `a` is `b`, or an ancestor of `b`. Both are hashes; `directory` lies in a work tree. Never
 * throws. In a shallow clone the answer is `no` only where `b` is an ancestor of `a`.
 */
export async function isAncestor(directory: string, a: string, b: string): Promise<Ancestry> {
  if (!HASH.test(a) || !HASH.test(b)) return 'unknown';
  if (a === b) return 'yes';
  const answer = await asked(directory, a, b);
  if (answer !== 'no') return answer;
  const shallow = await git(directory, 'rev-parse', '--is-shallow-repository').catch(() => 'true');
  if (shallow.trim() === 'false') return 'no';
  return (await asked(directory, b, a)) === 'yes' ? 'no' : 'unknown';
}

async function asked(directory: string, a: string, b: string): Promise<Ancestry> {
  try {
    await git(directory, 'merge-base', '--is-ancestor', a, b);
    return 'yes';
  } catch (error) {
    return error instanceof GitFailure && error.exitCode === 1 ? 'no' : 'unknown';
  }
}

/** The hash in full of a commit that begins with `digits`. Undefined: there is none, or several, or git does not answer. */
export async function commitOf(directory: string, digits: string): Promise<string | undefined> {
  if (!HASH.test(digits)) return undefined;
  const said = await git(directory, 'rev-parse', '--verify', '--quiet', `${digits}^{commit}`).catch(() => '');
  const commit = said.trim();
  // A branch may have such a name, too.
  return commit.startsWith(digits) ? commit : undefined;
}
