/** Warnings in words: fields of a configuration without effect, and what the last installs of its instances found. */
import { fileWarningText } from '../configuration-files/file-warnings.js';
import type { ConfigurationFileWarning } from '../model/configuration.js';
import type { InstanceRecord } from '../model/instance.js';

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
  if (ids.length === 1) return `instance ${ids[0]}`;
  const named = ids.slice(0, MOST_NAMED).join(', ');
  return ids.length <= MOST_NAMED
    ? `instances ${named}`
    : `instances ${named} and ${ids.length - MOST_NAMED} more`;
}
