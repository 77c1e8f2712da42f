/** All nodes, each with its reserved RAM and CPU and its instances as cells. Only the rows in sight are in the page. */
import { useMemo, useRef } from 'preact/hooks';
import { useVirtualRows } from '../../../parts/grid/use-virtual-rows.js';
import { NoRows } from '../../../parts/no-rows.js';
import { usePhone } from '../../../parts/use-phone.js';
import { useServices } from '../../../services/services.js';
import { useOrderedList, useTopic } from '../../../services/use-live.js';
import type { AskedOfNodes } from '../asked.js';
import { PlacedCells } from '../cells.js';
import { nodeOrder, PLACED, readView } from '../node.js';
import { text } from '../text.js';
import { useShown } from '../use-shown.js';
import { ListBar } from './list-bar.js';
import { NodeRow } from './node-row.js';

const ROW_PX = 112;
const PHONE_ROW_PX = 196;

export function NodeList({ asked }: { readonly asked: AskedOfNodes }) {
  const { router } = useServices();
  const { query } = router.place.value;
  const view = useMemo(() => readView(query), [query]);
  const order = useMemo(() => nodeOrder(view), [view.find, view.sort]);
  const store = useTopic('nodes');
  const nodes = useOrderedList(store, order);
  const placed = useOrderedList(useTopic('instances'), PLACED);
  void nodes.version.value;
  void placed.version.value;
  const cells = new PlacedCells(placed.list);
  const shown = useShown(view.configuration);
  const isPhone = usePhone().value;
  const scroller = useRef<HTMLDivElement>(null);
  const rowPx = isPhone ? PHONE_ROW_PX : ROW_PX;
  const virtual = useVirtualRows({ count: nodes.list.count, rowPx, headPx: 0, scroller });
  return (
    <>
      <ListBar view={view} shown={shown.name} cells={cells} />
      <div ref={scroller} class="node-list" {...shown.events}>
        {nodes.list.count === 0 ? (
          <NoRows
            text={text}
            isLoaded={store.isLoaded.value}
            isFiltered={store.entries.size > 0}
            onClear={() => router.set({ find: undefined })}
          />
        ) : (
          <ul class="node-rows" aria-label={text.title} style={{ height: `${virtual.heightPx}px` }}>
            {virtual.items.map(({ index, start }) => {
              const slot = nodes.list.at(index);
              return (
                slot !== undefined && (
                  <NodeRow
                    key={slot.key}
                    node={slot.entry}
                    cells={cells}
                    shown={shown.name}
                    chosen={view.configuration}
                    asked={asked}
                    isPhone={isPhone}
                    frame={{ startPx: start, heightPx: rowPx, place: index + 1, of: nodes.list.count }}
                  />
                )
              );
            })}
          </ul>
        )}
      </div>
    </>
  );
}
