/**
 * Explains a configuration: how many instances it asks for and how many there are, its file, and each instance. Pure.
 */
import type { ConfigurationFileError } from '../model/configuration.js';
import type { ShownOverride } from '../model/configuration-overrides.js';
import { byAge, hasFinished, hasPlayers, type InstanceRecord, isAtRest } from '../model/instance.js';
import { durationText } from '../model/plain/duration-text.js';
import { fileInGitText, gitStandingText, shortCommit } from '../model/plain/git-words.js';
import { rolloutAdvice, rolloutText } from '../model/plain/rollout-text.js';
import { freezeText, scheduleText } from '../model/plain/schedule-text.js';
import { hasEnded, isHeldBack, type RolloutRecord } from '../model/rollout.js';
import { countText, cutText } from '../model/words.js';
import type { ServiceView } from './decisions.js';
import type { ConfigurationExplanation, ExplainedFile } from './explanation.js';
import type { ConfigurationFacts, InstanceFacts, Story } from './facts.js';
import { describeFault, isOfOneFile, sentence, warningTexts } from './files.js';
import { noteOfEnd, placesOf, storyOfInstance } from './instance.js';

const MOST_NAMED_CHARS = 200;
const MOST_OVERRIDES = 20;

type Row = ConfigurationExplanation['instances'][number] & Pick<Story, 'next' | 'advice'>;

/** `now`: wall clock of the master, Unix milliseconds. */
export function explainConfiguration(facts: ConfigurationFacts, now: number): ConfigurationExplanation {
  const { name, record, service, placement, fileErrors } = facts;
  const rows = facts.instances.map((instance) => toRow(instance, now));
  const { says, next = null, advice = null, isSettled = false } = storyOf(facts, rows);
  return {
    configurationName: name,
    verdict: `${name} ${says}.`,
    next,
    advice,
    notes: [...notesOf(facts, now)],
    isSettled: isSettled && fileErrors.length === 0,
    isInForce: record !== undefined,
    minimum: service?.minimum ?? null,
    maximum: service?.maximum ?? null,
    actual: service?.counted.size ?? 0,
    online: facts.online,
    nextCreationInMs: service?.nextCreationInMs == null ? null : Math.round(service.nextCreationInMs),
    files: filesOf(facts),
    ...placesOf(placement),
    instances: rows.map(({ next: _next, advice: _advice, ...row }) => row),
    instancesTotal: facts.instancesTotal,
  };
}

function toRow(facts: InstanceFacts, now: number): Row {
  const { says, isSettled = false, next, advice } = storyOfInstance(facts, now);
  const { id, status } = facts.record;
  return { instanceId: id, state: status.state, isSettled, verdict: says, next, advice };
}

function storyOf(facts: ConfigurationFacts, rows: readonly Row[]): Story {
  const { service } = facts;
  if (facts.record === undefined || service === undefined) return storyOfBroken(facts);
  const story =
    storyOfMissing(service) ??
    storyOfSurplus(service) ??
    storyOfTrouble(facts, rows) ??
    storyOfWell(facts, service);
  const told = withRollout(facts, story);
  const broken = facts.fileErrors.find(({ file }) => file === facts.record?.sourceFile);
  if (broken === undefined) return told;
  const besides = told.isSettled === true ? ', but' : '; besides,';
  const advice = [mend(broken), told.advice].filter(Boolean).join(' ');
  return { ...told, says: `${told.says}${besides} ${broken.file} is broken`, advice };
}

/** Adds a rollout to the sentence when it is under way, or holds the content of the file back. */
function withRollout({ name, online, service, rollout }: ConfigurationFacts, story: Story): Story {
  if (rollout === undefined || rollout.state === 'complete') return story;
  const has = `has ${countText(online, 'instance')} ONLINE, ${service?.minimum ?? 0} asked for; its rollout`;
  const says = story.isSettled === true ? has : `${story.says}; besides, its rollout`;
  const heldBack = isHeldBack(rollout) ? '. New instances are made from the content before' : '';
  return {
    ...story,
    says: `${says} ${rolloutText(rollout)}${heldBack}`,
    next: story.next ?? nextOf(rollout),
    advice: [rolloutAdvice(name, rollout), story.advice].filter(Boolean).join(' ') || undefined,
    isSettled: false,
  };
}

