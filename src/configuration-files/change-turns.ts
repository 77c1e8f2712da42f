/**
 * Lets the changes that callers make take turns. All that wait share the next turn: an editor makes them with few writes,
 * and the records follow the files once.
 */
import type PQueue from 'p-queue';
import type { Confirmed } from '../views/view.js';
import type { ConfigurationEdit, ConfigurationEditor } from './file-writer.js';
import type { ContentOrigins, FileWriter } from './history/content-origins.js';

interface ChangeTurnsOptions {
  /** Runs one turn at a time, and the looks at the files between them. */
  readonly queue: PQueue;
  readonly origins: Pick<ContentOrigins, 'noteWriter'>;
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
    const waiting = this.#waiting;
    this.#waiting = [];
    const made: WaitingChange[] = [];
    for (const run of inRuns(waiting)) made.push(...(await this.#makeAll(run)));
    if (made.length === 0) return;
    const removed = made.filter(({ edit }) => edit.content === undefined);
    await this.#options.follow(new Set(removed.map(({ edit }) => edit.name))).then(
      () => {
        for (const { resolve } of made) resolve();
      },
      (error: unknown) => {
        for (const { reject } of made) reject(error);
      },
    );
  }

  /** Resolves with the changes that are made. */
  async #makeAll(run: readonly [WaitingChange, ...WaitingChange[]]): Promise<readonly WaitingChange[]> {
    const { origins } = this.#options;
    // Note the writers first: a round of the controller may see a file before the editor is done.
    for (const { edit, by } of run) origins.noteWriter(edit.name, by);
    const refusals = await run[0].editor.edit(run.map(({ edit }) => edit));
    return run.filter(({ edit, reject }) => {
      if (!refusals.has(edit.name)) return true;
      origins.noteWriter(edit.name, undefined);
      reject(refusals.get(edit.name));
      return false;
    });
  }
}

/** Cuts changes into runs, in order: each has one editor, names a configuration once, and only writes or only removes. */
function inRuns(changes: readonly WaitingChange[]): [WaitingChange, ...WaitingChange[]][] {
  const runs: [WaitingChange, ...WaitingChange[]][] = [];
  let names = new Set<string>();
  for (const change of changes) {
    const run = runs.at(-1);
    const { edit, editor } = change;
    const isAlike =
      run?.[0].editor === editor && (run[0].edit.content === undefined) === (edit.content === undefined);
    if (run !== undefined && isAlike && !names.has(edit.name)) run.push(change);
    else {
      runs.push([change]);
      names = new Set();
    }
    names.add(edit.name);
  }
  return runs;
}
