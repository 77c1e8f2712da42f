/**
 * Lets the changes that callers make take turns. All that wait share the next turn: an editor makes them with few writes,
 * and the records follow the files once.
 */
import type PQueue from 'p-queue';
import type { ContentOrigins, FileWriter } from '../git/content-origins.js';
import type { ConfigurationRecord } from '../model/configuration.js';
import { DroverError } from '../model/errors.js';
import { circleFault } from '../model/plain/waits-circle.js';
import type { MirrorReader } from '../store/mirror.js';
import type { Confirmed } from '../views/view.js';
import type { ConfigurationEdit, ConfigurationEditor } from './file-writer.js';

interface ChangeTurnsOptions {
  /** Runs one turn at a time, and the looks at the files between them. */
  readonly queue: PQueue;
  readonly origins: Pick<ContentOrigins, 'noteWriter'>;
  readonly configurations: Pick<MirrorReader<ConfigurationRecord>, 'get'>;
  /** Lets the records follow. `confirmed`: names whose removal callers confirm. */
  readonly follow: (confirmed: Confirmed) => Promise<void>;
}

/** A change and its author. */
export interface Change {
  readonly edit: ConfigurationEdit;
  readonly editor: ConfigurationEditor;
  /** Undefined: the author is not known. */
  readonly by: FileWriter | undefined;
}

interface WaitingChange extends Change {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export class ChangeTurns {
  readonly #options: ChangeTurnsOptions;
  #waiting: WaitingChange[] = [];

  constructor(options: ChangeTurnsOptions) {
    this.#options = options;
  }

  /** Resolves when the change is durable, and the records follow it. Throws why the editor or the store refuses it. */
  make(change: Change): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ ...change, resolve, reject });
      void this.#options.queue.add(() => this.#turn());
    });
  }

  /** Never throws: each change has its own outcome. */
  async #turn(): Promise<void> {
    // The changes of one request are all asked for before anything is awaited.
    await Promise.resolve();
    const waiting = this.#waiting;
    this.#waiting = [];
    for (let rest = waiting; rest[0] !== undefined; ) {
      const run = firstRun(rest, rest[0]);
      await this.#makeAll(run, rest[0].editor);
      rest = rest.slice(run.length);
    }
  }

  async #makeAll(all: readonly WaitingChange[], editor: ConfigurationEditor): Promise<void> {
    const { origins, follow, configurations } = this.#options;
    const contents = new Map(all.map(({ edit: { name, content } }) => [name, content?.configuration]));
    const otherOf = (name: string) =>
      contents.has(name) ? contents.get(name) : configurations.get(name)?.value.configuration;
    const run = all.filter(({ edit: { content }, reject }) => {
      const fault = content && circleFault(content.configuration, otherOf);
      if (fault !== undefined) reject(new DroverError('DRV_CONFIGURATION_INVALID', fault));
      return fault === undefined;
    });
    if (run.length === 0) return;
    // Note the writers first: a round of the controller may see a file before the editor is done.
    for (const { edit, by } of run) origins.noteWriter(edit.name, by);
    const refusals = await editor.edit(run.map(({ edit }) => edit));
    const made = run.filter(({ edit, reject }) => {
      if (!refusals.has(edit.name)) return true;
      origins.noteWriter(edit.name, undefined);
      reject(refusals.get(edit.name));
      return false;
    });
    if (made.length === 0) return;
    const removed = made.filter(({ edit }) => edit.content === undefined);
    await follow(new Set(removed.map(({ edit }) => edit.name))).then(
      () => {
        for (const { resolve } of made) resolve();
      },
      (error: unknown) => {
        for (const { reject } of made) reject(error);
      },
    );
  }
}

/** The first changes that can be made together: by one editor, of different configurations, all writes or all removals. */
function firstRun(changes: WaitingChange[], { edit: first, editor }: WaitingChange): WaitingChange[] {
  const names = new Set<string>();
  const isAlike = (one: WaitingChange): boolean =>
    one.editor === editor && (one.edit.content === undefined) === (first.content === undefined);
  const end = changes.findIndex((one) => !isAlike(one) || names.size === names.add(one.edit.name).size);
  return end < 0 ? changes : changes.slice(0, end);
}
