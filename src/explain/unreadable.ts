/** Explains an instance whose record is set aside, from what is left of the record. Pure. */
import type { NodeCondition } from '../model/node.js';
import { leftOfInstance } from '../state/left-of-record.js';
import type { SetAside } from '../store/mirror.js';
import type { InstanceExplanation } from './explanation.js';

export function explainUnreadable(
  id: string,
  { value, problem }: SetAside,
  conditionOf: (nodeId: string) => NodeCondition | undefined,
): InstanceExplanation {
  const { configurationName, goal, placement } = leftOfInstance(value);
  const name = configurationName ?? 'unknown';
  return {
    instanceId: id,
    configurationName: name,
    verdict: `${id} (${name}) has a record that cannot be read (${problem}).`,
    next: 'The record is kept as it is. What runs of the instance is left alone and keeps its place.',
    advice: `A version of Drover that can read the record takes it up again. \`instance delete ${id}\` removes the record and ends the process.`,
    notes: [],
    isSettled: false,
    desired: goal,
    actual: 'unknown',
    reason: null,
    message: null,
    node: placement?.nodeId ?? null,
    nodeCondition: (placement === null ? undefined : conditionOf(placement.nodeId)) ?? null,
    nodeAnswer: null,
    port: placement?.port ?? null,
    processPid: null,
    upForMs: null,
    restarts: 0,
    failuresInARow: 0,
    retryInMs: null,
    stopSignal: null,
    killInMs: null,
    configurationRevision: '',
    isRevisionCurrent: null,
    nodes: [],
    nodesTotal: 0,
    portRange: null,
    portHolders: [],
    portHoldersTotal: 0,
    exits: [],
  };
}
