/**
 * The facts about all configurations: those in the change stream are live, the others are asked for again and again.
 */
import type { ConfigurationFileError } from '../../../model/configuration.js';
import type { RemovedConfiguration } from '../../../operations/configuration-list.js';
import { useServices } from '../../services/services.js';
import { useAsked, useEntries, useTopic } from '../../services/use-live.js';
import { type ConfigurationRow, countInstances, rowsOf } from './rows.js';

/** How often the screen asks for broken files, which are not in the change stream. */
const ASK_EVERY_MS = 5_000;

interface KnownConfigurations {
  readonly rows: readonly ConfigurationRow[];
  readonly isLoaded: boolean;
  readonly error: unknown;
  /** Asks again at once, after a change. */
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
