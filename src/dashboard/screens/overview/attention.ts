/**
 * The list of what needs the operator, the worst first. Pure: made from the state of the cluster and from live data.
 */

import type { ConfigurationFileError } from '../../../model/configuration.js';
import type { InstanceInfo } from '../../../model/instance.js';
import type { ShownRollout } from '../../../operations/rollouts/rollouts.js';
import type { Topics } from '../../../watch-client/topics.js';
import { apiPath } from '../../api/api-client.js';
import { hrefOf } from '../../router/place.js';
import type { ClusterState } from './cluster-state.js';
import { text } from './text.js';

type Tone = keyof typeof text.tones;

/** The next step: a place to go to, or an action on an instance. */
export type Step =
  | { readonly kind: 'open'; readonly label: string; readonly href: string }
  | { readonly kind: 'restart'; readonly label: string; readonly id: string };

export interface Concern {
  readonly key: string;
  readonly tone: Tone;
  /** The sentence shown until the server has explained the concern. */
  readonly sentence: string;
  /** The API path that explains the concern; null: the sentence says all. */
  readonly why: string | null;
  readonly step: Step | null;
}

export interface AttentionFacts {
  /** Undefined: not known yet. */
  readonly state: ClusterState | undefined;
  readonly instances: Iterable<InstanceInfo>;
  readonly nodes: Iterable<Topics['nodes']>;
  readonly rollouts: Iterable<ShownRollout>;
  /** Whether the key may restart instances. */
  readonly canOperate: boolean;
}

const URGENCY: Readonly<Record<Tone, number>> = { bad: 0, busy: 1, still: 2, good: 3 };
const HELD_BACK: ReadonlySet<ShownRollout['state']> = new Set(['failed', 'rolling-back', 'rolled-back']);
/** Reasons (`reason`) that lie in the program of an instance, so that a restart may help. */
const OF_PROGRAM = new Set(['exited', 'start-failed', 'not-ready', 'install-failed', 'port-busy']);

export function concernsOf({ state, instances, nodes, rollouts, canOperate }: AttentionFacts): Concern[] {
  // Instances of a configuration below its minimum are left out: the configuration has a concern of its own.
  const named = new Set(state?.belowMinimum.map(({ name }) => name));
  const concerns = [
    ...ofNodes(nodes),
    ...ofRollouts(rollouts),
    ...(state === undefined ? [] : ofState(state)),
  ];
  for (const instance of instances)
    if (isInTrouble(instance) && !named.has(instance.configurationName))
      concerns.push(ofInstance(instance, canOperate));
  return concerns.sort((a, b) => URGENCY[a.tone] - URGENCY[b.tone]);
}

function* ofNodes(nodes: AttentionFacts['nodes']): Generator<Concern> {
  const step = toOpen(text.openNodes, 'nodes');
  for (const { nodeId, condition, drain, cordoned } of nodes) {
    const common = { key: `node ${nodeId}`, why: `/cluster${apiPath('nodes', nodeId, 'why')}`, step };
    if (condition === 'lost') yield { ...common, tone: 'bad', sentence: text.nodeLost(nodeId) };
    else if (condition === 'returning')
      yield { ...common, tone: 'busy', sentence: text.nodeReturning(nodeId) };
    else if (drain !== null && !drain.isDrained)
      yield { ...common, tone: 'busy', sentence: text.nodeDraining(nodeId, drain.left) };
    else if (cordoned) yield { ...common, tone: 'still', sentence: text.nodeCordoned(nodeId) };
  }
}

/**
 * The concerns about rollouts that failed, or that wait for a person. A rollback that a person asked for is no
 * concern.
 */
function* ofRollouts(rollouts: AttentionFacts['rollouts']): Generator<Concern> {
  for (const { configurationName: name, state, reason, message } of rollouts) {
    const step = toOpen(text.openRollout, 'configurations', name);
    const common = { key: `rollout ${name}`, why: apiPath('configurations', name, 'why'), step };
    if (HELD_BACK.has(state) && reason !== 'rollback')
      yield { ...common, tone: 'bad', sentence: text.rolloutFailed(name, message) };
    else if (state === 'awaiting-promotion')
      yield { ...common, tone: 'busy', sentence: text.rolloutAwaits(name) };
    else if (state === 'paused') yield { ...common, tone: 'still', sentence: text.rolloutPaused(name) };
  }
}

function stepOfFile({ file, name }: ConfigurationFileError): Step {
  // The fault is a template in conflict: no configuration file has a slash in its name.
  if (file.startsWith('templates/')) return toOpen(text.openTemplates, 'templates');
  return toOpen(text.openConfiguration, 'configurations', ...(name === undefined ? [] : [name]));
}

function toOpen(label: string, ...path: string[]): Step {
  return { kind: 'open', label, href: hrefOf(path) };
}

function* ofState(state: ClusterState): Generator<Concern> {
  const common = { tone: 'bad', why: null, step: null } as const;
  for (const error of state.brokenFiles) {
    const { file, line, message } = error;
    const sentence = text.brokenFile(file, line, message);
    yield { ...common, key: `file ${file} ${message}`, sentence, step: stepOfFile(error) };
  }
  for (const { key, problem } of state.unreadableRecords)
    yield { ...common, key: `record ${key}`, sentence: text.unreadable(key, problem) };
  if (state.certificateProblem !== null)
    yield { ...common, key: 'certificate', sentence: text.certificate(state.certificateProblem) };
  for (const { name, online, minimum, why } of state.belowMinimum)
    yield {
      key: `minimum ${name}`,
      tone: online === 0 ? 'bad' : 'busy',
      sentence: why ?? text.belowMinimum(name, online, minimum),
      why: apiPath('configurations', name, 'why'),
      step: instancesOf(name),
    };
  for (const { name, instances } of state.removed) {
    if (instances === 0) continue;
    const sentence = text.removed(name, instances);
    yield { ...common, key: `removed ${name}`, tone: 'still', sentence, step: instancesOf(name) };
  }
}

function instancesOf(name: string): Step {
  return { kind: 'open', label: text.openInstances, href: hrefOf(['instances'], { find: name }) };
}

function isInTrouble({ state, message }: InstanceInfo): boolean {
  return message !== null && (state === 'OFFLINE' || state === 'CREATING');
}

function ofInstance(instance: InstanceInfo, canOperate: boolean): Concern {
  const { id, configurationName, state, message } = instance;
  return {
    key: id,
    tone: state === 'OFFLINE' ? 'bad' : 'busy',
    sentence: `${configurationName} ${id}: ${message}`,
    why: apiPath('instances', id, 'why'),
    step: stepOf(instance, canOperate),
  };
}

function stepOf({ id, reason }: InstanceInfo, canOperate: boolean): Step {
  if (reason === 'no-node-fits') return toOpen(text.openNodes, 'nodes');
  if (reason === 'template-missing') return toOpen(text.openTemplates, 'templates');
  if (canOperate && reason !== null && OF_PROGRAM.has(reason))
    return { kind: 'restart', label: text.restart, id };
  return toOpen(text.openInstance, 'instances', id);
}
