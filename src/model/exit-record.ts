/** The ends of runs that nobody asked for. The master keeps each, also when the instance and its node are gone. */
import { z } from 'zod';
import { instanceIdSchema } from './names.js';
import { EXIT_CAUSES } from './plain/command-limits.js';
import { pastRunSchema } from './run/past-exit.js';
import { endText } from './words.js';

/** How many records are kept, and for how long. */
export const MOST_EXIT_RECORDS = 1000;
export const EXITS_KEPT_MS = 7 * 86_400_000;
/** How many bytes of last lines a record has. */
export const MOST_EXIT_LINES_BYTES = 8192;

/** Store value of `exits/<instance>-<at>`. A node names each end again and again, and its time stays the same. */
export const exitRecordSchema = pastRunSchema.omit({ wasAsked: true, output: true }).extend({
  instance: instanceIdSchema.describe('its id'),
  configuration: z.string().describe('its configuration'),
  node: z.string(),
  revision: z.string().describe('the revision of the content that ran'),
  players: z.number().nullable().describe('how many players it had said last; null: not known'),
  lines: z.array(z.string()).nullable().describe('what it wrote last, oldest first; null: not known'),
});
export type ExitRecord = Readonly<z.output<typeof exitRecordSchema>>;

export const shownExitSchema = exitRecordSchema.extend({
  id: z.string(),
  run: z.int().describe('which start of the instance on that node, counted from 1'),
  at: z.number().describe("Unix milliseconds, by the node's clock"),
  begunAt: z.number().optional().describe('when its start was asked for; absent: not known'),
  mostMemoryBytes: z.number().optional().describe('the most it was measured with; absent: it never was'),
  cause: z.string().optional().describe('what neither code nor signal can tell'),
  kind: z.enum(EXIT_CAUSES).describe('`unseen`: it ended while Drover was not running on its node'),
  text: z.string().describe('the end in one sentence'),
});
export type ShownExit = z.output<typeof shownExitSchema>;

/** `mostLines`: how many last lines are shown; an entry of the topic `exits` has the default. */
export function shownExit(id: string, exit: ExitRecord, mostLines = 3): ShownExit {
  const { instance, configuration, node } = exit;
  const lines = exit.lines?.slice(Math.max(0, exit.lines.length - mostLines)) ?? null;
  return {
    id,
    ...exit,
    lines,
    kind: kindOf(exit),
    text: `${instance} of ${configuration} ${endText(exit)} on ${node}`,
  };
}

export function kindOf({ kind, signal, code }: ExitRecord | Omit<ExitRecord, 'lines'>): ShownExit['kind'] {
  return kind ?? (signal !== null ? 'signal' : code === null ? 'unseen' : 'exited');
}

type Exits = Iterable<readonly [string, { readonly value: ExitRecord }]>;

/** True for an end that is not kept any more: it is too old, or too many are newer. */
export function isOver(exits: Exits, at: number, now: number): boolean {
  if (at <= now - EXITS_KEPT_MS) return true;
  return [...exits].filter(([, { value }]) => value.at > at).length >= MOST_EXIT_RECORDS;
}

/** The last three ends that `isMeant` holds for, newest first. */
export function lastExits(exits: Exits, isMeant: (exit: ExitRecord) => boolean): ExitRecord[] {
  const meant = [...exits].map(([, { value }]) => value).filter(isMeant);
  return meant.sort((a, b) => b.at - a.at).slice(0, 3);
}
