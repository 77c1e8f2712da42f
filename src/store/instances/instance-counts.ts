/** Counts instances by configuration and state, change by change: `/metrics` reads no records. */
import type { InstanceRecord, InstanceState } from '../../model/instance.js';
import type { MirrorReader } from '../mirror.js';

export class InstanceCounts {
  readonly #counts = new Map<string, Map<InstanceState, number>>();

  /** Built before the mirror starts: its first list comes as changes. */
  constructor(instances: Pick<MirrorReader<InstanceRecord>, 'onChange'>) {
    instances.onChange((_id, after, before) => this.#take(shown(before?.value), shown(after?.value)));
  }

  /** The counts that are not zero. */
  *entries(): Generator<{ configuration: string; state: InstanceState; count: number }> {
    for (const [configuration, states] of this.#counts)
      for (const [state, count] of states) yield { configuration, state, count };
  }

  #take(before: InstanceRecord | undefined, after: InstanceRecord | undefined): void {
    // Most changes count the same.
    if (
      before?.configurationName === after?.configurationName &&
      before?.status.state === after?.status.state
    )
      return;
    if (before !== undefined) this.#add(before, -1);
    if (after !== undefined) this.#add(after, 1);
  }

  #add({ configurationName, status: { state } }: InstanceRecord, more: 1 | -1): void {
    const states = this.#counts.get(configurationName) ?? new Map<InstanceState, number>();
    const count = (states.get(state) ?? 0) + more;
    if (count === 0) states.delete(state);
    else states.set(state, count);
    if (states.size === 0) this.#counts.delete(configurationName);
    else this.#counts.set(configurationName, states);
  }
}

/** One that is being removed is shown nowhere. */
function shown(record: InstanceRecord | undefined): InstanceRecord | undefined {
  return record?.desired.goal === 'remove' ? undefined : record;
}
