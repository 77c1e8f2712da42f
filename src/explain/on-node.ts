/** The stories of instances whose node is there and has described them. */

import { portNeedsOf, portsOf } from '../model/fields/ports.js';
import { hasDoneItsWork, hasFailed, hasFinished, isAtRest, saidOf } from '../model/instance.js';
import { durationText } from '../model/plain/duration-text.js';
import type { InstanceDescription } from '../model/run/instance-description.js';
import { NO_HOST_PID } from '../model/run/run-identity.js';
import { countText, endText, listText } from '../model/words.js';
import { exitHint } from './exit-hint.js';
import type { InstanceFacts, Story } from './facts.js';
import { rangeField } from './unplaced.js';

const MOST_LEFT_SHOWN = 5;

type NodeStory = (facts: InstanceFacts, seen: InstanceDescription) => Story | undefined;

/** The stories in the order in which they are tried; the first that applies is told. */
const STORIES: readonly NodeStory[] = [
  unsure,
  ending,
  remains,
  nodeStopping,
  unheard,
  stopped,
  up,
  finished,
  starting,
  noRuntime,
  problem,
  crashed,
  installing,
];

/**
 * The story of an instance by its node's description. Undefined: the node did not answer, or the instance has
 * no node.
 */
export function storyOnNode(facts: InstanceFacts): Story | undefined {
  const { answer, record } = facts;
  if (answer.kind !== 'answered') return undefined;
  const { description } = answer;
  if (description === undefined)
    return record.desired.goal === 'stop' && isAtRest(record)
      ? asked(facts, '')
      : { says: `is new to its node ${record.placement?.nodeId}, which is about to begin with it` };
  for (const story of STORIES) {
    const told = story(facts, description);
    if (told !== undefined) return told;
  }
  return description.retryInMs === null
    ? { says: 'is about to be started' }
    : { says: `waits ${durationText(description.retryInMs)} before it is started` };
}

function unsure(_facts: InstanceFacts, seen: InstanceDescription): Story | undefined {
  if (seen.goal === 'forget')
    return { says: 'is on a node that is no longer told to hold it, and that clears it away' };
  return seen.goal === 'wait'
    ? { says: 'is left as it is: its node waits for word of the master about it' }
    : undefined;
}

function ending(
  _facts: InstanceFacts,
  { goal, pid, stop, notAlive }: InstanceDescription,
): Story | undefined {
  if (pid === null) return undefined;
  if (stop === null)
    return goal === 'run' ? undefined : { says: 'is about to be told to end', next: afterEnd(goal) };
  const doing = goal === 'restart' || goal === 'run' ? 'is being restarted' : 'is being stopped';
  const what = notAlive === null ? doing : `${doing} (${notAlive})`;
  const waits = waiting(stop);
  if (waits !== undefined)
    return { says: `${what}: ${waits}`, next: join('It is sent as soon as that is mended.', afterEnd(goal)) };
  const says =
    stop.signal === 'nothing'
      ? `${what}: proxies learn first that it leaves`
      : `${what}: ${stop.signal} was sent ${durationText(stop.sentAgoMs)} ago`;
  if (stop.killInMs !== null)
    return { says, next: join(whatFollows(stop.killInMs, stop.next), afterEnd(goal)) };
  return {
    says,
    next: join('SIGKILL is sent again every second.', afterEnd(goal)),
    advice:
      pid === NO_HOST_PID
        ? "What outlives SIGKILL hangs in the kernel or in its container's engine; the engine's own tools say more."
        : `What outlives SIGKILL hangs in the kernel, on a disk or network mount: \`ps -o stat,wchan -p ${pid}\` shows where.`,
  };
}

/** `the container engine does not answer: SIGTERM waits for it`; undefined: nothing waits. */
function waiting({ problem, next }: NonNullable<InstanceDescription['stop']>): string | undefined {
  return problem === undefined ? undefined : `${problem}: ${next?.signal ?? 'the next signal'} waits for it`;
}

function whatFollows(killInMs: number, next: NonNullable<InstanceDescription['stop']>['next']): string {
  const kill = `SIGKILL follows in ${durationText(killInMs)}.`;
  if (next === undefined || next.signal === 'SIGKILL') return kill;
  return `${next.signal} follows in ${durationText(next.inMs)}, SIGKILL in ${durationText(killInMs)}.`;
}

