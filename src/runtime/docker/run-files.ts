/**
 * What must outlive the daemon about each container run, a small file each: which container it is, how far its log was
 * copied, and how it ended until that is acknowledged. Synchronous: the log is, too.
 */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { messageOf } from '../../model/errors.js';
import { instanceIdSchema } from '../../model/names.js';
import { logPlaceSchema, outputSpanSchema } from '../../model/past-exit.js';
import type { Logger } from '../../telemetry/logger.js';
import type { RunId } from '../runtime.js';
import { engineCursorSchema } from './engine/engine-cursor.js';

const NAME = /^[a-z0-9]{6}\.\d+\.json$/;

const exitSchema = z.object({
  code: z.int().nullable(),
  signal: z.string().nullable(),
  at: z.number(),
  output: outputSpanSchema.optional(),
  isOutOfMemory: z.boolean().optional(),
  cause: z.string().optional(),
});

const runStateSchema = z.object({
  instanceId: instanceIdSchema,
  run: z.int(),
  containerId: z.string(),
  /** The engine that has it. */
  socketPath: z.string(),
  /** Where its output begins in the instance's log; null: not known. */
  from: logPlaceSchema.nullable(),
  /** Up to `cursor` the engine's log stands before `place`; what follows was written 1:1. Null cursor: from its begin. */
  checkpoint: z.object({ place: logPlaceSchema, cursor: engineCursorSchema.nullable() }).nullable(),
  /** Set when all of its output is in the log. */
  exit: exitSchema.nullable(),
  /** Its exit was recorded; what is left to do is to remove the container. */
  isAcknowledged: z.boolean(),
});
export type RunState = Readonly<z.output<typeof runStateSchema>>;

export class RunFiles {
  readonly #directory: string;
  readonly #logger: Logger;

  /** The directory is made when first written. */
  constructor(directory: string, logger: Logger) {
    this.#directory = directory;
    this.#logger = logger;
  }

  /** All that can be read; others are named in the log and left. */
  read(): RunState[] {
    let names: string[];
    try {
      names = readdirSync(this.#directory);
    } catch {
      return [];
    }
    return names.filter((name) => NAME.test(name)).flatMap((name) => this.#readOne(name));
  }

  /** Never throws: without the file a run goes on, and is only less well known to the next daemon. */
  write(state: RunState): void {
    const path = this.#pathOf(state);
    try {
      mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
      writeFileSync(`${path}.new`, JSON.stringify(state), { mode: 0o600 });
      renameSync(`${path}.new`, path);
    } catch (error) {
      this.#logger.warn(
        { err: error, instance: state.instanceId },
        'the state of a container could not be written',
      );
    }
  }

  /** Nothing there is no error. */
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
