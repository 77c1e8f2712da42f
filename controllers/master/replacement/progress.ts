/** How far a drain has come, in words and numbers: for `cluster drain`, `cluster status`, the API and `why`. */
import { countText, durationText } from '../../../src/explain/words.js';
import type { DrainProgress } from '../../../src/model/node-drain.js';
import type { DrainFacts, HeldInstance } from './facts.js';
import { atOnce } from './plan.js';
import { judge, type Verdict } from './verdict.js';

/** Instances that are named one by one in each part. */
const MOST_NAMED = 20;

interface Judged {
  readonly instance: HeldInstance;
  readonly verdict: Verdict;
}

/** Undefined: the node is not being drained. */
export function progressOf(facts: DrainFacts): DrainProgress | undefined {
  const { drain, remainingMs } = facts;
  if (drain === undefined) return undefined;
  const judged = facts.instances.map((instance) => ({ instance, verdict: judge(instance, facts) }));
  const left = judged.filter(({ verdict }) => verdict.kind !== 'static');
  const isConnected = facts.condition === 'connected';
  return {
    since: drain.since,
    deadline: drain.deadline,
    remainingMs: Math.ceil(remainingMs),
    isDrained: left.length === 0,
    left: left.length,
    waitingFor: isConnected || left.length === 0 ? [...linesOf(judged, facts)] : [awayLine(facts)],
  };
}

/** What becomes of one instance while its node is drained; undefined: it is not being drained. */
export function moveOf(facts: DrainFacts, id: string): string | undefined {
  const instance = facts.instances.find((held) => held.id === id);
  if (facts.drain === undefined || instance === undefined) return undefined;
  if (facts.condition !== 'connected') return awayLine(facts);
  return lineOf({ instance, verdict: judge(instance, facts) }, facts.remainingMs);
}

function awayLine({ nodeId, condition }: DrainFacts): string {
  return condition === 'lost'
    ? `${nodeId} is lost: its instances can only be stopped when it is back (or "cluster forget ${nodeId}")`
    : `${nodeId} was stopped and said that it will be back: then the drain goes on`;
}

function* linesOf(judged: readonly Judged[], { remainingMs }: DrainFacts): Generator<string> {
  const named = judged.filter(({ verdict }) => ['players', 'starting', 'stuck'].includes(verdict.kind));
  for (const one of named.slice(0, MOST_NAMED)) yield lineOf(one, remainingMs);
  if (named.length > MOST_NAMED) yield `and ${named.length - MOST_NAMED} more of these`;
  const ending = idsOf(judged, ['ending', 'remove']);
  if (ending.length > 0) yield `stopping ${list(ending)}`;
  const queued = idsOf(judged, ['create', 'replace']);
  const moving = judged.filter(({ verdict }) => verdict.kind !== 'static' && verdict.kind !== 'stuck').length;
  if (queued.length > 0)
    yield `${countText(queued.length, 'instance')} to be moved, ${atOnce(moving)} at a time`;
  const statics = idsOf(judged, ['static']);
  if (statics.length > 0)
    yield `${countText(statics.length, 'static instance')} ${statics.length === 1 ? 'stays' : 'stay'}: ${list(statics)}`;
}

function lineOf({ instance, verdict }: Judged, remainingMs: number): string {
  const { id, configurationName, players } = instance;
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
  return judged.filter(({ verdict }) => kinds.includes(verdict.kind)).map(({ instance }) => instance.id);
}

function list(ids: readonly string[]): string {
  const shown = ids.slice(0, MOST_NAMED).join(', ');
  return ids.length > MOST_NAMED ? `${shown} and ${ids.length - MOST_NAMED} more` : shown;
}
