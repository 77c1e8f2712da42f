/** Describes for people what documents change, or have changed. */
import { describeDifference } from '../../command-tree/groups/configuration-diff-text.js';
import type { PlannedConfiguration } from '../../operations/plan/change-plan.js';
import type { Applied, Report } from './apply.js';

const FILE_STATES: Readonly<Record<NonNullable<PlannedConfiguration['fileState']>, string>> = {
  same: '',
  broken: "the master's file is broken, and is written anew",
  different: "the master's file says something that is not in force yet, and is written anew",
  gone: "the master's file is gone, and is written anew",
};

/** Returns `lobby changed: minimumServiceCount, ramMB`. */
export function appliedText(applied: Applied): string {
  const { name, result, differences, heldBack } = applied;
  const held = heldBack === null ? '' : `; held back: ${heldBack}`;
  if (result !== 'changed') return `${reportText(applied, 'written')}${held}`;
  return `${name} changed: ${differences.map(({ field }) => field).join(', ') || 'its file is written anew'}${held}`;
}

/** Returns `lobby deleted`. `wanted`: the word for the success, for a sentence such as `lobby not deleted: ...`. */
export function reportText({ name, result, error }: Report, wanted: 'written' | 'deleted'): string {
  switch (result) {
    case 'not-found':
      return `${name} is not there`;
    case 'conflict':
    case 'failed':
      return `${name} not ${wanted}: ${error}`;
    case 'skipped':
      return `${name} not ${wanted}: not tried`;
    default:
      return `${name} ${result}`;
  }
}

/** The changes that a document would make, and in which state the file of the master is; null: there is no such configuration. */
export interface Compared extends Pick<Applied, 'name' | 'file' | 'differences'> {
  readonly change: Applied['result'];
  readonly fileState: PlannedConfiguration['fileState'];
}

export function comparedText({ name, file, change, fileState, differences }: Compared): string[] {
  const state = fileState === null ? '' : FILE_STATES[fileState];
  return [
    `${name} (${file}): ${change}`,
    ...differences.map((difference) => `  ${describeDifference(difference)}`),
    ...(state === '' ? [] : [`  ${state}`]),
  ];
}
