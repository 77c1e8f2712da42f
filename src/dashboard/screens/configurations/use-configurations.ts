/** What the screen knows of all configurations: live where the stream says it, asked again where it does not. */
import type { ConfigurationFileError } from '../../../model/configuration.js';
import type { RemovedConfiguration } from '../../../operations/configuration-list.js';
import { useServices } from '../../services/services.js';
import { useAsked, useEntries, useTopic } from '../../services/use-live.js';
import { type ConfigurationRow, countInstances, rowsOf } from './rows.js';

/** Broken files are not in the stream. They are asked for this often while the screen is shown. */
const ASK_EVERY_MS = 5_000;

export interface KnownConfigurations {
  readonly rows: readonly ConfigurationRow[];
  readonly isLoaded: boolean;
  readonly error: unknown;
  /** Asks anew at once: something was changed. */
  readonly again: () => void;
}

export function useConfigurations(): KnownConfigurations {
  const { clock } = useServices();
  const entries = useEntries('configurations');
  const { version, isLoaded } = useTopic('configurations');
  const instances = useEntries('instances');
  const round = Math.floor(clock.value / ASK_EVERY_MS);
  const asked = useAsked(
    async (api, signal) => {
      const [errors, removed] = await Promise.all([
        api.get<ConfigurationFileError[]>('/configuration-files/errors', { signal }),
        api.get<RemovedConfiguration[]>('/cluster/removed-configurations', { signal }),
      ]);
      return { errors, removed };
    },
    [round, version.value],
  );
  const { value = { errors: [], removed: [] }, error } = asked.value;
  return {
    rows: rowsOf({ entries: entries.values(), counts: countInstances(instances.values()), ...value }),
    isLoaded: isLoaded.value && (asked.value.value !== undefined || error !== null),
    error,
    again: asked.again,
  };
}
