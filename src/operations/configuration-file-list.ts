/** Lists the configuration files with their states, for a route, the metrics and `config list`. */

import { z } from 'zod';
import {
  fileStateSchema,
  type StatedFile,
  statedFileSchema,
  statedFiles,
} from '../configuration-files/file-states.js';
import { gitOriginsOf } from '../configuration-files/history/git-origins.js';
import { isHeldBack, type RolloutRecord } from '../model/rollout.js';
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
const NO_INSTANCES: Counts = { current: 0, outdated: 0 };

/** All files, by name. It also reads the git directory, if there is one. */
export async function listConfigurationFiles(needs: Reads): Promise<ListedFile[]> {
  const { directory, nodeId } = needs.configurationFiles.place();
  const files = statesOfFiles(needs);
  const counts = instancesByAge(needs);
  const own = files.filter(({ node }) => node === nodeId).map(({ file }) => file);
  const origins = await gitOriginsOf(directory, own);
  return files.map((one) => {
    const origin = one.node === nodeId ? origins.get(one.file) : undefined;
    return {
      ...one,
      appliedAt: appliedAt(needs, one),
      commit: origin?.commit ?? null,
      isDirty: origin?.isDirty ?? null,
      instances: (one.revision !== null && one.name !== null && counts.get(one.name)) || NO_INSTANCES,
    };
  });
}

/** The time when the file's present content came into force; null: it is not in force. */
function appliedAt({ histories }: Pick<Reads, 'histories'>, { name, revision }: StatedFile): number | null {
  if (name === null || revision === null) return null;
  const last = histories.get(name)?.value.contents.at(-1);
  return last?.revision === revision ? last.at : null;
}

/** The states of files, from what was read of them and what is in force. It does not look at the disk. */
export function statesOfFiles(
  needs: Pick<Reads, 'configurations' | 'configurationFiles' | 'overrides' | 'rollouts'>,
): StatedFile[] {
  const { configurations, configurationFiles, overrides, rollouts } = needs;
  return statedFiles({
    nodeId: configurationFiles.place().nodeId,
    files: configurationFiles.readings(),
    records: configurations.entries(),
    overrides: configurationFiles.place().writes === 'file' ? NO_OVERRIDES : overrides,
    isClone: configurationFiles.place().isClone,
    faults: configurationFiles.ownErrors(),
    waiting: configurationFiles.waiting(),
    heldBack: heldBackIn(rollouts.entries()),
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
export function fileFigures(needs: Reads): FileFigures {
  const files = statesOfFiles(needs);
  const states = new Map<string, number>(fileStateSchema.options.map((state) => [state, 0]));
  for (const { state } of files) states.set(state, (states.get(state) ?? 0) + 1);
  return {
    states,
    removalsWaiting: files.filter(({ removalWaits }) => removalWaits).length,
    outdated: new Map([...instancesByAge(needs)].map(([name, { outdated }]) => [name, outdated])),
  };
}

/** For each configuration in force, how many instances have its content and how many an older one. */
export function instancesByAge({
  configurations,
  instanceRevisions,
}: Pick<Reads, 'configurations' | 'instanceRevisions'>): ReadonlyMap<string, Counts> {
  const counts = new Map<string, Counts>();
  for (const [name, { value }] of configurations.entries()) {
    const revisions = instanceRevisions.of(name);
    const current = revisions.get(value.hash) ?? 0;
    const all = [...revisions.values()].reduce((sum, count) => sum + count, 0);
    counts.set(name, { current, outdated: all - current });
  }
  return counts;
}
