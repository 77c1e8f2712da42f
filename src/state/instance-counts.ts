/**
 * Counts the instances of each configuration by one word of the record, such as the state. Each change of a record
 * updates the counts, so that readers need not look at all records.
 */
import type { InstanceRecord } from '../model/instance.js';
import type { MirrorReader } from '../store/mirror.js';

interface InstanceCount<W extends string> {
  readonly configuration: string;
  readonly word: W;
  readonly count: number;
}

/** Instances that are being removed are not counted. */
export class InstanceCounts<W extends string> {
  readonly #counts = new Map<string, Map<W, number>>();
  readonly #wordOf: (record: InstanceRecord) => W;

  /** Must be built before the mirror starts, because the mirror's first list arrives as changes. */
  constructor(
    instances: Pick<MirrorReader<InstanceRecord>, 'onChange'>,
    wordOf: (record: InstanceRecord) => W,
  ) {
    this.#wordOf = wordOf;
    instances.onChange((_id, after, before) => this.#take(shown(before?.value), shown(after?.value)));
  }

  /** The counts that are not zero. */
  *entries(): Generator<InstanceCount<W>> {
    for (const [configuration, words] of this.#counts)
      for (const [word, count] of words) yield { configuration, word, count };
  }

  /** The counts of one configuration, by word. */
  of(configuration: string): ReadonlyMap<W, number> {
    return this.#counts.get(configuration) ?? new Map();
  }

  #take(before: InstanceRecord | undefined, after: InstanceRecord | undefined): void {
    // Return early, because most changes leave the counts as they are.
    if (
      before !== undefined &&
      after !== undefined &&
      before.configurationName === after.configurationName &&
      this.#wordOf(before) === this.#wordOf(after)
    )
      return;
    if (before !== undefined) this.#add(before, -1);
    if (after !== undefined) this.#add(after, 1);
  }

  #add(record: InstanceRecord, more: 1 | -1): void {
    const { configurationName } = record;
    const word = this.#wordOf(record);
    const words = this.#counts.get(configurationName) ?? new Map<W, number>();
    const count = (words.get(word) ?? 0) + more;
    if (count === 0) words.delete(word);
    else words.set(word, count);
    if (words.size === 0) this.#counts.delete(configurationName);
    else this.#counts.set(configurationName, words);
  }
}

/** The record as the counts see it: none while the instance is being removed. */
function shown(record: InstanceRecord | undefined): InstanceRecord | undefined {
  return record?.desired.goal === 'remove' ? undefined : record;
}
