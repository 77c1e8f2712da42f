/** A fake program becomes ready in its time, prints lines, ends by itself or not, and heeds the stop command or not. Its command line says which. */
import { z } from 'zod';

/** The line by which a program says that it is ready. */
export const READY_LINE = 'ready';
export const STOP_COMMAND = 'stop';

const programSchema = z.object({
  /** After its start; null: never. */
  readyAfterMs: z.number().nullable(),
  heedsStopCommand: z.boolean(),
  /** It prints a line every few seconds, unless it hangs. */
  ticks: z.boolean().default(false),
  /** After its start it ends by itself, with this exit code. Null: it does not. */
  ends: z.object({ afterMs: z.number(), code: z.int() }).nullable().default(null),
});

type Program = z.output<typeof programSchema>;

export function commandOf(program: z.input<typeof programSchema>): string {
  return JSON.stringify(program);
}

export function programOf(command: string): Program {
  return programSchema.parse(JSON.parse(command));
}
