/** `drover top`: the resources that instances use, as measured by their nodes. */

import { commandRuns } from '../../command-tree/runs/command-runs.js';
import { renderTable } from '../../command-tree/table.js';
import { countText, durationText } from '../../model/words.js';
import type { Topics } from '../../watch-client/topics.js';
import type { ApiClient } from '../api-client.js';
import { type Format, textOf } from '../print.js';
import type { FollowedTopics } from './followed-topics.js';
import type { LiveOutput } from './live-output.js';
import type { TerminalStream } from './live-screen.js';
import { type LiveView, quietCall, runView } from './live-view.js';

const BYTES_PER_MB = 1024 * 1024;
const EVERY_MS = 1000;
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
