/** The list of nodes, the page of one node, or the join tokens. */
import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { DialogButton } from '../../parts/dialog.js';
import { Page, Tabs } from '../../parts/page.js';
import { hrefOf } from '../../router/place.js';
import { useEntries, useServices } from '../../services/services.js';
import type { ScreenProps } from '../screen.js';
import { AskedOfNodes } from './asked.js';
import { NodeList } from './list/node-list.js';
import './nodes.css';
import { NodePage } from './page/node-page.js';
import { text } from './text.js';
import { JoinDialog } from './tokens/join-dialog.js';
import { TokensTab } from './tokens/tokens-tab.js';

export function Screen({ path: [nodeId] }: ScreenProps) {
  const asked = useMemo(() => new AskedOfNodes(), []);
  return nodeId === undefined ? <Fleet asked={asked} /> : <NodePage nodeId={nodeId} asked={asked} />;
}

function Fleet({ asked }: { readonly asked: AskedOfNodes }) {
  const { session, router } = useServices();
  const made = useSignal(0);
  const nodes = useEntries('nodes');
  // A restricted key may not read join tokens.
  const seesTokens = session.isUnrestricted;
  const tab = seesTokens && router.place.value.query.tab === 'tokens' ? 'tokens' : 'nodes';
  const canAdd = session.can('ALL') && session.isUnrestricted;
  const join = (
    <DialogButton
      kind="main"
      dialog={(onClose) => <JoinDialog onMade={() => void made.value++} onClose={onClose} />}
    >
      {text.join}
    </DialogButton>
  );
  return (
    <Page
      title={text.title}
      about={text.counted(nodes.size, nodes.size)}
      actions={canAdd && join}
      fill={tab === 'nodes'}
    >
      {seesTokens && (
        <Tabs
          label={text.tabs}
          current={tab}
          tabs={[
            { id: 'nodes', label: text.title, href: hrefOf(['nodes']) },
            { id: 'tokens', label: text.tokens, href: hrefOf(['nodes'], { tab: 'tokens' }) },
          ]}
        />
      )}
      {tab === 'nodes' ? <NodeList asked={asked} /> : <TokensTab round={made.value} />}
    </Page>
  );
}
