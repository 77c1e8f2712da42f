/** Work that takes turns by key: one at a time for each key, in order of asking; other keys are not held up. */
export class KeyedTurns {
  readonly #last = new Map<string, Promise<void>>();

  /** Runs `work` when everything asked for `key` before has ended, however it ended. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const running = (this.#last.get(key) ?? Promise.resolve()).then(work);
    const ended = running.then(
      () => undefined,
      () => undefined,
    );
    this.#last.set(key, ended);
    try {
      return await running;
    } finally {
      if (this.#last.get(key) === ended) this.#last.delete(key);
    }
  }

  /** Resolves when nothing runs or waits. */
  async whenIdle(): Promise<void> {
    while (this.#last.size > 0) await Promise.all(this.#last.values());
  }
}
