/** Lists configurations with counts of their instances, for `config list` and its route. */

import { z } from 'zod';
import { fileStateSchema, type StatedFile } from '../configuration-files/file-states.js';
import { warningTexts } from '../explain/files.js';
import { healthSchema } from '../explain/health.js';
import { type FileInGit, fileInGitSchema } from '../model/git-standing.js';
import { visibleInstances } from '../state/instance-writes.js';
import { instancesByAge, statesOfFiles } from './configuration-file-list.js';
import { healthOfConfiguration } from './configuration-health.js';
import { fileBeside, listedOverridesSchema } from './configuration-overrides.js';
import type { Reads } from './reads.js';

export const configurationSummarySchema = z.object({
  name: z.string(),
  health: healthSchema.describe('the health, as one word with its reason'),
  frozen: z.string().optional(),
  runtime: z.string(),
  online: z
    .int()
    .describe('instances that are ONLINE, without those that run nothing or fail again and again'),
  finished: z
    .int()
    .describe(
      'instances that have ended for good, well or not: their restart policy does not start them again',
    ),
  instances: z.int().describe('all instances'),
  minimum: z.int(),
  ramMB: z.int(),
  cpu: z.int().describe('100 = one core'),
  ports: z
    .string()
    .nullable()
    .describe('the range of ports, such as 8080-8099; null: the configuration asks for no port'),
  file: z.string(),
  isFileBroken: z.boolean().describe('true: the content in force is older than the file'),
  fileState: fileStateSchema,
  overridden: z.int().describe('fields that callers have changed beside the file'),
  overriddenSince: z
    .number()
    .nullable()
    .describe('when the oldest of these changes was made, Unix milliseconds; null: there is none'),
  writes: listedOverridesSchema.shape.writes,
  inGit: fileInGitSchema
    .nullable()
    .describe('null: the file is in no work tree of this master, or not known'),
  outdated: z.int().describe('instances that were made from an older content'),
  warnings: z
    .array(z.string())
    .describe('the parts of the file without effect, and the warnings of the last installs of its instances'),
});
export type ConfigurationSummary = z.output<typeof configurationSummarySchema>;

export const removedConfigurationSchema = z.object({
  name: z.string().describe('name of a configuration that is gone'),
  instances: z.int().describe('how many of its instances are left'),
  file: z
    .string()
    .optional()
    .describe(
      'the file that still says it: a caller removed it, and `config reset` brings it back; absent: there is none',
    ),
});
export type RemovedConfiguration = z.output<typeof removedConfigurationSchema>;

/** All configurations, by name. `inGit`: what is known of the files of this master in git, by file. */
export function listConfigurations(
  needs: Reads,
  inGit: ReadonlyMap<string, FileInGit> = new Map(),
): ConfigurationSummary[] {
  const { nodeId, writes } = needs.configurationFiles.place();
  const broken = new Set(needs.configurationFiles.ownErrors().map(({ file }) => file));
  const ages = instancesByAge(needs);
  const files = filesByName(needs);
  const warnings = warningsOf(needs);
  return [...needs.configurations.entries()]
    .map(([name, { value }]) => {
      const { configuration } = value;
      const { availablePorts: ports } = configuration;
      const words = needs.instanceWords.of(name);
      const { file = value.sourceFile, node, state = 'pending' as const } = files.get(name) ?? {};
      return {
        ...healthOfConfiguration(needs, name),
        runtime: configuration.runtime,
        finished: (words.get('finished') ?? 0) + (words.get('failed') ?? 0),
        ramMB: configuration.ramMB,
        cpu: configuration.cpu,
        ports: ports === undefined ? null : `${ports.min}-${ports.max}`,
        file,
        isFileBroken: broken.has(file),
        fileState: state,
        ...overriddenOf(needs, name),
        writes,
        inGit: (node === nodeId && inGit.get(file)) || null,
        outdated: ages.get(name)?.outdated ?? 0,
        warnings: warnings.get(name) ?? [],
      };
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

function overriddenOf(
  { overrides }: Reads,
  name: string,
): Pick<ConfigurationSummary, 'overridden' | 'overriddenSince'> {
  const value = overrides.get(name)?.value;
  const times = value?.is === 'fields' ? Object.values(value.fields).map(({ at }) => at) : [];
  return { overridden: times.length, overriddenSince: times.length === 0 ? null : Math.min(...times) };
}

/** The file here that says each name, or brought it; else the file of another master. A shadowed file comes last. */
function filesByName(needs: Reads): ReadonlyMap<string, StatedFile> {
  const found = new Map<string, StatedFile>();
  for (const one of statesOfFiles(needs)) {
    const isKnown = one.name !== null && found.get(one.name)?.state !== 'shadowed' && found.has(one.name);
    if (one.name !== null && !isKnown) found.set(one.name, one);
  }
  return found;
}

/** The warnings by configuration. */
function warningsOf(needs: Reads): Map<string, string[]> {
  const inFiles = needs.configurationFiles.warnings();
  const found = [...visibleInstances(needs)].filter(({ status }) => status.warning !== undefined);
  const names = new Set([
    ...inFiles.map(({ name }) => name),
    ...found.map(({ configurationName }) => configurationName),
  ]);
  return new Map(
    [...names].map((name) => [
      name,
      warningTexts(
        inFiles.filter((warning) => warning.name === name),
        found.filter(({ configurationName }) => configurationName === name),
      ),
    ]),
  );
}

/** Configurations that are gone but still have instances, or a file beside which a caller removed them, by name. */
export function listRemoved(needs: Reads): RemovedConfiguration[] {
  const left = new Map<string, number>();
  for (const [name, { value }] of needs.overrides.entries()) if (value.is === 'absent') left.set(name, 0);
  for (const { configuration: name, count } of needs.instanceWords.entries())
    if (needs.configurations.get(name) === undefined) left.set(name, (left.get(name) ?? 0) + count);
  return [...left]
    .map(([name, instances]) => ({ name, instances, file: fileBeside(needs, name) }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}
