/**
 * The place of an instance that takes another content in place: the same node, and the same port if the content allows
 * it. The conditions are those of every placement; what the instance already holds counts as free.
 */
import { DroverError } from '../../../src/model/errors.js';
import type { InstancePlacement } from '../../../src/model/instance.js';
import { candidateOf, type FleetSources, type Question, questionOf, withPort } from './candidates.js';
import { type Candidate, firstFailed } from './conditions.js';
import type { PlacesOptions } from './places.js';
import { placementAt } from './plan.js';
import type { PlacedUpdate } from './reconciler.js';

type AgainOptions = Pick<PlacesOptions, keyof FleetSources | 'chooseTemplates' | 'clock'>;

/**
 * The new place on the instance's node. Throws DRV_UPDATE_REFUSED, which names the first condition that the
 * node fails.
 */
export function placementAgain(options: AgainOptions, update: PlacedUpdate): InstancePlacement {
  const { before, content } = update;
  const { configuration } = content;
  const { templates, problems } = options.chooseTemplates(configuration, before.id);
  if (problems.length > 0) throw refused(update, problems.join('; '));
  const question = questionAgain(update);
  const candidate = candidateAgain(options, question, update);
  const failed = firstFailed({ ...question, home: null }, candidate);
  if (failed !== undefined)
    throw refused(
      update,
      `its node ${candidate.nodeId} ${failed.tell({ ...question, home: null }, candidate, options.clock.now())}`,
    );
  return placementAt(candidate, templates);
}

/**
 * The needs of the new content. RAM and CPU that it does not raise count as 0, because the instance has them
 * already: so an overcommitted node does not refuse it.
 */
function questionAgain({ before, content: { configuration } }: PlacedUpdate): Question {
  const question = questionOf(configuration);
  return {
    ...question,
    ramMB: question.ramMB > before.ramMB ? question.ramMB : 0,
    cpu: question.cpu > before.cpu ? question.cpu : 0,
  };
}

/** Ignores a cordon or a lost connection: the node keeps the instance, and takes the content when it is back. */
function candidateAgain(options: AgainOptions, question: Question, { before }: PlacedUpdate): Candidate {
  const nodeId = before.placement?.nodeId ?? '';
  const node = options.nodes.get(nodeId)?.value;
  if (node === undefined)
    throw new DroverError('DRV_UPDATE_REFUSED', `instance ${before.id} is on node ${nodeId}, which is gone`);
  const found = candidateOf(options, question, node);
  const candidate: Candidate = {
    ...found,
    condition: 'connected',
    isCordoned: false,
    freeRamMB: found.freeRamMB + before.ramMB,
    freeCpu: found.freeCpu + before.cpu,
  };
  const port = before.placement?.port ?? null;
  return withPort(options, question, candidate, { port, holder: before.id, isKept: before.static });
}

function refused({ before, content }: PlacedUpdate, why: string): DroverError {
  return new DroverError(
    'DRV_UPDATE_REFUSED',
    `instance ${before.id} cannot take the content of ${content.configuration.name} where it is: ${why}`,
  );
}
