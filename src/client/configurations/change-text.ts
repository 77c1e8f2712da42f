/** Describes for people what documents change, or have changed. */
import { describeDifference } from '../../command-tree/groups/configuration-diff-text.js';
import type { ConfigurationChange } from '../../operations/configuration-content.js';
import type { Applied } from './apply.js';
import type { Compared } from './compare.js';

const FILE_STATES: Readonly<Record<NonNullable<ConfigurationChange['fileState']>, string>> = {
  same: '',
  broken: "the master's file is broken, and is written anew",
  different: "the master's file says something that is not in force yet, and is written anew",
  gone: "the master's file is gone, and is written anew",
};

/** Returns `lobby changed: minimumServiceCount, ramMB`. */
export function appliedText({ name, result, differences, error }: Applied): string {
  switch (result) {
    case 'created':
    case 'deleted':
    case 'unchanged':
      return `${name} ${result}`;
    case 'changed':
      return `${name} changed: ${differences.map(({ field }) => field).join(', ') || 'its file is written anew'}`;
    case 'conflict':
    case 'failed':
      return `${name} not written: ${error}`;
    case 'skipped':
      return `${name} not written: not tried`;
  }
}

/** Returns no lines for a document that changes nothing. */
export function comparedText({ document: { name, file }, change }: Compared): string[] {
  if (change.change === 'unchanged') return [];
  const state = change.fileState === null ? '' : FILE_STATES[change.fileState];
  return [
    `${name} (${file}): ${change.change}`,
    ...change.differences.map((difference) => `  ${describeDifference(difference)}`),
    ...(state === '' ? [] : [`  ${state}`]),
  ];
}
