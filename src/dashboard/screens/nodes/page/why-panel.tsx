/** Why the node is in its state, what happens next, what the operator can do, and its instances that are not well. */

import type { NodeExplanation } from '../../../../explain/explanation.js';
import { apiPath } from '../../../api/api-client.js';
import { Failure } from '../../../parts/failure.js';
import { Panel } from '../../../parts/page.js';
import { hrefOf } from '../../../router/place.js';
import { useAsked } from '../../../services/use-live.js';
import type { NodeEntry } from '../node.js';
import { text } from '../text.js';

/** Asks again after each change of the node, and with each new `round`. */
export function WhyPanel({ node, round }: { readonly node: NodeEntry; readonly round: number }) {
  const asked = useAsked(
    (api, signal) => api.get<NodeExplanation>(apiPath('cluster', 'nodes', node.nodeId, 'why'), { signal }),
    [node, round],
  );
  const { value, error } = asked.value;
  return (
    <Panel title={text.why}>
      {error !== null && <Failure error={error} onRetry={asked.again} />}
      {value === undefined ? (
        error === null && <p class="panel-text quiet">{text.loading}</p>
      ) : (
        <Explanation why={value} />
      )}
    </Panel>
  );
}

function Explanation({ why }: { readonly why: NodeExplanation }) {
  const unwell = why.instances.filter(({ isSettled }) => !isSettled);
  return (
    <div class="panel-text">
      <p>{why.verdict}</p>
      {why.notes.map((note) => (
        <p key={note}>{note}</p>
      ))}
      {why.next !== null && (
        <p>
          <strong>{text.next}:</strong> {why.next}
        </p>
      )}
      {why.advice !== null && (
        <p>
          <strong>{text.advice}:</strong> {why.advice}
        </p>
      )}
      {unwell.length > 0 && (
        <>
          <h3>{text.unwell}</h3>
          <ul class="node-unwell">
            {unwell.map(({ instanceId, configurationName, verdict }) => (
              <li key={instanceId}>
                <a href={hrefOf(['instances', instanceId])}>
                  {configurationName} {instanceId}
                </a>{' '}
                {verdict}
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}