function nextOf({ state, counts }: RolloutRecord): string | undefined {
  if (state !== 'rolling' && state !== 'rolling-back') return undefined;
  const waits = counts.outdated > 0 && counts.waiting === counts.outdated;
  return waits ? 'It goes on as soon as players leave.' : 'It goes on by itself.';
}

function storyOfBroken(facts: ConfigurationFacts): Story {
  const { fileErrors, instancesTotal } = facts;
  const error = fileErrors.find(isOfOneFile);
  if (error === undefined && instancesTotal > 0) return storyOfRemoved(facts);
  if (error === undefined) return { says: 'is not in force yet' };
  const place = error.line === null ? error.file : `${error.file} at line ${error.line}`;
  return {
    says: `is not in force: ${place} is broken: ${error.message.replace(/\.$/, '')}`,
    next: 'It comes into force as soon as the file is right.',
    advice: mend(error),
  };
}

function storyOfRemoved({ name, instancesTotal, leaving: { going, waiting } }: ConfigurationFacts): Story {
  const says = `was removed: ${countText(instancesTotal, 'instance')} of it ${instancesTotal === 1 ? 'is' : 'are'} left`;
  const back = `put a file for ${name} back`;
  const ends = [
    ...(going > 0 ? [`${countText(going, 'instance ends', 'instances end')} now`] : []),
    ...(waiting > 0
      ? [`${countText(waiting, 'instance ends', 'instances end')} when no players are left`]
      : []),
  ].join(', ');
  return {
    says,
    next: ends === '' ? undefined : `${ends}, because onDelete is "stop".`,
    advice:
      going + waiting < instancesTotal
        ? `Delete what you do not want (\`instance delete <id>\`), or ${back}.`
        : `To keep them, ${back}.`,
  };
}

function mend({ file, line, field }: ConfigurationFileError): string {
  const place = line === null ? file : `line ${line} of ${file}`;
  return `Mend ${place}${field === null ? '' : ` (${field})`} and save it.`;
}

function storyOfMissing(service: ServiceView): Story | undefined {
  const wanted = wantedOf(service);
  const missing = wanted - service.counted.size;
  if (missing <= 0) return undefined;
  const says = `has ${service.counted.size} of ${countText(wanted, 'instance')}`;
  if (service.nextCreationInMs === null) return { says: `${says}; ${missing} more are about to be created` };
  return {
    says: `${says}: the instances that were created last did not stay`,
    next: `More are created in ${durationText(service.nextCreationInMs)}; the wait doubles each time, up to 60 s.`,
    advice: 'See why they stopped by themselves or were lost: instances that stay for a minute end the wait.',
  };
}

function storyOfSurplus({ stopping, surplus, minimum, maximum, counted }: ServiceView): Story | undefined {
  const left = surplus.going + surplus.waiting;
  if (stopping === 0 && left > 0)
    return {
      says: `has ${counted.size} instances, ${left} more than were made for minimumServiceCount ${minimum}`,
      next:
        surplus.going > 0
          ? `${countText(surplus.going, 'instance goes', 'instances go')} now, because surplus is "remove".`
          : `${countText(surplus.waiting, 'instance goes', 'instances go')} when no players are left on as many, because surplus is "remove".`,
    };
  if (stopping === 0) return undefined;
  return {
    says: `has ${counted.size} instances, and maximumServiceCount allows ${maximum}`,
    next: `${stopping} of them ${stopping === 1 ? 'goes' : 'go'} now: first those without players, the youngest first. Static ones are stopped, others removed.`,
  };
}