function afterEnd(goal: InstanceDescription['goal']): string | undefined {
  return goal === 'restart' || goal === 'run' ? 'Then it is started again.' : undefined;
}

function remains(_facts: InstanceFacts, seen: InstanceDescription): Story | undefined {
  const { goal, hasRemains, left, stop, exits } = seen;
  if (!hasRemains) return undefined;
  const says =
    left.length === 0
      ? 'has ended, but processes that it left behind may still live'
      : `waits for ${countText(left.length, 'process', 'processes')} that it left (${listText([...new Set(left)], MOST_LEFT_SHOWN)}): ${exits[0] === undefined ? 'it has ended' : `it ${endText(exits[0])}`}`;
  return { says, next: join(whatRemainsGet(stop), afterEnd(goal)) };
}

function whatRemainsGet(stop: InstanceDescription['stop']): string {
  if (stop === null) return 'They get the stop signal in a moment.';
  const waits = waiting(stop);
  if (waits !== undefined) return `Now ${waits}.`;
  if (stop.killInMs === null) return 'They are ended with SIGKILL.';
  const sent = `${stop.signal} was sent ${durationText(stop.sentAgoMs)} ago`;
  return `${sent}; they get SIGKILL in ${durationText(stop.killInMs)}.`;
}

function nodeStopping(_facts: InstanceFacts, { goal, pid }: InstanceDescription): Story | undefined {
  if (goal !== 'pause' || pid !== null) return undefined;
  return { says: 'was stopped together with its node', next: 'It starts again with the node.' };
}

/** The story while the node still works towards the earlier goal. */
function unheard({ record }: InstanceFacts, { goal }: InstanceDescription): Story | undefined {
  if (record.desired.goal === 'stop' && goal === 'run')
    return { says: 'is to be stopped, which its node hears of now' };
  if (record.desired.goal === 'run' && goal === 'stop')
    return { says: 'is to be started, which its node hears of now' };
  return undefined;
}

function stopped(facts: InstanceFacts, { goal, exits }: InstanceDescription): Story | undefined {
  if (goal !== 'stop') return undefined;
  if (!isAtRest(facts.record)) return { says: 'has stopped, and its node is about to report that' };
  const [last] = exits;
  return asked(facts, last === undefined ? '' : `: its process ${endText(last)}`);
}

/** The story of an instance that was asked to stop, and has stopped. */
export function asked(facts: InstanceFacts, how: string): Story {
  const { reason, message } = saidOf(facts.record);
  if (reason !== 'timed-out') return atRest(facts, `is stopped, as it should be${how}`, 'starts it');
  return { ...atRest(facts, `has timed out: it ${message}${how}`, 'starts it anew'), isSettled: false };
}

function atRest({ record, service }: InstanceFacts, says: string, starts: string): Story {
  const { id, status } = record;
  const other =
    status.state === 'STOPPED' ? '' : `; the instance or a tool has reported ${status.state} since`;
  return {
    says: says + other,
    next:
      service?.counted.has(id) === true
        ? 'It stays so and keeps its slot: nothing is created in its place.'
        : 'It stays so until it is started.',
    advice: `\`instance start ${id}\` ${starts}, \`instance delete ${id}\` removes it.`,
    isSettled: true,
  };
}

function up({ record }: InstanceFacts, seen: InstanceDescription): Story | undefined {
  if (seen.pid === null) return undefined;
  const { state, reason } = record.status;
  const since = seen.upForMs === null ? '' : `, up for ${durationText(seen.upForMs)}`;
  if (seen.readiness !== null && state !== 'ONLINE')
    return notAsWanted(record, seen, seen.readiness.reason, seen.readiness.message);
  if (seen.notAlive !== null) return notAsWanted(record, seen, 'not-alive', seen.notAlive);
  if (state === 'ONLINE') return online(record, seen);
  return reason === 'reported'
    ? {
        says: `runs (${runText(seen.pid)}${since}), but was reported ${state} by the instance itself or a tool`,
        next: 'That stands until the next report, or until its process ends.',
      }
    : { says: `runs (${runText(seen.pid)}${since}), which its node is about to report` };
}

