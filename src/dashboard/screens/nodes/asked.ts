/** Sends actions on nodes, and marks the nodes whose state does not show the action yet. */
import { type Api, apiPath } from '../../api/api-client.js';
import { PendingMarks } from '../../parts/pending-actions.js';
import type { NodeEntry } from './node.js';
import type { text } from './text.js';

type NodeAction = keyof typeof text.pending;

export class AskedOfNodes {
  readonly #marks = new PendingMarks<NodeEntry, NodeAction>({
    keyOf: ({ nodeId }) => nodeId,
    hasEffect,
    isConfirmed: (before, now) =>
      before.cordoned !== now.cordoned || (before.drain === null) !== (now.drain === null),
  });

  /** Sends an action. `deadlineSeconds` is for a drain. Resolves when the API has accepted it. Throws ApiFailure. */
  async ask(api: Api, action: NodeAction, before: NodeEntry, deadlineSeconds?: number): Promise<void> {
    this.#marks.ask(action, [before]);
    const path = apiPath('cluster', 'nodes', before.nodeId);
    try {
      if (action === 'drain') await api.put(`${path}/drain`, { body: { deadlineSeconds } });
      else if (action === 'cordon') await api.put(`${path}/cordon`);
      else await api.delete(`${path}/cordon`);
    } catch (error) {
      this.#marks.forget(before.nodeId);
      throw error;
    }
  }

  /** The action that this node does not show yet; undefined: none. */
  of(node: NodeEntry): NodeAction | undefined {
    return this.#marks.of(node);
  }
}

/** False when no change of the state would confirm the action: another deadline of a drain, or a second cordon. */
function hasEffect(action: NodeAction, { cordoned, drain }: NodeEntry): boolean {
  if (action === 'drain') return drain === null;
  return action === 'cordon' ? !cordoned : cordoned || drain !== null;
}
