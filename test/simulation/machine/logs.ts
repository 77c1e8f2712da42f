/** What the programs of a machine have printed, by instance. It outlives daemons. */
export class MachineLogs {
  readonly #lines = new Map<string, string[]>();
  readonly #readers = new Map<string, Set<() => void>>();

  append(id: string, line: string): void {
    const lines = this.#lines.get(id) ?? [];
    lines.push(line);
    this.#lines.set(id, lines);
    for (const wake of this.#readers.get(id) ?? []) wake();
  }

  /** The lines from number `first` on, counted from 1. */
  from(id: string, first: number): readonly string[] {
    return (this.#lines.get(id) ?? []).slice(first - 1);
  }

  nextLine(id: string): number {
    return (this.#lines.get(id)?.length ?? 0) + 1;
  }

  /** Calls `wake` at each line, until the returned function is called. */
  watch(id: string, wake: () => void): () => void {
    const readers = this.#readers.get(id) ?? new Set();
    this.#readers.set(id, readers.add(wake));
    return () => {
      readers.delete(wake);
      if (readers.size === 0) this.#readers.delete(id);
    };
  }
}
