/** `rollout ...`: how far changed contents have reached the instances, and the commands that steer a rollout. */

import { durationText } from '../../model/plain/duration-text.js';
import { rolloutAdvice, rolloutText } from '../../model/plain/rollout-text.js';
import { instantText } from '../../model/words.js';
import type { ShownRollout } from '../../operations/rollouts/rollouts.js';
import { describe, fieldsOf, tableOf, type View } from '../command.js';

const HEAD = ['CONFIGURATION', 'STATE', 'CONTENT', 'GOOD', 'OUTDATED', 'WAITING', 'AGE', 'MESSAGE'];

const byName = (name: string) => ({ name });
const namesOf = ({ configurationName }: ShownRollout): readonly string[] => [configurationName];

/** Describes a command that changes a rollout. Its output is one sentence about the rollout. */
function action(about: string) {
  return describe({
    usage: '<name>',
    about,
    input: byName,
    text: (rollout: ShownRollout) => rolloutSentence(rollout),
    names: namesOf,
  });
}

export const ROLLOUT_COMMANDS = {
  'rollout list': describe({
    about: 'the latest rollout of each configuration that has had one',
    input: () => ({}),
    text: (rollouts: readonly ShownRollout[], view) => describeRollouts(rollouts, view),
    names: (rollouts) => rollouts.flatMap(namesOf),
  }),
  'rollout status': describe({
    usage: '<name>',
    about: 'how far a content has reached the instances, and what it waits for',
    input: byName,
    text: (rollout: ShownRollout, view) => describeRollout(rollout, view),
    names: namesOf,
  }),
  'rollout pause': action('stop a rollout where it is: nothing more is made or ended for it'),
  'rollout resume': action('go on with a rollout that is paused'),
  'rollout promote': action('let all other instances follow the canaries'),
  'rollout retry': action('try a content that is held back once more'),
};

/** `the rollout of web is under way: ...`. */
export function rolloutSentence(rollout: ShownRollout): string {
  return `the rollout of ${rollout.configurationName} ${rolloutText(rollout)}`;
}

function describeRollouts(rollouts: readonly ShownRollout[], view: View): string {
  const rows = rollouts.map((rollout) => {
    const { configurationName, state, counts, since, message } = rollout;
    const age = durationText(view.now - since);
    const good = `${counts.good}/${counts.total}`;
    const { outdated, waiting } = counts;
    return [configurationName, state, contentsText(rollout), good, outdated, waiting, age, message];
  });
  return tableOf(view, HEAD, rows, 'there has been no rollout');
}

function describeRollout(rollout: ShownRollout, view: View): string {
  const { configurationName, state, cause, by, since, endedAt, counts, isHeldBack } = rollout;
  const fields = fieldsOf({
    configuration: configurationName,
    state,
    content: contentsText(rollout),
    cause: by === null ? cause : `${cause}, by ${by}`,
    began: `${instantText(since)} (${durationText(view.now - since)} ago)`,
    ended: endedAt === null ? null : instantText(endedAt),
    instances: `${counts.total}: ${counts.good} good, ${counts.updated - counts.good} new, ${counts.outdated} outdated, ${counts.waiting} of these with players`,
  });
  const lines = [`${rolloutSentence(rollout)}`, '', fields];
  const advice = rolloutAdvice(configurationName, rollout);
  const { failure } = rollout;
  if (failure !== undefined && failure.lines.length > 0)
    lines.push('', `last lines of ${failure.instance}:`, ...failure.lines.map((line) => `  | ${line}`));
  if (isHeldBack)
    lines.push(
      '',
      `the file is held back: new instances are made from content ${numberText(rollout.fromNumber)}`,
    );
  if (advice !== undefined) lines.push('', advice);
  return lines.join('\n');
}

/** Returns `3 -> 5`: the numbers of the former and the new content in the history. */
function contentsText({ fromNumber, toNumber, from, isHeldBack }: ShownRollout): string {
  const to = numberText(toNumber);
  if (from === null) return to;
  return isHeldBack ? `${numberText(fromNumber)} (not ${to})` : `${numberText(fromNumber)} -> ${to}`;
}

function numberText(number: number | null): string {
  return number === null ? '?' : String(number);
}
