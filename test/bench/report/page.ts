/** `npm run bench page FILE.json ...`: the figures of `docs/performance.md` and its plots, made anew from results. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { REPOSITORY } from '../../support/repository-root.js';
import { describeMachine } from './machine.js';
import { type Plot, svgOf } from './plot.js';
import { type Result, ResultError, type ResultRow } from './result.js';

const PAGE = join(REPOSITORY, 'docs/performance.md');
const PLOTS = 'plots';
const BEGIN = '<!-- figures: made by npm run bench page -->';
const END = '<!-- end of figures -->';

/**
 * Replaces what stands between the two marks of the page, and all plots. The rest of the page is written by hand.
 * `order`: the benches, as the page is to have them.
 */
export function writePage(results: readonly Result[], order: readonly string[]): void {
  const page = readFileSync(PAGE, 'utf8');
  const [from, to] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (from < 0 || to < from) throw new ResultError(`${PAGE} lacks the lines ${BEGIN} and ${END}`);
  const rows = rowsInTheMiddle(results).toSorted((a, b) => order.indexOf(a.bench) - order.indexOf(b.bench));
  const plots = rows.flatMap(({ plot }) => plot ?? []);
  const directory = join(REPOSITORY, 'docs', PLOTS);
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory);
  for (const plot of plots) writeFileSync(join(directory, `${plot.name}.svg`), svgOf(plot));
  writeFileSync(PAGE, page.slice(0, from + BEGIN.length) + figuresOf(results, rows) + page.slice(to));
}

/** All that stands between the marks. */
export function figuresOf(results: readonly Result[], rows: readonly ResultRow[]): string {
  const benches = [...new Set(rows.map(({ bench }) => bench))];
  const plots = rows.flatMap(({ plot }) => plot ?? []);
  const parts = [
    ...circumstancesOf(results),
    ...benches.flatMap((bench) =>
      sectionOf(
        bench,
        rows.filter((row) => row.bench === bench),
      ),
    ),
    ...(plots.length > 0 ? ['## How cost grows', ...plots.map(imageOf)] : []),
  ];
  return `\n\n${parts.join('\n\n')}\n\n`;
}

/** Of a figure that several results have: the run whose number is the middle one, with the baseline of that run. */
export function rowsInTheMiddle(results: readonly Result[]): ResultRow[] {
  const runs = new Map<string, ResultRow[]>();
  for (const row of results.flatMap(({ rows }) => rows)) {
    const key = `${row.bench}: ${row.id}`;
    runs.set(key, [...(runs.get(key) ?? []), row]);
  }
  return [...runs.values()].flatMap((same) => {
    const sorted = same.toSorted((a, b) => (a.number ?? 0) - (b.number ?? 0));
    return sorted[Math.floor((sorted.length - 1) / 2)] ?? [];
  });
}

function circumstancesOf(results: readonly Result[]): string[] {
  const machines = [...new Set(results.map(({ machine }) => describeMachine(machine)))];
  if (machines.length > 1)
    throw new ResultError(`one page takes the figures of one machine, not of ${machines.join(' and ')}`);
  const days = [...new Set(results.map(({ date }) => date.slice(0, 10)))].toSorted();
  const commits = [...new Set(results.map(({ commit }) => commit ?? 'unknown'))];
  return [
    `- **Machine**: ${machines[0]}\n- **Date**: ${days.join(', ')}\n- **Commit**: ${commits.join(', ')} (a \`+\`: with changes on top)`,
  ];
}

function sectionOf(bench: string, rows: readonly ResultRow[]): string[] {
  const lines = rows.map(({ figure, value, baseline, target, ok }) =>
    [figure, value, baseline, target, ok ? 'yes' : '**no**'].map(cell).join(' | '),
  );
  const head = ['figure | measured | baseline | target | met', '--- | --- | --- | --- | ---'];
  return [
    `### ${bench}`,
    `To repeat: \`npm run bench ${bench}\``,
    [...head, ...lines].map((line) => `| ${line} |`).join('\n'),
  ];
}

function cell(words: string): string {
  return words.replaceAll('|', '\\|').replaceAll('<', '&lt;');
}

function imageOf({ title, name }: Plot): string {
  return `![${title}](${PLOTS}/${name}.svg)`;
}
