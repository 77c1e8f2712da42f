/**
 * Runs work in turns by key: for each key one after the other, in the order of the calls. Different keys do not wait
 * for each other.
 */
export class KeyedTurns {
  readonly #last = new Map<string, Promise<void>>();

  /**
   * Runs `work` after all earlier work for `key` has ended, successful or not. Calls it at once when the key has no
   * work. `work` must not call `run` for its own key.
   */
  run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const running = this.#last.get(key)?.then(work) ?? work();
    const end = (): void => {
      if (this.#last.get(key) === ended) this.#last.delete(key);
    };
    const ended = running.then(end, end);
    this.#last.set(key, ended);
    return running;
  }

  /** Resolves when no work runs or waits. */
  async whenIdle(): Promise<void> {
    while (this.#last.size > 0) await Promise.all(this.#last.values());
  }
}
