/** Edits of configuration records by a master's files or API. The leader writes each as a compare-and-set. */
import { z } from 'zod';
import type { Clock } from '../loop/clock.js';
import type { ConfigurationRecord } from '../model/configuration.js';
import { contentOriginSchema } from '../model/configuration-history.js';
import { DroverError } from '../model/errors.js';
import { nameSchema } from '../model/names.js';
import { configurationKey, revisionKey } from '../store/keys.js';
import type { MirrorReader } from '../store/mirror.js';
import type { Operation, Store } from '../store/store.js';
import { isConfigurationFile } from './directory.js';
import type { ContentSource } from './history/content-origins.js';
import { type HistoryRecords, historyOperations } from './history/history-operations.js';
import { type ParsedConfiguration, validateConfiguration } from './parse.js';
import { CHANGES_AT_ONCE } from './record-transactions.js';

export type RecordEdit =
  | {
      readonly do: 'put';
      readonly name: string;
      /** The file that says the content, and who wrote it. */
      readonly source: ContentSource;
      readonly parsed: Pick<ParsedConfiguration, 'configuration' | 'content' | 'hash'>;
      /** 0: the record must not exist. */
      readonly expectedRevision: number;
    }
  | { readonly do: 'remove'; readonly name: string; readonly expectedRevision: number };

/** The most characters of a caller's key name, and of the reason for a rollback. Histories keep both. */
const LONGEST_WORDS = 500;

/** The state that the leader needs to make a transaction of edits. */
interface EditedState extends HistoryRecords {
  readonly store: Pick<Store, 'barrier'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly configurations: HistoryRecords['configurations'] & Shown;
  readonly histories: HistoryRecords['histories'] & Shown;
  readonly rollouts: HistoryRecords['rollouts'] & Shown;
}
type Shown = Pick<MirrorReader<unknown>, 'until'>;

/**
 * The transaction of edits and their additions to the histories. It first waits until the mirrors show all earlier
 * writes, so that only foreign changes of a record conflict. `sourceNode`: the node that brings the edits.
 */
export async function transactionOf(
  edits: readonly RecordEdit[],
  sourceNode: string,
  { store, clock, ...records }: EditedState,
): Promise<Operation[]> {
  const { configurations, histories, rollouts } = records;
  const revision = await store.barrier();
  await Promise.all([configurations, histories, rollouts].map((mirror) => mirror.until(revision)));
  const at = clock.now();
  return edits.flatMap((edit) => operationsOf(edit, sourceNode, { records, at }));
}

function operationsOf(
  edit: RecordEdit,
  node: string,
  { records, at }: { readonly records: HistoryRecords; readonly at: number },
): Operation[] {
  const { name, expectedRevision } = edit;
  const key = configurationKey(name);
  if (edit.do === 'remove')
    return [
      { do: 'remove', key, expectedRevision },
      ...historyOperations(records, { name, content: undefined, at }),
    ];
  const { source, parsed } = edit;
  const { configuration, hash } = parsed;
  const value: ConfigurationRecord = {
    configuration,
    sourceFile: source.origin.file,
    sourceNode: node,
    hash,
  };
  const record: Operation =
    expectedRevision === 0 ? { do: 'create', key, value } : { do: 'update', key, value, expectedRevision };
  // If only the source changed, the history has this content already.
  if (records.configurations.get(name)?.value.hash === hash) return [record];
  return [
    record,
    { do: 'put', key: revisionKey(hash), value: configuration },
    ...historyOperations(records, { name, content: { revision: hash, source, node }, at }),
  ];
}

const fileName = z
  .string()
  .max(255)
  .refine((name) => isConfigurationFile(name) && !name.includes('/'), {
    error: 'is no file of configurations',
  });
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
