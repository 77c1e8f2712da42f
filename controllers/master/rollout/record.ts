/** Decides the next record of a rollout: when it begins, how far it is, and when it ends or fails. */

import { durationText } from '../../../src/model/plain/duration-text.js';
import {
  hasEnded,
  NO_COUNTS,
  phaseOf,
  type RolloutCause,
  type RolloutCounts,
  type RolloutReason,
  type RolloutRecord,
} from '../../../src/model/rollout.js';
import { countText, cutText, endText } from '../../../src/model/words.js';
import { lastGoodOf } from '../../../src/state/contents-in-force.js';
import type { Member, RolloutFacts } from './facts.js';
import { countsOf, type Judged } from './members.js';
import { pendingOf, readyToGo } from './moves.js';

const MOST_MESSAGE_CHARS = 400;

/**
 * The record that takes up the present content of the file or of the templates. Undefined: the rollout has
 * taken it up already, or must not do so yet.
 */
export function taken(facts: RolloutFacts): RolloutRecord | undefined {
  const { rollout, hash, isNews, update } = facts;
  if (facts.isFrozen) return undefined;
  if (rollout === undefined) return update.strategy === 'manual' ? undefined : first(facts);
  if (isNews)
    return update.strategy === 'manual'
      ? settledOn(rollout, facts)
      : begun(facts, 'content', lastGoodOf(rollout));
  if (rollout.to !== hash)
    return { ...rollout, to: hash, from: rollout.from === rollout.to ? hash : rollout.from };
  return takenTemplates(facts, rollout);
}

/**
 * The first record of a configuration's rollout. It begins to replace instances of other contents, if there
 * are any.
 */
function first(facts: RolloutFacts): RolloutRecord {
  const older = facts.members.filter(({ revision }) => revision !== facts.hash);
  const lastGood = older.findLast(({ up }) => up !== null);
  if (older.length > 0) return begun(facts, 'content', lastGood?.revision ?? null);
  if (isBehind(facts)) return begun(facts, 'templates', null);
  return { ...begun(facts, 'content', null), state: 'complete', endedAt: facts.now, isPromoted: true };
}

/** The record under `manual`: the content becomes the one for new instances, and the rollout ends at once. */
function settledOn(rollout: RolloutRecord, { hash, now }: RolloutFacts): RolloutRecord {
  const isRestarting = rollout.state === 'rolling' && rollout.cause === 'restart';
  if (isRestarting) return { ...rollout, to: hash, from: null };
  const { failure: _failure, ...known } = rollout;
  const ended = { state: 'complete', endedAt: now, reason: null, message: null, paused: null } as const;
  return { ...known, ...ended, from: lastGoodOf(rollout), to: hash, cause: 'content', progressAt: null };
}

function begun(facts: RolloutFacts, cause: RolloutCause, from: string | null): RolloutRecord {
  const { name, hash, now, update, rollout, templates } = facts;
  return {
    name,
    from,
    to: hash,
    // Members that run with other templates are made anew, also when the new content alone would not ask for that.
    generation: (rollout?.generation ?? 0) + (cause === 'templates' || isBehind(facts) ? 1 : 0),
    state: 'rolling',
    cause,
    reason: null,
    message: null,
    by: null,
    since: now,
    endedAt: null,
    progressAt: null,
    isPromoted: update.canary === 0,
    paused: null,
    counts: NO_COUNTS,
    templates: { ...templates },
  };
}

/**
 * The record with changed templates. A changed digest begins a rollout. The digest of a template that the rollout does
 * not know yet does so only if members run with another one; else it is only noted.
 */
function takenTemplates(facts: RolloutFacts, rollout: RolloutRecord): RolloutRecord | undefined {
  const { templates } = facts;
  const phase = phaseOf(rollout);
  const entries = Object.entries(templates);
  if (entries.every(([key, digest]) => rollout.templates[key] === digest)) return undefined;
  const isKnown = ([key, digest]: [string, string]): boolean =>
    rollout.templates[key] !== undefined && rollout.templates[key] !== digest;
  const all = { ...rollout.templates, ...templates };
  if (!entries.some(isKnown) && !isBehind(facts)) return { ...rollout, templates: all };
  // Changed templates wait while a rollout is paused or holds a content back.
  if (rollout.state === 'paused' || (phase !== 'complete' && phase !== 'rolling')) return undefined;
  return { ...begun(facts, 'templates', lastGoodOf(rollout)), templates: all };
}

function isBehind({ behind }: RolloutFacts): boolean {
  return behind !== undefined && behind.size > 0;
}

/** The record after a look at the members. */
export function followed(facts: RolloutFacts, rollout: RolloutRecord, judged: Judged): RolloutRecord {
  if (hasEnded(rollout)) return rollout;
  const counts = countsOf(facts, judged);
  if (rollout.state === 'paused') return { ...rollout, counts };
  const isActive = isGettingOn(facts, judged);
  const hasProgress = counts.good > rollout.counts.good;
  const progressAt = isActive ? (hasProgress ? facts.now : (rollout.progressAt ?? facts.now)) : null;
  const next = { ...rollout, counts, progressAt };
  if (isDone(facts, judged, counts)) return ended(next, facts);
  if (rollout.state === 'awaiting-promotion') return { ...next, progressAt: null };
  if (!rollout.isPromoted && counts.good >= Math.min(facts.update.canary, counts.total))
    return facts.update.promote === 'manual'
      ? { ...next, state: 'awaiting-promotion', progressAt: null }
      : { ...next, isPromoted: true, progressAt: facts.now };
  // Fail at once when an update would empty a directory: waiting does not help.
  if (loserOf(facts, judged) !== undefined) return failed(next, facts, judged);
  const isLate = rollout.progressAt !== null && isActive && !hasProgress;
  return isLate && facts.stalledMs >= facts.update.progressSeconds * 1000
    ? failed(next, facts, judged)
    : next;
}

