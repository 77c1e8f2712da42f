/**
 * The facts about all configurations. The change stream brings entries and instances; the rest is asked for every
 * few seconds.
 */
import type { ConfigurationDirectory } from '../../../operations/configuration-file-list.js';
import { useEntries, useGot, useRound, useTopic } from '../../services/services.js';
import { rowsOf } from './rows.js';

export function useConfigurations() {
  const entries = useEntries('configurations');
  const { version, isLoaded } = useTopic('configurations');
  const health = useEntries('health');
  const isHealthLoaded = useTopic('health').isLoaded.value;
  const round = useRound();
  const path = '/configuration-files/directory';
  const asked = useGot<ConfigurationDirectory>(path, [round, version.value]);
  const { value: directory = null, error } = asked.value;
  return {
    rows: rowsOf({ entries, health: health.values(), directory }),
    isLoaded: isLoaded.value && isHealthLoaded && (asked.value.value !== undefined || error !== null),
    error,
    /** The standing of the directory in git, in words; null: it is in no work tree, or not loaded yet. */
    git: directory?.text ?? null,
    /** Asks again at once, after a change. */
    again: asked.again,
  };
}
