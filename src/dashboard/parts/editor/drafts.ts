/**
 * Keeps what was typed and not saved, in this tab: leaving a screen, a reload and the end of a session lose none of it.
 * Only the key that typed it gets it back.
 */

export interface Draft {
  readonly text: string;
  /** Of what the text was made from; null: there was nothing. */
  readonly revision: string | null;
  /** What the text was made from. */
  readonly base: string;
}

/** What is used of a browser's storage. */
export interface DraftStorage {
  getItem(name: string): string | null;
  setItem(name: string, value: string): void;
  removeItem(name: string): void;
}

const PREFIX = 'drover-draft:';

export class Drafts {
  readonly #storage: DraftStorage;
  readonly #owner: string;

  /** `owner`: the label of the key. */
  constructor(storage: DraftStorage, owner: string) {
    this.#storage = storage;
    this.#owner = owner;
  }

  /** `name`: such as `configurations/lobby`. */
  get(name: string): Draft | null {
    const stored = this.#storage.getItem(PREFIX + name);
    if (stored === null) return null;
    const { owner, ...draft }: Draft & { owner: string } = JSON.parse(stored);
    if (owner === this.#owner) return draft;
    this.drop(name);
    return null;
  }

  /** False: the browser has no room for it, so leaving would lose it. */
  keep(name: string, draft: Draft): boolean {
    try {
      this.#storage.setItem(PREFIX + name, JSON.stringify({ ...draft, owner: this.#owner }));
      return true;
    } catch {
      this.drop(name);
      return false;
    }
  }

  drop(name: string): void {
    this.#storage.removeItem(PREFIX + name);
  }
}
