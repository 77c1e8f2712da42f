/** `config diff`: what is in force against what the file says now, and against what the instances were made from. */

import type { ConfigurationFileError } from '../../model/configuration.js';
import { countText } from '../../model/words.js';
import type { CommandDependencies, FileContent } from '../dependencies.js';
import { describeDifference, differencesOf, type FieldDifference } from '../field-differences.js';
import { describeFileError } from '../file-errors.js';
import { findConfiguration, visibleInstances } from '../find.js';

/** Ids named in one line. */
const MAX_IDS = 10;

export interface ConfigurationDiff {
  readonly configurationName: string;
  readonly revision: string;
  readonly file: string;
  /** `same`: the file is in force. `gone`, `broken`, `different`: it is not, or not yet. */
  readonly fileState: 'same' | 'different' | 'broken' | 'gone';
  readonly fileError: ConfigurationFileError | null;
  /** From what is in force to what the file says. */
  readonly fileDifferences: readonly FieldDifference[];
  /** Instances made from older contents, oldest content first; from what they have to what is in force. */
  readonly olderInstances: readonly OlderInstances[];
  /** Instances of exactly what is in force. */
  readonly currentInstances: number;
}

interface OlderInstances {
  readonly revision: string;
  readonly instanceIds: readonly string[];
  /** Null: the content of that revision is not kept any more. */
  readonly differences: readonly FieldDifference[] | null;
}

type Needed = Pick<CommandDependencies, 'configurations' | 'configurationFiles' | 'instances' | 'revisions'>;

/** Throws DRV_CONFIGURATION_UNKNOWN. */
export async function diffOf(dependencies: Needed, name: string): Promise<ConfigurationDiff> {
  const { sourceFile } = findConfiguration(dependencies, name);
  const content = await dependencies.configurationFiles.inspect(sourceFile);
  // Only now: it may have been taken while the file was read.
  const { configuration, hash } = findConfiguration(dependencies, name);
  const older = olderInstances(dependencies, name, hash);
  const own = [...visibleInstances(dependencies)].filter((record) => record.configurationName === name);
  return {
    configurationName: name,
    revision: hash,
    file: sourceFile,
    fileState: stateOf(content, hash),
    fileError: content?.kind === 'broken' ? content.error : null,
    fileDifferences:
      content?.kind === 'valid' ? differencesOf(configuration, content.parsed.configuration) : [],
    olderInstances: older,
    currentInstances: own.filter(({ revision }) => revision === hash).length,
  };
}

function stateOf(content: FileContent | undefined, hash: string): ConfigurationDiff['fileState'] {
  if (content === undefined) return 'gone';
  if (content.kind === 'broken') return 'broken';
  return content.parsed.hash === hash ? 'same' : 'different';
}

function olderInstances(dependencies: Needed, name: string, hash: string): OlderInstances[] {
  const { configurations, revisions } = dependencies;
  const current = configurations.get(name)?.value.configuration;
  const groups = new Map<string, string[]>();
  const records = [...visibleInstances(dependencies)].sort((a, b) => a.createdAt - b.createdAt);
  for (const { id, configurationName, revision } of records) {
    if (configurationName !== name || revision === hash) continue;
    groups.set(revision, [...(groups.get(revision) ?? []), id]);
  }
  return [...groups].map(([revision, instanceIds]) => {
    const content = revisions.get(revision)?.value;
    const isKnown = content !== undefined && current !== undefined;
    return { revision, instanceIds, differences: isKnown ? differencesOf(content, current) : null };
  });
}

export function describeDiff(diff: ConfigurationDiff): string {
  return [...describeFile(diff), ...describeInstances(diff)].join('\n');
}

function describeFile({ file, fileState, fileError, fileDifferences }: ConfigurationDiff): string[] {
  switch (fileState) {
    case 'same':
      return [`${file} is in force as it stands`];
    case 'gone':
      return [`${file} is gone; what it said is in force until Drover has seen that`];
    case 'broken':
      return [
        `${file} is broken; what it said before is in force:`,
        ...(fileError === null ? [] : [`  ${describeFileError(fileError)}`]),
      ];
    case 'different':
      return [
        `${file} says something else than what is in force ("config reload" takes it now):`,
        ...fileDifferences.map((difference) => `  ${describeDifference(difference)}`),
      ];
  }
}

function describeInstances({ olderInstances: older, currentInstances }: ConfigurationDiff): string[] {
  const current = `${countText(currentInstances, 'instance')} made from what is in force`;
  if (older.length === 0)
    return [currentInstances === 0 ? 'there are no instances' : `${current}, none from older content`];
  return [
    current,
    ...older.flatMap(({ revision, instanceIds, differences }) => [
      `${countText(instanceIds.length, 'instance')} made from older content (revision ${revision.slice(0, 8)}): ${namesOf(instanceIds)}`,
      ...(differences === null
        ? ['  that content is not kept any more']
        : differences.map((difference) => `  ${describeDifference(difference)}`)),
    ]),
    'an instance keeps its content: delete it, and the one that takes its place gets what is in force',
  ];
}

function namesOf(ids: readonly string[]): string {
  const shown = ids.slice(0, MAX_IDS).join(', ');
  return ids.length > MAX_IDS ? `${shown} and ${ids.length - MAX_IDS} more` : shown;
}
