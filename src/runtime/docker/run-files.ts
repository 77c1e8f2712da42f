/**
 * The state of each container run that must outlive the daemon, in a small file: its container, its log's progress, and
 * its exit until that is acknowledged. Synchronous, like the log.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { replaceFileSync } from '../../files/replace-file-sync.js';
import { messageOf } from '../../model/errors.js';
import { instanceIdSchema } from '../../model/names.js';
import { attempt } from '../../model/plain/attempt.js';
import { exitSchema, logPlaceSchema } from '../../model/run/past-exit.js';
import type { Logger } from '../../telemetry/logger.js';
import type { RunId } from '../runtime.js';
import { engineCursorSchema } from './engine/engine-cursor.js';

const NAME = /^[a-z0-9]{6}\.\d+\.json$/;

const runStateSchema = z.object({
  instanceId: instanceIdSchema,
  run: z.int(),
  containerId: z.string(),
  /** The engine that has the container. */
  socketPath: z.string(),
  /** Where the run's output begins in the instance's log; null: unknown. */
  from: logPlaceSchema.nullable(),
  /**
   * The log up to `place` holds the engine's log up to `cursor`; later bytes were copied unchanged. Null cursor: the
   * beginning of the engine's log.
   */
  checkpoint: z.object({ place: logPlaceSchema, cursor: engineCursorSchema.nullable() }).nullable(),
  /** The exit; null until all of the output is in the log. */
  exit: exitSchema.nullable(),
  /** True when the exit was recorded: only the container must be removed. */
  isAcknowledged: z.boolean(),
});
export type RunState = Readonly<z.output<typeof runStateSchema>>;

export class RunFiles {
  readonly #directory: string;
  readonly #logger: Logger;

  /** Makes nothing on disk: the first write makes the directory. */
  constructor(directory: string, logger: Logger) {
    this.#directory = directory;
    this.#logger = logger;
  }

  /** Reads all files. Unreadable files are named in the log and left alone. */
  read(): RunState[] {
    const names = attempt(() => readdirSync(this.#directory), []);
    return names.filter((name) => NAME.test(name)).flatMap((name) => this.#readOne(name));
  }

  /**
   * Writes the state. Never throws: without the file the run continues, and the next daemon only knows less about it.
   */
  write(state: RunState): void {
    const path = this.#pathOf(state);
    try {
      mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
      replaceFileSync(path, JSON.stringify(state));
    } catch (error) {
      this.#logger.warn(
        { err: error, instance: state.instanceId },
        'the state of a container could not be written',
      );
    }
  }

  /** Removes the file. Does nothing when the file does not exist. */
  remove(run: RunId): void {
    const path = this.#pathOf(run);
    rmSync(path, { force: true });
    rmSync(`${path}.new`, { force: true });
  }

  #readOne(name: string): RunState[] {
    try {
      return [runStateSchema.parse(JSON.parse(readFileSync(join(this.#directory, name), 'utf8')))];
    } catch (error) {
      this.#logger.warn({ reason: messageOf(error), name }, 'the state of a container could not be read');
      return [];
    }
  }

  #pathOf({ instanceId, run }: RunId): string {
    return join(this.#directory, `${instanceId}.${run}.json`);
  }
}
