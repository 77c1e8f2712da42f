/**
 * The store's side of the configurations: what it holds, and the transactions that change it. The only writer of
 * `configurations/`; it writes `revisions/` beside it and leaves removing those to the collector.
 */
import { configurationRecordSchema } from '../model/configuration.js';
import { configurationKey, PREFIX, revisionKey } from '../store/keys.js';
import type { Operation, Store } from '../store/store.js';
import type { HeldConfiguration, Step } from './plan.js';

export class HeldConfigurations {
  readonly #store: Store;
  readonly #held = new Map<string, HeldConfiguration>();
  #revision = 0;

  constructor(store: Store) {
    this.#store = store;
  }

  /** By name, as of the last load or apply. */
  get held(): ReadonlyMap<string, HeldConfiguration> {
    return this.#held;
  }

  /** Store revision of the last `apply`; 0: there was none. */
  get revision(): number {
    return this.#revision;
  }

  /** Reads the store anew: before anything else, and after a conflict. */
  async load(): Promise<void> {
    const { entries } = await this.#store.list(PREFIX.configurations);
    this.#held.clear();
    for (const { key, value, revision } of entries) {
      const { data } = configurationRecordSchema.safeParse(value);
      const name = key.slice(PREFIX.configurations.length);
      this.#held.set(name, {
        sourceFile: data?.sourceFile ?? null,
        hash: data?.hash ?? null,
        revision,
      });
    }
  }

  /** All steps in one transaction, durable when it resolves. Throws the store's errors; then nothing was applied. */
  async apply(steps: readonly Step[]): Promise<void> {
    const revision = await this.#store.transact(operationsOf(steps));
    this.#revision = revision;
    for (const step of steps) {
      if (step.do === 'remove') this.#held.delete(step.name);
      else this.#held.set(step.name, { sourceFile: step.file, hash: step.parsed.hash, revision });
    }
  }
}

function operationsOf(steps: readonly Step[]): Operation[] {
  const revisions = new Map<string, Operation>();
  const operations = steps.map((step): Operation => {
    const key = configurationKey(step.name);
    const { expectedRevision } = step;
    if (step.do === 'remove') return { do: 'remove', key, expectedRevision };
    const { configuration, hash } = step.parsed;
    if (step.isNewContent) revisions.set(hash, { do: 'put', key: revisionKey(hash), value: configuration });
    const value = { configuration, sourceFile: step.file, hash };
    return expectedRevision === 0
      ? { do: 'create', key, value }
      : { do: 'update', key, value, expectedRevision };
  });
  return [...operations, ...revisions.values()];
}
