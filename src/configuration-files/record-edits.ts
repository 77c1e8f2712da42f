/** Edits of configuration records by a master's files or API. The leader writes each as a compare-and-set. */
import { z } from 'zod';
import type { Clock } from '../loop/clock.js';
import type { ConfigurationRecord } from '../model/configuration.js';
import {
  type ConfigurationHistory,
  contentOriginSchema,
  contentsOf,
  endOf,
  withContent,
} from '../model/configuration-history.js';
import { DroverError } from '../model/errors.js';
import { nameSchema } from '../model/names.js';
import type { RolloutRecord } from '../model/rollout.js';
import { configurationKey, historyKey, revisionKey } from '../store/keys.js';
import type { MirrorReader } from '../store/mirror.js';
import { MAX_OPERATIONS, type Operation, type Store } from '../store/store.js';
import { isConfigurationFile } from './file-names.js';
import type { ContentSource } from './history/content-origins.js';
import { type ParsedConfiguration, validateConfiguration } from './parse.js';

export type RecordEdit =
  | {
      readonly do: 'put';
      readonly name: string;
      /** The file that has the content, and who wrote it. */
      readonly source: ContentSource;
      readonly parsed: Pick<ParsedConfiguration, 'configuration' | 'content' | 'hash'>;
      /** The revision that the record must have; 0: it must not exist. */
      readonly expectedRevision: number;
    }
  | { readonly do: 'remove'; readonly name: string; readonly expectedRevision: number };

/** The most changes in one transaction: each writes a record, its revision and its history. */
const CHANGES_AT_ONCE = Math.floor(MAX_OPERATIONS / 3);
/** The most content in one transaction: a store on etcd takes 1.5 MiB at once, and a content goes into two records. */
const LONGEST_CONTENTS = 256 * 1024;
/** The most characters of a caller's key name, and of the reason for a rollback. Histories keep both. */
const LONGEST_WORDS = 500;

type Shown = Pick<MirrorReader<unknown>, 'until'>;

/** The state that the leader needs to make a transaction of edits. */
interface EditedState {
  readonly store: Pick<Store, 'barrier'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly configurations: Pick<MirrorReader<ConfigurationRecord>, 'get'> & Shown;
  readonly histories: Pick<MirrorReader<ConfigurationHistory>, 'get' | 'setAside'> & Shown;
  readonly rollouts: Pick<MirrorReader<RolloutRecord>, 'get'> & Shown;
}

/**
 * The transaction of edits and their additions to the histories. It first waits until the mirrors show all
 * earlier writes, so that an edit conflicts only with somebody else's change. `sourceNode`: the node that
 * brings the edits.
 */
export async function transactionOf(
  edits: readonly RecordEdit[],
  sourceNode: string,
  state: EditedState,
): Promise<Operation[]> {
  const { store, configurations, histories, rollouts } = state;
  const revision = await store.barrier();
  await Promise.all([configurations, histories, rollouts].map((mirror) => mirror.until(revision)));
  return edits.flatMap((edit) => operationsOf(edit, sourceNode, state));
}

/** The operations of one edit. A history is removed with its configuration; an unreadable history begins anew. */
function operationsOf(edit: RecordEdit, sourceNode: string, state: EditedState): Operation[] {
  const { name, expectedRevision } = edit;
  const key = configurationKey(name);
  const before = state.configurations.get(name)?.value;
  const kept = state.histories.get(name);
  const keptRevision = kept?.revision ?? state.histories.setAside.get(name)?.revision ?? 0;
  if (edit.do === 'remove') {
    const removal: Operation = { do: 'remove', key, expectedRevision };
    if (keptRevision === 0) return [removal];
    return [removal, { do: 'remove', key: historyKey(name), expectedRevision: keptRevision }];
  }
  const { origin, rollback } = edit.source;
  const { configuration, hash } = edit.parsed;
  const value: ConfigurationRecord = { configuration, sourceFile: origin.file, sourceNode, hash };
  const record = written(key, value, expectedRevision);
  // If only the source changed, the history has this content already.
  if (before?.hash === hash) return [record];
  const contents = contentsOf(kept?.value, before);
  const end =
    rollback === undefined
      ? endOf(state.rollouts.get(name)?.value, contents.at(-1)?.revision ?? '')
      : ({ outcome: 'rolled-back', reason: rollback } as const);
  const added = { revision: hash, origin: { ...origin, node: sourceNode }, at: state.clock.now(), end };
  return [
    record,
    { do: 'put', key: revisionKey(hash), value: configuration },
    written(historyKey(name), withContent(contents, added), keptRevision),
  ];
}

/** Writes a record; `expectedRevision` 0: the record must not exist. */
function written(key: string, value: unknown, expectedRevision: number): Operation {
  return expectedRevision === 0
    ? { do: 'create', key, value }
    : { do: 'update', key, value, expectedRevision };
}

const fileName = z.string().max(4096).refine(isConfigurationFile, { error: 'is no file of configurations' });
const sourceSchema = z.object({
  origin: contentOriginSchema.omit({ node: true }).extend({
    file: fileName,
    key: z.string().max(LONGEST_WORDS).nullable(),
    commit: z
      .string()
      .regex(/^[0-9a-f]{40,64}$/)
      .nullable(),
  }),
  rollback: z.string().max(LONGEST_WORDS).optional(),
});
const expectedRevision = z.int().min(0);
const questionSchema = z
  .array(
    z.discriminatedUnion('do', [
      z.object({
        do: z.literal('put'),
        name: nameSchema,
        source: sourceSchema,
        content: z.unknown(),
        expectedRevision,
      }),
      z.object({ do: z.literal('remove'), name: nameSchema, expectedRevision }),
    ]),
  )
  .min(1)
  .max(CHANGES_AT_ONCE);

/** The edits in the form that travels to another master. */
export function encodeEdits(edits: readonly RecordEdit[]): unknown {
  return edits.map((edit) => {
    if (edit.do === 'remove') return edit;
    const { parsed, ...rest } = edit;
    return { ...rest, content: parsed.content };
  });
}

/** Decodes and judges edits that another master sent. Throws DRV_REQUEST_INVALID and DRV_CONFIGURATION_INVALID. */
export function decodeEdits(question: unknown): RecordEdit[] {
  const { data, error } = questionSchema.safeParse(question);
  if (data === undefined)
    throw new DroverError('DRV_REQUEST_INVALID', `no edits of configurations: ${error.message}`);
  return data.map((edit): RecordEdit => {
    if (edit.do === 'remove') return edit;
    const { content, source, ...rest } = edit;
    return {
      ...rest,
      source: { origin: source.origin, rollback: source.rollback },
      parsed: validateConfiguration(edit.name, content),
    };
  });
}

/** Cuts edits into transactions, in order. A content that is too long for any transaction stands alone. */
export function inTransactions(edits: readonly RecordEdit[]): RecordEdit[][] {
  const transactions: RecordEdit[][] = [];
  let length = 0;
  for (const edit of edits) {
    const added = edit.do === 'put' ? JSON.stringify(edit.parsed.content).length : 0;
    const last = transactions.at(-1);
    length += added;
    if (last !== undefined && last.length < CHANGES_AT_ONCE && length <= LONGEST_CONTENTS) last.push(edit);
    else {
      transactions.push([edit]);
      length = added;
    }
  }
  return transactions;
}
