/**
 * What a change of a configuration's record adds to its history, in the same transaction. The history goes with the
 * configuration.
 */
import type { ContentSource } from '../../../src/configuration-files/source.js';
import type { ConfigurationRecord } from '../../../src/model/configuration.js';
import {
  type ConfigurationHistory,
  contentsOf,
  endOf,
  withContent,
} from '../../../src/model/configuration-history.js';
import type { RolloutRecord } from '../../../src/model/rollout.js';
import { historyKey } from '../../../src/store/keys.js';
import type { MirrorReader } from '../../../src/store/mirror.js';
import type { Operation } from '../../../src/store/store.js';
import type { RecordChange } from './plan.js';

export interface HistoryRecords {
  readonly configurations: Pick<MirrorReader<ConfigurationRecord>, 'get'>;
  readonly histories: Pick<MirrorReader<ConfigurationHistory>, 'get' | 'setAside'>;
  readonly rollouts: Pick<MirrorReader<RolloutRecord>, 'get'>;
}

export interface HistoryChange {
  readonly change: RecordChange;
  /** Undefined: it brings no new content. */
  readonly source: ContentSource | undefined;
  /** Unix milliseconds. */
  readonly at: number;
}

/** One operation, or none where the content stays the same. A history that cannot be read begins anew. */
export function historyOperations(
  { configurations, histories, rollouts }: HistoryRecords,
  { change, source, at }: HistoryChange,
): Operation[] {
  const { name } = change;
  const key = historyKey(name);
  const kept = histories.get(name);
  const expectedRevision = kept?.revision ?? histories.setAside.get(name)?.revision ?? 0;
  if (change.do === 'remove') return expectedRevision === 0 ? [] : [{ do: 'remove', key, expectedRevision }];
  if (source === undefined) return [];
  const { origin, rollback: reason } = source;
  const contents = contentsOf(kept?.value, configurations.get(name)?.value);
  const end =
    reason === undefined
      ? endOf(rollouts.get(name)?.value, contents.at(-1)?.revision ?? '')
      : ({ outcome: 'rolled-back', reason } as const);
  const value = withContent(contents, { revision: change.parsed.hash, origin, at, end });
  return [
    expectedRevision === 0 ? { do: 'create', key, value } : { do: 'update', key, value, expectedRevision },
  ];
}
