/** Lists the configuration files with their states, for a route, the metrics and `config list`. */

import { z } from 'zod';
import {
  fileStateSchema,
  type StatedFile,
  statedFileSchema,
  statedFiles,
} from '../configuration-files/file-states.js';
import type { KeptContent } from '../model/configuration-history.js';
import { fileInGitSchema, gitStandingSchema } from '../model/git-standing.js';
import { fileInGitText, gitStandingText } from '../model/plain/git-words.js';
import { isHeldBack, type RolloutRecord } from '../model/rollout.js';
import { freezeText } from '../model/schedule.js';
import type { FileFigures } from '../telemetry/gauges.js';
import type { Reads } from './reads.js';

export const listedFileSchema = statedFileSchema.extend({
  appliedAt: z
    .number()
    .nullable()
    .describe(
      'when its content came into force, in Unix milliseconds; null: it is not in force, or the time is not known',
    ),
  commit: z
    .string()
    .nullable()
    .describe('the commit of the git work tree around the directory; null: there is no such tree'),
  isDirty: z.boolean().nullable().describe('true: the file differs from the commit; null: this is not known'),
  inGit: fileInGitSchema.nullable().describe('null: the file is in no work tree, or this is not known'),
  commitInForce: z
    .string()
    .nullable()
    .describe(
      'the commit whose checkout brought the content in force; null: there is none, or it is not known',
    ),
  instances: z.object({
    current: z.int().describe('how many instances have the content in force'),
    outdated: z.int().describe('how many instances have an older content'),
  }),
});
type ListedFile = Readonly<z.output<typeof listedFileSchema>>;

interface Counts {
  readonly current: number;
  readonly outdated: number;
}

const NO_OVERRIDES = { get: () => undefined };
const MOST_NAMED = 1000;
const NO_INSTANCES: Counts = { current: 0, outdated: 0 };

export const configurationDirectorySchema = z.object({
  node: z.string().describe('id of the master whose directory it is: the one that answers'),
  git: gitStandingSchema.nullable().describe('null: git tracks no file of the directory, or did not answer'),
  fault: z.string().nullable().describe('why git did not answer; null: it did'),
  text: z.string().nullable().describe('both in words; null: the directory is in no work tree'),
  files: z
    .array(
      z.object({
        file: z.string(),
        name: z.string().nullable(),
        inGit: fileInGitSchema,
        text: z.string().describe('the same in words'),
      }),
    )
    .describe('the files that are not as in git, 1,000 at most'),
});
export type ConfigurationDirectory = Readonly<z.output<typeof configurationDirectorySchema>>;

/** The directory as a whole, and how it stands in its git work tree. */
export async function describeDirectory(needs: Reads): Promise<ConfigurationDirectory> {
  const { configurationFiles } = needs;
  const { standing: git, fault, files: states } = await configurationFiles.inGit();
  const readings = configurationFiles.readings();
  const files = [...states].flatMap(([file, inGit]) => {
    const text = fileInGitText(inGit);
    const reading = readings.get(file);
    const name = reading?.kind === 'valid' ? reading.parsed.configuration.name : null;
    return text === undefined ? [] : [{ file, name, inGit, text }];
  });
  return {
    node: configurationFiles.place().nodeId,
    git,
    fault,
    text: git === null ? fault && `not known: ${fault}` : gitStandingText(git),
    files: files.slice(0, MOST_NAMED),
  };
}

/** All files, by name. */
export async function listConfigurationFiles(needs: Reads): Promise<ListedFile[]> {
  const { nodeId } = needs.configurationFiles.place();
  const { standing, files: states } = await needs.configurationFiles.inGit();
  const files = statesOfFiles(needs);
  const counts = instancesByAge(needs);
  return files.map((one) => {
    const isOwn = one.node === nodeId;
    const inGit = (isOwn && states.get(one.file)) || null;
    const last = contentInForce(needs, one);
    return {
      ...one,
      appliedAt: last?.at ?? null,
      commit: isOwn ? (standing?.commit ?? null) : null,
      isDirty: inGit && inGit !== 'committed',
      inGit,
      commitInForce: last?.commit ?? null,
      instances: (one.revision !== null && one.name !== null && counts.get(one.name)) || NO_INSTANCES,
    };
  });
}

/** The content in force from this file, as the history has it; undefined: nothing is in force, or nothing is known. */
function contentInForce({ histories }: Reads, { name, revision }: StatedFile): KeptContent | undefined {
  const last = name === null ? undefined : histories.get(name)?.value.contents.at(-1);
  return last?.revision === revision ? last : undefined;
}

/** The states of files, from what was read of them and what is in force. It does not look at the disk. */
export function statesOfFiles(needs: Reads): StatedFile[] {
  const { configurations, configurationFiles, overrides, rollouts, timetableRecords } = needs;
  const frozen = [...timetableRecords.mirror.entries()].flatMap(([name, { value }]): [string, string][] =>
    value.frozen === undefined ? [] : [[name, freezeText(value.frozen)]],
  );
  return statedFiles({
    nodeId: configurationFiles.place().nodeId,
    files: configurationFiles.readings(),
    records: configurations.entries(),
    overrides: configurationFiles.place().writes === 'file' ? NO_OVERRIDES : overrides,
    isClone: configurationFiles.place().isClone,
    faults: configurationFiles.ownErrors(),
    waiting: configurationFiles.waiting(),
    heldBack: heldBackIn(rollouts.entries()),
    frozen: new Map(frozen),
    conflicts: new Map(configurationFiles.conflicts().map(({ file, message }) => [file, message])),
  });
}

/** The reason why the content of a configuration is held back, by its name. */
function heldBackIn(rollouts: Iterable<[string, { readonly value: RolloutRecord }]>): Map<string, string> {
  const reasons = new Map<string, string>();
  for (const [name, { value }] of rollouts)
    if (isHeldBack(value)) reasons.set(name, value.message ?? 'its rollout failed');
  return reasons;
}

/** The figures about files for `/metrics`. */
export async function fileFigures(needs: Reads): Promise<FileFigures> {
  const { standing } = await needs.configurationFiles.inGit();
  const files = statesOfFiles(needs);
  const states = new Map<string, number>(fileStateSchema.options.map((state) => [state, 0]));
  for (const { state } of files) states.set(state, (states.get(state) ?? 0) + 1);
  const { changed = 0, deleted = 0, untracked = 0, conflicts = 0 } = standing ?? {};
  states.set('dirty', changed + deleted + untracked + conflicts);
  return {
    states,
    removalsWaiting: files.filter(({ removalWaits }) => removalWaits).length,
    behind: standing?.behind ?? undefined,
    outdated: new Map([...instancesByAge(needs)].map(([name, { outdated }]) => [name, outdated])),
  };
}

/** For each configuration in force, how many instances have its content and how many an older one. */
export function instancesByAge({ configurations, instanceRevisions }: Reads): ReadonlyMap<string, Counts> {
  const counts = new Map<string, Counts>();
  for (const [name, { value }] of configurations.entries()) {
    const revisions = instanceRevisions.of(name);
    const current = revisions.get(value.hash) ?? 0;
    const all = [...revisions.values()].reduce((sum, count) => sum + count, 0);
    counts.set(name, { current, outdated: all - current });
  }
  return counts;
}
