/** The editing of one stored text: it is saved, and somebody else may change what is stored meanwhile. */
import { type ReadonlySignal, signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { ApiFailure } from '../../api/api-client.js';
import { useServices } from '../../services/services.js';
import { text as parts } from '../text.js';
import { Drafts, type EditedText, type Stored } from './edited-text.js';

/** Where the text is stored. Both methods throw ApiFailure. */
export interface TextStore {
  /** Reads the stored text; null: nothing is stored, or what is stored is no text. */
  read(): Promise<Stored | null>;
  /**
   * Writes only if the stored text has this revision; null: only if nothing is stored. Returns the new revision. The
   * failure has status 412 or 404 when somebody else has changed or removed the text.
   */
  write(text: string, revision: string | null): Promise<string | null>;
}

/** The text that is stored now; null: it was removed. */
interface Conflict {
  readonly theirs: Stored | null;
}

export class Editing {
  readonly edited: EditedText;
  readonly #store: TextStore;
  readonly #conflict = signal<Conflict | null>(null);
  /** The conflict while the person decides between two texts; null: no conflict. */
  readonly conflict: ReadonlySignal<Conflict | null> = this.#conflict;
  readonly #isBusy = signal(false);
  readonly isBusy: ReadonlySignal<boolean> = this.#isBusy;

  constructor(store: TextStore, edited: EditedText) {
    this.#store = store;
    this.edited = edited;
  }

  /**
   * Saves the text. Returns false when somebody else was faster: `conflict` then has the other text. Throws
   * ApiFailure.
   */
  save(): Promise<boolean> {
    return this.busy(async () => {
      const text = this.edited.text.peek();
      try {
        const revision = await this.#store.write(text, this.edited.base.peek().revision);
        this.edited.rebase({ text, revision });
        return true;
      } catch (error) {
        if (!(error instanceof ApiFailure) || (error.status !== 412 && error.status !== 404)) throw error;
        await this.#compare();
        return false;
      }
    });
  }

  /** Shows the text of somebody else beside this one. */
  compare(): Promise<void> {
    return this.busy(() => this.#compare());
  }

  closeConflict(): void {
    this.#conflict.value = null;
  }

  /** Takes the text of somebody else, and drops what this person typed. */
  takeTheirs(theirs: Stored): void {
    this.#conflict.value = null;
    if (theirs.text === this.edited.text.peek()) this.edited.rebase(theirs);
    else this.edited.take(theirs);
  }

  /**
   * Saves this text over `theirs`, the text that was shown as somebody else's. Returns false when the stored text
   * has changed again.
   */
  keepMine(theirs: Stored | null): Promise<boolean> {
    this.edited.rebase(theirs ?? { text: this.edited.base.peek().text, revision: null });
    this.#conflict.value = null;
    return this.save();
  }

  /** Reads the stored text again, and takes it unless something is typed here. */
  refresh(): Promise<void> {
    return this.busy(async () => {
      const theirs = await this.#store.read();
      if (theirs !== null && !this.edited.isDirty.peek()) this.takeTheirs(theirs);
    });
  }

  protected async busy<T>(work: () => Promise<T>): Promise<T> {
    this.#isBusy.value = true;
    try {
      return await work();
    } finally {
      this.#isBusy.value = false;
    }
  }

  async #compare(): Promise<void> {
    this.#conflict.value = { theirs: await this.#store.read() };
  }
}

/** The drafts of the key that is signed in. */
export function useDrafts(): Drafts {
  const { session } = useServices();
  const owner = session.caller.value?.key ?? '';
  return useMemo(() => new Drafts(sessionStorage, owner), [owner]);
}

/**
 * Makes the browser ask before it closes or reloads a page with unsaved text. When another screen is shown, a toast says
 * that the draft is kept.
 */
export function useUnsavedWarning(edited: EditedText, name: string, isReadOnly: boolean): void {
  const { toasts } = useServices();
  useEffect(() => {
    if (isReadOnly) return;
    const warn = (event: BeforeUnloadEvent): void => {
      if (edited.isDirty.peek()) event.preventDefault();
    };
    addEventListener('beforeunload', warn);
    return () => {
      removeEventListener('beforeunload', warn);
      if (edited.isDirty.peek()) toasts.done(parts.unsavedKept(name));
    };
  }, [edited, name, isReadOnly, toasts]);
}
