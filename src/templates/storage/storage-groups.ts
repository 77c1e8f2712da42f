/**
 * The templates that storages have in a group, for `allInGroups` and `oneInGroups`. A storage is asked when a placement
 * needs a group, once a minute at most. The last answer counts meanwhile, and while the storage fails.
 */
import { Backoff } from '../../loop/backoff.js';
import type { TimerHandle } from '../../loop/clock.js';
import { messageOf } from '../../model/errors.js';
import type { Ambient } from '../../telemetry/ambient.js';
import type { StorageDownloads } from './storage-download.js';
import { groupLabel, type StoredTemplate } from './storage-provider.js';

/** An answer that is younger than this counts as the latest. */
const TRUST_MS = 60_000;
const FIRST_RETRY_MS = 1000;

interface StorageGroupsOptions extends Ambient {
  readonly downloads: Pick<StorageDownloads, 'storages' | 'list'>;
  /** The templates that the master keeps copies of: the best guess until a storage has answered. */
  readonly copied: () => readonly StoredTemplate[];
  readonly random: () => number;
  readonly signal: AbortSignal;
  /** Called when the answer of `find` may have changed. */
  readonly onChange: (group: string) => void;
}

/** The knowledge about one group of one storage. */
interface Known {
  /** The names as last listed; undefined: the storage has never answered. */
  names?: readonly string[] | undefined;
  looking?: Promise<void> | undefined;
  /** The fault of the last look. */
  problem?: string | undefined;
  /** The monotonic time before which the storage is not asked. */
  nextLookAt: number;
  retry?: TimerHandle | undefined;
}

export interface StoredGroup {
  readonly templates: readonly StoredTemplate[];
  /** Why the answer is not known yet; undefined: it is. */
  readonly pending?: string | undefined;
  /** The faults of storages that could not be asked, for a person. */
  readonly problems: readonly string[];
}

export class StorageGroups {
  readonly #options: StorageGroupsOptions;
  readonly #known = new Map<string, Known>();
  readonly #backoff: Backoff;

  constructor(options: StorageGroupsOptions) {
    this.#options = options;
    this.#backoff = new Backoff(options.random, { baseMs: FIRST_RETRY_MS });
  }

  /**
   * The templates of a group in all storages, as far as is known now. Begins to ask the storages whose answer is old;
   * `onChange` tells when they have answered.
   */
  find(group: string): StoredGroup {
    const keys = this.#options.downloads.storages();
    const found = keys.map((storage) => ({ storage, known: this.#look(storage, group) }));
    const asked = found.find(({ known }) => known.names === undefined && known.problem === undefined);
    return {
      templates: found.flatMap(({ storage, known }) =>
        (known.names ?? this.#copiesOf(storage, group)).map((name) => ({ storage, group, name })),
      ),
      pending: asked && `${groupLabel(asked.storage, group)} is being asked for`,
      problems: found.flatMap(({ known: { problem } }) => problem ?? []),
    };
  }

  /** Resolves when no storage is being asked; abort the signal first. */
  async stop(): Promise<void> {
    for (const { retry } of this.#known.values()) retry?.cancel();
    await Promise.all([...this.#known.values()].map(({ looking }) => looking));
  }

  #copiesOf(storage: string, group: string): string[] {
    return this.#options
      .copied()
      .filter((copy) => copy.storage === storage && copy.group === group)
      .map(({ name }) => name);
  }

  #look(storage: string, group: string): Known {
    const key = `${storage}/${group}`;
    const known = this.#known.get(key) ?? { nextLookAt: Number.NEGATIVE_INFINITY };
    this.#known.set(key, known);
    if (known.looking === undefined && this.#options.clock.monotonic() >= known.nextLookAt)
      known.looking = this.#ask(storage, group, known);
    return known;
  }

  async #ask(storage: string, group: string, known: Known): Promise<void> {
    const { clock, downloads, logger, onChange, signal } = this.#options;
    const key = `${storage}/${group}`;
    known.retry?.cancel();
    const before = JSON.stringify([known.names, known.problem]);
    try {
      known.names = await downloads.list(storage, group, signal);
      known.problem = undefined;
      known.nextLookAt = clock.monotonic() + TRUST_MS;
      this.#backoff.clear(key);
    } catch (error) {
      if (signal.aborted) return;
      const delayMs = this.#backoff.next(key);
      known.problem = messageOf(error);
      known.nextLookAt = clock.monotonic() + delayMs;
      logger.warn(
        { storage, group },
        `${known.problem}; asked again in ${(delayMs / 1000).toFixed(1)} s if it is needed then`,
      );
      known.retry = clock.setTimer(delayMs, () => onChange(group));
    } finally {
      known.looking = undefined;
    }
    if (before !== JSON.stringify([known.names, known.problem])) onChange(group);
  }
}
