/** The masters that are up, read from their entries in etcd. Follows the entries, even while this master leads. */
import type { KeyEvent } from './etcd.js';
import { followRange } from './follow.js';
import { type MasterEntry, masterOf } from './leader-key.js';
import type { Lease, LeaseOptions } from './lease.js';

type Peer = Omit<MasterEntry, 'root'>;

interface MastersOptions extends Pick<LeaseOptions, 'etcd' | 'keys' | 'clock'> {
  /** The id of this master. */
  readonly nodeId: string;
  /** The lease of this master, which is told the changes of this master's entry. */
  readonly lease: Pick<Lease, 'entryChanged'>;
  readonly onChange: () => void;
}

export class Masters {
  readonly #options: MastersOptions;
  readonly #stopping = new AbortController();
  readonly #entries = new Map<string, Peer>();
  #running: Promise<void> | undefined;

  constructor(options: MastersOptions) {
    this.#options = options;
  }

  /** The masters by node id. */
  list(): Peer[] {
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
    const { etcd, keys, nodeId, lease, clock, onChange } = this.#options;
    // No action on failures, because the election reports them.
    const onFailure = (): void => undefined;
    for await (const news of followRange({ etcd, prefix: keys.masters, clock, signal, onFailure })) {
      const isWhole = news.kind === 'snapshot';
      const changes: readonly Omit<KeyEvent, 'createRevision'>[] = isWhole ? news.entries : news.events;
      const own = changes.findLast(({ key }) => key === keys.masters + nodeId);
      if (isWhole || own !== undefined) lease.entryChanged(own?.modRevision ?? news.revision);
      if (isWhole) this.#entries.clear();
      for (const { key, value } of changes) {
        const entry = masterOf(value);
        if (entry === undefined) this.#entries.delete(key);
        else this.#entries.set(key, { nodeId: entry.nodeId, clusterAddress: entry.clusterAddress });
      }
      onChange();
    }
  }
}
