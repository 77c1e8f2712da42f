/** Explains an instance: one story out of the facts, the numbers beside it, and notes. Pure. */
import { unknownFields } from '../model/configuration.js';
import type { ExitRecord } from '../model/exit-record.js';
import { portsText } from '../model/fields/ports.js';
import { hasFinished, isAtRest, saidOf } from '../model/instance.js';
import type { NodeCondition } from '../model/node.js';
import { durationText } from '../model/plain/duration-text.js';
import type { DescribedExit } from '../model/run/instance-description.js';
import { publicPid } from '../model/run/run-identity.js';
import { cutText, endText } from '../model/words.js';
import { leftOfInstance } from '../state/left-of-record.js';
import type { SetAside } from '../store/mirror.js';
import { toPlainText } from '../telemetry/plain-text.js';
import type { PlacementView } from './decisions.js';
import { type InstanceExplanation, MOST_LISTED, type PastExit } from './explanation.js';
import type { InstanceFacts, Story } from './facts.js';
import { describeFault, isOfOneFile, sentence, warningTexts } from './files.js';
import { asked, finishedStory, storyOnNode } from './on-node.js';
import { storyOfAway, storyOfUnplaced } from './unplaced.js';

/** The length at which a line of an instance's output is cut. */
const LONGEST_LINE = 500;

/** `now`: wall clock of the master, Unix milliseconds. */
export function explainInstance(facts: InstanceFacts, now: number): InstanceExplanation {
  const { record, node, placement, answer } = facts;
  const { status, desired } = record;
  const { says, next = null, advice = null, isSettled = false } = storyOfInstance(facts, now);
  const seen = answer.kind === 'answered' ? answer.description : undefined;
  return {
    instanceId: record.id,
    configurationName: record.configurationName,
    verdict: `${record.id} (${record.configurationName}) ${says}.`,
    next,
    advice,
    notes: [...notesOf(facts, now)],
    isSettled,
    desired: desired.goal,
    actual: status.state,
    ...saidOf(record),
    node: record.placement?.nodeId ?? null,
    nodeCondition: node?.condition ?? null,
    nodeAnswer: answer.kind === 'silent' ? answer.why : null,
    port: record.placement?.port ?? null,
    ports: portsText(record.placement ?? {}) ?? null,
    processPid: publicPid(seen === undefined ? status.pid : seen.pid),
    upForMs: roundOrNull(seen?.upForMs),
    restarts: seen?.restarts ?? status.restarts,
    failuresInARow: seen?.failuresInARow ?? 0,
    retryInMs: roundOrNull(seen?.retryInMs),
    stopSignal: seen?.stop?.signal ?? null,
    killInMs: roundOrNull(seen?.stop?.killInMs),
    configurationRevision: record.revision,
    isRevisionCurrent:
      facts.configuration === undefined ? null : facts.configuration.hash === record.revision,
    ...placesOf(placement),
    exits: seen?.exits.map(toPastExit) ?? [],
  };
}

/** The nodes and ports of an explanation; undefined: the instance does not wait for a place. */
export function placesOf(
  placement: PlacementView | undefined,
): Pick<InstanceExplanation, 'nodes' | 'nodesTotal' | 'portRange' | 'portHolders' | 'portHoldersTotal'> {
  const { nodes = [], ports = null, portHolders = [], portHoldersTotal = 0 } = placement ?? {};
  return {
    nodes: nodes.slice(0, MOST_LISTED),
    nodesTotal: nodes.length,
    portRange: portHolders.length > 0 ? ports : null,
    portHolders: portHolders.slice(0, MOST_LISTED),
    portHoldersTotal,
  };
}

/** The story of an instance: the first that applies. */
export function storyOfInstance(facts: InstanceFacts, now: number): Story {
  const { record, answer } = facts;
  const { desired, placement } = record;
  if (desired.goal === 'stop' && (placement === null || (answer.kind !== 'answered' && isAtRest(record))))
    return asked(facts, '');
  if (hasFinished(record) && answer.kind !== 'answered') return finishedStory(facts, '');
  return (
    storyOfUnplaced(facts) ??
    // A node that answers counts as there, even without beats.
    storyOnNode(facts) ??
    storyOfAway(facts, now) ??
    storyOfRecord(facts)
  );
}

/** The story when the node is there but did not answer: told from the record. */
function storyOfRecord({ record }: InstanceFacts): Story {
  const { state, message } = record.status;
  return {
    says: `is ${state} by its last report${message === null ? '' : `: ${message}`}`,
    isSettled: state === 'ONLINE' && record.desired.goal === 'run',
  };
}

/**
 * An end from the records: also of an instance or a node that is gone. `isRun`: it was a run of a job, which ends by
 * itself.
 */
export function noteOfEnd(exit: ExitRecord, now: number, isRun: boolean): string {
  const last = exit.lines?.findLast((line) => line.trim() !== '');
  const said = last === undefined ? '' : `; its last line: ${cutText(last.trim(), LONGEST_LINE)}`;
  return `${exit.instance} ${endText(exit)} ${durationText(Math.max(0, now - exit.at))} ago${isRun ? '' : ', unasked'}${said}`;
}

