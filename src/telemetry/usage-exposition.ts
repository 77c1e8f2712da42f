/**
 * Writes the Prometheus text of the usage of instances: three lines for each of ten thousand instances. It makes one
 * text of each hundred lines. A single text that grows line by line is slower, and prom-client's own formatting is
 * much slower.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { InstanceUsage } from '../model/run/instance-usage.js';

export interface ShownUsage {
  /** The labels as text: see `usageLabels`. */
  readonly labels: string;
  readonly used: UsageFigures;
}

type UsageFigures = Omit<InstanceUsage, 'cpuPercent'>;

export interface UsageMetric {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge';
  readonly read: (used: UsageFigures) => number;
}

/** The most instances in the text; further instances are left out. */
const MOST_SHOWN = 10_000;
const LINES_TOGETHER = 100;
/** How many instances are written in one turn of the event loop. */
const SHOWN_A_TURN = 1000;

/**
 * The labels of an instance's lines as text: ids and names, which need no escapes. The caller keeps the text, because
 * it is most of a line and the same in each scrape.
 */
export function usageLabels(instance: string, configuration: string, node: string): string {
  // `join` makes a single piece of text; concatenated pieces would be walked through again for each line.
  return ['{instance="', instance, '",configuration="', configuration, '",node="', node, '"} '].join('');
}

/** The exposition text in pieces; empty when there are no instances. */
export async function usageExposition(
  metrics: readonly UsageMetric[],
  usages: Iterable<ShownUsage>,
): Promise<readonly Buffer[]> {
  const texts = metrics.map(({ name, help, type }): Buffer[] => [
    Buffer.from(`\n# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`),
  ]);
  let count = 0;
  for (const shown of firstOf(usages, MOST_SHOWN, LINES_TOGETHER)) {
    for (const [index, metric] of metrics.entries()) texts[index]?.push(linesOf(metric, shown));
    count += shown.length;
    if (count % SHOWN_A_TURN === 0) await nextTurn();
  }
  return count === 0 ? [] : texts.flat();
}

function linesOf({ name, read }: UsageMetric, usages: readonly ShownUsage[]): Buffer {
  let lines = '';
  for (const { labels, used } of usages) lines += `${name}${labels}${read(used)}\n`;
  return Buffer.from(lines, 'latin1');
}

/** The first `most` usages, in groups of `together`. */
function* firstOf(usages: Iterable<ShownUsage>, most: number, together: number): Generator<ShownUsage[]> {
  let left = most;
  let taken: ShownUsage[] = [];
  for (const usage of usages) {
    taken.push(usage);
    left--;
    if (taken.length === together || left === 0) {
      yield taken;
      taken = [];
    }
    if (left === 0) return;
  }
  if (taken.length > 0) yield taken;
}
