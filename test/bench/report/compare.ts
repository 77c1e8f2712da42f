/** `npm run bench compare A.json B.json`: what changed between two runs, row by row. */
import { describeMachine } from './machine.js';
import type { Result, ResultRow } from './result.js';

/** Nothing is left out: a row that one run lacks is there, and says so. */
export function compareResults(a: Result, b: Result): { notes: string[]; table: string[][] } {
  const [inA, inB] = [byKey(a), byKey(b)];
  const keys = new Set([...inA.keys(), ...inB.keys()]);
  return {
    notes: [...headOf('A', a), ...headOf('B', b), ...differencesOf(a, b)],
    table: [['figure', 'A', 'B', 'change'], ...[...keys].map((key) => lineOf(inA.get(key), inB.get(key)))],
  };
}

function byKey({ rows }: Result): Map<string, ResultRow> {
  return new Map(rows.map((row) => [`${row.bench}: ${row.id}`, row]));
}

function headOf(name: string, { commit, date, machine }: Result): string[] {
  return [`${name}: commit ${commit ?? 'unknown'}, ${date}, ${describeMachine(machine)}`];
}

function differencesOf(a: Result, b: Result): string[] {
  const keys = Object.keys(a.machine) as (keyof Result['machine'])[];
  const other = keys.filter((key) => a.machine[key] !== b.machine[key]);
  if (other.length === 0) return [];
  return [`The machines differ (${other.join(', ')}): compare ratios, not figures.`];
}

function lineOf(a: ResultRow | undefined, b: ResultRow | undefined): string[] {
  const figure = `${(b ?? a)?.bench}: ${(b ?? a)?.figure}`;
  return [figure, a?.value ?? '-', b?.value ?? '-', changeOf(a, b)];
}

function changeOf(a: ResultRow | undefined, b: ResultRow | undefined): string {
  if (a === undefined) return 'in B only';
  if (b === undefined) return 'in A only';
  const parts = [shareOf(a, b), ratioOf(a, b), verdictOf(a, b)].filter((part) => part !== '');
  return parts.join(', ') || '-';
}

function shareOf(a: ResultRow, b: ResultRow): string {
  if (a.number === null || b.number === null) return '';
  if (a.number === b.number) return 'same';
  if (a.unit !== b.unit || a.number === 0) return `${a.number} -> ${b.number}`;
  const percent = (b.number / a.number - 1) * 100;
  return `${percent > 0 ? '+' : ''}${percent.toFixed(0)} %`;
}

/** Each against the baseline of its own run: holds on machines that are not alike. */
function ratioOf(a: ResultRow, b: ResultRow): string {
  if (a.ratio === null || b.ratio === null || a.unit === 'x') return '';
  return `${a.ratio.toFixed(2)} x -> ${b.ratio.toFixed(2)} x`;
}

function verdictOf(a: ResultRow, b: ResultRow): string {
  if (a.target !== b.target) return `target was ${a.target}`;
  if (a.ok === b.ok) return '';
  return b.ok ? 'now meets its target' : 'now misses its target';
}
