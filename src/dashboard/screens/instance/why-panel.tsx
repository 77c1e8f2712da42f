/**
 * Why the instance is in its state, in the words of the server: the verdict, what happens next, and what the operator
 * can do.
 */

import type { InstanceExplanation } from '../../../explain/explanation.js';
import type { InstanceInfo } from '../../../model/instance.js';
import { apiPath } from '../../api/api-client.js';
import { Failure } from '../../parts/failure.js';
import { Panel } from '../../parts/page.js';
import { Badge } from '../../parts/state-badge.js';
import { useServices } from '../../services/services.js';
import { useAsked } from '../../services/use-live.js';
import { text } from './text.js';

/** How often the explanation is asked for: times to a next try pass without a change of the instance. */
const AGAIN_MS = 5_000;

export function WhyPanel({ instance }: { readonly instance: InstanceInfo }) {
  const { clock } = useServices();
  const { id, state, message, restarts } = instance;
  const asked = useAsked(
    (api, signal) => api.get<InstanceExplanation>(apiPath('instances', id, 'why'), { signal }),
    [id, state, message, restarts, Math.floor(clock.value / AGAIN_MS)],
  );
  const { value: why, error } = asked.value;
  return (
    <Panel title={text.why.title}>
      {error !== null && <Failure error={error} onRetry={asked.again} />}
      {why !== undefined && (
        <div class="why">
          <p class="why-verdict">{why.verdict}</p>
          <p>
            <Badge
              tone={why.isSettled ? 'good' : 'busy'}
              label={why.isSettled ? text.why.settled : text.why.unsettled}
            />
          </p>
          <dl class="facts">
            <dt>{text.why.next}</dt>
            <dd>{why.next ?? text.why.nothing}</dd>
            <dt>{text.why.advice}</dt>
            <dd>{why.advice ?? text.why.noAdvice}</dd>
            <More why={why} />
          </dl>
        </div>
      )}
    </Panel>
  );
}

function More({ why }: { readonly why: InstanceExplanation }) {
  const moreNodes = why.nodesTotal - why.nodes.length;
  return (
    <>
      {why.notes.length > 0 && (
        <>
          <dt>{text.why.notes}</dt>
          <dd>
            <List lines={why.notes} />
          </dd>
        </>
      )}
      {why.nodeAnswer !== null && (
        <>
          <dt>{text.why.unasked}</dt>
          <dd>{why.nodeAnswer}</dd>
        </>
      )}
      {why.nodes.length > 0 && (
        <>
          <dt>{text.why.nodes}</dt>
          <dd>
            <List
              lines={[
                ...why.nodes.map(
                  ({ nodeId, fits, message }) => `${nodeId}: ${fits ? text.why.fits : message}`,
                ),
                ...(moreNodes > 0 ? [text.why.nodesMore(moreNodes)] : []),
              ]}
            />
          </dd>
        </>
      )}
      {why.portHolders.length > 0 && (
        <>
          <dt>{text.why.ports}</dt>
          <dd>
            <List
              lines={why.portHolders.map(({ port, nodeId, instanceId }) =>
                text.why.holder(port, nodeId, instanceId ?? text.why.stranger),
              )}
            />
          </dd>
        </>
      )}
    </>
  );
}

function List({ lines }: { readonly lines: readonly string[] }) {
  return (
    <ul class="why-list">
      {lines.map((line) => (
        <li key={line}>{line}</li>
      ))}
    </ul>
  );
}
