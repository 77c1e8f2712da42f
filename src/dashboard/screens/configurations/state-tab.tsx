/** The state of one configuration: why it is so, the faults of its file, its fields, and its instances. */
import { useMemo } from 'preact/hooks';
import type { Configuration } from '../../../model/configuration.js';
import type { InstanceInfo } from '../../../model/instance.js';
import type { ShownRollout } from '../../../operations/rollouts/rollouts.js';
import { apiPath } from '../../api/api-client.js';
import { addressOf, cores, megabytes, NOTHING } from '../../parts/amounts.js';
import { type Column, Grid } from '../../parts/grid/grid.js';
import { Empty } from '../../parts/notes.js';
import { Fact, Panel } from '../../parts/page.js';
import { InstanceBadge } from '../../parts/state-badge.js';
import { Time } from '../../parts/time.js';
import { WhyPanel } from '../../parts/why-panel.js';
import { hrefOf } from '../../router/place.js';
import { useEntries, useOrderedList, useTopic } from '../../services/services.js';
import { OverridesPanel } from './overrides.js';
import { RolloutPanel } from './rollout.js';
import type { ConfigurationRow } from './rows.js';
import { text } from './text.js';

export function StateTab({ row }: { readonly row: ConfigurationRow }) {
  const { entry } = row;
  const latest = useEntries('rollouts').get(row.name);
  const rollout = latest?.state === 'complete' ? undefined : latest;
  return (
    <>
      {rollout !== undefined && <RolloutPanel rollout={rollout} />}
      {entry !== null && <OverridesPanel name={row.name} revision={entry.revision} />}
      <div class="columns">
        <WhyPanel
          path={apiPath('configurations', row.name, 'why')}
          keys={[row.online, row.instances, rollout?.state]}
        />
        {entry !== null && <Content configuration={entry.configuration} file={entry.file} />}
      </div>
      {(entry !== null || row.instances > 0) && <Instances row={row} rollout={rollout} />}
    </>
  );
}

function Content({ configuration, file }: { readonly configuration: Configuration; readonly file: string }) {
  const { minimumServiceCount, maximumServiceCount, ramMB, cpu, availablePorts: ports } = configuration;
  const { allOf, allInGroups, oneOf, oneInGroups } = configuration.templateInstallationConfig;
  const named = [...allOf, ...oneOf];
  const groups = [...allInGroups, ...oneInGroups];
  return (
    <Panel title={text.facts}>
      <dl class="facts">
        <Fact name={text.command}>
          <div class="mono configuration-command">
            <bdi>{configuration.command}</bdi>
          </div>
        </Fact>
        <Fact name={text.count}>{text.atLeast(minimumServiceCount, maximumServiceCount)}</Fact>
        <Fact name={text.runtime}>{configuration.runtime}</Fact>
        <Fact name={text.resources}>{`${megabytes(ramMB)}, ${cores(cpu)}`}</Fact>
        <Fact name={text.ports}>{ports === undefined ? text.none : `${ports.min}–${ports.max}`}</Fact>
        <Fact name={text.templates}>
          {named.length + groups.length === 0 && text.none}
          {named.map(({ group, name }) => (
            <div key={`${group}/${name}`}>
              <a href={hrefOf(['templates', group, name])}>{`${group}/${name}`}</a>
            </div>
          ))}
          {groups.map((group) => (
            <div key={group}>{group}/*</div>
          ))}
        </Fact>
        <Fact name={text.file}>
          <bdi>{file}</bdi>
        </Fact>
      </dl>
    </Panel>
  );
}

interface InstancesProps {
  readonly row: ConfigurationRow;
  /** Undefined: the configuration has no rollout, or its rollout is complete. */
  readonly rollout: ShownRollout | undefined;
}

function Instances({ row: { name, entry }, rollout }: InstancesProps) {
  const order = useMemo(
    () => ({
      includes: ({ configurationName }: InstanceInfo) => configurationName === name,
      groupOf: null,
      sortBy: ({ createdAt }: InstanceInfo) => createdAt,
      isDescending: false,
    }),
    [name],
  );
  const list = useOrderedList(useTopic('instances'), order);
  const revision = entry?.revision;
  const columns = useMemo(() => columnsOf(revision), [revision]);
  const older = list.keys().filter((_, place) => list.at(place)?.entry.configurationRevision !== revision);
  return (
    <Panel title={text.instances} about={list.count}>
      {/** Say nothing beside a rollout: its panel shows how far the instances are. */}
      {rollout === undefined && revision !== undefined && older.length > 0 && (
        <p class="configuration-older">{text.older(older.length)}</p>
      )}
      {list.count === 0 ? (
        <Empty title={text.noInstances} hint={text.noInstancesHint} />
      ) : (
        <div class="configuration-instances" style={{ '--rows': String(list.count) }}>
          <Grid<InstanceInfo>
            label={text.instances}
            columns={columns}
            rows={list}
            hrefOf={({ id }) => hrefOf(['instances', id])}
            empty={null}
          />
        </div>
      )}
    </Panel>
  );
}

function columnsOf(revision: string | undefined): readonly Column<InstanceInfo>[] {
  return [
    {
      label: text.instance,
      width: 120,
      phone: 'first',
      cell: ({ id }) => <span class="mono">{id}</span>,
    },
    {
      label: text.state,
      width: 130,
      phone: 'end',
      cell: (instance) => <InstanceBadge instance={instance} />,
    },
    {
      label: text.node,
      width: 140,
      grow: 1,
      phone: 'second',
      cell: ({ wrapperNodeId }) => wrapperNodeId ?? text.notPlaced,
    },
    {
      label: text.address,
      width: 170,
      cell: (instance) => addressOf(instance) || NOTHING,
    },
    {
      label: text.content,
      width: 130,
      cell: ({ configurationRevision, outdated }) => {
        if (outdated) return text.contentOutdated;
        return configurationRevision === revision ? text.contentNow : text.contentOld;
      },
    },
    { label: text.age, width: 120, cell: ({ createdAt }) => <Time at={createdAt} /> },
  ];
}
