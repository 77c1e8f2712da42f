/** The RAM and CPU of a node: how much it has, how much placement has reserved, and how much is used. */
import type { NodeDetail } from '../../../../api/routes/cluster-routes.js';
import { cores, megabytes } from '../../../parts/amounts.js';
import { Panel } from '../../../parts/page.js';
import type { NodeEntry } from '../node.js';
import { NodeMeters } from '../node-meters.js';
import { text } from '../text.js';

export interface CapacityPanelProps {
  readonly node: NodeEntry;
  /** Undefined: not answered yet. */
  readonly detail: NodeDetail | undefined;
}

export function CapacityPanel({ node, detail }: CapacityPanelProps) {
  const usage = detail?.usage ?? null;
  return (
    <Panel title={text.capacity}>
      <div class="panel-text">
        <NodeMeters node={node} label={text.reserved} />
        <p>
          {text.measured}:{' '}
          {usage === null ? (
            <span class="quiet">{text.notMeasured}</span>
          ) : (
            text.measuredAs(
              cores(usage.cpuPercent),
              megabytes(usage.memoryMB),
              text.processes(usage.processes),
            )
          )}
        </p>
        {node.advisoryLimits !== null && (
          <p>
            {text.limits}: {node.advisoryLimits}
          </p>
        )}
      </div>
    </Panel>
  );
}
