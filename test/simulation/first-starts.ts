/**
 * Judges `waitsFor`: an instance gets its first node only when each configuration that its content waits for stands, or
 * stood a moment before, when the master decided it.
 */
import { isMetBy, type Wait, waitText } from '../../src/model/fields/waits-for.js';
import type { InstanceRecord } from '../../src/model/instance.js';
import type { RecordBook } from './record-book.js';

/** A decision is made on a copy that is so far behind a slow disk at most. */
const DECISION_MS = 1500;

interface Surroundings {
  readonly now: () => number;
  readonly unansweredMs: number;
}

export class FirstStarts {
  readonly #book: RecordBook;
  readonly #around: Surroundings;
  /** Virtual time until which a condition held, by its text; infinite: it holds. */
  readonly #heldUntil = new Map<string, number>();

  constructor(book: RecordBook, around: Surroundings) {
    this.#book = book;
    this.#around = around;
  }

  /** The fault of a change of a record, or undefined. */
  changed(before: InstanceRecord | undefined, after: InstanceRecord | undefined): string | undefined {
    // What waits may be placed by the same commit that shows the end of what it waited for.
    const fault = this.#faultOf(before, after);
    this.#note((after ?? before)?.configurationName ?? '');
    return fault;
  }

  #faultOf(before: InstanceRecord | undefined, after: InstanceRecord | undefined): string | undefined {
    if (after === undefined || after.placement === null || (before?.home ?? null) !== null) return undefined;
    const unmet = (this.#book.revisions.get(after.revision)?.waitsFor ?? []).find(
      (wait) => !this.#heldLately(wait),
    );
    return unmet && `${after.id} gets its first node, and waits until ${waitText(unmet)}`;
  }

  #heldLately(wait: Wait): boolean {
    const until = this.#holds(wait) ? Number.POSITIVE_INFINITY : (this.#heldUntil.get(waitText(wait)) ?? -1);
    return until >= this.#around.now() - DECISION_MS - this.#around.unansweredMs;
  }

  #holds(wait: Wait): boolean {
    return [...this.#book.instances.values()].some(
      (one) => one.configurationName === wait.configuration && isMetBy(wait, one),
    );
  }

  #note(configuration: string): void {
    for (const until of ['ready', 'finished', 'started'] as const) {
      const wait = { configuration, until };
      if (this.#holds(wait)) this.#heldUntil.set(waitText(wait), Number.POSITIVE_INFINITY);
      else if (this.#heldUntil.get(waitText(wait)) === Number.POSITIVE_INFINITY)
        this.#heldUntil.set(waitText(wait), this.#around.now());
    }
  }
}
