/**
 * Sends actions on nodes, and marks the nodes whose state does not show the action yet, so that every click is
 * answered.
 */
import { signal } from '@preact/signals';
import { type Api, apiPath } from '../../api/api-client.js';
import type { NodeEntry } from './node.js';
import type { text } from './text.js';

type NodeAction = keyof typeof text.pending;

interface Asked {
  readonly action: NodeAction;
  readonly before: NodeEntry;
}

/** How long a mark stays at most; then the state speaks for itself. */
const LONGEST_MS = 15_000;

export class AskedOfNodes {
  readonly #asked = signal<ReadonlyMap<string, Asked>>(new Map());

  /** Sends an action. `deadlineSeconds` is for a drain. Resolves when the API has accepted it. Throws ApiFailure. */
  async ask(api: Api, action: NodeAction, before: NodeEntry, deadlineSeconds?: number): Promise<void> {
    const { nodeId } = before;
    const asked = { action, before };
    this.#asked.value = new Map(this.#asked.value).set(nodeId, asked);
    setTimeout(() => this.#forget(nodeId, asked), LONGEST_MS);
    const path = apiPath('cluster', 'nodes', nodeId);
    try {
      if (action === 'drain') await api.put(`${path}/drain`, { body: { deadlineSeconds } });
      else if (action === 'cordon') await api.put(`${path}/cordon`);
      else await api.delete(`${path}/cordon`);
    } catch (error) {
      this.#forget(nodeId, asked);
      throw error;
    }
  }

  /** The action that this node does not show yet; undefined: none. */
  of(node: NodeEntry): NodeAction | undefined {
    const asked = this.#asked.value.get(node.nodeId);
    if (asked === undefined) return undefined;
    const { before, action } = asked;
    const isConfirmed =
      before.cordoned !== node.cordoned || (before.drain === null) !== (node.drain === null);
    return isConfirmed || !hasEffect(action, before) ? undefined : action;
  }

  #forget(nodeId: string, asked: Asked): void {
    if (this.#asked.value.get(nodeId) !== asked) return;
    const next = new Map(this.#asked.value);
    next.delete(nodeId);
    this.#asked.value = next;
  }
}

/** False when no change of the state would confirm the action: another deadline of a drain, or a second cordon. */
function hasEffect(action: NodeAction, { cordoned, drain }: NodeEntry): boolean {
  if (action === 'drain') return drain === null;
  return action === 'cordon' ? !cordoned : cordoned || drain !== null;
}
