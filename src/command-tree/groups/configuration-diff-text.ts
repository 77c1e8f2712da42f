/** `config diff`, `config history` and `config rollback`: describes the contents of a configuration for people. */

import type { RolledBack } from '../../api/routes/configuration-history-routes.js';
import type { FieldDifference } from '../../model/field-differences.js';
import { durationText } from '../../model/plain/duration-text.js';
import { shownPair, visibleText } from '../../model/plain/shown-pair.js';
import { countText, listText } from '../../model/words.js';
import type { ConfigurationDiff } from '../../operations/configuration-diff.js';
import type { ContentDiff, PastContent } from '../../operations/rollouts/configuration-history.js';
import { tableOf, type View } from '../command.js';
import { describeFileError } from '../file-errors.js';

const HISTORY_HEAD = ['#', 'AGE', 'FROM', 'OUTCOME', 'INSTANCES', 'REVISION'];
/** The printed length of a revision or commit. It is enough to tell the ten contents of a history apart. */
const SHORT = 8;
/** The most ids that a line of output names. */
const MAX_IDS = 10;

export function describeDiff(diff: ConfigurationDiff): string {
  return [...describeFile(diff), ...describeInstances(diff)].join('\n');
}

function describeFile(diff: ConfigurationDiff): string[] {
  const { heldBack } = diff;
  if (heldBack === null) return describeState(diff);
  const held = `${heldText(diff)}; new instances are made from revision ${heldBack.revision.slice(0, SHORT)}`;
  return diff.fileState === 'same' ? [held] : [held, ...describeState(diff)];
}

function heldText({ file, heldBack }: ConfigurationDiff): string {
  const why = heldBack?.message == null ? '' : ` (${heldBack.message})`;
  return `what ${file} says is held back${why}`;
}

function describeState(diff: ConfigurationDiff): string[] {
  const { file, fileState, fileError, fileDifferences } = diff;
  // An older master does not say it.
  const { hasFile = true }: Partial<ConfigurationDiff> = diff;
  const differences = fileDifferences.map((difference) => `  ${describeDifference(difference)}`);
  switch (fileState) {
    case 'same':
      if (!hasFile) return ['it was made by a caller, and has no file'];
      if (differences.length === 0) return [`${file} is in force as it stands`];
      return [
        `${file} is in force, with overrides ("config reset" takes the file's values):`,
        ...differences,
      ];
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
        ...differences,
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
      `${countText(instanceIds.length, 'instance')} made from older content (revision ${revision.slice(0, SHORT)}): ${listText(instanceIds, MAX_IDS)}`,
      ...(differences === null
        ? ['  that content is not kept any more']
        : differences.map((difference) => `  ${describeDifference(difference)}`)),
    ]),
    'an instance keeps its content: "instance update <id>" gives it what is in force, in place',
  ];
}

/** `ramMB: 512 -> 1024`; a missing value is `-`. */
export function describeDifference({ field, before, after }: FieldDifference): string {
  const [from, to] = shownPair(before, after, { isWhole: true });
  return `${visibleText(field)}: ${from ?? '-'} -> ${to ?? '-'}`;
}

export function describeHistory(contents: readonly PastContent[], view: View): string {
  const rows = contents.map((content) => [
    content.isInForce ? `${content.number} *` : content.number,
    content.at === null ? '-' : durationText(view.now - content.at),
    originText(content),
    outcomeText(content),
    content.instances,
    content.revision.slice(0, SHORT),
  ]);
  return tableOf(view, HISTORY_HEAD, rows, 'there is no history');
}

/** `web.json, commit 0a1b2c3d` or `web.json, key deploy`. */
function originText({ file, key, commit, isDirty }: PastContent): string {
  const who = key === null ? '' : `, key ${key}`;
  const edited = isDirty === true ? ' and an edit' : '';
  return `${file}${who}${commit === null ? '' : `, commit ${commit.slice(0, SHORT)}${edited}`}`;
}

function outcomeText({ outcome, reason }: PastContent): string {
  const word = outcome.replace('-', ' ');
  return reason === null ? word : `${word}: ${reason}`;
}

export function describeRollback({ name, to, rollout }: RolledBack): string {
  if (rollout === null) return `content ${to} of ${name} is in its file now, and in force`;
  const running =
    rollout.state === 'rolling-back' ? '; those that run are brought back one after the other' : '';
  return [
    `${name} is back at content ${to}: new instances are made from it${running}`,
    `its file is held back until it changes; \`rollout retry ${name}\` brings it into force again`,
  ].join('\n');
}

export function describeContentDiff({ configurationName, from, to, differences }: ContentDiff): string {
  const pair = `${configurationName}: content ${from} -> ${to}`;
  if (differences.length === 0) return `${pair}: the same`;
  return [pair, ...differences.map((difference) => `  ${describeDifference(difference)}`)].join('\n');
}
