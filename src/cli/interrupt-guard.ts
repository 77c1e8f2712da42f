/** Decides what a Ctrl-C at the prompt does, so that no single press ends the instances. */

/** The time in which a second Ctrl-C ends the node. */
export const SECOND_PRESS_MS = 5000;

export class InterruptGuard {
  readonly #now: () => number;
  #askedAt: number | undefined;

  /** `now`: milliseconds of a clock that does not jump. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * Returns what to do: clear the line, ask for a second press, or end the node. Only a second press on an empty
   * line, within 5 s of the first, ends it.
   */
  press({ isLineEmpty }: { readonly isLineEmpty: boolean }): 'clear' | 'ask' | 'end' {
    const askedAt = this.#askedAt;
    this.#askedAt = undefined;
    if (!isLineEmpty) return 'clear';
    const now = this.#now();
    if (askedAt !== undefined && now - askedAt < SECOND_PRESS_MS) return 'end';
    this.#askedAt = now;
    return 'ask';
  }

  /** Called when a line is entered: the next press counts as a first press again. */
  reset(): void {
    this.#askedAt = undefined;
  }
}
