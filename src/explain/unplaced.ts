/**
 * The stories of two kinds of instances: those that wait for a node, with advice on what would make room, and
 * those whose node is away.
 */
import { durationText } from '../model/plain/duration-text.js';
import { countText, listText } from '../model/words.js';
import type { PlacementView } from './decisions.js';
import type { InstanceFacts, Story } from './facts.js';

/** The story of an instance that waits for a node. Undefined: the instance has a node, or needs none. */
export function storyOfUnplaced({ record, placement }: InstanceFacts): Story | undefined {
  if (record.placement !== null) return undefined;
  const { configurationName } = record;
  const isNext = { says: 'is about to be given a node' };
  // The master does not know the revision yet, or placed the instance a moment ago.
  if (placement === undefined) return isNext;
  if (placement.waits.length > 0)
    return { says: `gets a node when its waits hold: ${placement.waits.join('; ')}` };
  if (placement.templateProblems.length > 0)
    return {
      says: `cannot be placed: ${placement.templateProblems.join('; ')}`,
      next: 'It gets a node as soon as its templates are there.',
      advice: `Put the templates there (\`template list\` shows those that are), or change templateInstallationConfig of ${configurationName} and delete the instance.`,
    };
  if (placement.nodes.length === 0)
    return {
      says: 'has no node: none has joined the cluster yet',
      next: 'It gets one as soon as one joins.',
      advice: 'Start Drover on a machine and let it join.',
    };
  if (placement.awaited !== null)
    return {
      says: `waits for ${listText(placement.awaited.nodeIds, 3)}: the master has just started and expects more nodes back`,
      next: `It gets a node in ${durationText(placement.awaited.forMs)} at most.`,
    };
  if (placement.nodes.some(({ fits }) => fits)) return isNext;
  const [only, second] = placement.nodes;
  const says =
    only !== undefined && second === undefined
      ? `does not fit on ${only.nodeId}, the only node: ${placement.summary.replace(/^1 /, '')}`
      : `fits on none of ${countText(placement.nodes.length, 'node')}: ${placement.summary}`;
  const isBusy = placement.portHolders.some(({ instanceId }) => instanceId === null);
  return {
    says,
    next: isBusy
      ? 'It gets a node as soon as one fits. Ports of other programs are tried again within a minute.'
      : 'It gets a node as soon as one fits.',
    advice: adviceFor(placement, configurationName),
  };
}

/** The field of a configuration with the range of this port; undefined: of the main one. */
export function rangeField(name: string | undefined): string {
  return name === undefined || name === 'main' ? 'availablePorts' : `ports.${name}`;
}

/**
 * The advice for each condition, in the reverse order of the conditions: the condition nearest to a fit comes
 * first. Some advice says to delete the instance, because a changed configuration reaches new instances only.
 */
const ADVICE: readonly (readonly [string, (placement: PlacementView, name: string) => string])[] = [
  [
    'port',
    ({ ports }, name) =>
      `Free a port, or widen ${rangeField(ports?.name)} of ${name} (${ports?.min}-${ports?.max}) and delete the instance.`,
  ],
  ['cpu', (placement, name) => adviceForSize(placement, name, 'cpu', 'maxCpu or cpuOvercommit')],
  ['ram', (placement, name) => adviceForSize(placement, name, 'ramMB', 'maxRamMB')],
  [
    'runtime',
    (_placement, name) =>
      `Install what the runtime needs on a node, or set another runtime in ${name} and delete the instance.`,
  ],
  [
    'cordoned',
    (placement) =>
      `Lift the cordon of ${nodesThat(placement, 'cordoned')} (\`cluster uncordon <node>\`), or add a node.`,
  ],
  ['not-connected', (placement) => `Bring ${nodesThat(placement, 'not-connected')} back.`],
  ['not-home', () => 'Bring back the node that has its files.'],
  [
    'not-allowed',
    (_placement, name) => `Add a node of the cluster to \`nodes\` of ${name} and delete the instance.`,
  ],
];

