/**
 * What a change of a configuration's record adds to its history, in the same transaction. The history goes with the
 * configuration.
 */

import type { ConfigurationRecord } from '../model/configuration.js';
import { type ConfigurationHistory, contentsOf, endOf, withContent } from '../model/configuration-history.js';
import type { RolloutRecord } from '../model/rollout.js';
import { historyKey } from '../store/keys.js';
import type { MirrorReader } from '../store/mirror.js';
import type { Operation } from '../store/store.js';
import type { ContentSource } from './source.js';

export interface HistoryRecords {
  readonly configurations: Pick<MirrorReader<ConfigurationRecord>, 'get'>;
  readonly histories: Pick<MirrorReader<ConfigurationHistory>, 'get' | 'setAside'>;
  readonly rollouts: Pick<MirrorReader<RolloutRecord>, 'get'>;
}

export interface HistoryChange {
  /** Of the configuration. */
  readonly name: string;
  /** The content that it gets; undefined: it keeps the one that it has, or is removed. */
  readonly revision: string | undefined;
  readonly isRemoved: boolean;
  /** Who brings the content; undefined: it gets none. */
  readonly source: ContentSource | undefined;
  /** Unix milliseconds. */
  readonly at: number;
}

/** One operation, or none where the content stays the same. A history that cannot be read begins anew. */
export function historyOperations(
  { configurations, histories, rollouts }: HistoryRecords,
  { name, revision, isRemoved, source, at }: HistoryChange,
): Operation[] {
  const key = historyKey(name);
  const kept = histories.get(name);
  const expectedRevision = kept?.revision ?? histories.setAside.get(name)?.revision ?? 0;
  if (isRemoved) return expectedRevision === 0 ? [] : [{ do: 'remove', key, expectedRevision }];
  if (source === undefined || revision === undefined) return [];
  const { origin, rollback: reason } = source;
  const contents = contentsOf(kept?.value, configurations.get(name)?.value);
  const end =
    reason === undefined
      ? endOf(rollouts.get(name)?.value, contents.at(-1)?.revision ?? '')
      : ({ outcome: 'rolled-back', reason } as const);
  const value = withContent(contents, { revision, origin, at, end });
  return [
    expectedRevision === 0 ? { do: 'create', key, value } : { do: 'update', key, value, expectedRevision },
  ];
}
