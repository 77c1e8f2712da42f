/** The report of a failing seed for a person: what broke, how to see it again, and what led to it. */

import { shrink } from './shrink.js';
import type { Outcome, SimulationOptions } from './simulate.js';
import { simulate } from './simulate.js';

const LAST_LINES = 60;

/** Runs the seed again, smaller and with its trace. */
export async function reportOf(options: SimulationOptions, failing: Outcome): Promise<string> {
  const small = await shrink(options, failing);
  const traced = await simulate({ ...small.options, isTraced: true });
  const lines = traced.trace.slice(-LAST_LINES);
  const performed = traced.trace.filter((line) => /^ *[\d.]+ world /.test(line));
  return [
    `seed ${failing.seed} fails: ${failing.violation}`,
    `with ${traced.operations} of its ${failing.operations} operations: ${traced.violation}`,
    ...performed,
    `the last ${lines.length} events of ${traced.trace.length}:`,
    ...lines,
    `to see it again: ${replayCommand(small.options)}`,
  ].join('\n');
}

/** The command that does the same once more. */
function replayCommand({ seed, masters = 1, operations, without }: SimulationOptions): string {
  const parts = ['npm run simulate --'];
  if (masters > 1) parts.push(`--masters ${masters}`);
  parts.push(`--seed ${seed}`);
  if (operations !== undefined) parts.push(`--operations ${operations}`);
  if (without !== undefined && without.size > 0)
    parts.push(`--without ${[...without].toSorted((a, b) => a - b).join(',')}`);
  return `${parts.join(' ')} --trace`;
}
