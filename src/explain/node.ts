/**
 * Explains a node: whether it is there, what placement has given out on it, and which of its instances are not well.
 * Pure.
 */
import type { NodeRecord } from '../model/node.js';
import type { DrainProgress } from '../model/node-drain.js';
import { durationText } from '../model/plain/duration-text.js';
import { countText } from '../model/words.js';
import type { ContactView } from './decisions.js';
import type { NodeExplanation } from './explanation.js';
import type { InstanceFacts, Story } from './facts.js';
import { storyOfInstance } from './instance.js';
import { QUIET_MS } from './unplaced.js';

export interface NodeFacts {
  readonly node: NodeRecord;
  readonly contact: ContactView | undefined;
  /** The progress of the drain; undefined: the node is not being drained. */
  readonly drain: DrainProgress | undefined;
  /** The RAM and CPU that placement has given out on the node. */
  readonly used: { readonly ramMB: number; readonly cpu: number };
  /** Instances in trouble first; not all of them when there are many. */
  readonly instances: readonly InstanceFacts[];
  readonly instancesTotal: number;
}

type Row = NodeExplanation['instances'][number];

/** `now`: wall clock of the master, Unix milliseconds. */
export function explainNode(facts: NodeFacts, now: number): NodeExplanation {
  const { node, contact, drain, used } = facts;
  const rows = facts.instances.map((instance) => toRow(instance, now));
  const story =
    storyOfContact(facts, now) ?? storyOfDrain(facts) ?? storyOfTrouble(facts, rows) ?? storyOfWell(facts);
  return {
    nodeId: node.nodeId,
    verdict: `${node.nodeId} ${story.says}.`,
    next: story.next ?? null,
    advice: story.advice ?? null,
    notes: [...notesOf(facts)],
    isSettled: story.isSettled ?? false,
    condition: node.condition,
    conditionForMs: Math.max(0, Math.round(now - node.conditionSince)),
    silentMs: contact === undefined ? null : Math.round(contact.silentMs),
    cordoned: node.cordoned,
    drain: drain ?? null,
    usedRamMB: used.ramMB,
    maxRamMB: node.capacity.maxRamMB,
    usedCpu: used.cpu,
    maxCpu: node.capacity.maxCpu,
    instances: rows,
    instancesTotal: facts.instancesTotal,
  };
}

function toRow(facts: InstanceFacts, now: number): Row {
  const { says, isSettled = false } = storyOfInstance(facts, now);
  const { id, configurationName, status } = facts.record;
  return { instanceId: id, configurationName, state: status.state, isSettled, verdict: says };
}

/** The story of a node that is away; undefined: the node is there. */
function storyOfContact({ node, contact, instancesTotal }: NodeFacts, now: number): Story | undefined {
  const back = `Start Drover on ${node.nodeId} again, or mend its connection.`;
  if (node.condition === 'lost')
    return {
      says: `has been lost for ${durationText(now - node.conditionSince)}`,
      next: instancesTotal === 0 ? undefined : 'When it is back, its instances go on there.',
      advice: `${back} \`cluster forget ${node.nodeId}\` removes it for good.`,
    };
  if (contact === undefined || (contact.isConnected && contact.silentMs <= QUIET_MS)) return undefined;
  const next = `Unless it is back within ${durationText(contact.lostInMs ?? 0)}, it counts as lost.`;
  if (!contact.isConnected && contact.goneForMs !== null)
    return { says: `was stopped ${durationText(contact.goneForMs)} ago and said that it will be back`, next };
  return { says: `has not been heard of for ${durationText(contact.silentMs)}`, next, advice: back };
}

function storyOfDrain({ node, drain }: NodeFacts): Story | undefined {
  if (drain === undefined) return undefined;
  if (drain.isDrained)
    return {
      says: 'is drained: it can be stopped',
      advice: `\`cluster uncordon ${node.nodeId}\` gives it instances again.`,
      isSettled: true,
    };
  const limit =
    drain.remainingMs === 0
      ? 'Players are not waited for.'
      : `Players are waited for, ${durationText(drain.remainingMs)} at most.`;
  return {
    says: `is being drained: ${countText(drain.left, 'instance')} left`,
    next: limit,
    advice: `\`cluster uncordon ${node.nodeId}\` calls the drain off.`,
  };
}

function storyOfTrouble({ instancesTotal }: NodeFacts, rows: readonly Row[]): Story | undefined {
  const [first, ...more] = rows.filter(({ isSettled }) => !isSettled);
  if (first === undefined) return undefined;
  return {
    says: `is connected, but ${more.length + 1} of its ${countText(instancesTotal, 'instance')} ${more.length === 0 ? 'is' : 'are'} not well: ${first.instanceId} ${first.verdict}`,
    advice: `\`instance why ${first.instanceId}\` says more.`,
  };
}

function storyOfWell({ node, instancesTotal }: NodeFacts): Story {
  const holds =
    instancesTotal === 0
      ? 'holds no instances'
      : `holds ${countText(instancesTotal, 'instance')}, ${instancesTotal === 1 ? 'which is' : 'all of them'} as wanted`;
  if (!node.cordoned) return { says: `is connected and ${holds}`, isSettled: true };
  return {
    says: `is connected and cordoned: it gets no new instances, and it ${holds}`,
    advice: `\`cluster uncordon ${node.nodeId}\` gives it instances again.`,
    isSettled: true,
  };
}

function* notesOf({ node, drain }: NodeFacts): Generator<string> {
  if (drain !== undefined) yield* drain.waitingFor;
  for (const { key, available, reason } of node.runtimes)
    if (!available) yield `${key} is not offered: ${reason ?? 'no reason given'}`;
  if (node.advisoryLimits != null) yield `Limits of RAM and CPU do not hold there: ${node.advisoryLimits}`;
}
