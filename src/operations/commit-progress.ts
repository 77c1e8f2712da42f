/** Tells how far a commit of the configurations directory has come, for `drover wait commit` and its route. */
import { z } from 'zod';
import { commitOf, isAncestor } from '../git/git-ancestry.js';
import type { FileInGit } from '../model/git-standing.js';
import { fileInGitText, shortCommit } from '../model/plain/git-words.js';
import { rolloutText } from '../model/plain/rollout-text.js';
import { instancesByAge, statesOfFiles } from './configuration-file-list.js';
import type { Reads } from './reads.js';
import { rolloutOf } from './rollouts/rollouts.js';

/** How many of the files that are not there yet are named. */
const MOST_NAMED = 50;

export const commitProgressSchema = z.object({
  commit: z.string().nullable().describe('the hash in full; null: the clone of this master does not have it'),
  state: z
    .enum(['unknown', 'elsewhere', 'pending', 'in-force', 'rolled-out'])
    .describe(
      'unknown: nothing tells whether the directory has it; elsewhere: the directory is at a commit without it; pending: not all files of the directory are in force; in-force: all are, and a rollout is not over; rolled-out: it is over',
    ),
  message: z.string().describe('the same in words'),
  files: z
    .array(z.object({ file: z.string(), name: z.string().nullable(), why: z.string() }))
    .describe('the files, 50 at most, that are not in force, or not rolled out'),
  total: z.int().describe('how many files that are'),
});
export type CommitProgress = Readonly<z.output<typeof commitProgressSchema>>;

/** `asked`: a hash of a commit, or its first digits. A later commit that contains it stands for it. */
export async function commitProgress(needs: Reads, asked: string): Promise<CommitProgress> {
  const { configurationFiles } = needs;
  const { directory, nodeId } = configurationFiles.place();
  const { standing, fault, files: inGit, deleted } = await configurationFiles.inGit();
  const told = (rest: Pick<CommitProgress, 'commit' | 'state' | 'message'>): CommitProgress => ({
    ...rest,
    files: [],
    total: 0,
  });
  if (standing === null) {
    const why = fault === null ? 'git tracks none of its files' : fault;
    const message = `the configurations directory of ${nodeId} has no commit: ${why}`;
    return told({ commit: null, state: 'unknown', message });
  }
  const head = `the directory of ${nodeId} is at ${shortCommit(standing.commit)}`;
  const commit = (await commitOf(directory, asked)) ?? null;
  if (commit === null)
    return told({ commit, state: 'unknown', message: `${head}; its clone has no commit ${asked}` });
  switch (await isAncestor(directory, commit, standing.commit)) {
    case 'no':
      return told({ commit, state: 'elsewhere', message: `${head}, which does not contain ${asked}` });
    case 'unknown':
      return told({
        commit,
        state: 'unknown',
        message: `${head}; whether it contains ${asked}, git cannot tell`,
      });
    case 'yes':
  }
  const missing = [...notInForce(needs, inGit, deleted)];
  const late = missing.length > 0 ? missing : [...notRolledOut(needs, inGit)];
  const what = missing.length > 0 ? 'not in force' : 'not rolled out';
  return {
    commit,
    state: missing.length > 0 ? 'pending' : late.length > 0 ? 'in-force' : 'rolled-out',
    message: `${head}; ${late.length === 0 ? 'all its files are rolled out' : `${late.length} of its files are ${what}`}`,
    files: late.slice(0, MOST_NAMED),
    total: late.length,
  };
}

type LateFile = CommitProgress['files'][number];
type InGit = ReadonlyMap<string, FileInGit>;

/** The files of the commit that are not in force as the commit has them. */
function* notInForce(needs: Reads, inGit: InGit, deleted: readonly string[]): Generator<LateFile> {
  for (const { file, name, state, error } of ownFiles(needs, inGit)) {
    const off = fileInGitText(inGit.get(file) ?? null);
    if (state !== 'in-force') yield { file, name, why: error?.message ?? state };
    else if (off !== undefined) yield { file, name, why: off };
  }
  for (const file of deleted) yield { file, name: null, why: 'gone here, not in git' };
}

function* notRolledOut(needs: Reads, inGit: InGit): Generator<LateFile> {
  const ages = instancesByAge(needs);
  for (const { file, name } of ownFiles(needs, inGit)) {
    if (name === null) continue;
    const rollout = rolloutOf(needs, name);
    const { outdated = 0 } = ages.get(name) ?? {};
    const isFollowed =
      (needs.configurations.get(name)?.value.configuration.update?.strategy ?? 'manual') !== 'manual';
    if (rollout !== undefined && !rollout.isBehind && rollout.endedAt === null)
      yield { file, name, why: `its rollout ${rolloutText(rollout)}` };
    else if (isFollowed && outdated > 0)
      yield { file, name, why: `${outdated} of its instances are outdated` };
  }
}

/** The files of this master, without those that are no part of a commit. */
function ownFiles(needs: Reads, inGit: InGit) {
  const { nodeId } = needs.configurationFiles.place();
  return statesOfFiles(needs).filter(
    ({ file, node }) => node === nodeId && !['untracked', 'ignored'].includes(inGit.get(file) ?? ''),
  );
}
