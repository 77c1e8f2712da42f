/** A store in memory whose disk the test can make slow or full. */
import type { Clock } from '../../../src/loop/clock.js';
import { DroverError } from '../../../src/model/errors.js';
import { EmbeddedStore } from '../../../src/store/embedded-store.js';
import { KeyTable } from '../../../src/store/key-table.js';
import { ChangeHistory } from '../../../src/store/watch.js';

export class FlakyStore extends EmbeddedStore {
  /** How long every commit takes. */
  latencyMs = 0;
  /** True: every commit fails. */
  isFull = false;
  /** How many commits failed. */
  failures = 0;
  readonly #clock: Clock;

  constructor(clock: Clock) {
    super(new KeyTable(new Map(), 0), new ChangeHistory(0));
    this.#clock = clock;
  }

  protected async write(): Promise<void> {
    if (this.latencyMs > 0)
      await new Promise<void>((resolve) => this.#clock.setTimer(this.latencyMs, resolve));
    if (!this.isFull) return;
    this.failures++;
    throw new DroverError('DRV_STORE_WRITE_FAILED', 'the disk is full');
  }

  protected async release(): Promise<void> {}
}
