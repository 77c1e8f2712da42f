/** All nodes as cards, with their RAM, CPU and instances. Only the cards in sight are in the page. */
import { useMemo, useRef } from 'preact/hooks';
import { plural } from '../../../parts/amounts.js';
import { FindInput, Select } from '../../../parts/form.js';
import { useVirtualRows } from '../../../parts/grid/use-virtual-rows.js';
import { Icon } from '../../../parts/icon.js';
import { NoRows } from '../../../parts/notes.js';
import { Badge } from '../../../parts/state-badge.js';
import { usePhone } from '../../../parts/use-phone.js';
import { hrefOf } from '../../../router/place.js';
import { useEntries, useOrderedList, useServices, useTopic } from '../../../services/services.js';
import type { AskedOfNodes } from '../asked.js';
import { CellMap, useShown } from '../cell-map.js';
import { type NodeEntry, type NodesView, nodeOrder, PLACED, PlacedCells, readView } from '../node.js';
import { NodeActions, NodeBadges, NodeMeters } from '../node-actions.js';
import { text } from '../text.js';

const CARD_PX = 304;
const PHONE_CARD_PX = 266;
/** The least width of a card. */
const LEAST_PX = 400;

export function NodeList({ asked }: { readonly asked: AskedOfNodes }) {
  const { router } = useServices();
  const { query } = router.place.value;
  const view = useMemo(() => readView(query), [query]);
  const order = useMemo(() => nodeOrder(view), [view.find, view.sort]);
  const store = useTopic('nodes');
  const nodes = useOrderedList(store, order);
  const cells = new PlacedCells(useOrderedList(useTopic('instances'), PLACED));
  const shown = useShown(view.configuration);
  const isPhone = usePhone().value;
  const scroller = useRef<HTMLDivElement>(null);
  const cardPx = isPhone ? PHONE_CARD_PX : CARD_PX;
  const room = Math.floor((scroller.current?.clientWidth ?? innerWidth - 264) / LEAST_PX);
  const inRow = Math.max(1, Math.min(room, Math.max(2, nodes.count)));
  const virtual = useVirtualRows({
    count: nodes.count,
    rowPx: () => cardPx,
    shape: cardPx * inRow,
    lanes: inRow,
    headPx: 0,
    scroller,
  });
  return (
    <>
      <ListBar view={view} shown={shown} cells={cells} />
      <div ref={scroller} class="node-list" {...shown.events}>
        {nodes.count === 0 ? (
          <NoRows
            text={text}
            isLoaded={store.isLoaded.value}
            isFiltered={store.entries.size > 0}
            onClear={() => router.set({ find: undefined })}
          />
        ) : (
          <ul
            class="node-rows"
            aria-label={text.title}
            style={{ height: `${virtual.heightPx}px`, '--in-row': `${inRow}` }}
          >
            {virtual.items.map(({ index, start, lane }) => {
              const slot = nodes.at(index);
              return (
                slot !== undefined && (
                  <NodeRow
                    key={slot.key}
                    node={slot.entry}
                    cells={cells}
                    shown={shown.name}
                    asked={asked}
                    isPhone={isPhone}
                    frame={{ startPx: start, heightPx: cardPx, lane, place: index + 1, of: nodes.count }}
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

interface ListBarProps {
  readonly view: NodesView;
  readonly shown: Pick<ReturnType<typeof useShown>, 'name' | 'words'>;
  readonly cells: PlacedCells;
}

function ListBar({ view, shown, cells }: ListBarProps) {
  const names = [...useEntries('configurations').keys()].sort();
  // A deleted configuration may still have instances, and the address may still name it.
  if (view.configuration !== '' && !names.includes(view.configuration)) names.push(view.configuration);
  return (
    <div class="bar">
      <FindInput label={text.find} hint={text.findHint} />
      <Select name="sort" label={text.sort} options={Object.entries(text.sorts)} usual="name" />
      <Select
        name="configuration"
        label={text.show}
        options={[['', text.showAll], ...names.map((name) => [name, name] as const)]}
      />
      <p class="node-legend quiet">
        {shown.name === '' ? (
          text.pointAt
        ) : (
          <>
            <strong>{text.everywhere(shown.name, cells.everywhere(shown.name))}</strong> {shown.words}
          </>
        )}
      </p>
    </div>
  );
}

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

function NodeRow({ node, cells, shown, asked, isPhone, frame }: NodeRowProps) {
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
          <a class="with-icon ink text-lg semibold" href={hrefOf(['nodes', nodeId])}>
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
