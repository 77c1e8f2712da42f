/**
 * One text that is being edited: the stored text that it was made from, the text as it is now, and changes that others
 * made meanwhile.
 */
import { computed, type ReadonlySignal, signal } from '@preact/signals';
import type { Drafts } from './drafts.js';

/** A text as the server has it. */
export interface Stored {
  readonly text: string;
  /** The value for `If-Match`; null: the text is not stored yet. */
  readonly revision: string | null;
}

export class EditedText {
  readonly #drafts: Drafts;
  readonly #name: string;
  readonly #base;
  readonly #text;
  readonly #generation = signal(0);
  /** A number that changes when the editor must be made anew, with another text. */
  readonly generation: ReadonlySignal<number> = this.#generation;
  readonly #isKept = signal(true);
  /** False when the browser could not keep the draft. */
  readonly isKept: ReadonlySignal<boolean> = this.#isKept;
  /** True when the editing began with a draft from before. */
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
  }

  get text(): ReadonlySignal<string> {
    return this.#text;
  }

  get base(): ReadonlySignal<Stored> {
    return this.#base;
  }

  readonly isDirty: ReadonlySignal<boolean> = computed(() => this.#text.value !== this.#base.value.text);

  type(text: string): void {
    this.#text.value = text;
    this.#keep();
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
    const text = this.#text.value;
    if (text === base) this.#drafts.drop(this.#name);
    this.#isKept.value = text === base || this.#drafts.keep(this.#name, { text, base, revision });
  }
}