/** True when a step is possible, or a member is not good yet. Waiting for players counts as neither. */
function isGettingOn(facts: RolloutFacts, judged: Judged): boolean {
  return pendingOf(facts, judged).length > 0 || readyToGo(facts, judged).length > 0;
}

function isDone(facts: RolloutFacts, judged: Judged, { outdated, good, total }: RolloutCounts): boolean {
  if (outdated > 0 || judged.spares.size > 0 || pendingOf(facts, judged).length > 0) return false;
  return good > 0 || total === 0;
}

function ended(rollout: RolloutRecord, { now }: RolloutFacts): RolloutRecord {
  const isBack = rollout.state === 'rolling-back';
  return {
    ...rollout,
    state: isBack ? 'rolled-back' : 'complete',
    endedAt: now,
    progressAt: null,
    isPromoted: true,
  };
}

function failed(rollout: RolloutRecord, facts: RolloutFacts, judged: Judged): RolloutRecord {
  const { update, now } = facts;
  const { reason, message, failure } = whyFailed(facts, judged);
  const { failure: _before, ...known } = rollout;
  const next = { ...known, reason, message, ...(failure && { failure }), isPromoted: true, progressAt: null };
  if (rollout.state === 'rolling-back')
    return { ...next, reason: 'rollback-failed', state: 'failed', endedAt: now };
  const canGoBack = rollout.from !== null && rollout.from !== rollout.to;
  return update.onFailure === 'rollback' && canGoBack
    ? { ...next, state: 'rolling-back' }
    : { ...next, state: 'failed', endedAt: now };
}

/**
 * A victim whose directory an update would empty; undefined: there is none. Members that minimum-service ends
 * do not count, because they are not updated.
 */
function loserOf({ leaving }: RolloutFacts, { victims }: Judged): Member | undefined {
  return victims.find(({ id, content }) => content === 'unsafe' && !leaving.has(id));
}

function whyFailed(
  facts: RolloutFacts,
  judged: Judged,
): Pick<RolloutRecord, 'failure'> & { reason: RolloutReason; message: string } {
  const { update, outlook } = facts;
  const within = `within ${durationText(update.progressSeconds * 1000)}`;
  const pending = pendingOf(facts, judged);
  const loser = loserOf(facts, judged);
  if (loser !== undefined)
    return {
      reason: 'loses-files',
      message: `${loser.id} is static and the new content is not: its directory would be emptied. Delete the instance, and the directory stays`,
    };
  if (pending.length === 0 && outlook.obstacle !== null && !outlook.isDelayed)
    return { reason: 'not-placeable', message: cut(`no place came free ${within}: ${outlook.obstacle}`) };
  const one =
    pending.find(({ exit }) => exit !== undefined) ??
    pending.find(({ message }) => message !== null) ??
    pending[0];
  const which = one === undefined ? '' : `: ${one.id} ${stateText(one)}`;
  const others =
    pending.length > 1 ? ` (${countText(pending.length - 1, 'more is', 'more are')} not good yet)` : '';
  return {
    reason: 'no-progress',
    message: `${cut(`no new instance became good ${within}${which}`)}${others}`,
    ...(one?.exit !== undefined && { failure: { instance: one.id, ...one.exit, lines: [] } }),
  };
}

function stateText({ up, message, exit }: Member): string {
  if (exit !== undefined) return `${endText(exit)}, ${countText(exit.crashes, 'time')}`;
  return message ?? (up === null ? 'is not up' : 'is up, and does not stay so');
}

function cut(text: string): string {
  return cutText(text, MOST_MESSAGE_CHARS);
}

const CAUSES: Readonly<Record<RolloutRecord['cause'], string>> = {
  content: 'its file has another content',
  templates: 'a template has another content',
  restart: 'it was asked to begin anew',
  rollback: 'it was asked to go back',
  retry: 'it is tried again',
};

export function sentenceOf(rollout: RolloutRecord): string {
  const { name, state, cause, message, counts, from, to } = rollout;
  const why = message === null ? '' : `: ${message}`;
  switch (state) {
    case 'rolling':
      return `rolling out ${name}: ${CAUSES[cause]}`;
    case 'awaiting-promotion':
      return `the canaries of ${name} are good: all others wait for "rollout promote ${name}"`;
    case 'paused':
      return `the rollout of ${name} is paused`;
    case 'failed':
      return from === null || from === to
        ? `the rollout of ${name} failed${why}`
        : `the rollout of ${name} failed, and its content is held back${why}`;
    case 'rolling-back':
      return `${name} goes back to ${from?.slice(0, 8)}${why}`;
    case 'rolled-back':
      return `${name} is back at ${from?.slice(0, 8)}; the content of its file is held back${why}`;
    case 'complete':
      return `the rollout of ${name} is complete: ${countText(counts.good, 'good instance')}`;
    default:
      return state satisfies never;
  }
}
