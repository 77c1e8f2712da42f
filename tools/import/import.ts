/** Runs one import: judges the drafts, writes them unless it is a dry run, and reports all of them. */
import { resolve } from 'node:path';
import { jsonText, plainLines } from '../../src/command-tree/printed-text.js';
import { type ClientError, conflictError, failedError } from '../../src/command-tree/runs/client-error.js';
import { DroverError, messageOf, unusableRoot } from '../../src/model/errors.js';
import { countText, shellWord } from '../../src/model/words.js';
import type { Drafts } from './draft.js';
import { type Judged, judgeDrafts } from './judge.js';
import type { FieldOutcome, FieldReport, ImportReport, ItemReport, ItemState } from './report.js';
import { readTarget, type Target } from './target.js';
import { writeAll } from './write.js';

export interface ImportOptions {
  readonly root: string;
  readonly dryRun: boolean;
  readonly output: 'text' | 'json';
}

export interface ImportResult {
  /** The report for stdout. */
  readonly text: string;
  /** Thrown after the text was printed. Undefined: everything was imported. */
  readonly failure: ClientError | undefined;
}

/** Imports the drafts. `from`: the path that was read, for the report. Throws DroverErrors with one clear line. */
export async function importDrafts(
  source: ImportReport['source'],
  from: string,
  { drafts, notes }: Drafts,
  options: ImportOptions,
): Promise<ImportResult> {
  const root = resolve(options.root);
  const target = await readTarget(root).catch((error: unknown) => {
    throw unreadable(root, error);
  });
  const judged = await judgeDrafts(drafts, target);
  const writings = judged.flatMap(({ writing }) => writing ?? []);
  if (!options.dryRun && writings.length > 0) await writeAll(root, writings);
  const report: ImportReport = {
    formatVersion: 1,
    source,
    from,
    root,
    dryRun: options.dryRun,
    items: judged.map(({ report: item }) => item),
    notes: [...notes, ...notesOn(judged, target)],
  };
  const steps = [
    'A Drover that runs there takes configurations and templates up at once. Start one with:',
    `  drover start --root ${shellWord(root)}`,
  ];
  const next = options.dryRun || writings.length === 0 ? [] : steps;
  return {
    text: options.output === 'json' ? jsonText(report) : plainLines(reportText(report, next)),
    failure: failureOf(report),
  };
}

function notesOn(judged: readonly Judged[], { node }: Target): string[] {
  const isUsed = judged.some(({ report: { kind, state } }) => kind !== 'node' && state === 'new');
  return typeof node === 'object' && !node.isMasterNode && isUsed
    ? ['the root is that of a wrapper: configurations and templates count on the master only']
    : [];
}

function failureOf({ items }: ImportReport): ClientError | undefined {
  const count = (state: ItemState): number => items.filter((item) => item.state === state).length;
  const refused = count('refused');
  if (refused > 0)
    return failedError(`${countText(refused, 'thing')} could not be taken; the report says why`);
  const kept = count('kept');
  return kept > 0
    ? conflictError(`the root keeps ${countText(kept, 'thing')} of its own; the report says which`)
    : undefined;
}

function unreadable(root: string, error: unknown): DroverError {
  if (error instanceof DroverError) return error;
  return unusableRoot(`${root} cannot be read: ${messageOf(error)}`);
}

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
function reportText(report: ImportReport, next: readonly string[]): string {
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

/** The lines about the fields: one line for all fields that were taken, and one for each other field. */
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