/** The story of a process that is up, and not ready or not alive. */
function notAsWanted(
  { id, configurationName, status }: InstanceFacts['record'],
  { pid, upForMs }: InstanceDescription,
  reason: 'starting' | 'not-ready' | 'not-alive',
  message: string,
): Story {
  const since = upForMs === null ? '' : ` for ${durationText(upForMs)}`;
  const says = `is up${since} (${runText(pid ?? NO_HOST_PID)}) and ${status.state}: ${message}`;
  const isReady = reason === 'not-alive';
  const next = isReady
    ? 'It counts as alive as soon as a look succeeds.'
    : 'It is ONLINE as soon as that holds; it is not ended for being late.';
  if (reason === 'starting') return { says, next };
  return {
    says,
    next,
    advice: `Its last lines say more (\`instance logs ${id}\`); or ${isReady ? 'liveness' : 'readiness'} of ${configurationName} asks for the wrong thing. \`instance restart ${id}\` starts it anew.`,
  };
}

/** The story when the restart policy does not start the instance again. */
function finished(facts: InstanceFacts, seen: InstanceDescription): Story | undefined {
  if (!seen.isFinished) return undefined;
  if (!hasFinished(facts.record)) return { says: 'has ended, and its node is about to report that' };
  const [last] = seen.exits;
  const story = finishedStory(facts, last === undefined ? '' : `: its process ${endText(last)}`);
  const hint = exitHint(last);
  return hint === '' ? story : { ...story, advice: `${hint}${story.advice ?? ''}`.trim() };
}

/** The story of an instance that ended by itself and is not started again. */
export function finishedStory(facts: InstanceFacts, how: string): Story {
  const says = hasFailed(facts.record) ? 'has failed' : 'has ended';
  const story = atRest(facts, `${says}, and restartPolicy does not start it again${how}`, 'starts it anew');
  return { ...story, isSettled: hasDoneItsWork(facts.record) && !hasFailed(facts.record) };
}

/** Names the process, for a sentence. */
function runText(pid: number): string {
  return pid === NO_HOST_PID ? 'in a container' : `pid ${pid}`;
}

function online({ placement }: InstanceFacts['record'], seen: InstanceDescription): Story {
  const shared = placement?.sharedBy === undefined ? '' : ' (shared)';
  const port = placement?.port == null ? '' : `, port ${placement.port}${shared}`;
  const since = seen.upForMs === null ? 'up' : `up for ${durationText(seen.upForMs)}`;
  const where = `${since} on ${placement?.nodeId}${port}`;
  if (seen.pid === NO_HOST_PID && seen.runtimeProblem !== null)
    return {
      says: `is ONLINE as far as is known (${where}): ${seen.runtimeProblem}`,
      next: 'Its node looks for the container engine every 30 s. The container may have ended meanwhile.',
      advice: `Start the container engine on ${placement?.nodeId}.`,
    };
  if (seen.forgivenInMs === null) return { says: `is ONLINE, as it should be: ${where}`, isSettled: true };
  const keepsFailing = seen.failuresInARow > 1;
  return {
    says: `is ${keepsFailing ? 'up for now' : 'ONLINE'}: ${where}, after ${failures(seen.failuresInARow)}`,
    next: `When it has been up for another ${durationText(seen.forgivenInMs)}, its failures are forgotten.`,
    isSettled: !keepsFailing,
  };
}

function starting(
  { record: { status } }: InstanceFacts,
  { isStarting, run }: InstanceDescription,
): Story | undefined {
  if (!isStarting) return undefined;
  const what = status.reason === 'starting' && status.message !== null ? `: ${status.message}` : '';
  return { says: `is being started (run ${run})${what}` };
}

function noRuntime({ record }: InstanceFacts, { runtimeProblem }: InstanceDescription): Story | undefined {
  if (runtimeProblem === null) return undefined;
  return {
    says: `cannot be started: ${runtimeProblem}`,
    next: 'Its node looks for the runtime every 30 s and starts it then.',
    advice: `Install what the runtime ${record.runtime} needs on ${record.placement?.nodeId}.`,
  };
}

