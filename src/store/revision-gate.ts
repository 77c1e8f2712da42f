/** Lets callers wait until a copy has reached a revision. Used by the mirror. */

interface Waiter {
  readonly revision: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export class RevisionGate {
  #revision = -1;
  #waiters: Waiter[] = [];
  #end: { readonly error: unknown } | undefined;

  /** The revision reached; -1 before the first. */
  get revision(): number {
    return this.#revision;
  }

  /** Resolves at once when the revision was reached. Rejects when the gate has ended, or ends before. */
  until(revision: number): Promise<void> {
    if (revision <= this.#revision) return Promise.resolve();
    if (this.#end !== undefined) return Promise.reject(this.#end.error);
    return new Promise((resolve, reject) => {
      this.#waiters.push({ revision, resolve, reject });
    });
  }

  reach(revision: number): void {
    this.#revision = revision;
    if (this.#waiters.length === 0) return;
    const waiters = this.#waiters;
    this.#waiters = waiters.filter((waiter) => waiter.revision > revision);
    for (const waiter of waiters) if (waiter.revision <= revision) waiter.resolve();
  }

  /** Ends the gate: no further revision comes. Repeatable; the first reason stands. */
  end(error: unknown): void {
    this.#end ??= { error };
    for (const waiter of this.#waiters.splice(0)) waiter.reject(this.#end.error);
  }
}
