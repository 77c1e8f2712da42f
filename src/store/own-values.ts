/**
 * Marks what typed code of this process writes. The compiler has checked these values, so the mirror takes them as they
 * are. A value that comes from a disk or from another process has no such mark, and is parsed.
 */
import type { Change, Entry, Operation } from './store.js';

/** Of one mirror: its marks are no other mirror's. The values must not be mutated once they are written. */
export class OwnValues<T> {
  create(key: string, value: T): Operation {
    return { do: 'create', key, value, own: this };
  }

  update(key: string, value: T, expectedRevision: number): Operation {
    return { do: 'update', key, value, expectedRevision, own: this };
  }

  /** Whether the change was written by one of these operations. */
  has<C extends Change | Entry>(change: C): change is C & { readonly value: T } {
    return change.own === this;
  }
}
