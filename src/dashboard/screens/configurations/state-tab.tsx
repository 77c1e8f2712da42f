/** The state of one configuration: why it is so, the faults of its file, its fields, and its instances. */
import { useMemo } from 'preact/hooks';
import type { Configuration } from '../../../model/configuration.js';
import type { InstanceInfo } from '../../../model/instance.js';
import type { ShownRollout } from '../../../operations/rollouts/rollouts.js';
import { apiPath } from '../../api/api-client.js';
import { cores, megabytes } from '../../parts/amounts.js';
import { Grid } from '../../parts/grid/grid.js';
import { instanceColumns, Message, messageOf } from '../../parts/instances/columns.js';
import { Empty } from '../../parts/notes.js';
import { Fact, Panel } from '../../parts/page.js';
import { PendingActions } from '../../parts/pending-actions.js';
import { Time } from '../../parts/time.js';
import { UsageCharts } from '../../parts/usage/usage-charts.js';
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
      {(entry !== null || row.health.state !== 'broken-file') && (
        <OverridesPanel name={row.name} revision={entry?.revision} />
      )}
      <div class="columns">
        <WhyPanel
          path={apiPath('configurations', row.name, 'why')}
          keys={[row.online, row.instances, rollout?.state]}
        />
        {entry !== null && <Content configuration={entry.configuration} file={entry.file} />}
      </div>
      <Ends name={row.name} />
      {(entry !== null || row.instances > 0) && <Instances row={row} rollout={rollout} />}
      {(entry !== null || row.instances > 0) && <UsageCharts of={{ configuration: row.name }} />}
    </>
  );
}

/** The last ends that nobody asked for, also of instances that are gone. */
function Ends({ name }: { readonly name: string }) {
  const exits = [...useEntries('exits').values()]
    .filter(({ configuration }) => configuration === name)
    .sort((a, b) => b.at - a.at);
  if (exits.length === 0) return null;
  return (
    <Panel title={text.ends} about={exits.length}>
      <ul class="faults d-grid gap-1 configuration-older">
        {exits.slice(0, 5).map((exit) => (
          <li key={exit.id}>
            <a href={hrefOf(['instances', exit.instance])}>{exit.text}</a>{' '}
            <span class="quiet">
              <Time at={exit.at} />
            </span>
            {exit.lines !== null && exit.lines.length > 0 && <pre>{exit.lines.join('\n')}</pre>}
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function Content({ configuration, file }: { readonly configuration: Configuration; readonly file: string }) {
  const { minimumServiceCount, maximumServiceCount, ramMB, cpu, availablePorts, ports = {} } = configuration;
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
        <Fact name={text.ports}>
          {[
            ...(availablePorts ? [`${availablePorts.min}–${availablePorts.max}`] : []),
            ...(configuration.sharePort ? [text.sharedPort] : []),
            ...Object.keys(ports),
          ].join(', ') || text.none}
        </Fact>
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
  const usage = useEntries('usage');
  const pending = useMemo(() => new PendingActions(), []);
  const columns = useMemo(() => instanceColumns(pending, usage), [pending, usage]);
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
        <div class="configuration-instances" style={{ '--rows': String(list.count * 1.6) }}>
          <Grid<InstanceInfo>
            label={text.instances}
            columns={columns.filter(({ id }) => id !== 'configuration' && id !== 'created')}
            lineOf={messageOf}
            showLine={(instance) => <Message instance={instance} />}
            rows={list}
            hrefOf={({ id }) => hrefOf(['instances', id])}
            empty={null}
          />
        </div>
      )}
    </Panel>
  );
}
