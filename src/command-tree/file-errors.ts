/**
 * Describes problems beside the configurations in force: files with errors or warnings, and instances that outlived
 * their file.
 */
import type { ConfigurationFileError } from '../model/configuration.js';
import { countText } from '../model/words.js';
import type { RemovedConfiguration } from '../operations/configuration-list.js';

/** Returns a line such as `lobby.json:7:26: ramMB: must be ...`. */
export function describeFileError(error: ConfigurationFileError): string {
  const { file, node, line, column, field, message } = error;
  const place = line === null ? file : `${file}:${line}${column === null ? '' : `:${column}`}`;
  const whose = node === undefined ? '' : ` on node ${node}`;
  return `${place}${whose}: ${field === null || message.startsWith(field) ? '' : `${field}: `}${message}`;
}

/** Lines to add below other output; no lines when no file is broken. */
export function describeFileErrors(errors: readonly ConfigurationFileError[]): string[] {
  if (errors.length === 0) return [];
  return [
    'broken files (what was in force before stays in force):',
    ...errors.map((error) => `  ${describeFileError(error)}`),
  ];
}

/** Lines to add below other output; no lines when there are no warnings. */
export function describeWarnings(texts: readonly string[]): string[] {
  if (texts.length === 0) return [];
  return ['warnings (in force, but without the effect that was meant):', ...texts.map((text) => `  ${text}`)];
}

/** Lines to add below other output; no lines when every instance has its configuration. */
export function describeRemoved(removed: readonly RemovedConfiguration[]): string[] {
  if (removed.length === 0) return [];
  return [
    '',
    'configurations that are gone ("config why <name>" says what to do):',
    ...removed.map(({ name, instances, file }) => {
      const reset = file === undefined ? '' : `; ${file} still has it: "config reset ${name}" brings it back`;
      return `  ${name}: ${countText(instances, 'instance')}${reset}`;
    }),
  ];
}
