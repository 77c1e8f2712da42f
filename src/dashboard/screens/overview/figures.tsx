/** The figures of the cluster: instances, nodes, players, and reserved and used RAM and CPU. */
import { coresOf, count, megabytesOf } from '../../parts/amounts.js';
import { Meter } from '../../parts/meter.js';
import { hrefOf } from '../../router/place.js';
import { useEntries, useTopic } from '../../services/services.js';
import { text } from './text.js';

const BYTES_IN_MB = 1024 * 1024;

export function Figures() {
  const instances = [...useEntries('instances').values()];
  const nodes = [...useEntries('nodes').values()];
  const players = sum(instances, (instance) => instance.players ?? 0);
  const online = instances.filter(({ state }) => state === 'ONLINE').length;
  const connected = nodes.filter(({ condition }) => condition === 'connected').length;
  return (
    <div class="figures">
      <Figure label={text.instances} href={hrefOf(['instances'])} value={count(instances.length)}>
        {text.online(online, instances.length)}
      </Figure>
      <Figure label={text.nodes} href={hrefOf(['nodes'])} value={count(nodes.length)}>
        {text.connected(connected, nodes.length)}
      </Figure>
      <Figure
        label={text.players}
        href={hrefOf(['instances'], { sort: '-players' })}
        value={count(players)}
      />
      <Amounts />
    </div>
  );
}

function Amounts() {
  const nodes = [...useEntries('nodes').values()];
  const usage = [...useEntries('usage').values()];
  const isMeasured = useTopic('usage').isLoaded.value && usage.length > 0;
  const all = {
    ram: sum(nodes, ({ capacity }) => capacity.maxRamMB),
    cpu: sum(nodes, ({ capacity }) => capacity.maxCpu),
  };
  const given = {
    ram: sum(nodes, ({ resources }) => resources.usedRamMB),
    cpu: sum(nodes, ({ resources }) => resources.usedCpu),
  };
  const used = {
    ram: sum(usage, ({ memoryBytes }) => memoryBytes) / BYTES_IN_MB,
    cpu: sum(usage, ({ cpuPercent }) => cpuPercent ?? 0),
  };
  return (
    <>
      <div class="surface figure">
        <span class="quiet">{text.ram}</span>
        <Meter
          label={text.reserved}
          value={given.ram}
          most={all.ram}
          text={megabytesOf(given.ram, all.ram)}
        />
        {isMeasured && (
          <Meter label={text.used} value={used.ram} most={all.ram} text={megabytesOf(used.ram, all.ram)} />
        )}
      </div>
      <div class="surface figure">
        <span class="quiet">{text.cpu}</span>
        <Meter label={text.reserved} value={given.cpu} most={all.cpu} text={coresOf(given.cpu, all.cpu)} />
        {isMeasured && (
          <Meter label={text.used} value={used.cpu} most={all.cpu} text={coresOf(used.cpu, all.cpu)} />
        )}
      </div>
    </>
  );
}

function Figure(props: {
  readonly label: string;
  readonly href: string;
  readonly value: string;
  readonly children?: string;
}) {
  return (
    <a class="surface figure" href={props.href}>
      <span class="quiet">{props.label}</span>
      <span class="figure-value">{props.value}</span>
      <span class="quiet">{props.children}</span>
    </a>
  );
}

function sum<T>(entries: readonly T[], amountOf: (entry: T) => number): number {
  return entries.reduce((total, entry) => total + amountOf(entry), 0);
}
