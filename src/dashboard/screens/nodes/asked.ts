/** Asks for actions on nodes, and knows which have not shown in their state yet: those are marked, so no click is silent. */
import { signal } from '@preact/signals';
import { type Api, apiPath } from '../../api/api-client.js';
import type { NodeEntry } from './node.js';
import type { text } from './text.js';

export type NodeAction = keyof typeof text.pending;

interface Asked {
  readonly action: NodeAction;
  readonly before: NodeEntry;
}

/** A mark ends after this; the state then speaks for itself. */
const LONGEST_MS = 15_000;

export class AskedOfNodes {
  readonly #asked = signal<ReadonlyMap<string, Asked>>(new Map());

  /** `deadlineSeconds` is of a drain. Resolves when the API has taken it. Throws ApiFailure. */
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

  /** What is on its way for this node; undefined: nothing. */
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

/** A drain that gets another deadline, or a cordon twice, shows in nothing that would confirm it. */
function hasEffect(action: NodeAction, { cordoned, drain }: NodeEntry): boolean {
  if (action === 'drain') return drain === null;
  return action === 'cordon' ? !cordoned : cordoned || drain !== null;
}