function* notesOf(facts: InstanceFacts, now: number): Generator<string> {
  const { record, node, configuration, fileErrors, fileWarnings, answer, move } = facts;
  const { configurationName: name, status } = record;
  // Show the message of an instance that is up and well as a note of its node.
  if (status.state === 'ONLINE' && status.reason === null && status.message !== null)
    yield `It ${status.message}.`;
  if (move !== undefined) yield `Its node ${node?.nodeId} is being drained: ${move}.`;
  else if (node?.cordoned === true)
    yield `Its node ${node.nodeId} is cordoned: it keeps what it has and gets no new instances.`;
  const content = configuration?.hash === record.revision ? configuration?.configuration : undefined;
  const unknown = content === undefined ? [] : unknownFields(content, node?.knows);
  if (node !== undefined && unknown.length > 0)
    yield `Its node ${node.nodeId} runs an older version of Drover, which passes over ${unknown.join(', ')}: update it.`;
  if (answer.kind === 'silent') yield notAsked(answer.why, record.placement?.nodeId, node?.condition);
  if (configuration === undefined) {
    const isBroken = fileErrors.some(isOfOneFile);
    yield isBroken
      ? `Nothing is in force under the name ${name}: nothing replaces this instance.`
      : `Its configuration ${name} was removed: nothing replaces this instance.`;
  } else if (configuration.hash !== record.revision) yield noteOfOlder(record);
  for (const error of fileErrors) yield describeFault(error, configuration);
  // A node that answers tells its own ends, with their last lines.
  if (answer.kind !== 'answered')
    for (const exit of facts.lastExits ?? []) yield noteOfEnd(exit, now, record.job !== undefined);
  if (record.status.warning !== undefined) yield `Warning: ${sentence(record.status.warning)}`;
  // Leave warnings of the file out for an instance of an older content.
  if (configuration?.hash === record.revision)
    for (const text of warningTexts(fileWarnings, [])) yield `Warning: ${sentence(text)}`;
}

function noteOfOlder({ id, configurationName: name, desired }: InstanceFacts['record']): string {
  const older = `It was made from an older content of ${name}`;
  if (desired.updateWhenEmpty === true)
    return `${older}, and takes the content in force when its players have left, as was asked for.`;
  return `${older}; later changes do not reach it (\`config diff ${name}\`). \`instance update ${id}\` gives it what is in force, in place.`;
}

function notAsked(why: string, nodeId: string | undefined, condition: NodeCondition | undefined): string {
  return condition === 'connected'
    ? `Node ${nodeId} could not be asked (${why}): this is what the master knows.`
    : `Node ${nodeId} is away: this is what the master knew last.`;
}

/** A past exit for a person: plain text, and no line too long to read. */
export function toPastExit({ output, lastLines, agoMs, ...exit }: DescribedExit): PastExit {
  const lines = lastLines.map((line) => cutText(toPlainText(line), LONGEST_LINE));
  return { ...exit, agoMs: Math.round(agoMs), lastLines: lines, linesNote: linesNote(output, lines.length) };
}

function linesNote(output: DescribedExit['output'], count: number): string | null {
  switch (output) {
    case 'known':
      return count === 0 ? 'it wrote nothing' : null;
    case 'gone':
      return 'its lines are no longer kept';
    case 'unknown':
      return 'nobody saw what it wrote last';
    default:
      return output satisfies never;
  }
}

function roundOrNull(ms: number | null | undefined): number | null {
  return ms == null ? null : Math.max(0, Math.round(ms));
}

export function explainUnreadable(
  id: string,
  { value, problem }: SetAside,
  conditionOf: (nodeId: string) => NodeCondition | undefined,
): InstanceExplanation {
  const { configurationName, goal, placement } = leftOfInstance(value);
  const name = configurationName ?? 'unknown';
  return {
    instanceId: id,
    configurationName: name,
    verdict: `${id} (${name}) has a record that cannot be read (${problem}).`,
    next: 'The record is kept as it is. What runs of the instance is left alone and keeps its place.',
    advice: `A version of Drover that can read the record takes it up again. \`instance delete ${id}\` removes the record and ends the process.`,
    notes: [],
    isSettled: false,
    desired: goal,
    actual: 'unknown',
    reason: null,
    message: null,
    node: placement?.nodeId ?? null,
    nodeCondition: (placement === null ? undefined : conditionOf(placement.nodeId)) ?? null,
    nodeAnswer: null,
    port: placement?.port ?? null,
    ports: portsText(placement ?? {}) ?? null,
    processPid: null,
    upForMs: null,
    restarts: 0,
    failuresInARow: 0,
    retryInMs: null,
    stopSignal: null,
    killInMs: null,
    configurationRevision: '',
    isRevisionCurrent: null,
    ...placesOf(undefined),
    exits: [],
  };
}
