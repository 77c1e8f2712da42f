/**
 * The instances that end because their configuration is gone: those whose own content says `"onDelete": "stop"`. The
 * store keeps that content as long as an instance has it.
 */

import { Conflict } from '../../../src/loop/reconciler.js';
import { hasPlayers, type InstanceRecord, playersOf } from '../../../src/model/instance.js';
import type { InstanceWriter } from '../../../src/state/instance-writes.js';
import type { StateRecords } from '../../../src/state/master-state.js';
import type { Ambient } from '../../../src/telemetry/ambient.js';
import { after, type EndStep, type LeavingInstance, patienceOf } from './surplus.js';

export interface LeavingFacts {
  readonly name: string;
  readonly leaving: readonly LeavingInstance[];
}

interface LeaversOptions extends StateRecords, Ambient {
  readonly writer: Pick<InstanceWriter, 'removeWhile' | 'stopWhile'>;
}

export class Leavers {
  readonly #options: LeaversOptions;
  /**
   * By the name of a configuration that is gone: the time (monotonic ms) when a round first found instances
   * of it to end.
   */
  readonly #since = new Map<string, number>();

  constructor(options: LeaversOptions) {
    this.#options = options;
  }

  /**
   * The facts of a round; undefined: the configuration is there, or none of its instances is to end. The wait for
   * players begins with the first round that finds an instance to end. A new leader begins the wait anew.
   */
  observe(name: string): LeavingFacts | undefined {
    const facts = this.factsOf(name);
    if (facts === undefined) this.#since.delete(name);
    else if (!this.#since.has(name)) this.#since.set(name, this.#options.clock.monotonic());
    return facts;
  }

  /** The same facts as `observe`, for `why`. It starts no wait for players. */
  factsOf(name: string): LeavingFacts | undefined {
    const facts = this.#isGone(name) ? this.without(name) : undefined;
    if (facts === undefined || facts.leaving.length === 0) return undefined;
    const now = this.#options.clock.monotonic();
    const passedMs = now - (this.#since.get(name) ?? now);
    return {
      name,
      leaving: facts.leaving.map((one) => ({ ...one, patience: after(one.patience, passedMs) })),
    };
  }

  /** The instances that would end if the configuration were gone. */
  without(name: string): LeavingFacts {
    const { instances, instancesByConfiguration, revisions } = this.#options;
    const leaving: LeavingInstance[] = [];
    for (const id of instancesByConfiguration.get(name)) {
      const record = instances.get(id)?.value;
      if (record === undefined || !isStanding(record)) continue;
      const content = revisions.get(record.revision)?.value;
      if (content?.onDelete !== 'stop') continue;
      leaving.push({ id, players: playersOf(record), patience: patienceOf(content) });
    }
    return { name, leaving };
  }

  /** Carries out one step: stops a static instance, removes any other. */
  async perform({ name, id, evenUsed }: EndStep<'leave'>): Promise<void> {
    const { writer, logger } = this.#options;
    const isDue = (record: InstanceRecord): boolean =>
      isStanding(record) && (evenUsed || !hasPlayers(record)) && this.#isGone(name);
    const isRemoved = await writer.removeWhile(id, (record) => !record.static && isDue(record));
    if (!isRemoved && !(await writer.stopWhile(id, (record) => record.static && isDue(record))))
      throw new Conflict(`instance ${id} has players now, or has ended, or its configuration is back`);
    logger.info(
      { configuration: name, instance: id },
      `${isRemoved ? 'removing' : 'stopping'} ${id}: ${name} is gone, and onDelete of its content is "stop"`,
    );
  }

  /** True when the configuration is gone. A configuration whose record cannot be read is not gone. */
  #isGone(name: string): boolean {
    const { configurations } = this.#options;
    return configurations.get(name) === undefined && !configurations.setAside.has(name);
  }
}

/** True for an instance that may still end: a static one is stopped, any other removed. */
function isStanding({ desired, static: isStatic }: InstanceRecord): boolean {
  return isStatic ? desired.goal === 'run' : desired.goal !== 'remove';
}
