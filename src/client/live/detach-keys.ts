/** Finds Ctrl-P Ctrl-Q in what is typed at an attached terminal. Everything else passes as it is. */

const CTRL_P = 0x10;
const CTRL_Q = 0x11;

export class DetachKeys {
  /** A Ctrl-P whose next key has not come yet. */
  #isHeld = false;

  /**
   * Returns the typed bytes to pass on, and whether they contained the detach keys. Bytes after the keys are dropped.
   */
  take(typed: Buffer): { readonly bytes: Buffer; readonly isDetached: boolean } {
    const passed: number[] = [];
    for (const byte of typed) {
      if (this.#isHeld && byte === CTRL_Q) return { bytes: Buffer.from(passed), isDetached: true };
      if (this.#isHeld) passed.push(CTRL_P);
      this.#isHeld = byte === CTRL_P;
      if (!this.#isHeld) passed.push(byte);
    }
    return { bytes: Buffer.from(passed), isDetached: false };
  }
}
