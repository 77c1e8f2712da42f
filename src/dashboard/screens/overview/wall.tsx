/** The configurations as tiles, the worst first: what each is like, how many of it run, and what they use. */
import type { ShownUsage } from '../../../api/routes/usage-routes.js';
import type { ConfigurationHealth } from '../../../explain/concerns.js';
import { byHealth, HEALTH_TONES } from '../../../explain/health-states.js';
import type { InstanceInfo } from '../../../model/instance.js';
import type { Topics } from '../../../watch-client/topics.js';
import { BYTES_IN_MB, count, megabytes, NOTHING } from '../../parts/amounts.js';
import { ButtonLink } from '../../parts/button.js';
import { Icon } from '../../parts/icon.js';
import { Sparkline } from '../../parts/usage/sparkline.js';
import { isKnown } from '../../parts/usage/usage-charts.js';
import { hrefOf } from '../../router/place.js';
import { useEntries, useGot, useRound } from '../../services/services.js';
import { iconOf } from './attention.js';
import { text } from './text.js';

/** Nobody looks over more tiles; the list of configurations has them all. */
const MOST = 40;
const LINES_EVERY_MS = 15 * 60_000;

export function Wall() {
  const instances = Map.groupBy(useEntries('instances').values(), (one) => one.configurationName);
  const usage = Map.groupBy(useEntries('usage').values(), ({ configuration }) => configuration);
  const sorted = [...useEntries('health').values()].sort(
    (a, b) => byHealth(a.health.state, b.health.state) || (a.name < b.name ? -1 : 1),
  );
  const more = sorted.length - MOST;
  const lines = useLines();
  return (
    <div class="wall">
      {sorted.slice(0, MOST).map((one) => (
        <Tile
          key={one.name}
          configuration={one}
          instances={instances.get(one.name) ?? []}
          usage={usage.get(one.name) ?? []}
          line={lines.get(one.name) ?? []}
        />
      ))}
      {more > 0 && <ButtonLink href={hrefOf(['configurations'])}>{text.more(more)}</ButtonLink>}
    </div>
  );
}

/** The players of each configuration over the past hours, or its CPU where players are not known. */
function useLines(): ReadonlyMap<string, NonNullable<TileProps['line']>> {
  const query = { by: 'configuration', range: '6h' };
  const asked = useGot<ShownUsage>('/usage', [useRound(LINES_EVERY_MS)], query);
  return new Map(
    asked.value.value?.series.map((one) => [
      one.configuration ?? '',
      isKnown(one.players) ? one.players : one.cpuPercent,
    ]),
  );
}

interface TileProps {
  readonly configuration: ConfigurationHealth;
  readonly instances: readonly InstanceInfo[];
  readonly usage: readonly Topics['usage'][];
  /** The past hours; empty: not known. */
  readonly line: readonly (number | null)[];
}

function Tile({ configuration: { name, online, minimum, health }, instances, usage, line }: TileProps) {
  const tone = HEALTH_TONES[health.state];
  const players = instances.reduce((sum, one) => sum + (one.players ?? 0), 0);
  const cpu = usage.reduce((sum, { cpuPercent }) => sum + (cpuPercent ?? 0), 0);
  const ram = usage.reduce((sum, { memoryBytes }) => sum + memoryBytes, 0) / BYTES_IN_MB;
  const share = online >= minimum ? Math.min(1, online) : online / minimum;
  return (
    <a class={`surface tile tone-${tone}`} href={hrefOf(['configurations', name])}>
      <span class="tile-ring" style={{ '--share': `${share * 360}deg` }}>
        {minimum === 0 && online === 0 ? NOTHING : text.onlineOf(online, minimum)}
      </span>
      <span class="stack tile-head">
        <bdi class="cut tile-name">{name}</bdi>
        <span class="with-icon">
          <Icon name={iconOf({ kind: health.state, tone })} />
          {health.text}
        </span>
      </span>
      <Sparkline values={line} />
      {tone === 'bad' && health.detail !== null ? (
        <span class="cut tile-why mono">{health.detail}</span>
      ) : (
        <span class="tile-use quiet inline">
          {players > 0 && (
            <span class="with-icon">
              <Icon name="players" />
              {count(players)}
            </span>
          )}
          {usage.length > 0 && text.use(cpu, megabytes(ram))}
        </span>
      )}
    </a>
  );
}

/** Numbers about the whole cluster, on one line. */
export function Figures({ unwell }: { readonly unwell: number }) {
  const nodes = [...useEntries('nodes').values()];
  const usage = [...useEntries('usage').values()];
  const all = nodes.reduce((sum, { capacity }) => sum + capacity.maxRamMB, 0);
  const reserved = nodes.reduce((sum, { resources }) => sum + resources.usedRamMB, 0);
  const used = usage.reduce((sum, { memoryBytes }) => sum + memoryBytes, 0) / BYTES_IN_MB;
  const players = [...useEntries('instances').values()].reduce((sum, one) => sum + (one.players ?? 0), 0);
  const away = nodes.filter(({ condition }) => condition !== 'connected').length;
  return (
    <p class="figures quiet">
      {unwell > 0 && <strong class="tone-bad">{text.unwell(unwell)}</strong>}{' '}
      <a href={hrefOf(['instances'], { sort: '-players' })}>{text.players(players)}</a>
      {text.on} <a href={hrefOf(['nodes'])}>{text.nodes(nodes.length)}</a>
      {away > 0 && <strong class="tone-bad">{text.away(away)}</strong>}.{' '}
      {text.ram(megabytes(reserved), megabytes(all), megabytes(used))}
    </p>
  );
}
