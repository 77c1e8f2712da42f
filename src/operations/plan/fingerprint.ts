/** Sums up a plan, so that a caller who saw it can ask whether it still holds. Pure. */
import { createHash } from 'node:crypto';
import type { ParsedConfiguration } from '../../configuration-files/parse.js';
import { canonicalJson } from '../../model/configuration.js';
import type { PlannedConfiguration } from './change-plan.js';
import type { Shortage } from './forecast.js';

/**
 * The fingerprint of a plan. Two plans have the same fingerprint when they replace the same contents by the
 * same contents, with the same outcome. Players, free capacity and untouched instances do not count, because
 * they change all the time and no caller decides by them.
 */
export function fingerprintOf(
  configurations: readonly PlannedConfiguration[],
  contents: readonly { readonly name: string; readonly parsed: Pick<ParsedConfiguration, 'hash'> }[],
  shortages: readonly Shortage[],
): string {
  const hashes = new Map(contents.map(({ name, parsed }) => [name, parsed.hash]));
  const decided = configurations.map(({ name, action, revision, fileState, effects }) => {
    const { keep: _keep, waitForPlayers: _waitForPlayers, ...counts } = effects;
    return { name, action, revision, fileState, to: hashes.get(name) ?? null, counts };
  });
  const missing = shortages.map(({ configurationName, missing: count }) => [configurationName, count]);
  const text = canonicalJson({ decided: decided.toSorted((a, b) => (a.name < b.name ? -1 : 1)), missing });
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
