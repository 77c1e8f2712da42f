/** Why the instance is in its state, where it could run, and who holds its ports. */
import type { InstanceExplanation } from '../../../explain/explanation.js';
import type { InstanceInfo } from '../../../model/instance.js';
import { apiPath } from '../../api/api-client.js';
import { Badge } from '../../parts/state-badge.js';
import { WhyPanel } from '../../parts/why-panel.js';
import { text } from './text.js';

export function InstanceWhy({ instance }: { readonly instance: InstanceInfo }) {
  const { id, state, message, restarts } = instance;
  return (
    <WhyPanel<InstanceExplanation> path={apiPath('instances', id, 'why')} keys={[state, message, restarts]}>
      {(why) => <More why={why} />}
    </WhyPanel>
  );
}

function More({ why }: { readonly why: InstanceExplanation }) {
  const moreNodes = why.nodesTotal - why.nodes.length;
  return (
    <>
      <p>
        <Badge
          tone={why.isSettled ? 'good' : 'busy'}
          label={why.isSettled ? text.why.settled : text.why.unsettled}
        />
      </p>
      <List title={text.why.unasked} lines={why.nodeAnswer === null ? [] : [why.nodeAnswer]} />
      <List
        title={text.why.nodes}
        lines={[
          ...why.nodes.map(({ nodeId, fits, message }) => `${nodeId}: ${fits ? text.why.fits : message}`),
          ...(moreNodes > 0 && why.nodes.length > 0 ? [text.why.nodesMore(moreNodes)] : []),
        ]}
      />
      <List
        title={text.why.ports}
        lines={why.portHolders.map(({ port, nodeId, instanceId }) =>
          text.why.holder(port, nodeId, instanceId ?? text.why.stranger),
        )}
      />
    </>
  );
}

function List({ title, lines }: { readonly title: string; readonly lines: readonly string[] }) {
  if (lines.length === 0) return null;
  return (
    <section>
      <h3>{title}</h3>
      <ul class="d-grid gap-1">
        {lines.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
    </section>
  );
}
