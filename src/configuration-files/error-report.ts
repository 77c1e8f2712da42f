/** The faults of configuration files as they stand, for `errors()`; each is logged once, and once more when it is gone. */
import type { ConfigurationFileError } from '../model/configuration.js';
import type { Logger } from '../telemetry/logger.js';
import type { Reading } from './directory.js';

export class ErrorReport {
  readonly #logger: Logger;
  #errors: ReadonlyMap<string, ConfigurationFileError> = new Map();
  #unknownFields: ReadonlyMap<string, string> = new Map();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  list(): readonly ConfigurationFileError[] {
    return [...this.#errors.values()];
  }

  /** All faults there are now. `isUnsure`: somebody is writing, so those not named stay for the moment. */
  show(errors: readonly ConfigurationFileError[], isUnsure: boolean): void {
    const next = new Map(isUnsure ? this.#errors : []);
    for (const error of errors) next.set(error.file, error);
    for (const [file, error] of next) {
      if (this.#errors.get(file)?.message === error.message) continue;
      const { line, column, field } = error;
      const place = line === null ? file : `${file}:${line}:${column}`;
      this.#logger.error({ file, line, column, field }, `configuration error in ${place}: ${error.message}`);
    }
    for (const file of this.#errors.keys())
      if (!next.has(file)) this.#logger.info({ file }, `configuration error in ${file} is gone`);
    this.#errors = next;
  }

  /** Warns, once, of fields that are accepted but have no meaning. */
  showUnknownFields(files: ReadonlyMap<string, Reading>): void {
    const next = new Map<string, string>();
    for (const [file, reading] of files) {
      if (reading.kind !== 'valid' || reading.parsed.unknownFields.length === 0) continue;
      const names = reading.parsed.unknownFields.map((name) => JSON.stringify(name)).join(', ');
      next.set(file, names);
      if (this.#unknownFields.get(file) !== names)
        this.#logger.warn(
          { file },
          `configuration file ${file}: these unknown fields have no effect: ${names}`,
        );
    }
    this.#unknownFields = next;
  }
}
