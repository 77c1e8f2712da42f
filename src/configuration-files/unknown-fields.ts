/** Warns, once, of fields of configuration files that are accepted but have no meaning. */
import type { Logger } from '../telemetry/logger.js';
import type { Reading } from './directory.js';

export class UnknownFields {
  readonly #logger: Logger;
  /** By file, the names that it warned of. */
  #told: ReadonlyMap<string, string> = new Map();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Called with all files after each look. */
  tell(files: ReadonlyMap<string, Reading>): void {
    const told = new Map<string, string>();
    for (const [file, reading] of files) {
      if (reading.kind !== 'valid' || reading.parsed.unknownFields.length === 0) continue;
      const names = reading.parsed.unknownFields.map((name) => JSON.stringify(name)).join(', ');
      told.set(file, names);
      if (this.#told.get(file) === names) continue;
      this.#logger.warn(
        { file },
        `configuration file ${file}: these unknown fields have no effect: ${names}`,
      );
    }
    this.#told = told;
  }
}
