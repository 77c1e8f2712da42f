/** The changes that callers made beside the files, for `config overrides`, its route and the page. */
import { z } from 'zod';
import { type ShownOverride, shownOverrideSchema, shownOverrides } from '../model/configuration-overrides.js';
import { CONFIGURATION_WRITES } from '../model/plain/configuration-writes.js';
import type { ShownValues } from '../model/plain/may-be-secret.js';
import type { Reads } from './reads.js';
import { shownValue } from './shown-differences.js';

export const listedOverridesSchema = z.object({
  writes: z
    .enum(CONFIGURATION_WRITES)
    .describe('where changes through the API go, by `configurationWrites` and git'),
  overrides: z.array(shownOverrideSchema).describe('by configuration and field'),
});
export type ListedOverrides = z.output<typeof listedOverridesSchema>;

/** All overrides that `sees` allows. */
export function listOverrides(
  { overrides, configurationFiles }: Reads,
  { sees, shown }: { readonly sees: (name: string) => boolean; readonly shown: ShownValues },
): ListedOverrides {
  const all = [...overrides.entries()]
    .filter(([name]) => sees(name))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([name, { value }]) => shownOverrides(name, value));
  return {
    writes: configurationFiles.place().writes,
    overrides: all.map((override) => withoutSecret(override, shown)),
  };
}

/** The file of a configuration that a caller removed beside it; undefined: there is none. */
export function fileBeside({ overrides }: Reads, name: string): string | undefined {
  const value = overrides.get(name)?.value;
  return value?.is === 'absent' ? value.file.sourceFile : undefined;
}

function withoutSecret(override: ShownOverride, shown: ShownValues): ShownOverride {
  const { field, fileValue, value } = override;
  if (field === null) return override;
  return {
    ...override,
    fileValue: shownValue(field, fileValue, shown),
    value: shownValue(field, value, shown),
  };
}
