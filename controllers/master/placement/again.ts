/**
 * The place of an instance that takes another content in place: the same node, and the same port if the content allows
 * it. The conditions are those of every placement; what the instance already holds counts as free.
 */
import { DroverError } from '../../../src/model/errors.js';
import { portsOf } from '../../../src/model/fields/ports.js';
import type { InstancePlacement, InstanceRecord } from '../../../src/model/instance.js';
import type { NodeRecord } from '../../../src/model/node.js';
import { candidateOf, type FleetSources, type Question, questionOf, withPorts } from './candidates.js';
import { type Candidate, firstFailed, type Needs } from './conditions.js';
import type { PlacesOptions } from './places.js';
import { placementAt } from './plan.js';
import type { PlacedUpdate } from './reconciler.js';

type AgainOptions = Pick<PlacesOptions, keyof FleetSources | 'chooseTemplates' | 'clock'>;

/** The new place on the instance's node. Throws DRV_UPDATE_REFUSED with the refusal of `placeOrRefusal`. */
export function placementAgain(options: AgainOptions, update: PlacedUpdate): InstancePlacement {
  const placement = placeOrRefusal(options, update, questionOf(update.content.configuration));
  if (typeof placement === 'string') throw new DroverError('DRV_UPDATE_REFUSED', placement);
  return placement;
}

/**
 * The new place on the instance's node, or why there is none: the first condition that the node fails. `of`: what the
 * content asks of a node.
 */
export function placeOrRefusal(
  options: AgainOptions,
  update: Pick<PlacedUpdate, 'before' | 'content'>,
  of: Question,
): InstancePlacement | string {
  const { before, content } = update;
  const { templates, problems } = options.chooseTemplates(content.configuration, before.id);
  if (problems.length > 0) return refusalOf(update, problems.join('; '));
  const nodeId = before.placement?.nodeId ?? '';
  const node = options.nodes.get(nodeId)?.value;
  if (node === undefined) return `instance ${before.id} is on node ${nodeId}, which is gone`;
  const needs = needsAgain(update, of);
  const candidate = candidateAgain(options, needs, { before, node });
  const failed = firstFailed(needs, candidate);
  return failed === undefined
    ? placementAt(candidate, templates)
    : refusalOf(update, `its node ${nodeId} ${failed.tell(needs, candidate, options.clock.now())}`);
}

/**
 * The needs of the new content. RAM and CPU that it does not raise count as 0, because the instance has them
 * already: so an overcommitted node does not refuse it.
 */
function needsAgain({ before }: Pick<PlacedUpdate, 'before'>, question: Question): Question & Needs {
  return {
    ...question,
    ramMB: question.ramMB > before.ramMB ? question.ramMB : 0,
    cpu: question.cpu > before.cpu ? question.cpu : 0,
    home: null,
  };
}

/** Ignores a cordon or a lost connection: the node keeps the instance, and takes the content when it is back. */
function candidateAgain(
  options: AgainOptions,
  question: Question,
  { before, node }: { readonly before: InstanceRecord; readonly node: NodeRecord },
): Candidate {
  const found = candidateOf(options, question, node);
  const candidate: Candidate = {
    ...found,
    condition: 'connected',
    isCordoned: false,
    freeRamMB: found.freeRamMB + before.ramMB,
    freeCpu: found.freeCpu + before.cpu,
  };
  const ports = portsOf(before.placement ?? {});
  return withPorts(options, question, candidate, { ports, holder: before.id, isKept: before.static });
}

function refusalOf({ before, content }: Pick<PlacedUpdate, 'before' | 'content'>, why: string): string {
  return `instance ${before.id} cannot take the content of ${content.configuration.name} where it is: ${why}`;
}
