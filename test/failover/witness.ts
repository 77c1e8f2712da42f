/**
 * Follows etcd beside the masters, and judges every write of theirs: it is of the term whose leader key stood at that
 * revision. One of an old leader's that took effect would stand here.
 */
import { SystemClock } from '../../src/loop/system-clock.js';
import type { KeyEvent } from '../../src/store/etcd/etcd.js';
import { summaryOf } from '../../src/store/etcd/etcd-record.js';
import { followRange } from '../../src/store/etcd/follow.js';
import { holderOf, storeKeys } from '../../src/store/etcd/leader-key.js';
import { EtcdClient } from '../../src/store/etcd/wire/client.js';
import { until } from '../support/until.js';
import { PREFIX } from './fleet.js';

export class Witness {
  readonly faults: string[] = [];
  readonly #keys = storeKeys(PREFIX);
  readonly #etcd: EtcdClient;
  readonly #clock = new SystemClock();
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>;
  /** Names the term whose leader key stands. */
  #session: string | undefined;
  #revision = 0;
  /** How many terms, and how many writes, it has seen. */
  terms = 0;
  writes = 0;

  constructor(endpoints: readonly string[]) {
    this.#etcd = new EtcdClient({ endpoints, clock: this.#clock });
    this.#running = this.#follow();
  }

  /** Resolves when everything was judged that was written before the call. */
  async catchUp(): Promise<void> {
    await until(async () => {
      const { revision } = await this.#etcd.range({ key: this.#keys.leader });
      await until(() => {
        if (this.#revision < revision) throw new Error(`the witness is at ${this.#revision} of ${revision}`);
      });
    });
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
    this.#etcd.close();
  }

  async #follow(): Promise<void> {
    const { signal } = this.#stopping;
    const onFailure = (): void => undefined;
    const options = { etcd: this.#etcd, prefix: this.#keys.prefix, clock: this.#clock, signal, onFailure };
    for await (const news of followRange(options)) {
      if (news.kind === 'snapshot')
        this.#session = holderOf(news.entries.find(({ key }) => key === this.#keys.leader))?.session;
      else for (const event of news.events) this.#judge(event);
      this.#revision = news.revision;
    }
  }

  #judge(event: KeyEvent): void {
    if (event.key === this.#keys.leader) {
      this.#session = holderOf(event)?.session;
      if (this.#session !== undefined) this.terms++;
    }
    if (event.key !== this.#keys.summary || event.value === undefined) return;
    this.writes++;
    const session = summaryOf(event.value)?.session;
    if (session === undefined || session !== this.#session)
      this.faults.push(
        `etcd's revision ${event.modRevision} was written in the term ${session}, and ${this.#session} leads`,
      );
  }
}
