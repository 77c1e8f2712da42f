/** Finds Ctrl-P Ctrl-Q in the input of an attached terminal. All other input passes unchanged. */

const CTRL_P = 0x10;
const CTRL_Q = 0x11;

export class DetachKeys {
  /** True: Ctrl-P was typed, and the next key has not arrived yet. */
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
