/** Webhooks: which events are told to which address, and how far each webhook has come. */
import { z } from 'zod';
import { matchesAny } from './access/name-pattern.js';
import { type EventKind, type EventRecord, eventKindSchema } from './event.js';

/** The events that somebody may have to act on. */
const DEFAULT_EVENTS: EventKind[] = ['crashed', 'failed', 'waiting', 'lost', 'rollout', 'file', 'node'];

/** The content of a file `webhooks/<name>.json`. */
export const webhookSchema = z.strictObject({
  /** The address. Its path is often the secret of the receiver, so it is never shown. */
  url: z.url({ protocol: /^https?$/, error: 'must be an address that begins with https:// or http://' }),
  events: z.array(eventKindSchema).min(1).default(DEFAULT_EVENTS),
  /** Patterns of names. Absent: all configurations, and the events of the cluster itself. */
  configurations: z.array(z.string().min(1)).optional(),
  format: z.enum(['json', 'discord', 'slack', 'ntfy']).default('json'),
  /** A file with the secret that messages are signed with, relative to `webhooks/`. */
  secretFile: z.string().min(1).optional(),
  /** How long an event gathers equal ones before it is told. */
  minSeconds: z.number().min(0).max(3600).default(5),
});
export type Webhook = z.output<typeof webhookSchema>;

/** Store value of `notices/<name of the webhook>`. */
export const noticeRecordSchema = z.object({
  /** The id of the last event that is dealt with. */
  cursor: z.string(),
  /** How often the next event was tried. */
  tries: z.int(),
  /** When the next try is due, Unix milliseconds. */
  tryAt: z.number(),
  failingSince: z.number().nullable().describe('since when nothing is delivered, Unix milliseconds'),
  problem: z.string().nullable().describe('the fault of the file, or why nothing is delivered'),
  lost: z.int().describe('how many events were given up after a day, or pushed out by newer ones'),
});
export type NoticeRecord = Readonly<z.output<typeof noticeRecordSchema>>;

export const shownWebhookSchema = noticeRecordSchema.omit({ cursor: true, tries: true, tryAt: true }).extend({
  name: z.string(),
  server: z.string().describe('the rest of the address may be a secret'),
  waiting: z.int().describe('how many events are still to be told'),
});
export type ShownWebhook = z.output<typeof shownWebhookSchema>;

export function isWanted({ events, configurations }: Webhook, event: EventRecord): boolean {
  const { kind, configuration } = event;
  const isMeant =
    configurations === undefined || (configuration !== null && matchesAny(configurations, configuration));
  return isMeant && events.includes(kind);
}
