/** The ends of runs that nobody asked for. The master keeps each, also when the instance and its node are gone. */
import { z } from 'zod';
import { instanceIdSchema } from './names.js';
import { EXIT_CAUSES } from './plain/command-limits.js';
import type { PastRun } from './run/past-exit.js';
import { endText } from './words.js';

/** How many records are kept, and for how long. */
export const MOST_EXIT_RECORDS = 1000;
export const EXITS_KEPT_MS = 7 * 86_400_000;
/** How many bytes of last lines a record has. */
export const MOST_EXIT_LINES_BYTES = 8192;
/** How many last lines an entry of the topic `exits` has. */
const WATCHED_LINES = 3;

/** Store value of `exits/<instance>-<at>`. A node names each end again and again, and its time stays the same. */
export const exitRecordSchema = z.object({
  instance: instanceIdSchema.describe('its id'),
  configuration: z.string().describe('its configuration'),
  node: z.string(),
  run: z.int().describe('which start of the instance on that node, counted from 1'),
  revision: z.string().describe('the revision of the content that ran'),
  at: z.number().describe("Unix milliseconds, by the node's clock"),
  begunAt: z.number().nullable().describe('when its start was asked for; null: not known'),
  code: z.int().nullable(),
  signal: z.string().nullable(),
  cause: z.enum(EXIT_CAUSES).describe('`unseen`: it ended while Drover was not running on its node'),
  detail: z.string().nullable().describe('the cause in words, when neither code nor signal tells it'),
  mostMemoryBytes: z
    .number()
    .nullable()
    .describe('the most it was measured with, every 10 s; null: it never was'),
  players: z.number().nullable().describe('how many players it had said last; null: not known'),
  lines: z.array(z.string()).nullable().describe('what it wrote last, oldest first; null: not known'),
});
export type ExitRecord = Readonly<z.output<typeof exitRecordSchema>>;

export const shownExitSchema = exitRecordSchema.extend({
  id: z.string(),
  text: z.string().describe('the end in one sentence'),
});
export type ShownExit = z.output<typeof shownExitSchema>;

export function shownExit(id: string, exit: ExitRecord, mostLines = WATCHED_LINES): ShownExit {
  const { instance, configuration, node } = exit;
  const lines = exit.lines === null || mostLines === 0 ? [] : exit.lines.slice(-mostLines);
  const text = `${instance} of ${configuration} ${exitText(exit)} on ${node}`;
  return { id, ...exit, lines: exit.lines === null ? null : lines, text };
}

/** The end in words that follow the name of the instance. */
export function exitText({ code, signal, detail }: ExitRecord): string {
  return endText({ code, signal, cause: detail ?? undefined });
}

/** The last `count` ends of a configuration, or of one of its instances, newest first. */
export function lastExits(
  exits: Iterable<readonly [string, { readonly value: ExitRecord }]>,
  of: { readonly configuration: string } | { readonly instance: string },
  count: number,
): ExitRecord[] {
  const isMeant = ({ instance, configuration }: ExitRecord): boolean =>
    'instance' in of ? instance === of.instance : configuration === of.configuration;
  return [...exits]
    .map(([, { value }]) => value)
    .filter(isMeant)
    .sort((a, b) => b.at - a.at)
    .slice(0, count);
}

export function causeOf({
  kind,
  signal,
  code,
}: Pick<PastRun, 'kind' | 'signal' | 'code'>): ExitRecord['cause'] {
  return kind ?? (signal !== null ? 'signal' : code === null ? 'unseen' : 'exited');
}
