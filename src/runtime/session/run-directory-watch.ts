/**
 * Tells when anything in a run's directory changed. When the system grants no watch, no change is told, and callers
 * rely on their timeouts.
 */
import type { FSWatcher } from 'node:fs';
import { watchDirectory } from '../../files/watch-directory.js';

export class RunDirectoryWatch {
  readonly #watcher: FSWatcher | undefined;
  #waiting: (() => void)[] = [];

  constructor(directory: string, onChange: () => void) {
    try {
      const wake = (): void => {
        for (const resolve of this.#waiting.splice(0)) resolve();
        onChange();
      };
      this.#watcher = watchDirectory(directory, wake, () => undefined);
    } catch (error) {
      process.stderr.write(`${error}; output comes with a delay of up to 2 s\n`);
    }
  }

  /** Resolves at the next change, or after `timeoutMs`. */
  next(timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, timeoutMs);
      this.#waiting.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  /** Idempotent. */
  close(): void {
    this.#watcher?.close();
  }
}
