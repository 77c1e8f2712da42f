/** `config history`: the last contents of a configuration for people. */

import type { RolledBack } from '../../api/routes/configuration-history-routes.js';
import { durationText } from '../../model/words.js';
import type { ContentDiff, PastContent } from '../../operations/rollouts/configuration-history.js';
import { tableOf, type View } from '../command.js';
import { describeDifference } from './configuration-diff-text.js';

const HEAD = ['#', 'AGE', 'FROM', 'OUTCOME', 'INSTANCES', 'REVISION'];
/** How many characters of a revision or a commit are printed: enough to tell ten of them apart. */
const SHORT = 8;

export function describeHistory(contents: readonly PastContent[], view: View): Promise<string> {
  const rows = contents.map((content) => [
    content.isInForce ? `${content.number} *` : content.number,
    content.at === null ? '-' : durationText(view.now - content.at),
    originText(content),
    outcomeText(content),
    content.instances,
    content.revision.slice(0, SHORT),
  ]);
  return tableOf(view, HEAD, rows, 'there is no history');
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
