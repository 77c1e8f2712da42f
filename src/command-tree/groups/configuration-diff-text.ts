/** `config diff`: describes for people how a configuration differs from its file and its instances. */

import type { FieldDifference } from '../../model/field-differences.js';
import { countText, listText } from '../../model/words.js';
import type { ConfigurationDiff } from '../../operations/configuration-diff.js';
import { describeFileError } from '../file-errors.js';

/** The most ids that a line of output names. */
const MAX_IDS = 10;

export function describeDiff(diff: ConfigurationDiff): string {
  return [...describeFile(diff), ...describeInstances(diff)].join('\n');
}

function describeFile(diff: ConfigurationDiff): string[] {
  const { heldBack } = diff;
  if (heldBack === null) return describeState(diff);
  const held = `${heldText(diff)}; new instances are made from revision ${heldBack.revision.slice(0, 8)}`;
  return diff.fileState === 'same' ? [held] : [held, ...describeState(diff)];
}

function heldText({ file, heldBack }: ConfigurationDiff): string {
  const why = heldBack?.message == null ? '' : ` (${heldBack.message})`;
  return `what ${file} says is held back${why}`;
}

function describeState({ file, fileState, fileError, fileDifferences }: ConfigurationDiff): string[] {
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
      `${countText(instanceIds.length, 'instance')} made from older content (revision ${revision.slice(0, 8)}): ${listText(instanceIds, MAX_IDS)}`,
      ...(differences === null
        ? ['  that content is not kept any more']
        : differences.map((difference) => `  ${describeDifference(difference)}`)),
    ]),
    'an instance keeps its content: "instance update <id>" gives it what is in force, in place',
  ];
}

/** `ramMB: 512 -> 1024`; a missing value is `-`. */
export function describeDifference({ field, before, after }: FieldDifference): string {
  return `${field}: ${before ?? '-'} -> ${after ?? '-'}`;
}
