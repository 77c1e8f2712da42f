/**
 * The notice controller: tells events to webhooks, each at least once. Key: name of the webhook, so that a receiver that
 * hangs delays no other; or `ALL_WEBHOOKS`.
 */

import type { Webhooks } from '../../../src/configuration-files/read-webhooks.js';
import type { Clock } from '../../../src/loop/clock.js';
import type { Reconciler } from '../../../src/loop/reconciler.js';
import type { ConfigurationFileError } from '../../../src/model/configuration.js';
import { DroverError, messageOf } from '../../../src/model/errors.js';
import type { NoticeRecord, ShownWebhook } from '../../../src/model/webhook.js';
import { quoteText } from '../../../src/model/words.js';
import type { StateRecords } from '../../../src/state/master-state.js';
import { noticeKey } from '../../../src/store/keys.js';
import type { Logger } from '../../../src/telemetry/logger.js';
import type { Metrics } from '../../../src/telemetry/metrics.js';
import { recordOf } from '../events/plan.js';
import { failed, type NoticeFacts, type NoticeStep, pendingOf, plan, settled } from './plan.js';
import { sendNotice } from './send-notice.js';

export interface NoticesOptions extends Pick<StateRecords, 'store' | 'events' | 'notices'> {
  /** Reads the files of this master. */
  readonly readWebhooks: () => Promise<Webhooks>;
  readonly send?: typeof sendNotice | undefined;
  /** Asks for a look at a webhook. */
  readonly lookAtWebhook: (name: string) => void;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The key that reads the files and asks for a look at each webhook. No file has this name. */
export const ALL_WEBHOOKS = 'webhooks/';

export class Notices implements Reconciler<NoticeFacts, NoticeStep> {
  readonly name = 'notice';
  readonly plan = plan;
  readonly #options: NoticesOptions;
  #webhooks: Webhooks = new Map();

  constructor(options: NoticesOptions) {
    this.#options = options;
  }

  async observe(name: string): Promise<NoticeFacts | undefined> {
    const at = this.#options.clock.now();
    if (name === ALL_WEBHOOKS) {
      await this.#read();
      return { hook: undefined, record: undefined, events: [], at };
    }
    const read = this.#webhooks.get(name);
    if (read === undefined || 'error' in read) return undefined;
    return { hook: read.data, record: this.#options.notices.get(name)?.value, events: this.#events(), at };
  }

  async #read(): Promise<void> {
    const { logger, readWebhooks, lookAtWebhook } = this.#options;
    const told = new Set(
      [...this.#webhooks.values()].map((read) => 'error' in read && faultText(read.error)),
    );
    this.#webhooks = await readWebhooks();
    for (const [name, read] of this.#webhooks)
      if ('data' in read) lookAtWebhook(name);
      else if (!told.has(faultText(read.error))) logger.error({ webhook: name }, faultText(read.error));
  }

  async perform(step: NoticeStep, signal: AbortSignal, name: string): Promise<void> {
    const { store, notices } = this.#options;
    const value = await this.#tell(step, signal, name);
    await notices.until(await store.transact([{ do: 'put', key: noticeKey(name), value }]));
  }

  async #tell({ tell, record }: NoticeStep, signal: AbortSignal, name: string): Promise<NoticeRecord> {
    if (tell === undefined) return record;
    const { metrics, logger, clock, send = sendNotice } = this.#options;
    const [id, event] = tell;
    try {
      // Its first time makes the id unique, also after a store was restored.
      await send(this.#hookOf(name), { id: `${id}-${event.at}`, event, at: clock.now() }, signal);
      metrics.notices.inc({ webhook: name, outcome: 'delivered' });
      return settled(id, record.lost);
    } catch (error) {
      signal.throwIfAborted();
      metrics.notices.inc({ webhook: name, outcome: 'failed' });
      const problem = messageOf(error);
      if (record.problem !== problem) logger.warn({ webhook: name }, `webhook ${name} waits: ${problem}`);
      return failed(record, id, problem, clock.now());
    }
  }

  #hookOf(name: string) {
    const read = this.#webhooks.get(name);
    if (read === undefined)
      throw new DroverError('DRV_WEBHOOK_UNKNOWN', `the leader has no webhook ${quoteText(name)}`);
    if ('data' in read) return read.data;
    throw new DroverError('DRV_WEBHOOK_FAILED', faultText(read.error));
  }

  /** Sends a notice of no event. Throws DRV_WEBHOOK_UNKNOWN, and DRV_WEBHOOK_FAILED with the reason. */
  async test(name: string, by: string): Promise<void> {
    const { clock, send = sendNotice } = this.#options;
    const at = clock.now();
    const event = recordOf({ kind: 'file', detail: `a test of the webhook ${name}, sent by ${by}` }, at);
    const notice = { id: `test-${at}`, event, at };
    await send(this.#hookOf(name), notice, new AbortController().signal).catch((error: unknown) => {
      throw new DroverError('DRV_WEBHOOK_FAILED', messageOf(error));
    });
  }

  /** The webhooks of this master by name, with what an operator has to mend. */
  list(): ShownWebhook[] {
    const events = this.#events();
    return [...this.#webhooks].map(([name, read]) => {
      const record = this.#options.notices.get(name)?.value ?? settled('', 0);
      const { failingSince, problem, lost } = record;
      if ('error' in read)
        return { name, server: '', waiting: 0, lost, failingSince: null, problem: faultText(read.error) };
      const waiting = pendingOf(read.data, record, events).length;
      return { name, server: new URL(read.data.url).host, waiting, lost, failingSince, problem };
    });
  }

  #events(): NoticeFacts['events'] {
    const entries = [...this.#options.events.entries()].map(([id, { value }]) => [id, value] as const);
    return entries.sort(([a], [b]) => (a < b ? -1 : 1));
  }
}

function faultText({ file, line, message }: ConfigurationFileError): string {
  return `${file}${line === null ? '' : `:${line}`}: ${message}`;
}
