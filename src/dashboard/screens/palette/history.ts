/**
 * The lines that were run in this tab. They last for one session, because they may hold what others should not read.
 */

const STORED_AS = 'drover-commands';
const MOST = 100;

/** The part of `sessionStorage` that is used here. */
interface LineStorage {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
}

interface Stored {
  readonly session: string;
  readonly lines: readonly string[];
}

export class PaletteHistory {
  readonly #storage: LineStorage;
  readonly #session: string;

  /** `session`: lines of another session are forgotten. */
  constructor(storage: LineStorage, session: string) {
    this.#storage = storage;
    this.#session = session;
  }

  /** The oldest first. */
  lines(): readonly string[] {
    const stored = this.#storage.getItem(STORED_AS);
    if (stored === null) return [];
    const { session, lines }: Stored = JSON.parse(stored);
    return session === this.#session ? lines : [];
  }

  add(line: string): void {
    const lines = [...this.lines().filter((one) => one !== line), line].slice(-MOST);
    const stored: Stored = { session: this.#session, lines };
    this.#storage.setItem(STORED_AS, JSON.stringify(stored));
  }
}
