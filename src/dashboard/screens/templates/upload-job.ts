/** Sends chosen files one after the other, and reports the progress and the failures. */
import { type ReadonlySignal, signal } from '@preact/signals';
import { sentenceFor } from '../../services/toasts.js';
import type { TemplateFiles } from './template-files.js';
import type { PlannedUpload } from './upload-plan.js';

interface UploadState {
  readonly phase: 'running' | 'over';
  readonly done: number;
  readonly sentBytes: number;
  readonly failures: readonly { readonly path: string; readonly why: string }[];
}

export class UploadJob {
  readonly plan: readonly PlannedUpload[];
  readonly allBytes: number;
  readonly #files: TemplateFiles;
  readonly #abort = new AbortController();
  readonly #state = signal<UploadState>({ phase: 'running', done: 0, sentBytes: 0, failures: [] });
  readonly state: ReadonlySignal<UploadState> = this.#state;

  constructor(files: TemplateFiles, plan: readonly PlannedUpload[]) {
    this.#files = files;
    this.plan = plan;
    this.allBytes = plan.reduce((sum, { file }) => sum + file.size, 0);
  }

  /** Stops the upload. Files that were sent completely stay. */
  cancel(): void {
    this.#abort.abort();
  }

  /** Sends all files. Never rejects: `state` has the failures. */
  async run(): Promise<void> {
    let sent = 0;
    for (const planned of this.plan) {
      if (this.#abort.signal.aborted) break;
      try {
        await this.#send(planned, (share) => this.#set({ sentBytes: sent + share * planned.file.size }));
        this.#set({ done: this.#state.value.done + 1 });
      } catch (error) {
        if (this.#abort.signal.aborted) break;
        const failure = { path: planned.path, why: sentenceFor(error) };
        this.#set({ failures: [...this.#state.value.failures, failure] });
      }
      sent += planned.file.size;
      this.#set({ sentBytes: sent });
    }
    this.#set({ phase: 'over' });
  }

  async #send({ do: how, path, file }: PlannedUpload, onProgress: (share: number) => void): Promise<void> {
    const options = { signal: this.#abort.signal, onProgress };
    if (how === 'unpack') await this.#files.unpack(file, options);
    else if (how === 'replace') await this.#files.replace(path, file, undefined, options);
    else await this.#files.create(path, file, options);
  }

  #set(changes: Partial<UploadState>): void {
    this.#state.value = { ...this.#state.value, ...changes };
  }
}
