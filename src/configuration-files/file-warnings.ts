/** Lists the fields of configuration files without effect, and logs each of these warnings once. */
import type { ConfigurationFileWarning } from '../model/configuration.js';
import type { Logger } from '../telemetry/logger.js';
import type { Reading } from './directory.js';

/** The warnings on these files, file by file. */
export function fileWarnings(files: ReadonlyMap<string, Reading>): ConfigurationFileWarning[] {
  const found: ConfigurationFileWarning[] = [];
  for (const [file, reading] of files) {
    if (reading.kind === 'broken') continue;
    const { warnings, configuration } = reading.parsed;
    for (const warning of warnings) found.push({ ...warning, file, name: configuration.name });
  }
  return found;
}

/**
 * The warning in one line: `lobby.json:7:3: restartPolcy: unknown field, has no effect; did you mean "restartPolicy"?`.
 */
export function fileWarningText({ file, line, column, field, message }: ConfigurationFileWarning): string {
  return `${file}:${line}:${column}: ${field}: ${message}`;
}

export class FileWarningLog {
  readonly #logger: Pick<Logger, 'warn'>;
  #told: ReadonlySet<string> = new Set();
  #unread: ReadonlyMap<string, string> = new Map();

  constructor(logger: Pick<Logger, 'warn'>) {
    this.#logger = logger;
  }

  /** Called after each look at the directory, with the reasons why names are not read. */
  tellUnread(unread: ReadonlyMap<string, string>): void {
    for (const [file, why] of unread)
      if (!this.#unread.has(file)) this.#logger.warn({ file }, `${file} is not read: ${why}`);
    this.#unread = unread;
  }

  /** Called with all files after each look. */
  tell(files: ReadonlyMap<string, Reading>): void {
    const told = new Set<string>();
    for (const warning of fileWarnings(files)) {
      const text = fileWarningText(warning);
      told.add(text);
      if (!this.#told.has(text)) this.#logger.warn({ file: warning.file }, `configuration file ${text}`);
    }
    this.#told = told;
  }
}
