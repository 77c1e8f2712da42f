/** Carries out the steps of moves as the API would, with a log line for each. */

import { Conflict } from '../../../src/loop/reconciler.js';
import { DroverError } from '../../../src/model/errors.js';
import type { InstanceWriter } from '../../../src/state/instance-writes.js';
import type { StateRecords } from '../../../src/state/master-state.js';
import type { Operation } from '../../../src/store/store.js';
import type { Logger } from '../../../src/telemetry/logger.js';
import type { InstanceCreations } from '../creation/instance-creations.js';
import type { MoveStep, RemoveStep, ReplaceStep } from './moves.js';

/**
 * Returns checks that fail the transaction when the move is no longer wanted. Throws Conflict if that is already so.
 */
type MoveGuard = () => readonly Operation[];

interface MoverOptions extends StateRecords {
  readonly creations: Pick<InstanceCreations, 'replace'>;
  readonly writer: Pick<InstanceWriter, 'removeOfPair' | 'handOver'>;
  /** Called with each instance that is made. */
  readonly onCreated: (configurationName: string, id: string) => void;
  readonly logger: Logger;
}

export class Mover {
  readonly #options: MoverOptions;

  constructor(options: MoverOptions) {
    this.#options = options;
  }

  /**
   * Performs one step, in a transaction with the operations of `guard`. `cause` opens the log line. Throws Conflict or
   * DRV_STORE_CONFLICT when the instance, its partner, or its configuration changed meanwhile.
   */
  async perform(step: MoveStep, cause: string, guard: MoveGuard = () => []): Promise<void> {
    return step.do === 'remove' ? this.#remove(step, cause, guard) : this.#replace(step, cause, guard);
  }

  async #replace({ id, do: how, content }: ReplaceStep, cause: string, guard: MoveGuard): Promise<void> {
    const { creations, instances, logger, onCreated } = this.#options;
    const name = instances.get(id)?.value.configurationName ?? '';
    const made = await creations
      .replace(id, { removeFirst: how === 'replace', beside: guard, ...(content && { content }) })
      .catch(asConflict);
    if (made === undefined) throw new Conflict(`instance ${id} or its configuration changed meanwhile`);
    onCreated(name, made);
    const record = instances.get(id)?.value;
    logger.info(
      { instance: id, replacement: made, node: record?.placement?.nodeId },
      how === 'create'
        ? `${cause}: ${made} is made to replace ${id}`
        : `${cause}: ${id} is stopped, ${made} replaces it`,
    );
  }

  async #remove(step: RemoveStep, cause: string, guard: MoveGuard): Promise<void> {
    const { id, staying, why, isHandOver } = step;
    const { writer } = this.#options;
    const beside = guard();
    const isDone =
      isHandOver === true ? writer.handOver(id, staying, beside) : writer.removeOfPair(id, staying, beside);
    if (!(await isDone))
      throw new Conflict(`${id} and ${staying} are no pair any more, or one of them is not wanted`);
    this.#options.logger.info({ instance: id }, `${cause}: ${id} is removed: ${why}`);
  }
}

/** Throws Conflict when the configuration was removed between observing and writing. */
function asConflict(error: unknown): never {
  if (DroverError.is(error, 'DRV_CONFIGURATION_UNKNOWN')) throw new Conflict(error.message);
  throw error;
}
