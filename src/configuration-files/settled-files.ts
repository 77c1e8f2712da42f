/**
 * The view of the directory that decisions are made from. A valid file counts at once. A broken or missing one
 * counts only when two looks agree, because an editor or a checkout passes through both for a moment.
 */
import type { Reading } from './directory.js';

/** After this many looks, a file that keeps changing is believed as it is. */
const MAX_LOOKS = 50;
const ABSENT = 'absent';

interface Suspicion {
  readonly signature: string;
  readonly looks: number;
}

export class SettledFiles {
  readonly #files = new Map<string, Reading>();
  readonly #suspicions = new Map<string, Suspicion>();

  /** By file name. */
  get files(): ReadonlyMap<string, Reading> {
    return this.#files;
  }

  /** Files that looked broken or gone once and wait for a second look: a write may be under way. */
  get suspects(): readonly string[] {
    return [...this.#suspicions.keys()];
  }

  /**
   * Takes readings; undefined: there is no such file. `isFinal`: believes broken and missing files without a second look.
   */
  take(readings: ReadonlyMap<string, Reading | undefined>, isFinal: boolean): void {
    for (const [file, reading] of readings) {
      if (isFinal || reading?.kind === 'valid' || this.#isConfirmed(file, reading)) this.#set(file, reading);
    }
  }

  #set(file: string, reading: Reading | undefined): void {
    this.#suspicions.delete(file);
    if (reading === undefined) this.#files.delete(file);
    else this.#files.set(file, reading);
  }

  #isConfirmed(file: string, reading: Reading | undefined): boolean {
    const signature = reading?.signature ?? ABSENT;
    const settled = this.#files.get(file);
    // A late hint for what is known to be gone.
    if (settled === undefined && reading === undefined) return true;
    if (settled?.kind === 'broken' && settled.signature === signature) return true;
    const suspicion = this.#suspicions.get(file);
    const looks = (suspicion?.looks ?? 0) + 1;
    if (suspicion?.signature === signature || looks >= MAX_LOOKS) return true;
    this.#suspicions.set(file, { signature, looks });
    return false;
  }
}
