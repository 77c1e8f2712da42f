/** The standing of a directory in its git work tree, as the API shows it. */
import { z } from 'zod';
import { commitSchema } from './names.js';

/** The store value of `clones/<kind>`: the newest commit that the clone of any master was at. `kind`: `configurations` or `templates`. */
export const cloneRecordSchema = z.object({ commit: commitSchema });
export type CloneRecord = Readonly<z.output<typeof cloneRecordSchema>>;

export const fileInGitSchema = z
  .enum(['committed', 'changed', 'untracked', 'ignored', 'conflict'])
  .describe(
    'committed: as in the commit; changed: not as in it; untracked: git does not know the file yet; ignored: git is told to leave it out; conflict: a merge of git left it undecided',
  );
export type FileInGit = z.output<typeof fileInGitSchema>;

const files = z.int().describe('how many files of the directory');

export const gitStandingSchema = z.object({
  commit: z.string().describe('the commit that is checked out'),
  branch: z.string().nullable().describe('null: none is checked out'),
  upstream: z
    .string()
    .nullable()
    .describe(
      'the branch that the branch follows, such as origin/main, as the last fetch left it; null: none',
    ),
  behind: z
    .int()
    .nullable()
    .describe('how many commits of the upstream are not checked out; null: not known'),
  ahead: z.int().nullable().describe('how many commits are not in the upstream; null: not known'),
  isShallow: z
    .boolean()
    .describe('true: the clone lacks older commits, so that behind and ahead are at least so'),
  underWay: z
    .enum(['merge', 'rebase', 'cherry-pick', 'revert'])
    .nullable()
    .describe('what git has begun here and not ended; null: nothing'),
  changed: files.describe('files that are not as in the commit'),
  deleted: files.describe('files of the commit that are gone'),
  untracked: files.describe('files that git does not know yet'),
  conflicts: files.describe('files that a merge left undecided'),
});
export type GitStanding = Readonly<z.output<typeof gitStandingSchema>>;
