/** One node: its state and the reason, its reserved and used resources, its runtimes, and its instances. */
import { useSignal } from '@preact/signals';
import type { NodeDetail } from '../../../../api/routes/cluster-routes.js';
import { apiPath } from '../../../api/api-client.js';
import { Button, ButtonLink } from '../../../parts/button.js';
import { Empty } from '../../../parts/empty.js';
import { Failure } from '../../../parts/failure.js';
import { Page, Panel } from '../../../parts/page.js';
import { hrefOf } from '../../../router/place.js';
import { useServices } from '../../../services/services.js';
import { useAsked, useTopic } from '../../../services/use-live.js';
import type { AskedOfNodes } from '../asked.js';
import { ForgetDialog } from '../forget-dialog.js';
import type { NodeEntry } from '../node.js';
import { NodeActions } from '../node-actions.js';
import { NodeBadges } from '../node-badges.js';
import { text } from '../text.js';
import { CapacityPanel } from './capacity-panel.js';
import { DetailsPanel, RuntimesPanel } from './details-panel.js';
import { DrainPanel } from './drain-panel.js';
import { InstancesPanel } from './instances-panel.js';
import { WhyPanel } from './why-panel.js';

/** How often the page asks for usage, the last beat and the explanation, which are not in the change stream. */
const ASK_EVERY_MS = 5_000;

export function NodePage({ nodeId, asked }: { readonly nodeId: string; readonly asked: AskedOfNodes }) {
  const store = useTopic('nodes');
  void store.version.value;
  const node = store.get(nodeId);
  const back = <ButtonLink href={hrefOf(['nodes'])}>{text.back}</ButtonLink>;
  if (node !== undefined) return <Known key={nodeId} node={node} asked={asked} />;
  return store.isLoaded.value ? (
    <Page title={nodeId}>
      <Empty title={text.missing(nodeId)} hint={text.missingHint} action={back} />
    </Page>
  ) : (
    <Empty title={text.loading} />
  );
}

function Known({ node, asked }: { readonly node: NodeEntry; readonly asked: AskedOfNodes }) {
  const { session, clock } = useServices();
  const { nodeId } = node;
  const round = Math.floor(clock.value / ASK_EVERY_MS);
  const detail = useAsked(
    (api, signal) => api.get<NodeDetail>(apiPath('cluster', 'nodes', nodeId), { signal }),
    [nodeId, round],
  );
  const { value, error } = detail.value;
  const canAct = session.can('ALL') && session.isUnrestricted;
  return (
    <Page
      title={nodeId}
      about={
        <span class="node-badges">
          <NodeBadges node={node} asked={asked} />
        </span>
      }
      actions={canAct && <Actions node={node} asked={asked} />}
    >
      {error !== null && <Failure error={error} onRetry={detail.again} />}
      {node.drain !== null && <DrainPanel drain={node.drain} />}
      <div class="node-panels">
        {session.isUnrestricted ? (
          <WhyPanel node={node} round={round} />
        ) : (
          <Panel title={text.why}>
            <p class="panel-text quiet">{text.whyNot}</p>
          </Panel>
        )}
        <CapacityPanel node={node} detail={value} />
        <DetailsPanel node={node} detail={value} />
        <RuntimesPanel node={node} />
      </div>
      <InstancesPanel node={node} />
    </Page>
  );
}

function Actions({ node, asked }: { readonly node: NodeEntry; readonly asked: AskedOfNodes }) {
  const { router } = useServices();
  const isForgetting = useSignal(false);
  return (
    <>
      <NodeActions node={node} asked={asked} />
      {!node.master && (
        <Button
          onPress={() => {
            isForgetting.value = true;
          }}
        >
          {text.forget}
        </Button>
      )}
      {isForgetting.value && (
        <ForgetDialog
          nodeId={node.nodeId}
          onForgotten={() => router.go(['nodes'])}
          onClose={() => {
            isForgetting.value = false;
          }}
        />
      )}
    </>
  );
}
