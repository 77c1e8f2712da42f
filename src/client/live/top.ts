/** `drover top`: the resources that instances use, as measured by their nodes. */

import type { ShownUsage } from '../../api/routes/usage-routes.js';
import { queryOf } from '../../command-tree/runs/api-calls.js';
import { commandRuns } from '../../command-tree/runs/command-runs.js';
import { renderTable } from '../../command-tree/table.js';
import { durationText } from '../../model/plain/duration-text.js';
import { countText } from '../../model/words.js';
import type { Topics } from '../../watch-client/topics.js';
import type { ApiClient } from '../api-client.js';
import { type Format, textOf } from '../print.js';
import type { FollowedTopics } from './followed-topics.js';
import type { LiveOutput } from './live-output.js';
import type { TerminalStream } from './live-screen.js';
import { type LiveView, quietCall, runView } from './live-view.js';

const BYTES_PER_MB = 1024 * 1024;
const EVERY_MS = 1000;
const MINUTE_MS = 60_000;
const HEAD = ['ID', 'CONFIGURATION', 'NODE', 'CPU', 'MEMORY', 'PROCESSES', 'CPU TIME'];

type MeasuredUsage = Topics['usage'];

interface TopOptions {
  /** Undefined: the instances of all configurations. */
  readonly configuration: string | undefined;
  readonly sort: 'cpu' | 'memory';
  readonly format: Format;
  /** Undefined: the table is printed once instead of redrawn. */
  readonly terminal: TerminalStream | undefined;
}

/** Redraws the table, or prints it once when there is no terminal. Throws a ClientError. */
export async function top(api: ApiClient, options: TopOptions, output: LiveOutput): Promise<void> {
  const { configuration, sort, format, terminal } = options;
  // Throw for an unknown configuration, as `instance list` does.
  if (configuration !== undefined)
    await commandRuns(api)['instance list']({ configuration, left: false }, quietCall(output.signal));
  const sorted = ({ usage }: FollowedTopics): MeasuredUsage[] => sortUsages(usage.values(), sort);
  const view: LiveView = {
    topics: { usage: configuration === undefined ? {} : { filter: { configuration: [configuration] } } },
    everyMs: EVERY_MS,
    terminal,
    draw: (followed) => usageTable(sorted(followed)),
    print: async (followed) => {
      const usages = sorted(followed);
      const shown = {
        json: () => usages,
        text: () => usageTable(usages),
        names: () => usages.map(({ instance }) => instance),
      };
      await output.write(await textOf(shown, format, { columns: undefined, now: api.now }));
      return false;
    },
  };
  await runView(api, view, output);
}

const PAST_HEAD = ['ID', 'CONFIGURATION', 'CPU', 'MEMORY', 'PLAYERS', 'RESTARTS'];

interface PastTopOptions extends Pick<TopOptions, 'configuration' | 'sort' | 'format'> {
  /** How far back, in milliseconds. */
  readonly since: number;
  readonly columns: number | undefined;
}

/** Prints the usage of a past time once: the average CPU, and the most memory and players. Throws a ClientError. */
export async function pastTop(api: ApiClient, options: PastTopOptions, output: LiveOutput): Promise<void> {
  const { configuration, since, sort, format, columns } = options;
  const range = `${Math.max(1, Math.round(since / MINUTE_MS))}m`;
  const query = queryOf({ by: 'instance', range, configuration });
  const { series, missing } = await api.get<ShownUsage>(`/usage?${query}`);
  const used = series
    .map(({ instance, configuration, ...figures }) => {
      const known = (name: keyof typeof figures) => figures[name].filter((value) => value !== null);
      const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
      return {
        instance,
        configuration,
        cpuPercent: sum(known('cpuPercent')) / Math.max(1, known('cpuPercent').length),
        memoryBytes: Math.max(0, ...known('memoryBytes')),
        players: known('players').length === 0 ? null : Math.max(...known('players')),
        restarts: sum(known('restarts')),
      };
    })
    .sort((a, b) => (sort === 'cpu' ? b.cpuPercent - a.cpuPercent : b.memoryBytes - a.memoryBytes));
  const rows = used.map(({ cpuPercent, memoryBytes, players, ...one }) => [
    ...[one.instance, one.configuration, percentText(cpuPercent), memoryText(memoryBytes)],
    ...[players, one.restarts],
  ]);
  const lacking = missing.map(({ nodeId, why }) => `without node ${nodeId}: ${why}`);
  const nothing = `nothing was measured in the last ${durationText(since)}`;
  const shown = {
    json: () => ({ instances: used, missing }),
    text: () =>
      [rows.length === 0 ? nothing : renderTable(PAST_HEAD, rows, { columns }), ...lacking].join('\n'),
    names: () => used.map(({ instance }) => instance ?? ''),
  };
  await output.write(await textOf(shown, format, { columns, now: api.now }));
}

/** Sorts the highest usage first, and instances without a measurement last. */
function sortUsages(usages: readonly MeasuredUsage[], by: TopOptions['sort']): MeasuredUsage[] {
  const amountOf = ({ cpuPercent, memoryBytes }: MeasuredUsage): number =>
    by === 'cpu' ? (cpuPercent ?? -1) : memoryBytes;
  return usages.toSorted((a, b) => amountOf(b) - amountOf(a) || (a.instance < b.instance ? -1 : 1));
}

async function usageTable(usages: readonly MeasuredUsage[]): Promise<string> {
  if (usages.length === 0) return 'nothing is measured: nothing runs, or its nodes have not said yet';
  const rows = usages.map(
    ({ instance, configuration, node, cpuPercent, memoryBytes, processes, cpuSeconds }) => [
      instance,
      configuration,
      node,
      percentText(cpuPercent),
      memoryText(memoryBytes),
      processes,
      durationText(cpuSeconds * 1000),
    ],
  );
  const sum = (amountOf: (usage: MeasuredUsage) => number): number =>
    usages.reduce((total, usage) => total + amountOf(usage), 0);
  const totals = [
    countText(usages.length, 'instance'),
    `${percentText(sum(({ cpuPercent }) => cpuPercent ?? 0))} of a core`,
    `${memoryText(sum(({ memoryBytes }) => memoryBytes))} of RAM`,
  ];
  return [`${totals.join(', ')}`, '', renderTable(HEAD, rows)].join('\n');
}

function percentText(percent: number | null): string {
  return percent === null ? '-' : `${percent.toFixed(1)} %`;
}

function memoryText(bytes: number): string {
  return `${Math.round(bytes / BYTES_PER_MB)} MB`;
}
