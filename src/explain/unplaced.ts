/** The stories of instances that wait for a node, with advice on what would make room. */

import { countText, durationText } from '../model/words.js';
import type { PlacementView } from './decisions.js';
import type { InstanceFacts, Story } from './facts.js';

/** The story of an instance that waits for a node. Undefined: the instance has a node, or needs none. */
export function storyOfUnplaced({ record, placement }: InstanceFacts): Story | undefined {
  if (record.placement !== null) return undefined;
  // The master does not know the revision yet, or placed the instance a moment ago.
  if (placement === undefined) return { says: 'is about to be given a node' };
  return storyOfPlace(placement, record.configurationName) ?? { says: 'is about to be given a node' };
}

/** Why an instance of the configuration has no place; undefined when a node fits. */
function storyOfPlace(placement: PlacementView, configurationName: string): Story | undefined {
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
      says: `waits for ${idsOf(placement.awaited.nodeIds)}: the master has just started and expects more nodes back`,
      next: `It gets a node in ${durationText(placement.awaited.forMs)} at most.`,
    };
  if (placement.nodes.some(({ fits }) => fits)) return undefined;
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

/**
 * The advice for each condition, in the reverse order of the conditions: the condition nearest to a fit comes
 * first. Some advice says to delete the instance, because a changed configuration reaches new instances only.
 */
const ADVICE: readonly (readonly [string, (placement: PlacementView, name: string) => string])[] = [
  [
    'port',
    ({ ports }, name) =>
      `Free a port, or widen availablePorts of ${name} (${ports?.min}-${ports?.max}) and delete the instance.`,
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

function idsOf(ids: readonly string[]): string {
  return ids.length <= 3 ? ids.join(', ') : `${ids.slice(0, 3).join(', ')} and ${ids.length - 3} more`;
}
