/**
 * Sets the minimum number of instances of a configuration: `config scale`. The client does the same through two routes.
 */

import { type ScaledConfiguration, withMinimum } from '../model/plain/scaled-content.js';
import { contentOf } from './configuration-content.js';
import type { Reads } from './reads.js';
import type { Writes } from './writes.js';

/**
 * Writes the file with the new minimum and no other change. Throws DRV_CONFIGURATION_UNKNOWN and the errors of
 * `ConfigurationFiles.put`, such as DRV_CONFIGURATION_CHANGED. `by`: the caller's name in the audit trail.
 */
export async function scaleConfiguration(
  needs: Reads & Writes,
  name: string,
  { count, by }: { readonly count: number; readonly by: string },
): Promise<ScaledConfiguration> {
  const { content, revision } = await contentOf(needs, name);
  const scaled = withMinimum(content, count);
  const precondition = { is: 'existing', revisions: [revision] } as const;
  await needs.configurationFiles.put(name, scaled.content, { precondition, by: { key: by } });
  return { name, before: scaled.before, after: count };
}
