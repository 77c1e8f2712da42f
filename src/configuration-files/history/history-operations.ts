/**
 * What a change of a configuration's record adds to its history, in the same transaction. The history goes with the
 * configuration.
 */

import type { ConfigurationRecord } from '../../model/configuration.js';
import {
  type ConfigurationHistory,
  contentsOf,
  endOf,
  withContent,
} from '../../model/configuration-history.js';
import type { RolloutRecord } from '../../model/rollout.js';
import { historyKey } from '../../store/keys.js';
import type { MirrorReader } from '../../store/mirror.js';
import type { Operation } from '../../store/store.js';
import type { ContentSource } from './content-origins.js';

export interface HistoryRecords {
  readonly configurations: Pick<MirrorReader<ConfigurationRecord>, 'get'>;
  readonly histories: Pick<MirrorReader<ConfigurationHistory>, 'get' | 'setAside'>;
  readonly rollouts: Pick<MirrorReader<RolloutRecord>, 'get'>;
}

interface HistoryChange {
  /** Of the configuration. */
  readonly name: string;
  /** The content that it gets; undefined: it is removed. */
  readonly content: NewContent | undefined;
  /** Unix milliseconds. */
  readonly at: number;
}

interface NewContent {
  readonly revision: string;
  readonly source: ContentSource;
  /** Whose file it is. */
  readonly node: string;
}

/** One operation, or none. A history that cannot be read begins anew. */
export function historyOperations(
  { configurations, histories, rollouts }: HistoryRecords,
  { name, content, at }: HistoryChange,
): Operation[] {
  const key = historyKey(name);
  const kept = histories.get(name);
  const expectedRevision = kept?.revision ?? histories.setAside.get(name)?.revision ?? 0;
  if (content === undefined) return expectedRevision === 0 ? [] : [{ do: 'remove', key, expectedRevision }];
  const { revision, source, node } = content;
  const contents = contentsOf(kept?.value, configurations.get(name)?.value);
  const end =
    source.rollback === undefined
      ? endOf(rollouts.get(name)?.value, contents.at(-1)?.revision ?? '')
      : ({ outcome: 'rolled-back', reason: source.rollback } as const);
  const value = withContent(contents, { revision, origin: { ...source.origin, node }, at, end });
  return [
    expectedRevision === 0 ? { do: 'create', key, value } : { do: 'update', key, value, expectedRevision },
  ];
}
