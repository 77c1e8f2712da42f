/**
 * Runs work in turns by key: one piece at a time for each key, in the order of the calls. Different keys do not
 * wait for each other.
 */
export class KeyedTurns {
  readonly #last = new Map<string, Promise<void>>();

  /**
   * Runs `work` after everything asked for `key` before has ended, whether it succeeded or not; within this call, when
   * nothing runs or waits. `work` must not ask for its own key.
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

  /** Resolves when nothing runs or waits. */
  async whenIdle(): Promise<void> {
    while (this.#last.size > 0) await Promise.all(this.#last.values());
  }
}
