/** The wakes of a change of a node's record, or of the master's contact with the node. */
import type { NodeRecord } from '../../../src/model/node.js';
import { wakesOfCount, wakesOfNewPlace } from './shared-wakes.js';
import type { Change, Wake, WakeFacts } from './wake.js';

export function* wakesOfNode({ id, before, after }: Change<NodeRecord>, facts: WakeFacts): Generator<Wake> {
  yield* wakesOfContact(id);
  if (before?.drain !== undefined || after?.drain !== undefined)
    yield { controller: 'drain', key: id, when: 'first' };
  yield* wakesOfNewPlace(facts);
  const isDrainNews = (before?.drain === undefined) !== (after?.drain === undefined);
  if (before?.condition !== after?.condition || isDrainNews)
    for (const [name] of facts.configurations.entries()) yield* wakesOfCount(name, facts, 0);
  // A drain that was called off leaves pairs to resolve, and so may a node that is back.
  for (const key of facts.replacements.keys())
    if (facts.instances.get(key)?.value.placement?.nodeId === id)
      yield { controller: 'replacement', key, when: 0 };
}

/** The wakes when the node connected, disconnected, said that it will be back, or beats again after a silence. */
export function* wakesOfContact(nodeId: string): Generator<Wake> {
  yield { controller: 'heartbeat', key: nodeId, when: 'first' };
}
