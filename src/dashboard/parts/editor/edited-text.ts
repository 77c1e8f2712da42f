/**
 * One text that is being edited: the stored text from which the editing began, the text as it is now, and the
 * changes that others made meanwhile.
 */
import { computed, type ReadonlySignal, signal } from '@preact/signals';

/** A text as the server has it. */
export interface Stored {
  readonly text: string;
  /** The value for `If-Match`; null: the text is not stored yet. */
  readonly revision: string | null;
}

export class EditedText {
  readonly #drafts: Drafts;
  readonly #name: string;
  /** The revisions that this page has read or written. */
  readonly #known = new Set<string | null>();
  readonly #base;
  readonly #text;
  readonly #generation = signal(0);
  /** A number that rises when the editor has to show another text than the one typed into it. */
  readonly generation: ReadonlySignal<number> = this.#generation;
  readonly #isKept = signal(true);
  /** False when the browser could not keep the draft. */
  readonly isKept: ReadonlySignal<boolean> = this.#isKept;
  /** True when the editing began with a draft that was kept earlier. */
  readonly wasRestored: boolean;

  /** `name`: the name of the draft. */
  constructor(drafts: Drafts, name: string, stored: Stored) {
    this.#drafts = drafts;
    this.#name = name;
    const draft = drafts.get(name);
    this.wasRestored = draft !== null && draft.text !== stored.text;
    this.#base = signal<Stored>(
      draft !== null && this.wasRestored ? { text: draft.base, revision: draft.revision } : stored,
    );
    this.#text = signal(draft?.text ?? stored.text);
    this.#known.add(this.#base.value.revision);
  }

  get text(): ReadonlySignal<string> {
    return this.#text;
  }

  get base(): ReadonlySignal<Stored> {
    return this.#base;
  }

  readonly isDirty: ReadonlySignal<boolean> = computed(() => this.#text.value !== this.#base.value.text);

  /** True for a revision that this page has read or written. Any other revision was written by somebody else. */
  knows(revision: string): boolean {
    return this.#known.has(revision);
  }

  type(text: string): void {
    this.#text.value = text;
    this.#keep();
  }

  /** As `type`, for a text that was made beside the editor. */
  put(text: string): void {
    this.type(text);
    this.#generation.value++;
  }

  /**
   * Takes `stored` as the new base: the text was saved, or the person has seen the server's text. Text typed since
   * stays.
   */
  rebase(stored: Stored): void {
    this.#base.value = stored;
    this.#keep();
  }

  /** Takes the server's text and drops what was typed. */
  take(stored: Stored): void {
    this.#base.value = stored;
    this.#text.value = stored.text;
    this.#generation.value++;
    this.#keep();
  }

  #keep(): void {
    const { text: base, revision } = this.#base.value;
    this.#known.add(revision);
    const text = this.#text.value;
    if (text === base) this.#drafts.drop(this.#name);
    this.#isKept.value = text === base || this.#drafts.keep(this.#name, { text, base, revision });
  }
}

interface Draft extends Stored {
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

/**
 * Keeps texts in this tab that were typed and not saved. They outlive a change of screen, a reload and the end of
 * the session. Only the key that typed a draft gets the draft back.
 */
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

  /**
   * Keeps a draft. Returns false when the browser has no room for the draft: leaving the page would lose the text.
   */
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
