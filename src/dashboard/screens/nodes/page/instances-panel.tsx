/** The instances of a node as cells. */
import { ButtonLink } from '../../../parts/button.js';
import { Empty } from '../../../parts/empty.js';
import { Panel } from '../../../parts/page.js';
import { hrefOf } from '../../../router/place.js';
import { useOrderedList, useTopic } from '../../../services/use-live.js';
import { CellStrip } from '../cell-strip.js';
import { PlacedCells } from '../cells.js';
import type { NodeEntry } from '../node.js';
import { PLACED } from '../node.js';
import { text } from '../text.js';
import { useShown } from '../use-shown.js';

/** The most cells; further instances are counted. The table of instances has them all. */
const MOST = 1_000;

export function InstancesPanel({ node }: { readonly node: NodeEntry }) {
  const store = useTopic('instances');
  const placed = useOrderedList(store, PLACED);
  void placed.version.value;
  const shown = useShown('');
  const cells = new PlacedCells(placed.list);
  const { count } = cells.on(node.nodeId);
  const instances = cells.some(node.nodeId, MOST, '');
  const about =
    shown.name === ''
      ? text.instances(count)
      : text.ofThese(cells.countOn(node.nodeId, shown.name), shown.name);
  return (
    <Panel title={text.instancesTitle} about={store.isLoaded.value && about}>
      {count === 0 ? (
        store.isLoaded.value && (
          <Empty
            title={text.noInstances}
            hint={node.cordoned ? text.noInstancesCordoned : text.noInstancesHint}
          />
        )
      ) : (
        <div class="panel-text" {...shown.events}>
          <CellStrip
            label={text.cells(node.nodeId)}
            instances={instances}
            more={count - instances.length}
            shown={shown.name}
          />
          <div>
            <ButtonLink href={hrefOf(['instances'], { find: node.nodeId })}>{text.openInstances}</ButtonLink>
          </div>
        </div>
      )}
    </Panel>
  );
}
