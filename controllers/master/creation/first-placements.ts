/** Waits for the first placement pass over a new instance, so that the answer to its client shows node and port. */

import type { Clock, TimerHandle } from '../../../src/loop/clock.js';
import type { InstanceRecord } from '../../../src/model/instance.js';
import type { StateRecords } from '../../../src/state/master-state.js';

const PATIENCE_MS = 250;

interface FirstPlacementsOptions extends StateRecords {
  readonly clock: Clock;
}

export class FirstPlacements {
  readonly #options: FirstPlacementsOptions;
  readonly #awaited = new Map<string, () => void>();

  constructor(options: FirstPlacementsOptions) {
    this.#options = options;
    options.instances.onChange((id, after) => {
      if (this.#awaited.size > 0 && (after === undefined || isAnswered(after.value)))
        this.#awaited.get(id)?.();
    });
  }

  /** The record after the placement pass, or after 250 ms if no pass came; undefined: the instance is gone. */
  async after(id: string): Promise<InstanceRecord | undefined> {
    const { instances, clock } = this.#options;
    const current = instances.get(id)?.value;
    if (current === undefined || isAnswered(current)) return current;
    let timer: TimerHandle | undefined;
    await new Promise<void>((resolve) => {
      this.#awaited.set(id, resolve);
      timer = clock.setTimer(PATIENCE_MS, resolve);
    });
    timer?.cancel();
    this.#awaited.delete(id);
    return instances.get(id)?.value;
  }
}

/** True when a placement pass has looked at the instance: it has a node, or a message says why it has none. */
function isAnswered(record: InstanceRecord): boolean {
  return record.placement !== null || record.status.message !== null;
}
