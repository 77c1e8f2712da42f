/**
 * The facts about all configurations. The change stream brings entries and instances; the rest is asked for every
 * few seconds.
 */
import type { ConfigurationFileError } from '../../../model/configuration.js';
import type { RemovedConfiguration } from '../../../operations/configuration-list.js';
import { useAsked, useEntries, useRound, useTopic } from '../../services/services.js';
import { countInstances, rowsOf } from './rows.js';

export function useConfigurations() {
  const entries = useEntries('configurations');
  const { version, isLoaded } = useTopic('configurations');
  const instances = useEntries('instances');
  const round = useRound();
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
    /** Asks again at once, after a change. */
    again: asked.again,
  };
}
