/** One text that is being edited: what it was made from, what it is now, and what others made of it meanwhile. */
import { computed, type ReadonlySignal, signal } from '@preact/signals';
import type { Drafts } from './drafts.js';

/** A text as the server has it. */
export interface Stored {
  readonly text: string;
  /** For `If-Match`; null: there is none yet. */
  readonly revision: string | null;
}

export class EditedText {
  readonly #drafts: Drafts;
  readonly #name: string;
  readonly #base;
  readonly #text;
  readonly #generation = signal(0);
  readonly #isKept = signal(true);
  /** It began with what was typed before and not saved. */
  readonly wasRestored: boolean;

  /** `name`: of its draft. */
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

  /** Another number: the editor is to be made anew, with another text. */
  get generation(): ReadonlySignal<number> {
    return this.#generation;
  }

  /** False: the browser could not keep what was typed. */
  get isKept(): ReadonlySignal<boolean> {
    return this.#isKept;
  }

  readonly isDirty: ReadonlySignal<boolean> = computed(() => this.#text.value !== this.#base.value.text);

  type(text: string): void {
    this.#text.value = text;
    this.#keep();
  }

  /** The server has `stored` now: it was saved, or the person has seen it. What was typed since stands. */
  rebase(stored: Stored): void {
    this.#base.value = stored;
    this.#keep();
  }

  /** Drops what was typed. */
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
