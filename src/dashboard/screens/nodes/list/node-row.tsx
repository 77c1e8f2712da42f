/** A node of the list, as a card. */
import { plural } from '../../../parts/amounts.js';
import { Icon } from '../../../parts/icon.js';
import { Badge } from '../../../parts/state-badge.js';
import { hrefOf } from '../../../router/place.js';
import { useServices } from '../../../services/services.js';
import type { AskedOfNodes } from '../asked.js';
import { CellMap } from '../cell-map.js';
import type { NodeEntry, PlacedCells } from '../node.js';
import { NodeActions, NodeBadges, NodeMeters } from '../node-actions.js';
import { text } from '../text.js';

interface NodeRowProps {
  readonly node: NodeEntry;
  readonly cells: PlacedCells;
  readonly shown: string;
  readonly asked: AskedOfNodes;
  readonly isPhone: boolean;
  readonly frame: {
    readonly startPx: number;
    readonly heightPx: number;
    readonly lane: number;
    /** The place in the list, from 1. */
    readonly place: number;
    readonly of: number;
  };
}

/** The most cells of a card; further instances are counted. The node's page has them all. */
const MOST_CELLS = 100;

export function NodeRow({ node, cells, shown, asked, isPhone, frame }: NodeRowProps) {
  const { session } = useServices();
  const { nodeId, version, master } = node;
  const { count } = cells.on(nodeId);
  const instances = cells.some(nodeId, MOST_CELLS);
  const players = instances.reduce((sum, one) => sum + (one.players ?? 0), 0);
  return (
    <li
      class="node-row"
      aria-setsize={frame.of}
      aria-posinset={frame.place}
      style={{
        '--lane': `${frame.lane}`,
        transform: `translateY(${frame.startPx}px)`,
        height: `${frame.heightPx}px`,
      }}
    >
      <div class="surface node-card">
        <div class="spread">
          <a class="with-icon node-link" href={hrefOf(['nodes', nodeId])}>
            <Icon name="nodes" />
            {nodeId}
          </a>
          <span class="inline node-badges">
            {master && <Badge tone="still" label={text.master} />}
            <NodeBadges node={node} asked={asked} />
          </span>
        </div>
        <span class="spread quiet">
          <span>
            {text.instances(count)}
            {players > 0 && ` · ${plural(players, 'player')}`}
            {shown !== '' && ` · ${text.ofThese(cells.countOn(nodeId, shown), shown)}`}
          </span>
          <span>{version}</span>
        </span>
        <CellMap node={node} instances={instances} more={count - instances.length} shown={shown} ratio={3} />
        <NodeMeters node={node} label={text.inRow} />
        {!isPhone && session.can('ALL') && session.isUnrestricted && (
          <div class="inline">
            <NodeActions node={node} asked={asked} />
          </div>
        )}
      </div>
    </li>
  );
}
