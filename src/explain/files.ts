/** Faults of configuration files in words, and which of them concern a configuration. */

import { basename } from 'node:path';
import { fileWarningText } from '../configuration-files/file-warnings.js';
import type {
  ConfigurationFileError,
  ConfigurationFileWarning,
  ConfigurationRecord,
} from '../model/configuration.js';
import type { InstanceRecord } from '../model/instance.js';
import { isOfTemplate } from '../model/plain/template-fault.js';
import { listText } from '../model/words.js';
import { isOfConfiguration } from './concerns.js';

/** Faults of the configuration's own file, of files that claim its name, and of the directory as a whole. */
export function faultsOf(
  name: string,
  record: ConfigurationRecord | undefined,
  errors: readonly ConfigurationFileError[],
): ConfigurationFileError[] {
  return errors.filter(
    (error) =>
      !isOfTemplate(error) &&
      (!isOfOneFile(error) || error.file === record?.sourceFile || claimedName(error) === name),
  );
}

/** True for a fault of a single file, not of the directory or the store. */
export function isOfOneFile({ file }: ConfigurationFileError): boolean {
  return isOfConfiguration(file);
}

/** A fault in words, with its consequence: `lobby.json is broken at line 7 (ramMB): must be …`. */
export function describeFault(
  error: ConfigurationFileError,
  record: ConfigurationRecord | undefined,
): string {
  const { file, message } = error;
  if (!isOfOneFile(error)) return `Configuration files (${file}): ${sentence(message)}`;
  const place = error.line === null ? '' : ` at line ${error.line}`;
  const kept =
    record?.sourceFile === file ? ' What it said before stays in force.' : ' Nothing in it is in force.';
  return `${file} is broken${place}: ${sentence(message)}${kept}`;
}

/** The name that the file gives; if that cannot be read, its file name. */
export function claimedName({ file, name }: ConfigurationFileError): string {
  return name ?? basename(file, '.json');
}

/** `text` with a full stop, unless it ends like a sentence. */
export function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/** How many instances are named; further ones are only counted. */
const MOST_NAMED = 3;

/** The warnings of one configuration: those of its file, then each distinct one of its instances once. */
export function warningTexts(
  ofFile: readonly ConfigurationFileWarning[],
  instances: Iterable<Pick<InstanceRecord, 'id' | 'status'>>,
): string[] {
  const byText = new Map<string, string[]>();
  for (const { id, status } of instances)
    if (status.warning !== undefined) byText.set(status.warning, [...(byText.get(status.warning) ?? []), id]);
  return [
    ...ofFile.map(fileWarningText),
    ...[...byText].map(([text, ids]) => `${idsText(ids.toSorted())}: ${text}`),
  ];
}

function idsText(ids: readonly string[]): string {
  return ids.length === 1 ? `instance ${ids[0]}` : `instances ${listText(ids, MOST_NAMED)}`;
}
