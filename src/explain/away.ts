/** The stories of instances whose node is away. */

import { durationText } from '../model/words.js';
import type { InstanceFacts, Story } from './facts.js';

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