function storyOfTrouble(facts: ConfigurationFacts, rows: readonly Row[]): Story | undefined {
  const past = pastRuns(facts);
  const [first, ...more] = rows.filter(({ instanceId, isSettled }) => !isSettled && !past.has(instanceId));
  if (first === undefined) return undefined;
  const others =
    more.length === 0 ? '' : `, and ${countText(more.length, 'other is', 'others are')} not well either`;
  const has =
    facts.record?.configuration.job === undefined
      ? `has ${facts.online} of ${countText(facts.wanted, 'instance')} ONLINE`
      : `is a job, ${runsText(facts.online)}`;
  return {
    says: `${has}: ${first.instanceId} ${first.verdict}${others}`,
    next: first.next,
    advice: [first.advice, `\`instance why ${first.instanceId}\` says more.`].filter(Boolean).join(' '),
  };
}

/** The ids of runs of a job that are over, and that a newer one came after: how they ended is no trouble now. */
function pastRuns({ instances }: ConfigurationFacts): ReadonlySet<string> {
  const runs = instances.map(({ record }) => record).filter(({ job }) => job !== undefined);
  const newest = runs.toSorted(byAge).at(-1);
  return new Set(runs.filter((one) => one !== newest && isAtRest(one)).map(({ id }) => id));
}

function runsText(online: number): string {
  return online === 0 ? 'and no run is under way' : `${countText(online, 'run')} under way`;
}

function storyOfWell(facts: ConfigurationFacts, service: ServiceView): Story {
  const { name, online, instancesTotal } = facts;
  if (facts.record?.configuration.job !== undefined)
    return {
      says: `is a job, ${runsText(online)}`,
      advice: `\`drover run ${name}\` starts one.`,
      isSettled: true,
    };
  const isAlone = wantedOf(service) === 0 && instancesTotal === 0;
  if (isAlone)
    return {
      says: 'has no instances, as it should be: minimumServiceCount is 0',
      advice: `\`instance create ${name}\` makes one.`,
      isSettled: true,
    };
  const asked = `${service.minimum} asked for`;
  const resting = restingOf(facts);
  const stopped = resting === 0 ? '' : `, ${countText(resting, 'was', 'were')} stopped on request`;
  return {
    says: `is as it should be: ${countText(online, 'instance')} ONLINE, ${asked}${stopped}`,
    isSettled: true,
  };
}

/** How many counted instances were stopped on request. */
function restingOf({ instances, service }: ConfigurationFacts): number {
  return instances.filter(
    ({ record: { id, desired } }) => desired.goal === 'stop' && service?.counted.has(id) === true,
  ).length;
}

function* notesOf(facts: ConfigurationFacts, now: number): Generator<string> {
  if (facts.unreadable.length > 0)
    yield `${countText(facts.unreadable.length, 'instance')} (${cutText(facts.unreadable.join(', '), MOST_NAMED_CHARS)}) cannot be managed, because the stored record cannot be read: what runs is left alone and counts all the same. \`cluster status\` says what is wrong.`;
  const { name, record, instances } = facts;
  // When no configuration is in force, the verdict already tells the first fault.
  const told = record === undefined ? facts.fileErrors.find(isOfOneFile) : undefined;
  for (const error of facts.fileErrors) if (error !== told) yield describeFault(error, record);
  for (const text of warningTexts(
    facts.fileWarnings,
    instances.map((instance) => instance.record),
  ))
    yield `Warning: ${sentence(text)}`;
  if (facts.frozen !== undefined)
    yield `It is ${sentence(freezeText(facts.frozen))} Schedules, new rollouts and changes of its content wait; crashes and the minimum do not (\`config unfreeze ${name}\` ends that).`;
  for (const schedule of facts.schedules) yield `${scheduleText(schedule, now)}.`;
  for (const override of facts.overrides.slice(0, MOST_OVERRIDES)) yield overrideText(override, now);
  for (const exit of facts.lastExits) yield noteOfEnd(exit, now, record?.configuration.job !== undefined);
  const resting = restingOf(facts);
  if (resting > 0)
    yield `${countText(resting, 'static instance was', 'static instances were')} stopped on request and ${resting === 1 ? 'counts' : 'count'} all the same.`;
  const ended = instances.map(({ record: one }) => one).filter(hasFinished);
  const finished = ended.length;
  if (finished > 0 && record?.configuration.job === undefined)
    yield `${countText(finished, 'instance has', 'instances have')} ended, and restartPolicy does not start ${finished === 1 ? 'it' : 'them'} again: ${finished === 1 ? 'it counts' : 'they count'} all the same.${lastWords(ended)}`;
  const pairs = instances.filter((one) => isBesideItsOriginal(one, instances)).length;
  if (pairs > 0)
    yield `${countText(pairs, 'instance replaced one that is', 'instances replaced ones that are')} there again: both of a pair stay while both have players.`;
  const older = instances.filter(
    ({ record: one }) => record !== undefined && one.revision !== record.hash,
  ).length;
  // Leave the note out when the rollout replaces these instances, or new ones get an older content, too.
  const { rollout } = facts;
  const isReplaced = rollout !== undefined && (!hasEnded(rollout) || isHeldBack(rollout));
  if (older > 0 && !isReplaced)
    yield `${countText(older, 'instance is', 'instances are')} made from an older content (\`config diff ${name}\`) and ${older === 1 ? 'keeps' : 'keep'} it: \`instance update <id>\` gives an instance what is in force, in place.`;
}

