/** The configuration files of the master's machine without files: a map that the real follower observes. */

import type { Reading } from '../../../src/configuration-files/directory.js';
import type { RecordFollower } from '../../../src/configuration-files/record-follower.js';
import type { ConfigurationSource } from '../../../src/configuration-files/source.js';
import { ContentOrigins } from '../../../src/git/content-origins.js';
import { type Configuration, hashConfiguration } from '../../../src/model/configuration.js';
import { DroverError } from '../../../src/model/errors.js';
import type { Life } from '../machine/life.js';

const RETRY_MS = 1000;

/** One life's reader of the files. */
export class SimulatedConfigurationFiles implements ConfigurationSource {
  readonly nodeId: string;
  readonly writes = 'file';
  readonly suspects = [];
  readonly fault = undefined;
  readonly directoryId = 'simulated';
  /** Nobody notes commits or writers. */
  readonly origins = new ContentOrigins('/simulated', { info: () => undefined });
  readonly #contents: ReadonlyMap<string, Configuration>;
  readonly #life: Life;
  #files: ReadonlyMap<string, Reading> | undefined;
  #syncing: Promise<void> = Promise.resolve();

  constructor(nodeId: string, contents: ReadonlyMap<string, Configuration>, life: Life) {
    this.nodeId = nodeId;
    this.#contents = contents;
    this.#life = life;
  }

  get files(): ReadonlyMap<string, Reading> | undefined {
    return this.#files;
  }

  async isAsRead(file: string): Promise<boolean> {
    const reading = this.#files?.get(file);
    const content = this.#contents.get(file.replace(/\.json$/, ''));
    return reading?.kind !== 'valid' || reading.parsed.configuration === content;
  }

  /**
   * Reads, and resolves when the store has what the files say; tries again while it cannot be written. One sync at a time.
   */
  sync(follower: Pick<RecordFollower, 'follow'>): Promise<void> {
    this.#syncing = this.#syncing.catch(() => undefined).then(() => this.#sync(follower));
    return this.#syncing;
  }

  async #sync(follower: Pick<RecordFollower, 'follow'>): Promise<void> {
    this.#files = this.#read();
    for (;;) {
      try {
        // Its operator means what they do.
        return await follower.follow('all');
      } catch (error) {
        if (!DroverError.is(error, 'DRV_STORE_WRITE_FAILED')) throw error;
        await new Promise<void>((resolve) => this.#life.clock.setTimer(RETRY_MS, resolve));
      }
    }
  }

  #read(): ReadonlyMap<string, Reading> {
    return new Map(
      [...this.#contents].map(([name, configuration]) => [
        `${name}.json`,
        {
          kind: 'valid',
          signature: '',
          parsed: {
            configuration,
            content: configuration,
            hash: hashConfiguration(configuration),
            warnings: [],
          },
        },
      ]),
    );
  }
}
