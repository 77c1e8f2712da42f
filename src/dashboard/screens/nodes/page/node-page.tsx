/** One node: its state and the reason, its reserved and used resources, its runtimes, and its instances. */
import type { NodeDetail } from '../../../../api/routes/cluster-routes.js';
import type { NodeExplanation } from '../../../../explain/explanation.js';
import { apiPath } from '../../../api/api-client.js';
import { DialogButton } from '../../../parts/dialog.js';
import { Empty, Failure } from '../../../parts/notes.js';
import { Page, Panel } from '../../../parts/page.js';
import { text as parts } from '../../../parts/text.js';
import { UsageCharts } from '../../../parts/usage/usage-charts.js';
import { WhyPanel } from '../../../parts/why-panel.js';
import { withCommands } from '../../../parts/words/with-commands.js';
import { hrefOf } from '../../../router/place.js';
import { useGot, useRound, useServices, useTopic } from '../../../services/services.js';
import type { AskedOfNodes } from '../asked.js';
import type { NodeEntry } from '../node.js';
import { ForgetDialog, NodeActions, NodeBadges } from '../node-actions.js';
import { text } from '../text.js';
import { CapacityPanel, DetailsPanel, DrainPanel, InstancesPanel, RuntimesPanel } from './panels.js';

export function NodePage({ nodeId, asked }: { readonly nodeId: string; readonly asked: AskedOfNodes }) {
  const store = useTopic('nodes');
  void store.version.value;
  const node = store.get(nodeId);
  if (node !== undefined) return <Known key={nodeId} node={node} asked={asked} />;
  return store.isLoaded.value ? (
    <Page title={nodeId}>
      <Empty title={text.missing(nodeId)} hint={text.missingHint} link={['nodes', text.back]} />
    </Page>
  ) : (
    <Empty title={text.loading} />
  );
}

function Known({ node, asked }: { readonly node: NodeEntry; readonly asked: AskedOfNodes }) {
  const { session } = useServices();
  const { nodeId } = node;
  const detail = useGot<NodeDetail>(apiPath('cluster', 'nodes', nodeId), [useRound()]);
  const { value, error } = detail.value;
  const canAct = session.can('ALL') && session.isUnrestricted;
  return (
    <Page
      title={
        <>
          <a href={hrefOf(['nodes'])}>{text.title}</a> / <bdi>{nodeId}</bdi>
        </>
      }
      about={
        <span class="inline node-badges">
          <NodeBadges node={node} asked={asked} />
        </span>
      }
      actions={
        canAct && (
          <>
            <NodeActions node={node} asked={asked} />
            {!node.master && (
              <DialogButton dialog={(onClose) => <ForgetDialog nodeId={nodeId} onClose={onClose} />}>
                {text.forget}
              </DialogButton>
            )}
          </>
        )
      }
    >
      {error !== null && <Failure error={error} onRetry={detail.again} />}
      {node.drain !== null && <DrainPanel drain={node.drain} />}
      <InstancesPanel node={node} />
      <div class="columns">
        {session.isUnrestricted ? (
          <NodeWhy node={node} />
        ) : (
          <Panel title={parts.why.title}>
            <p class="panel-text quiet">{text.whyNot}</p>
          </Panel>
        )}
        <CapacityPanel node={node} />
        <DetailsPanel node={node} detail={value} />
        <RuntimesPanel node={node} />
      </div>
      <UsageCharts of={{ node: nodeId }} />
    </Page>
  );
}

/** Why the node is in its state, and its instances that are not well. */
function NodeWhy({ node }: { readonly node: NodeEntry }) {
  return (
    <WhyPanel<NodeExplanation> path={apiPath('cluster', 'nodes', node.nodeId, 'why')} keys={[node]}>
      {({ instances }) => {
        const unwell = instances.filter(({ isSettled }) => !isSettled);
        if (unwell.length === 0) return null;
        return (
          <>
            <h3>{text.unwell}</h3>
            <ul class="node-unwell d-grid gap-2">
              {unwell.map(({ instanceId, configurationName, verdict }) => (
                <li key={instanceId}>
                  <a href={hrefOf(['instances', instanceId])}>
                    {configurationName} {instanceId}
                  </a>{' '}
                  {withCommands(verdict)}
                </li>
              ))}
            </ul>
          </>
        );
      }}
    </WhyPanel>
  );
}
