/**
 * The viewers of one terminal of the `process` runtime. All see the same bytes, so the smallest viewer decides the
 * size: nothing that the program draws is out of a viewer's sight. When the last viewer leaves the terminal is wide
 * again.
 */

import { smallestOf, type TerminalSize } from '../../model/run/attachment.js';
import type { View, Viewer } from '../owner/held-run.js';
import { recentBytes } from '../recent-bytes.js';
import type { PseudoTerminal } from './pseudo-terminal.js';

/** How much of the log's end a new viewer sees first. */
const FIRST_SCREEN_BYTES = 16 * 1024;

export class TerminalViews {
  readonly #terminal: Pick<PseudoTerminal, 'write' | 'resize'>;
  readonly #logDirectory: string;
  readonly #sizes = new Map<Viewer, TerminalSize>();

  constructor(terminal: Pick<PseudoTerminal, 'write' | 'resize'>, logDirectory: string) {
    this.#terminal = terminal;
    this.#logDirectory = logDirectory;
  }

  /**
   * Adds a viewer, who first sees the end of the log. Output is written to the log and shown in one turn, so log and
   * live output join without a gap.
   */
  open(viewer: Viewer): View {
    const first = recentBytes(this.#logDirectory, FIRST_SCREEN_BYTES);
    if (first.length > 0) viewer.onOutput(first);
    this.#sizes.set(viewer, viewer.size);
    this.#fit();
    return {
      isTransparent: true,
      write: (bytes) => this.#terminal.write(bytes),
      resize: (size) => {
        if (!this.#sizes.has(viewer)) return;
        this.#sizes.set(viewer, size);
        this.#fit();
      },
      close: () => {
        if (this.#sizes.delete(viewer)) this.#fit();
      },
    };
  }

  show(bytes: Uint8Array): void {
    for (const viewer of this.#sizes.keys()) viewer.onOutput(bytes);
  }

  #fit(): void {
    const sizes = [...this.#sizes.values()];
    this.#terminal.resize(sizes.length === 0 ? undefined : smallestOf(sizes));
  }
}
