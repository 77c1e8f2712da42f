/** The facts of a node, and the runtimes that it offers. */
import { Panel } from '../../../parts/page.js';
import { Badge } from '../../../parts/state-badge.js';
import { Table, type TableColumn } from '../../../parts/table/table.js';
import { Time } from '../../../parts/time.js';
import type { NodeEntry } from '../node.js';
import { text } from '../text.js';
import type { CapacityPanelProps } from './capacity-panel.js';

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
