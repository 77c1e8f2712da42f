/**
 * Tracks terminal modes that a session changes, such as the alternate screen, the mouse or a hidden cursor. The client
 * resets them when it leaves.
 */

/** Matches sequences that set or reset private modes, or switch the keypad's application mode. */
const MODES = /\x1b\[\?([\d;]{1,32})([hl])|\x1b([=>])/g;
/** How much of the last output is kept, because a sequence may be split between two pieces. */
const LONGEST = 40;
/**
 * The modes that are on in a terminal at rest: wrapping at the right edge, and a visible cursor. All others are off.
 */
const USUALLY_ON: ReadonlySet<number> = new Set([7, 25]);
const ALTERNATE_SCREENS: readonly number[] = [47, 1047, 1049];

export class TerminalModes {
  /** Modes that differ from those of a terminal at rest. */
  readonly #changed = new Set<number>();
  #hasKeypad = false;
  #tail = '';

  take(output: Buffer): void {
    const text = this.#tail + output.toString('latin1');
    for (const [, modes = '', letter, keypad] of text.matchAll(MODES)) {
      if (keypad !== undefined) this.#hasKeypad = keypad === '=';
      else for (const mode of modes.split(';')) this.#note(Number(mode), letter === 'h');
    }
    // The tail may hold a whole sequence that was already handled. Handling it again changes nothing.
    this.#tail = text.slice(-LONGEST);
  }

  /** Returns the bytes that restore a terminal to rest. */
  restoring(): string {
    const isAlternate = ALTERNATE_SCREENS.some((mode) => this.#changed.has(mode));
    return [
      // Reset the scroll region only on the alternate screen, because the sequence moves the cursor.
      isAlternate ? '\x1b[r' : '',
      ...[...this.#changed].map((mode) => `\x1b[?${mode}${USUALLY_ON.has(mode) ? 'h' : 'l'}`),
      this.#hasKeypad ? '\x1b>' : '',
      '\x1b[0m',
    ].join('');
  }

  #note(mode: number, isOn: boolean): void {
    if (isOn === USUALLY_ON.has(mode)) this.#changed.delete(mode);
    else this.#changed.add(mode);
  }
}