function problem(facts: InstanceFacts, seen: InstanceDescription): Story | undefined {
  if (seen.problem === null) return undefined;
  const { reason, message } = seen.problem;
  const { id, configurationName } = facts.record;
  const again =
    seen.retryInMs === null
      ? 'It is tried again now.'
      : `The next try is in ${durationText(seen.retryInMs)}.`;
  const mend = `Mend the cause; \`instance restart ${id}\` tries at once.`;
  switch (reason) {
    case 'port-busy':
      return busyPort(facts, message, again);
    case 'template-missing':
      return {
        says: `waits for its templates: ${message}`,
        next: 'It starts as soon as they are there.',
        advice: `Put them there (\`template list\` shows those that are), or change templateInstallationConfig of ${configurationName} and delete the instance.`,
      };
    case 'secret-missing':
      return {
        says: `waits for its secrets: ${message}`,
        next: seen.retryInMs === null ? 'It starts as soon as they are there.' : again,
      };
    case 'install-failed':
      return { says: `could not be installed: ${message}`, next: again, advice: mend };
    default:
      return { says: `could not be started: ${message}`, next: again, advice: mend };
  }
}

function busyPort(
  { record, configuration, placement }: InstanceFacts,
  message: string,
  again: string,
): Story {
  const says = `cannot be started: ${message}`;
  const hasOther = placement?.nodes.some(({ fits }) => fits) === true;
  const isBusy = ({ name }: { readonly name: string }): boolean => name === (record.status.busyPort ?? name);
  const sockets = portsOf(record.placement ?? {}).flatMap((one) =>
    isBusy(one) ? `sport = :${one.port}` : [],
  );
  const need = portNeedsOf(configuration?.configuration ?? {}).find(({ group }) => group.some(isBusy));
  const look = `\`ss -tulpn '${[...new Set(sockets)].join(' or ')}'\` on ${record.placement?.nodeId} shows what holds the port.`;
  if (record.status.keepsPort === true)
    return {
      says,
      next: `A static instance keeps its port, which its files may name: it waits for it. ${again}`,
      advice: `${look} End that program; or give ${rangeField(need?.name)} of ${record.configurationName} another range, and \`instance update ${record.id}\` moves the instance there.`,
    };
  if (hasOther) return { says, next: 'It is given another port now.', advice: look };
  const { ports = null, portHolders = [] } = placement ?? {};
  const ageMs = Math.max(0, ...portHolders.map(({ foundAgoMs }) => foundAgoMs ?? 0));
  const asOf = ageMs < 1000 ? '' : `, as its node found up to ${durationText(ageMs)} ago`;
  const range = ports === null ? '' : `No other port of ${ports.min}-${ports.max} is free${asOf}. `;
  return {
    says,
    next: `${range}${again}`,
    advice: `${look} End it, or widen ${rangeField(ports?.name)} of ${record.configurationName} and delete the instance.`,
  };
}

function crashed({ record }: InstanceFacts, seen: InstanceDescription): Story | undefined {
  const [last] = seen.exits;
  if (last === undefined || last.wasAsked || seen.failuresInARow === 0) return undefined;
  const count = seen.failuresInARow === 1 ? '' : `, the ${ordinal(seen.failuresInARow)} failure in a row`;
  const why = `it ${endText(last)}${count}`;
  const restart = `restart ${seen.restarts + 1}`;
  if (seen.retryInMs === null) return { says: `is about to be started again (${restart}): ${why}` };
  return {
    says: `waits ${durationText(seen.retryInMs)} for ${restart}: ${why}`,
    next: 'Each failure doubles the delay, up to 60 s; 60 s of being up end that.',
    advice: `${sharingHint(record)}${exitHint(last)}Its last lines say more (\`instance logs ${record.id}\`). \`instance restart ${record.id}\` starts it at once.`,
  };
}

/** A second program without the option cannot open a port that the first one has. */
function sharingHint({ placement, status }: InstanceFacts['record']): string {
  return placement?.sharedBy === undefined || status.hasBeenReady
    ? ''
    : `It shares port ${placement.port}: its program must set SO_REUSEPORT (sharePort). `;
}

function installing(_facts: InstanceFacts, { isPrepared }: InstanceDescription): Story | undefined {
  return isPrepared ? undefined : { says: 'is being installed: its working directory is made' };
}

function failures(count: number): string {
  return count === 1 ? 'a failure' : `${count} failures in a row`;
}

function ordinal(count: number): string {
  const isTeen = count % 100 >= 11 && count % 100 <= 13;
  const ending = isTeen ? undefined : { 1: 'st', 2: 'nd', 3: 'rd' }[count % 10];
  return `${count}${ending ?? 'th'}`;
}

function join(...sentences: readonly (string | undefined)[]): string {
  return sentences.filter((sentence) => sentence !== undefined).join(' ');
}
