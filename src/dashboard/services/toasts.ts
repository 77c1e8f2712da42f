/** Short notes at the edge of the page: an action was done, or why it failed. */
import { type ReadonlySignal, signal } from '@preact/signals';

interface Toast {
  readonly id: number;
  readonly kind: 'done' | 'failed';
  readonly text: string;
}

/** How long the note of a success stays. Failures stay until they are closed, because they say what to do. */
const DONE_MS = 5_000;
const MOST = 4;

export class Toasts {
  readonly #shown = signal<readonly Toast[]>([]);
  readonly shown: ReadonlySignal<readonly Toast[]> = this.#shown;
  #last = 0;

  done(text: string): void {
    const { id } = this.#add('done', text);
    setTimeout(() => this.close(id), DONE_MS);
  }

  failed(error: unknown): void {
    this.#add('failed', sentenceFor(error));
  }

  close(id: number): void {
    this.#shown.value = this.#shown.value.filter((toast) => toast.id !== id);
  }

  /** Waits for an action and says how it ended. Returns undefined when it failed; a toast says why. */
  async run<T>(action: Promise<T>, done?: (result: T) => string): Promise<T | undefined> {
    try {
      const result = await action;
      if (done !== undefined) this.done(done(result));
      return result;
    } catch (error) {
      this.failed(error);
      return undefined;
    }
  }

  #add(kind: Toast['kind'], text: string): Toast {
    const toast = { id: ++this.#last, kind, text };
    this.#shown.value = [...this.#shown.value.slice(1 - MOST), toast];
    return toast;
  }
}

/** The sentence that an operator reads for an error. */
export function sentenceFor(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
