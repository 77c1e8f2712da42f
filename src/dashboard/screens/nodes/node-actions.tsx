/**
 * Cordon, uncordon and drain of a node. Uncordon also cancels a drain. The buttons stay as they are while a call runs,
 * so that the focus stays too. The badges mark the action, and asking twice does no harm.
 */
import { useSignal } from '@preact/signals';
import { Button } from '../../parts/button.js';
import { useServices } from '../../services/services.js';
import type { AskedOfNodes } from './asked.js';
import { DrainDialog } from './drain-dialog.js';
import { type NodeEntry, standingOf } from './node.js';
import { text } from './text.js';

interface NodeActionsProps {
  readonly node: NodeEntry;
  readonly asked: AskedOfNodes;
}

export function NodeActions({ node, asked }: NodeActionsProps) {
  const { api, toasts } = useServices();
  const isDraining = useSignal(false);
  const { nodeId } = node;
  const standing = standingOf(node);
  const cordon = (): void => void toasts.run(asked.ask(api, 'cordon', node), () => text.cordoned(nodeId));
  const uncordon = (): void =>
    void toasts.run(asked.ask(api, 'uncordon', node), () => text.uncordoned(nodeId));
  const drain = async (seconds: number): Promise<void> => {
    await asked.ask(api, 'drain', node, seconds);
    toasts.done(text.drains(nodeId));
  };
  return (
    <>
      {standing === null ? (
        <Button hint={text.cordonHint} onPress={cordon}>
          {text.cordon}
        </Button>
      ) : (
        <Button hint={text.uncordonHint} onPress={uncordon}>
          {standing === 'draining' ? text.cancelDrain : text.uncordon}
        </Button>
      )}
      {standing !== 'drained' && (
        <Button
          hint={node.drain === null ? text.drainHint : text.deadlineChangeHint}
          onPress={() => {
            isDraining.value = true;
          }}
        >
          {node.drain === null ? text.drain : text.deadlineChange}
        </Button>
      )}
      {isDraining.value && (
        <DrainDialog
          nodeId={nodeId}
          onDrain={drain}
          onClose={() => {
            isDraining.value = false;
          }}
        />
      )}
    </>
  );
}
