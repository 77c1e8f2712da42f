/**
 * Keeps texts that were typed and not saved, in this tab: they outlive a change of screen, a reload and the end of the
 * session. Only the key that typed a draft gets it back.
 */

interface Draft {
  readonly text: string;
  /** The revision of `base`; null: nothing was stored yet. */
  readonly revision: string | null;
  /** The stored text that the editing began with. */
  readonly base: string;
}

/** The part of a browser's storage that is used here. */
interface DraftStorage {
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

  /** Keeps a draft. Returns false when the browser has no room for it: leaving the page would lose it. */
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
