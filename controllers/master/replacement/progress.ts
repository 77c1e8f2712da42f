/** Says what moves wait for, in words and numbers, from the verdicts that decide them. */
import { durationText } from '../../../src/model/plain/duration-text.js';
import { countText, listText } from '../../../src/model/words.js';
import { atOnce } from './moves.js';
import { type Judged, movingOf, type Verdict } from './verdict.js';

/** Each part names at most this many instances. */
const MOST_NAMED = 20;

/** Yields a few lines, however many victims there are. */
export function* linesOf(judged: readonly Judged[], remainingMs: number): Generator<string> {
  const named = judged.filter(({ verdict }) => ['players', 'starting', 'stuck'].includes(verdict.kind));
  for (const one of named.slice(0, MOST_NAMED)) yield lineOf(one, remainingMs);
  if (named.length > MOST_NAMED) yield `and ${named.length - MOST_NAMED} more of these`;
  const ending = idsOf(judged, ['ending', 'remove']);
  if (ending.length > 0) yield `stopping ${listText(ending, MOST_NAMED)}`;
  const queued = idsOf(judged, ['create', 'replace']);
  if (queued.length > 0)
    yield `${countText(queued.length, 'instance')} to be moved, ${atOnce(movingOf(judged).length)} at a time`;
  const statics = idsOf(judged, ['static']);
  if (statics.length > 0)
    yield `${countText(statics.length, 'static instance stays', 'static instances stay')}: ${listText(statics, MOST_NAMED)}`;
}

export function lineOf({ victim, verdict }: Judged, remainingMs: number): string {
  const { id, configurationName, players } = victim;
  switch (verdict.kind) {
    case 'players':
      return `waiting for ${countText(players, 'player')} on ${id}, ${durationText(remainingMs)} left${
        verdict.isStoppedFirst
          ? `; it is stopped before its replacement starts: maximumServiceCount of ${configurationName} allows none beside it`
          : ''
      }`;
    case 'starting': {
      const { id: other, state, message } = verdict.replacement;
      return `waiting for ${other}, which replaces ${id}: ${state}${message === null ? '' : `, ${message}`}`;
    }
    case 'stuck':
      return `${id} (${configurationName}) has nowhere to go: ${verdict.why}`;
    case 'static':
      return `${id} is static and stays: its files are here`;
    case 'ending':
    case 'remove':
      return `${id} is being stopped`;
    case 'create':
    case 'replace':
      return `${id} is moved to another node in its turn`;
    default:
      return verdict satisfies never;
  }
}

function idsOf(judged: readonly Judged[], kinds: readonly Verdict['kind'][]): string[] {
  return judged.filter(({ verdict }) => kinds.includes(verdict.kind)).map(({ victim }) => victim.id);
}
