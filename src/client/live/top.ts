/** `drover top`: what instances use, as their nodes measure it. */

import { commandRuns } from '../../command-tree/runs/command-runs.js';
import { renderTable } from '../../command-tree/table.js';
import type { InstanceUsage } from '../../model/run/instance-usage.js';
import { countText, durationText } from '../../model/words.js';
import { WatchedEntries } from '../../watch-client/watched-entries.js';
import type { ApiClient } from '../api-client.js';
import { type Format, textOf } from '../print.js';
import type { LiveOutput } from './live-output.js';
import { LiveScreen, type TerminalStream } from './live-screen.js';
import { runView } from './live-view.js';

const BYTES_PER_MB = 1024 * 1024;
const EVERY_MS = 1000;
const HEAD = ['ID', 'CONFIGURATION', 'NODE', 'CPU', 'MEMORY', 'PROCESSES', 'CPU TIME'];

/** An entry of the topic `usage`. */
export interface MeasuredUsage extends InstanceUsage {
  readonly instance: string;
  readonly configuration: string;
  readonly node: string;
}

export interface TopOptions {
  /** Undefined: of all. */
  readonly configuration: string | undefined;
  readonly sort: 'cpu' | 'memory';
  readonly format: Format;
  /** Undefined: printed once, and not drawn. */
  readonly terminal: TerminalStream | undefined;
}

/** Ends after one print when there is no terminal. Throws a ClientError. */
export async function top(api: ApiClient, options: TopOptions, output: LiveOutput): Promise<void> {
  const { configuration, sort, format, terminal } = options;
  // Refuses what the list of instances refuses: a configuration that is not known.
  if (configuration !== undefined) {
    const { signal } = output;
    await commandRuns(api)['instance list'](
      { configuration },
      { signal, say: () => undefined, confirm: async () => undefined },
    );
  }
  const usages = new WatchedEntries<MeasuredUsage>(({ instance }) => instance);
  const screen = terminal === undefined ? undefined : new LiveScreen(output, terminal);
  const filter = configuration === undefined ? {} : { filter: { configuration: [configuration] } };
  await runView(api, {
    topics: { usage: filter },
    everyMs: EVERY_MS,
    signal: output.signal,
    say: (line) => (screen === undefined ? output.say(line) : screen.setStatus(line)),
    take: (message) => {
      usages.take(message);
      screen?.setStatus('');
    },
    show: async () => {
      const sorted = sortUsages(usages.values(), sort);
      if (screen !== undefined) return screen.draw(await usageTable(sorted));
      const shown = {
        json: () => sorted,
        text: () => usageTable(sorted),
        names: () => sorted.map(({ instance }) => instance),
      };
      await output.write(await textOf(shown, format, { columns: undefined, now: api.now }));
      return false;
    },
  });
}

/** Most first; what was not measured yet last. */
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
  return [`${totals.join(', ')}`, '', await renderTable(HEAD, rows)].join('\n');
}

function percentText(percent: number | null): string {
  return percent === null ? '-' : `${percent.toFixed(1)} %`;
}

function memoryText(bytes: number): string {
  return `${Math.round(bytes / BYTES_PER_MB)} MB`;
}
