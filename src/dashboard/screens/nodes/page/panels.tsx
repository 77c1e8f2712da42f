/** The panels of a node's page: facts, runtimes, capacity, a drain, and the instances. */
import type { NodeDetail } from '../../../../api/routes/cluster-routes.js';
import type { DrainProgress } from '../../../../model/node-drain.js';
import { NOTHING } from '../../../parts/amounts.js';
import { ButtonLink } from '../../../parts/button.js';
import { Empty } from '../../../parts/notes.js';
import { Fact, Panel } from '../../../parts/page.js';
import { Badge } from '../../../parts/state-badge.js';
import { Table, type TableColumn } from '../../../parts/table/table.js';
import { Time } from '../../../parts/time.js';
import { hrefOf } from '../../../router/place.js';
import { useOrderedList, useServices, useTopic } from '../../../services/services.js';
import { CellMap, useShown } from '../cell-map.js';
import { type NodeEntry, PLACED, PlacedCells } from '../node.js';
import { NodeMeters } from '../node-actions.js';
import { text } from '../text.js';

interface DetailsPanelProps {
  readonly node: NodeEntry;
  /** Undefined: the API has not answered yet. */
  readonly detail: NodeDetail | undefined;
}

export function DetailsPanel({ node, detail }: DetailsPanelProps) {
  return (
    <Panel title={text.details}>
      <dl class="facts">
        <Fact name={text.role}>{node.master ? text.master : text.wrapper}</Fact>
        <Fact name={text.address}>
          <div class="mono">{node.address}</div>
        </Fact>
        <Fact name={text.version}>{node.version}</Fact>
        <Fact name={text.since}>
          <Time at={node.conditionSince} />
        </Fact>
        <Fact name={text.lastBeat}>{detail !== undefined && <Time at={detail.lastBeat} />}</Fact>
      </dl>
    </Panel>
  );
}

type Offer = NodeEntry['runtimes'][number];

const COLUMNS: readonly TableColumn<Offer>[] = [
  { label: text.runtime, cell: ({ key }) => key },
  { label: text.version, cell: ({ version }) => version ?? NOTHING },
  {
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

export function CapacityPanel({ node }: { readonly node: NodeEntry }) {
  return (
    <Panel title={text.capacity}>
      <div class="panel-text">
        <NodeMeters node={node} label={text.reserved} />
        {node.advisoryLimits !== null && (
          <p>
            {text.limits}: {node.advisoryLimits}
          </p>
        )}
      </div>
    </Panel>
  );
}

/** The live progress of a drain. */
export function DrainPanel({ drain }: { readonly drain: DrainProgress }) {
  const { clock } = useServices();
  const { isDrained, left, deadline, since, waitingFor } = drain;
  return (
    <Panel
      title={text.drainPanel}
      about={
        <>
          {text.began} <Time at={since} />
        </>
      }
    >
      <div class="panel-text" aria-live="polite">
        <p class="text-lg semibold">{isDrained ? text.isDrained : text.left(left)}</p>
        {!isDrained && (
          <p class="quiet">
            {deadline > clock.value ? (
              <>
                {text.until} <Time at={deadline} />
              </>
            ) : (
              text.noWait
            )}
          </p>
        )}
        {waitingFor.length > 0 && (
          <>
            <h3>{text.waitingFor}</h3>
            <ul class="drain-waiting d-grid gap-2">
              {waitingFor.map((sentence) => (
                <li key={sentence}>{sentence}</li>
              ))}
            </ul>
          </>
        )}
      </div>
    </Panel>
  );
}

/** The most cells; further instances are counted. The table of instances has them all. */
const MOST = 1_000;

/** The instances of a node as cells. */
export function InstancesPanel({ node }: { readonly node: NodeEntry }) {
  const store = useTopic('instances');
  const shown = useShown('');
  const cells = new PlacedCells(useOrderedList(store, PLACED));
  const { count } = cells.on(node.nodeId);
  const instances = cells.some(node.nodeId, MOST);
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
          <CellMap
            node={node}
            instances={instances}
            more={count - instances.length}
            shown={shown.name}
            ratio={5}
          />
          <p class="quiet">{shown.words || text.pointAt}</p>
          <div>
            <ButtonLink href={hrefOf(['instances'], { find: node.nodeId })}>{text.openInstances}</ButtonLink>
          </div>
        </div>
      )}
    </Panel>
  );
}
