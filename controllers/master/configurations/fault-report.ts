/** Logs each fault of a configuration file once, and once more when it is gone. Remembers which faults it logged. */
import type { ConfigurationFileError } from '../../../src/model/configuration.js';
import type { Logger } from '../../../src/telemetry/logger.js';

export class FaultReport {
  readonly #logger: Logger;
  #told: readonly ConfigurationFileError[] = [];

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** The faults of the last call of `tell`. */
  get told(): readonly ConfigurationFileError[] {
    return this.#told;
  }

  /** Takes all present faults, one for each file, and logs the differences. */
  tell(faults: readonly ConfigurationFileError[]): void {
    const before = new Map(this.#told.map((fault) => [fault.file, fault.message]));
    this.#told = faults;
    for (const { file, line, column, field, message } of faults) {
      if (before.get(file) === message) continue;
      const place = line === null ? file : `${file}:${line}:${column}`;
      this.#logger.error({ file, line, column, field }, `configuration error in ${place}: ${message}`);
    }
    const present = new Set(faults.map(({ file }) => file));
    for (const file of before.keys())
      if (!present.has(file)) this.#logger.info({ file }, `configuration error in ${file} is gone`);
  }
}
