/** The file that `npm run bench -- --json FILE` writes; `compare` and `page` read it. */
import { readFileSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import type { Row } from '../table.js';
import { currentCommit, machineSchema, thisMachine } from './machine.js';
import { numbersOf } from './numbers.js';
import { plotSchema } from './plot.js';

const resultRowSchema = z.object({
  bench: z.string(),
  /** The same for one figure in every run; two rows of one bench never share it. */
  id: z.string(),
  figure: z.string(),
  value: z.string(),
  number: z.number().nullable(),
  unit: z.string().nullable(),
  baseline: z.string(),
  baselineNumber: z.number().nullable(),
  ratio: z.number().nullable(),
  target: z.string(),
  ok: z.boolean(),
  plot: plotSchema.exactOptional(),
});
export type ResultRow = z.infer<typeof resultRowSchema>;

const resultSchema = z.object({
  date: z.iso.datetime(),
  commit: z.string().nullable(),
  machine: machineSchema,
  rows: z.array(resultRowSchema),
});
export type Result = z.infer<typeof resultSchema>;

/** Its message is for a person, whole. */
export class ResultError extends Error {}

export function resultRowsOf(bench: string, rows: readonly Row[]): ResultRow[] {
  const seen = new Map<string, number>();
  return rows.map(({ id, plot, ...row }) => {
    const name = id ?? row.figure;
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    return {
      bench,
      id: count === 1 ? name : `${name} (${count})`,
      ...row,
      ...numbersOf(row),
      ...(plot !== undefined && { plot }),
    };
  });
}

/** Of this machine, this commit, now. */
export function resultOf(rows: readonly ResultRow[]): Result {
  return {
    date: new Date().toISOString(),
    commit: currentCommit(),
    machine: thisMachine(),
    rows: [...rows],
  };
}

export function writeResult(file: string, result: Result): void {
  writeFileSync(file, `${JSON.stringify(result, null, 2)}\n`);
}

export function readResult(file: string): Result {
  const parsed = resultSchema.safeParse(parseJson(file));
  if (parsed.success) return parsed.data;
  const [fault] = parsed.error.issues;
  const place = fault?.path.join('.') || 'the whole';
  throw new ResultError(`${file} is no result of npm run bench -- --json: ${place}: ${fault?.message}`);
}

function parseJson(file: string): unknown {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new ResultError(`${file} cannot be read: ${messageOf(error)}`);
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ResultError(`${file} is not JSON: ${messageOf(error)}`);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
