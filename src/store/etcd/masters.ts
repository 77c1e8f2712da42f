/** The masters that are up, read from their own keys in etcd. Follows those keys, even while this master leads. */
import type { Clock } from '../../loop/clock.js';
import type { Etcd } from './etcd.js';
import { followRange } from './follow.js';
import { type MasterEntry, masterOf, type StoreKeys } from './leader-key.js';

interface MastersOptions {
  readonly etcd: Etcd;
  readonly keys: StoreKeys;
  readonly clock: Clock;
  readonly onChange: () => void;
}

export class Masters {
  readonly #options: MastersOptions;
  readonly #stopping = new AbortController();
  readonly #entries = new Map<string, MasterEntry>();
  #running: Promise<void> | undefined;

  constructor(options: MastersOptions) {
    this.#options = options;
  }

  /** The masters by node id. */
  list(): MasterEntry[] {
    return [...this.#entries.values()].toSorted((a, b) => (a.nodeId < b.nodeId ? -1 : 1));
  }

  start(): void {
    this.#running ??= this.#follow(this.#stopping.signal);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const { etcd, keys, clock, onChange } = this.#options;
    // No action on failures, because the election reports them.
    const onFailure = (): void => undefined;
    for await (const news of followRange({ etcd, prefix: keys.masters, clock, signal, onFailure })) {
      if (news.kind === 'snapshot') this.#entries.clear();
      for (const { key, value } of news.kind === 'snapshot' ? news.entries : news.events) {
        const entry = masterOf(value);
        if (entry === undefined) this.#entries.delete(key);
        else this.#entries.set(key, entry);
      }
      onChange();
    }
  }
}
