/** The actions on a node and their dialogs, the badges that tell its state, and the meters of its reserved amounts. */
import { useSignal } from '@preact/signals';
import type { ForgottenNode } from '../../../api/routes/node-operation-routes.js';
import { apiPath } from '../../api/api-client.js';
import { BYTES_IN_MB, cores, coresOf, megabytes, megabytesOf } from '../../parts/amounts.js';
import { Button } from '../../parts/button.js';
import { DialogButton, FormDialog } from '../../parts/dialog.js';
import { Choice, Tick } from '../../parts/form.js';
import { Meter } from '../../parts/meter.js';
import { Badge, StateBadge } from '../../parts/state-badge.js';
import { useEntries, useServices } from '../../services/services.js';
import type { AskedOfNodes } from './asked.js';
import { type NodeEntry, standingOf } from './node.js';
import { text } from './text.js';

interface NodeActionsProps {
  readonly node: NodeEntry;
  readonly asked: AskedOfNodes;
}

/**
 * Cordon, uncordon and drain of a node. Uncordon also cancels a drain. The buttons stay as they are while a call runs,
 * so that the focus stays too. The badges mark the action, and asking twice does no harm.
 */
export function NodeActions({ node, asked }: NodeActionsProps) {
  const { api, toasts } = useServices();
  const { nodeId } = node;
  const standing = standingOf(node);
  const ask = (action: 'cordon' | 'uncordon', done: string): void =>
    void toasts.run(asked.send(api, action, node), () => done);
  return (
    <>
      {standing === null ? (
        <Button hint={text.cordonHint} onPress={() => ask('cordon', text.cordoned(nodeId))}>
          {text.cordon}
        </Button>
      ) : (
        <Button hint={text.uncordonHint} onPress={() => ask('uncordon', text.uncordoned(nodeId))}>
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

/** A dialog that asks before a drain. It also asks how long the drain waits for players. */
function DrainDialog({ node, asked, onClose }: NodeActionsProps & { readonly onClose: () => void }) {
  const { api, toasts } = useServices();
  const { nodeId } = node;
  const seconds = useSignal(text.deadlines[0]?.value ?? '600');
  const drain = async (): Promise<void> => {
    await asked.send(api, 'drain', node, Number(seconds.value));
    toasts.done(text.drains(nodeId));
    onClose();
  };
  return (
    <FormDialog title={text.drainTitle(nodeId)} action={text.drain} onSubmit={drain} onClose={onClose}>
      <p>{useEntries('nodes').size > 1 ? text.drainExplain : text.drainAlone}</p>
      <Choice label={text.deadline} hint={text.deadlineHint} value={seconds} options={text.deadlines} />
    </FormDialog>
  );
}

/**
 * The badges of a node: its condition, whether it takes instances, and an action that its state does not show yet.
 */
export function NodeBadges({ node, asked }: NodeActionsProps) {
  const pending = asked.of(node);
  return (
    <>
      <StateBadge state={node.condition} />
      {pending === undefined ? (
        <StandingBadge node={node} />
      ) : (
        <Badge tone="busy" label={text.pending[pending]} isPending />
      )}
    </>
  );
}

function StandingBadge({ node }: { readonly node: NodeEntry }) {
  const standing = standingOf(node);
  if (standing === null) return null;
  if (standing === 'draining')
    return <Badge tone="busy" label={text.standing.draining(node.drain?.left ?? 0)} />;
  return <Badge tone="still" label={text.standing[standing]} />;
}

/** Bars of what is reserved of the node, and of how much of it is used. */
export function NodeMeters({
  node: { nodeId, resources, capacity },
  label,
}: {
  readonly node: NodeEntry;
  readonly label: { readonly ram: string; readonly cpu: string };
}) {
  const here = [...useEntries('usage').values()].filter(({ node }) => node === nodeId);
  const ram = here.reduce((sum, { memoryBytes }) => sum + memoryBytes, 0) / BYTES_IN_MB;
  const cpu = here.reduce((sum, { cpuPercent }) => sum + (cpuPercent ?? 0), 0);
  const used = (amount: string): string => (here.length === 0 ? '' : text.used(amount));
  return (
    <div class="d-grid gap-2 min-w-0">
      <Meter
        label={label.ram}
        value={resources.usedRamMB}
        inner={ram}
        most={capacity.maxRamMB}
        text={`${used(megabytes(ram))}${megabytesOf(resources.usedRamMB, capacity.maxRamMB)}`}
      />
      <Meter
        label={label.cpu}
        value={resources.usedCpu}
        inner={cpu}
        most={capacity.maxCpu}
        text={`${used(cores(cpu))}${coresOf(resources.usedCpu, capacity.maxCpu)}`}
      />
    </div>
  );
}

/** Asks before a node is forgotten, and says what is lost with it. */
export function ForgetDialog({ nodeId, onClose }: { readonly nodeId: string; readonly onClose: () => void }) {
  const { api, router, toasts } = useServices();
  const isForced = useSignal(false);
  const keepsToken = useSignal(false);
  const forget = async (): Promise<void> => {
    const query = { force: isForced.value || undefined, keepToken: keepsToken.value || undefined };
    const done = await api.delete<ForgottenNode>(apiPath('cluster', 'nodes', nodeId), { query });
    toasts.done(sentenceOf(done));
    router.go(['nodes']);
  };
  return (
    <FormDialog
      title={text.forgetTitle(nodeId)}
      action={text.forget}
      isDanger
      onSubmit={forget}
      onClose={onClose}
    >
      <p>{text.forgetExplain}</p>
      <Tick label={text.force} hint={text.forceHint} value={isForced} />
      <Tick label={text.keepToken} hint={text.keepTokenHint} value={keepsToken} />
    </FormDialog>
  );
}

function sentenceOf({ nodeId, instances, joinToken }: ForgottenNode): string {
  const done = text.forgotten(nodeId, instances.length);
  return joinToken === undefined || joinToken.isRevoked ? done : `${done}. ${text.tokenStays(joinToken.id)}`;
}
