/** A receiver of notices, which fails at times. It knows which events were written, and which of them it was told. */
import { eventKindSchema, eventRecordSchema } from '../../src/model/event.js';
import { noticeRecordSchema, webhookSchema } from '../../src/model/webhook.js';
import { PREFIX } from '../../src/store/keys.js';
import type { Disk } from './machine/disk.js';

const HOOK = {
  ...webhookSchema.parse({ url: 'https://receiver.test/' }),
  events: [...eventKindSchema.options],
};

/** After so many failures the receiver stays, or a thousand events would not be told before a fleet settles. */
const MOST_FAILURES = 60;
/** Each failure in a row doubles the time to the next try. */
const MOST_IN_A_ROW = 5;

export class Receiver {
  readonly webhooks = new Map([['ops', { data: HOOK }]]);
  readonly #written = new Set<string>();
  readonly #taken = new Set<string>();
  /** The newest event when the webhook was new. */
  #from: string | undefined;
  readonly #onViolation: (text: string) => void;
  #failures = 0;
  #inARow = 0;

  constructor(state: Pick<Disk, 'onCommit'>, onViolation: (text: string) => void) {
    this.#onViolation = onViolation;
    state.onCommit((changes) => {
      for (const { key, after } of changes) {
        if (key.startsWith(PREFIX.notices)) this.#from ??= noticeRecordSchema.parse(after).cursor;
        if (!key.startsWith(PREFIX.events)) continue;
        if (after !== undefined) this.#written.add(idOf(key, after));
      }
    });
  }

  /** A notice comes. Throws when this receiver is away. */
  take(id: string, isAway: boolean): void {
    if (isAway && this.#failures < MOST_FAILURES && this.#inARow < MOST_IN_A_ROW) {
      this.#failures++;
      this.#inARow++;
      throw new Error('receiver.test is away');
    }
    this.#inARow = 0;
    if (!this.#written.has(id)) this.#onViolation(`notice ${id} has no event`);
    this.#taken.add(id);
  }

  /** The events that are there and were not told yet. */
  *untold(entries: Iterable<readonly [key: string, entry: { readonly value: unknown }]>): Generator<string> {
    for (const [key, { value }] of entries) {
      if (!key.startsWith(PREFIX.events) || key.slice(PREFIX.events.length) <= (this.#from ?? '~')) continue;
      if (!this.#taken.has(idOf(key, value))) yield `event ${key} was not told`;
    }
  }
}

function idOf(key: string, value: unknown): string {
  return `${key.slice(PREFIX.events.length)}-${eventRecordSchema.parse(value).at}`;
}