/** An override in words, with the way back. Values stay out: they may be secrets. */
function overrideText(
  { configurationName, field, is, file, by, at, reason }: ShownOverride,
  now: number,
): string {
  const who = `${by === null ? '"managed"' : `key ${by}`}, ${durationText(now - at)} ago${reason === null ? '' : `: ${cutText(reason, MOST_NAMED_CHARS)}`}`;
  if (is === 'made') return `No file has it: it was made by ${who}.`;
  if (is === 'absent')
    return `${file} has it, but it was removed by ${who} (\`config reset ${configurationName}\` brings it back).`;
  return `${field} is not as ${file} says: it was set by ${who} (\`config reset ${configurationName} ${field}\` ends that).`;
}

/** How the first of the ended instances ended: a server that made itself a daemon is named there. */
function lastWords([first]: readonly InstanceRecord[]): string {
  const { id = '', status } = first ?? {};
  return status?.message == null ? '' : ` ${id}: ${sentence(status.message)}`;
}

/** True for an instance that stands beside the one that it replaced, because both have players. */
function isBesideItsOriginal({ record }: InstanceFacts, instances: readonly InstanceFacts[]): boolean {
  if (record.desired.goal !== 'run' || record.replaces === undefined || !hasPlayers(record)) return false;
  const original = instances.find(({ record: one }) => one.id === record.replaces)?.record;
  return original?.desired.goal === 'run' && hasPlayers(original);
}

function filesOf({ record, fileErrors, rollout, git }: ConfigurationFacts): ExplainedFile[] {
  const faults = fileErrors.filter(isOfOneFile).map(
    ({ file, line, column, field, message }): ExplainedFile => ({
      name: file,
      isInForce: false,
      error: message,
      line,
      column,
      field,
      git: file === record?.sourceFile ? gitText(git) : null,
    }),
  );
  const source = record?.sourceFile;
  if (source === undefined || faults.some(({ name }) => name === source)) return faults;
  const whole = { error: null, line: null, column: null, field: null };
  const isHeld = rollout !== undefined && isHeldBack(rollout);
  return [{ name: source, isInForce: !isHeld, ...whole, git: gitText(git) }, ...faults];
}

/** The file and its directory in git: `changed, not in git; in force is the commit 1a2b3c4d; main at 24cca00a, ...`. */
function gitText(git: ConfigurationFacts['git']): string | null {
  if (git === undefined) return null;
  const { standing, file = null, commitInForce } = git;
  const state = fileInGitText(file);
  return [
    ...(state === undefined ? [] : [state]),
    ...(commitInForce === null ? [] : [`in force since ${shortCommit(commitInForce)}`]),
    gitStandingText(standing),
  ].join('; ');
}

function wantedOf({ minimum, maximum }: ServiceView): number {
  return Math.min(minimum, maximum ?? minimum);
}
