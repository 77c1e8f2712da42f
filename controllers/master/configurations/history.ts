/**
 * What a change of a configuration's record adds to its history, in the same transaction. The history goes with the
 * configuration.
 */
import type { ConfigurationRecord } from '../../../src/model/configuration.js';
import {
  type ConfigurationHistory,
  type ContentOrigin,
  contentsOf,
  withContent,
} from '../../../src/model/configuration-history.js';
import { historyKey } from '../../../src/store/keys.js';
import type { MirrorReader } from '../../../src/store/mirror.js';
import type { Operation } from '../../../src/store/store.js';
import type { RecordChange } from './plan.js';

export interface HistoryRecords {
  readonly configurations: Pick<MirrorReader<ConfigurationRecord>, 'get'>;
  readonly histories: Pick<MirrorReader<ConfigurationHistory>, 'get' | 'setAside'>;
}

export interface HistoryChange {
  readonly change: RecordChange;
  /** Absent: the configuration goes. */
  readonly origin: ContentOrigin | undefined;
  /** Unix milliseconds. */
  readonly at: number;
}

/** One operation, or none where the content stays the same. A history that cannot be read begins anew. */
export function historyOperations(
  { configurations, histories }: HistoryRecords,
  { change, origin, at }: HistoryChange,
): Operation[] {
  const { name } = change;
  const key = historyKey(name);
  const kept = histories.get(name);
  const expectedRevision = kept?.revision ?? histories.setAside.get(name)?.revision ?? 0;
  if (change.do === 'remove') return expectedRevision === 0 ? [] : [{ do: 'remove', key, expectedRevision }];
  if (!change.isNewContent || origin === undefined) return [];
  const value = withContent(contentsOf(kept?.value, configurations.get(name)?.value), {
    revision: change.parsed.hash,
    origin,
    at,
    end: { outcome: 'replaced', reason: null },
  });
  return [
    expectedRevision === 0 ? { do: 'create', key, value } : { do: 'update', key, value, expectedRevision },
  ];
}
