/**
 * One line of the audit trail: who did or tried something, from where, and with which result. It never holds a body or
 * a token.
 */
import { z } from 'zod';

export const auditEntrySchema = z.object({
  at: z.number().describe('Unix milliseconds'),
  key: z
    .string()
    .nullable()
    .describe(
      'label of the key, `session <id> of <label>`, `instance <id>`, `terminal`, or null: no valid key',
    ),
  action: z.string().describe('method and route pattern such as `PUT /configurations/:name`, or `command`'),
  subject: z
    .string()
    .nullable()
    .describe(
      'what it was about: an id, a name with its changed fields, a path, the command without its secrets',
    ),
  address: z.string().nullable().describe('where it came from; null: the terminal of the node'),
  result: z.string().describe('HTTP status, or `ok` / `failed` for a command'),
  master: z.string().optional().describe('of several masters: the one that has it in its file'),
});
export type AuditEntry = z.output<typeof auditEntrySchema>;

/** The sink of audit lines. Never throws and never waits. */
export interface AuditTrail {
  record(entry: Omit<AuditEntry, 'at'>): void;
  /** The last `count` entries, the oldest first, including those of earlier daemons. */
  last(count: number): readonly AuditEntry[];
}
