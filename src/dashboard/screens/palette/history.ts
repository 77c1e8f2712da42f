/** Lines that were run before, for as long as this session of this tab: they may say what others should not read. */

const STORED_AS = 'drover-commands';
const MOST = 100;

/** As `sessionStorage`. */
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

  /** `session`: lines of another one are forgotten. */
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
