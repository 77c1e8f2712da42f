/** Why the node is in its state, and its instances that are not well. */
import type { NodeExplanation } from '../../../../explain/explanation.js';
import { apiPath } from '../../../api/api-client.js';
import { WhyPanel } from '../../../parts/why-panel.js';
import { hrefOf } from '../../../router/place.js';
import type { NodeEntry } from '../node.js';
import { text } from '../text.js';

export function NodeWhy({ node }: { readonly node: NodeEntry }) {
  return (
    <WhyPanel<NodeExplanation> path={apiPath('cluster', 'nodes', node.nodeId, 'why')} keys={[node]}>
      {(why) => <Unwell instances={why.instances.filter(({ isSettled }) => !isSettled)} />}
    </WhyPanel>
  );
}

function Unwell({ instances }: Pick<NodeExplanation, 'instances'>) {
  if (instances.length === 0) return null;
  return (
    <>
      <h3>{text.unwell}</h3>
      <ul class="node-unwell">
        {instances.map(({ instanceId, configurationName, verdict }) => (
          <li key={instanceId}>
            <a href={hrefOf(['instances', instanceId])}>
              {configurationName} {instanceId}
            </a>{' '}
            {verdict}
          </li>
        ))}
      </ul>
    </>
  );
}
