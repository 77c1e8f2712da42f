/** Sends actions on nodes, and marks the nodes whose state does not show the action yet. */
import { type Api, apiPath } from '../../api/api-client.js';
import { PendingMarks } from '../../parts/pending-actions.js';
import type { NodeEntry } from './node.js';
import type { text } from './text.js';

type NodeAction = keyof typeof text.pending;

export class AskedOfNodes extends PendingMarks<NodeEntry, NodeAction> {
  constructor() {
    super({
      keyOf: ({ nodeId }) => nodeId,
      hasEffect,
      isConfirmed: (before, now) =>
        before.cordoned !== now.cordoned || (before.drain === null) !== (now.drain === null),
    });
  }

  /** Sends an action. `deadlineSeconds` is for a drain. Resolves when the API has accepted it. Throws ApiFailure. */
  send(api: Api, action: NodeAction, node: NodeEntry, deadlineSeconds?: number): Promise<void> {
    const path = apiPath('cluster', 'nodes', node.nodeId);
    const calls = {
      drain: () => api.put(`${path}/drain`, { body: { deadlineSeconds } }),
      cordon: () => api.put(`${path}/cordon`),
      uncordon: () => api.delete(`${path}/cordon`),
    };
    return this.mark(action, node, calls[action]());
  }
}

/** False when the state will not change with the action: a new deadline of a running drain, or a second cordon. */
function hasEffect(action: NodeAction, { cordoned, drain }: NodeEntry): boolean {
  if (action === 'drain') return drain === null;
  return action === 'cordon' ? !cordoned : cordoned || drain !== null;
}
