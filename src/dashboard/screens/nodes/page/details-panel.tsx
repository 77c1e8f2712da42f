/** The facts of a node, and the runtimes that it offers. */

import type { NodeDetail } from '../../../../api/routes/cluster-routes.js';
import { cores, megabytes } from '../../../parts/amounts.js';
import { Panel } from '../../../parts/page.js';
import { Badge } from '../../../parts/state-badge.js';
import { Table, type TableColumn } from '../../../parts/table/table.js';
import { Time } from '../../../parts/time.js';
import type { NodeEntry } from '../node.js';
import { NodeMeters } from '../node-facts.js';
import { text } from '../text.js';

export function DetailsPanel({ node, detail }: CapacityPanelProps) {
  return (
    <Panel title={text.details}>
      <dl class="facts">
        <dt>{text.role}</dt>
        <dd>{node.master ? text.master : text.wrapper}</dd>
        <dt>{text.address}</dt>
        <dd class="mono">{node.address}</dd>
        <dt>{text.version}</dt>
        <dd>{node.version}</dd>
        <dt>{text.since}</dt>
        <dd>
          <Time at={node.conditionSince} />
        </dd>
        <dt>{text.lastBeat}</dt>
        <dd>{detail !== undefined && <Time at={detail.lastBeat} />}</dd>
      </dl>
    </Panel>
  );
}

type Offer = NodeEntry['runtimes'][number];

const COLUMNS: readonly TableColumn<Offer>[] = [
  { id: 'runtime', label: text.runtime, cell: ({ key }) => key },
  { id: 'version', label: text.version, cell: ({ version }) => version ?? text.noVersion },
  {
    id: 'available',
    label: text.state,
    cell: ({ available, reason }) =>
      available ? (
        <Badge tone="good" label={text.available} />
      ) : (
        <>
          <Badge tone="still" label={text.not} /> <span class="quiet">{reason}</span>
        </>
      ),
  },
];

export function RuntimesPanel({ node }: { readonly node: NodeEntry }) {
  return (
    <Panel title={text.runtimes}>
      <Table label={text.runtimes} columns={COLUMNS} rows={node.runtimes} keyOf={({ key }) => key} />
    </Panel>
  );
}

interface CapacityPanelProps {
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
