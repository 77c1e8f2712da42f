/** The report of an import for a person. */
import { countText } from '../model/words.js';
import type { FieldOutcome, FieldReport, ImportReport, ItemReport, ItemState } from './report.js';

const STATES: Readonly<Record<ItemState, string>> = {
  new: 'new',
  same: 'is there already',
  kept: 'NOT TAKEN, the root keeps its own',
  refused: 'NOT TAKEN',
};

const OUTCOMES: Readonly<Record<FieldOutcome, string>> = {
  taken: 'taken',
  changed: 'changed',
  added: 'added',
  left: 'no counterpart',
};
const WIDTH = 16;

/** The report in whole lines. `next`: the commands to type after a complete import. */
export function reportText(report: ImportReport, next: readonly string[]): string {
  const notes =
    report.notes.length === 0 ? [] : ['Beside them:', ...report.notes.map((note) => `  ${note}`), ''];
  return [...report.items.flatMap(itemLines), ...notes, ...totalLines(report), ...next, ''].join('\n');
}

function itemLines({ from, to, state, reason, fields, warnings }: ItemReport): string[] {
  const place = to === '' || to === from ? from : `${from} -> ${to}`;
  return [
    `${place}: ${STATES[state]}`,
    ...(reason === '' ? [] : reason.split('\n').map((line) => row('why', line))),
    ...fieldLines(fields),
    ...warnings.map((warning) => row('warning', warning)),
    '',
  ];
}

/** The fields that were taken in one line; every other field in a line of its own. */
function fieldLines(fields: readonly FieldReport[]): string[] {
  const taken = fields.filter(({ outcome }) => outcome === 'taken').map(({ field }) => field);
  const others = fields.filter(({ outcome }) => outcome !== 'taken');
  return [
    ...(taken.length === 0 ? [] : [row(OUTCOMES.taken, taken.join(', '))]),
    ...others.map(({ field, outcome, note }) => row(OUTCOMES[outcome], `${field}: ${note}`)),
  ];
}

function row(title: string, text: string): string {
  return `  ${title.padEnd(WIDTH)}${text}`;
}

function totalLines({ items, dryRun, root }: ImportReport): string[] {
  const count = (state: ItemState): number => items.filter((item) => item.state === state).length;
  const written = `${countText(count('new'), 'thing')} ${dryRun ? 'would be' : count('new') === 1 ? 'was' : 'were'} written to ${root}`;
  const others = (['same', 'kept', 'refused'] as const)
    .filter((state) => count(state) > 0)
    .map((state) => `${count(state)} ${TOTALS[state]}`);
  const end = dryRun ? ' This was a dry run: nothing is written.' : '';
  return [`${[written, ...others].join(', ')}.${end}`];
}

const TOTALS = { same: 'there already', kept: 'kept as the root has it', refused: 'refused' } as const;
