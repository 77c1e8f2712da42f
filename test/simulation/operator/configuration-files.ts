/** The configuration files of the master's machine without files: the real plan and transactions over a map. */
import { HeldConfigurations } from '../../../src/configuration-files/held-configurations.js';
import { planConfigurations } from '../../../src/configuration-files/plan.js';
import { type Configuration, hashConfiguration } from '../../../src/model/configuration.js';
import { DroverError } from '../../../src/model/errors.js';
import type { Store } from '../../../src/store/store.js';
import type { Life } from '../machine/life.js';

const RETRY_MS = 1000;

/** One life's reader of the files. */
export class SimulatedConfigurationFiles {
  readonly #files: ReadonlyMap<string, Configuration>;
  readonly #held: HeldConfigurations;
  readonly #life: Life;
  #syncing: Promise<void> | undefined;
  #isAgain = false;

  constructor(files: ReadonlyMap<string, Configuration>, store: Store, life: Life) {
    this.#files = files;
    this.#held = new HeldConfigurations(store);
    this.#life = life;
  }

  /** Resolves when the store has what the files say; tries again while it cannot be written. */
  async sync(): Promise<void> {
    this.#isAgain = true;
    this.#syncing ??= this.#syncAll().finally(() => {
      this.#syncing = undefined;
    });
    await this.#syncing;
  }

  async #syncAll(): Promise<void> {
    while (this.#isAgain) {
      this.#isAgain = false;
      try {
        await this.#held.load();
        const { steps } = planConfigurations({
          files: this.#readings(),
          isSuspect: () => false,
          held: this.#held.held,
        });
        if (steps.length > 0) await this.#held.apply(steps);
      } catch (error) {
        if (!DroverError.is(error, 'DRV_STORE_WRITE_FAILED')) throw error;
        this.#isAgain = true;
        await new Promise<void>((resolve) => this.#life.clock.setTimer(RETRY_MS, resolve));
      }
    }
  }

  #readings() {
    return new Map(
      [...this.#files].map(([name, configuration]) => [
        `${name}.json`,
        {
          kind: 'valid' as const,
          signature: '',
          parsed: { configuration, hash: hashConfiguration(configuration), unknownFields: [] },
        },
      ]),
    );
  }
}
