/** Runs the configurations controller, and lets the files' part wait until the records have followed the files. */
import type { RecordFollower } from '../../../src/configuration-files/record-follower.js';
import type { Controller } from '../../../src/loop/controller.js';
import type { Part } from '../../../src/loop/lifecycle.js';
import type { ConfigurationFileError } from '../../../src/model/configuration.js';
import { DroverError } from '../../../src/model/errors.js';
import type { ConfigurationFacts, ConfigurationStep } from './plan.js';
import type { Configurations } from './reconciler.js';

/**
 * Far more than needed: this controller is the only ordinary writer, and each conflict is lost to a write that
 * succeeded.
 */
const MOST_CONFLICTS = 10;

export class ConfigurationFollower implements RecordFollower, Part {
  readonly #reconciler: Configurations;
  readonly #controller: Controller<ConfigurationFacts, ConfigurationStep>;
  readonly #key: string;
  #isStopped = false;

  constructor(
    reconciler: Configurations,
    controller: Controller<ConfigurationFacts, ConfigurationStep>,
    key: string,
  ) {
    this.#reconciler = reconciler;
    this.#controller = controller;
    this.#key = key;
  }

  start(): void {
    this.#controller.start();
  }

  stop(): Promise<void> {
    this.#isStopped = true;
    return this.#controller.stop();
  }

  wake(): void {
    this.#controller.enqueue(this.#key);
  }

  whenIdle(): Promise<void> {
    return this.#controller.whenIdle();
  }

  faults(): readonly ConfigurationFileError[] {
    return this.#reconciler.faults();
  }

  /** One master: nothing is changed elsewhere. */
  conflicts(): readonly [] {
    return [];
  }

  async follow(): Promise<void> {
    for (let tries = 0; tries < MOST_CONFLICTS; tries++) {
      this.wake();
      await this.whenIdle();
      if (this.#reconciler.isSettled()) return;
      if (this.#isStopped) throw new DroverError('DRV_NOT_READY', 'the master is stopping');
      if (this.#reconciler.refusal !== undefined) throw this.#reconciler.refusal;
    }
    throw new DroverError('DRV_STORE_CONFLICT', 'the configurations change faster than they can be written');
  }
}
