/** One node of the list. */
import { hrefOf } from '../../../router/place.js';
import { useServices } from '../../../services/services.js';
import type { AskedOfNodes } from '../asked.js';
import { CellStrip } from '../cell-strip.js';
import type { NodeEntry, PlacedCells } from '../node.js';
import { NodeActions, NodeBadges, NodeMeters } from '../node-actions.js';
import { text } from '../text.js';

interface NodeRowProps {
  readonly node: NodeEntry;
  readonly cells: PlacedCells;
  readonly shown: string;
  /**
   * The configuration that the address names; '': none. When not all cells fit, the row shows its cells. A
   * configuration under the pointer does not reorder the cells.
   */
  readonly chosen: string;
  readonly asked: AskedOfNodes;
  readonly isPhone: boolean;
  readonly frame: {
    readonly startPx: number;
    readonly heightPx: number;
    /** The place in the list, from 1. */
    readonly place: number;
    readonly of: number;
  };
}

/** The most cells of a row; further instances are counted. The node's page has them all. */
const MOST_CELLS = 100;
const MOST_CELLS_PHONE = 34;

export function NodeRow({ node, cells, shown, chosen, asked, isPhone, frame }: NodeRowProps) {
  const { session } = useServices();
  const { nodeId } = node;
  const { count } = cells.on(nodeId);
  const instances = cells.some(nodeId, isPhone ? MOST_CELLS_PHONE : MOST_CELLS, chosen);
  return (
    <li
      class="node-row"
      aria-setsize={frame.of}
      aria-posinset={frame.place}
      style={{ transform: `translateY(${frame.startPx}px)`, height: `${frame.heightPx}px` }}
    >
      <div class="node-name">
        <a class="node-link" href={hrefOf(['nodes', nodeId])}>
          {nodeId}
        </a>
        <span class="quiet">
          {text.instances(count)}
          {shown !== '' && `, ${text.ofThese(cells.countOn(nodeId, shown), shown)}`}
        </span>
        <span class="inline node-badges">
          <NodeBadges node={node} asked={asked} />
        </span>
      </div>
      <NodeMeters node={node} label={text.inRow} />
      <CellStrip
        label={text.cells(nodeId)}
        instances={instances}
        more={count - instances.length}
        shown={shown}
        isPicture={isPhone}
      />
      {!isPhone && session.can('ALL') && session.isUnrestricted && (
        <div class="node-buttons">
          <NodeActions node={node} asked={asked} />
        </div>
      )}
    </li>
  );
}
