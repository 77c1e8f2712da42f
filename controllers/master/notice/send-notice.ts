/** Sends an event to the address of a webhook, in the words of its format. Follows no redirect. */
import { createHmac } from 'node:crypto';
import type { Hook } from '../../../src/configuration-files/read-webhooks.js';
import { sendRequest } from '../../../src/extensions/built-in/http-download.js';
import { messageOf } from '../../../src/model/errors.js';
import { type EventRecord, shownEvent, textOfEvent } from '../../../src/model/event.js';
import type { Webhook } from '../../../src/model/webhook.js';

/** How long a receiver may take. */
const ANSWER_WITHIN_MS = 10_000;
/** Slack decodes these three alone. */
const SLACK_SIGNS: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

export interface Notice {
  /** The id is the same in every try: a receiver drops a notice that it has. */
  readonly id: string;
  readonly event: EventRecord;
  /** Unix milliseconds. */
  readonly at: number;
}

/** Resolves when the receiver has taken the notice. Throws the reason, without the secret parts of the address. */
export async function sendNotice(hook: Hook, notice: Notice, signal: AbortSignal): Promise<void> {
  const url = new URL(hook.url);
  const body = bodyOf(hook.format, notice);
  const at = String(Math.floor(notice.at / 1000));
  const sign = (secret: string) => createHmac('sha256', secret).update(`${at}.${body}`).digest('hex');
  const headers = {
    'content-type': hook.format === 'ntfy' ? 'text/plain; charset=utf-8' : 'application/json',
    'x-drover-notice': notice.id,
    'x-drover-timestamp': at,
    ...(hook.secret !== undefined && { 'x-drover-signature': `sha256=${sign(hook.secret)}` }),
  };
  const late = AbortSignal.timeout(ANSWER_WITHIN_MS);
  // As for the first address of a storage: its author may name a private one.
  const asked = { mayBePrivate: true, signal: AbortSignal.any([signal, late]), headers, body };
  const response = await sendRequest(url, asked).catch((error: unknown) => {
    throw new Error(`${url.host}: ${late.aborted ? 'no answer within 10 s' : messageOf(error)}`);
  });
  response.destroy();
  const { statusCode: status = 0 } = response;
  if (status < 200 || status > 299) throw new Error(`${url.host} answered with status ${status}`);
}

function bodyOf(format: Webhook['format'], { id, event }: Notice): string {
  const text = textOfEvent(event);
  switch (format) {
    case 'json':
      return JSON.stringify(shownEvent(id, event));
    case 'discord':
      // Names that somebody chose must not call anybody.
      return JSON.stringify({ content: text.slice(0, 2000), allowed_mentions: { parse: [] } });
    case 'slack':
      return JSON.stringify({ text: text.replace(/[&<>]/g, (sign) => SLACK_SIGNS[sign] ?? sign) });
    case 'ntfy':
      return text;
    default:
      return format satisfies never;
  }
}
