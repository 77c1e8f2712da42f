/** Asks before a node is forgotten, and says what is lost with it. */
import { useSignal } from '@preact/signals';
import type { ForgottenNode } from '../../../api/routes/node-operation-routes.js';
import { apiPath } from '../../api/api-client.js';
import { FormDialog } from '../../parts/dialog.js';
import { Tick } from '../../parts/form.js';
import { useServices } from '../../services/services.js';
import { text } from './text.js';

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