function adviceForSize({ isTooLarge }: PlacementView, name: string, field: string, limit: string): string {
  return isTooLarge
    ? `Lower ${field} of ${name} and delete the instance: no node has that much in all. Where the machine has more, raise ${limit} (config.json).`
    : `Stop something, raise ${limit} of a node (config.json), or lower ${field} of ${name} and delete the instance.`;
}

function adviceFor(placement: PlacementView, configurationName: string): string | undefined {
  const failed = new Set(placement.nodes.map((node) => node.failed));
  return ADVICE.find(([code]) => failed.has(code))?.[1](placement, configurationName);
}

function nodesThat({ nodes }: PlacementView, code: string): string {
  const ids = nodes.filter(({ failed }) => failed === code).map(({ nodeId }) => nodeId);
  return ids.length <= 3 ? ids.join(', ') : `${ids.slice(0, 3).join(', ')} or another node`;
}

/** The silence after which a node is mentioned (beats come every 2 s). */
export const QUIET_MS = 3000;

/** The story of an instance whose node is away. Undefined: the node is there, or the instance has no node. */
export function storyOfAway(facts: InstanceFacts, now: number): Story | undefined {
  const { record, node, contact } = facts;
  const nodeId = record.placement?.nodeId;
  if (nodeId === undefined) return undefined;
  if (node === undefined) return { says: `is on node ${nodeId}, of which nothing is known` };
  const where = whereabouts(facts, now);
  if (where === undefined) return undefined;
  const back = `Start Drover on ${nodeId} again, or mend its connection.`;
  const advice = contact?.goneForMs === null || node.condition === 'lost' ? back : undefined;
  if (record.desired.goal === 'stop')
    return { says: `should stop, but ${where}`, next: 'It is stopped when the node is back.', advice };
  return { says: `cannot be reached: ${where}`, next: nextOf(facts), advice };
}

/** Where the node is, as a clause; undefined when it is there. */
function whereabouts({ node, contact }: InstanceFacts, now: number): string | undefined {
  if (node === undefined) return undefined;
  const { nodeId, condition, conditionSince } = node;
  if (condition === 'lost')
    return `its node ${nodeId} has been lost for ${durationText(now - conditionSince)}`;
  if (contact?.isConnected === false && contact.goneForMs !== null)
    return `its node ${nodeId} was stopped ${durationText(contact.goneForMs)} ago and said that it will be back`;
  if (contact !== undefined && (!contact.isConnected || contact.silentMs > QUIET_MS))
    return `its node ${nodeId} has not been heard of for ${durationText(contact.silentMs)}`;
  return undefined;
}

function nextOf(facts: InstanceFacts): string {
  const { node, contact } = facts;
  if (node?.condition === 'lost') return `${replacement(facts)} When the node is back, it goes on there.`;
  const left = contact?.lostInMs ?? 0;
  return `Unless the node is back within ${durationText(left)}, it counts as lost. ${ifLost(facts)}`;
}

/** Says whether another instance has been made in place of this one, or will be. */
function replacement({ record, service }: InstanceFacts): string {
  if (record.static) return 'A static instance waits for its node, which has its files.';
  if (service === undefined) return 'Nothing replaces it: its configuration was removed.';
  if (service.creating > 0) return 'It is about to be replaced.';
  if (service.nextCreationInMs !== null)
    return `It is replaced in ${durationText(service.nextCreationInMs)}.`;
  return `Others of ${record.configurationName} that count: ${service.counted.size}, asked for: ${service.minimum}.`;
}

function ifLost({ record, service }: InstanceFacts): string {
  if (record.static) return 'A static instance waits for its node.';
  if (service === undefined) return 'Then nothing replaces it: its configuration was removed.';
  const wanted = Math.min(service.minimum, service.maximum ?? service.minimum);
  return service.counted.size <= wanted
    ? 'Then it is replaced.'
    : 'Then nothing replaces it: enough others stand.';
}
