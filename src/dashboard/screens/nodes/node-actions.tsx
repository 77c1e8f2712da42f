/**
 * Cordon, uncordon and drain of a node. Uncordon also cancels a drain. The buttons stay as they are while a call runs,
 * so that the focus stays too. The badges mark the action, and asking twice does no harm.
 */
import { useSignal } from '@preact/signals';
import { Button } from '../../parts/button.js';
import { DialogButton, FormDialog } from '../../parts/dialog.js';
import { Choice } from '../../parts/form.js';
import { useServices } from '../../services/services.js';
import type { AskedOfNodes } from './asked.js';
import { type NodeEntry, standingOf } from './node.js';
import { text } from './text.js';

interface NodeActionsProps {
  readonly node: NodeEntry;
  readonly asked: AskedOfNodes;
}

export function NodeActions({ node, asked }: NodeActionsProps) {
  const { api, toasts } = useServices();
  const { nodeId } = node;
  const standing = standingOf(node);
  const cordon = (): void => void toasts.run(asked.ask(api, 'cordon', node), () => text.cordoned(nodeId));
  const uncordon = (): void =>
    void toasts.run(asked.ask(api, 'uncordon', node), () => text.uncordoned(nodeId));
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
        <DialogButton
          hint={node.drain === null ? text.drainHint : text.deadlineChangeHint}
          dialog={(onClose) => <DrainDialog node={node} asked={asked} onClose={onClose} />}
        >
          {node.drain === null ? text.drain : text.deadlineChange}
        </DialogButton>
      )}
    </>
  );
}

/** Asks before a drain, and how long the drain waits for players. */
function DrainDialog({ node, asked, onClose }: NodeActionsProps & { readonly onClose: () => void }) {
  const { api, toasts } = useServices();
  const { nodeId } = node;
  const seconds = useSignal(text.deadlines[0]?.value ?? '600');
  const drain = async (): Promise<void> => {
    await asked.ask(api, 'drain', node, Number(seconds.value));
    toasts.done(text.drains(nodeId));
    onClose();
  };
  return (
    <FormDialog title={text.drainTitle(nodeId)} action={text.drain} onSubmit={drain} onClose={onClose}>
      <p>{text.drainExplain}</p>
      <Choice label={text.deadline} hint={text.deadlineHint} value={seconds} options={text.deadlines} />
    </FormDialog>
  );
}
