/** Edits of configuration records by a master's files or API. The leader writes each as a compare-and-set. */
import { z } from 'zod';
import type { ContentSource } from '../git/content-origins.js';
import type { Clock } from '../loop/clock.js';
import type { ConfigurationRecord } from '../model/configuration.js';
import {
  type ConfigurationHistory,
  contentOriginSchema,
  contentsOf,
  endOf,
  type NewContent,
  withContent,
} from '../model/configuration-history.js';
import {
  type ConfigurationOverrides,
  endedBy,
  type NextState,
  withFile,
  withRemoval,
  withWrite,
} from '../model/configuration-overrides.js';
import { DroverError } from '../model/errors.js';
import { commitSchema, nameSchema } from '../model/names.js';
import type { RolloutRecord } from '../model/rollout.js';
import { refuseFrozen, type Timetable } from '../model/schedule.js';
import { instantText, listText } from '../model/words.js';
import { configurationKey, historyKey, overridesKey, revisionKey } from '../store/keys.js';
import type { MirrorReader } from '../store/mirror.js';
import { MAX_OPERATIONS, type Operation, type Store } from '../store/store.js';
import type { Logger } from '../telemetry/logger.js';
import { isConfigurationFile } from './file-names.js';
import { type ParsedConfiguration, validateConfiguration } from './parse.js';

export type RecordEdit =
  | {
      readonly do: 'put';
      readonly name: string;
      /** The file that has the content, and who wrote it. */
      readonly source: ContentSource;
      readonly parsed: Pick<ParsedConfiguration, 'configuration' | 'content' | 'hash'>;
      /**
       * `file`: a file that Drover does not write says so, and overrides may stay. `override`: a caller says so, and the
       * file stays as it is. Absent: the content is the record, and overrides end.
       */
      readonly part?: 'file' | 'override' | undefined;
      /** The revision that the record must have; 0: it must not exist. */
      readonly expectedRevision: number;
    }
  | {
      readonly do: 'remove';
      readonly name: string;
      /** The caller who removes the configuration, while its file stays. Absent: overrides end. */
      readonly by?: Pick<OverrideMark, 'by' | 'reason'> | undefined;
      readonly expectedRevision: number;
    };

type OverrideMark = Parameters<typeof withRemoval>[1];

/** The most changes in one transaction: each writes a record, its revision, its history and its overrides. */
const CHANGES_AT_ONCE = Math.floor(MAX_OPERATIONS / 4);
/** The most content in one transaction: a store on etcd takes 1.5 MiB at once, and a content goes into three records. */
const LONGEST_CONTENTS = 256 * 1024;
/** The most ended overrides that a text names. */
const MOST_NAMED = 5;
/** The most characters of a caller's key name, and of the reason for a rollback. Histories keep both. */
const LONGEST_WORDS = 500;

type Shown = Pick<MirrorReader<unknown>, 'until'>;

/** The state that the leader needs to make a transaction of edits. */
interface EditedState {
  readonly store: Pick<Store, 'barrier'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly configurations: Pick<MirrorReader<ConfigurationRecord>, 'get'> & Shown;
  readonly histories: Pick<MirrorReader<ConfigurationHistory>, 'get' | 'setAside'> & Shown;
  readonly overrides: Pick<MirrorReader<ConfigurationOverrides>, 'get' | 'setAside'> & Shown;
  readonly rollouts: Pick<MirrorReader<RolloutRecord>, 'get'> & Shown;
  readonly timetables: Pick<MirrorReader<Timetable>, 'get'> & Shown;
  readonly logger: Pick<Logger, 'info'>;
}

/**
 * The transaction of edits and their additions to the histories. It first waits until the mirrors show all
 * earlier writes, so that an edit conflicts only with somebody else's change. `sourceNode`: the node that
 * brings the edits. Throws DRV_CONFIGURATION_FROZEN.
 */
export async function transactionOf(
  edits: readonly RecordEdit[],
  sourceNode: string,
  state: EditedState,
): Promise<Operation[]> {
  const { store, configurations, histories, overrides, rollouts, timetables } = state;
  const revision = await store.barrier();
  const mirrors = [configurations, histories, overrides, rollouts, timetables];
  await Promise.all(mirrors.map((mirror) => mirror.until(revision)));
  for (const { name } of edits) refuseFrozen(name, timetables.get(name)?.value);
  return edits.flatMap((edit) => operationsOf(edit, sourceNode, state));
}

/** The operations of one edit. A history is removed with its configuration; an unreadable history begins anew. */
function operationsOf(edit: RecordEdit, sourceNode: string, state: EditedState): Operation[] {
  const { name, expectedRevision } = edit;
  const key = configurationKey(name);
  const before = state.configurations.get(name)?.value;
  const { record, overrides, ended } = nextOf(edit, sourceNode, state);
  const why = whyEnded(ended);
  if (why !== undefined) state.logger.info({ configuration: name }, `configuration ${name}: ${why}`);
  const all = operationOf(overridesKey(name), overrides, revisionIn(state.overrides, name));
  const keptRevision = revisionIn(state.histories, name);
  if (record === undefined) {
    if (expectedRevision > 0 || before !== undefined) all.unshift({ do: 'remove', key, expectedRevision });
    return [...all, ...operationOf(historyKey(name), undefined, keptRevision)];
  }
  all.unshift(written(key, record, expectedRevision));
  // If only the source changed, the history has this content already.
  if (before?.hash === record.hash || edit.do === 'remove') return all;
  const { origin, rollback } = edit.source;
  const contents = contentsOf(state.histories.get(name)?.value, before);
  const end = endOf(state.rollouts.get(name)?.value, contents.at(-1)?.revision ?? '');
  const added: NewContent = {
    revision: record.hash,
    origin: { ...origin, node: sourceNode },
    at: state.clock.now(),
    end:
      rollback === undefined
        ? { ...end, reason: end.reason ?? why ?? null }
        : { outcome: 'rolled-back', reason: rollback },
  };
  all.push(
    { do: 'put', key: revisionKey(record.hash), value: record.configuration },
    written(historyKey(name), withContent(contents, added), keptRevision),
  );
  return all;
}

function nextOf(edit: RecordEdit, sourceNode: string, state: EditedState): NextState {
  const { name } = edit;
  const at = state.clock.now();
  const before = {
    record: state.configurations.get(name)?.value,
    overrides: state.overrides.get(name)?.value,
  };
  const whole = endedBy(before.overrides);
  if (edit.do === 'remove') {
    if (edit.by !== undefined) return withRemoval(before, { ...edit.by, at });
    return { record: undefined, overrides: undefined, ended: whole };
  }
  const { source, parsed, part } = edit;
  const { key: by, file: sourceFile } = source.origin;
  const commit = part === 'file' ? source.changedBy : undefined;
  const { configuration, hash } = parsed;
  const content = { configuration, sourceFile, sourceNode, hash, ...(commit !== undefined && { commit }) };
  if (part === 'file') return withFile(content, before, at);
  if (part === 'override')
    return withWrite(content, before, { by, at, reason: source.rollback ?? source.reason ?? null });
  return { record: content, overrides: undefined, ended: whole };
}

/** Writes a record, or removes it where it is there. */
function operationOf(key: string, value: unknown, expectedRevision: number): Operation[] {
  if (value !== undefined) return [written(key, value, expectedRevision)];
  return expectedRevision === 0 ? [] : [{ do: 'remove', key, expectedRevision }];
}

function revisionIn(mirror: Pick<MirrorReader<unknown>, 'get' | 'setAside'>, name: string): number {
  return mirror.get(name)?.revision ?? mirror.setAside.get(name)?.revision ?? 0;
}

/** Why overrides ended, for the log and the history; undefined: none did. */
function whyEnded(ended: NextState['ended']): string | undefined {
  if (ended.length === 0) return undefined;
  const each = ended.map(({ field, mark: { by, at } }) => {
    const who = by === null ? 'kept by "managed"' : `by key ${by}`;
    return `${field ?? 'the whole configuration'} (${who}, ${instantText(at)})`;
  });
  return `the files changed, which ends what callers had set: ${listText(each, MOST_NAMED)}`;
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
    commit: commitSchema.nullable(),
  }),
  rollback: z.string().max(LONGEST_WORDS).optional(),
  reason: z.string().max(LONGEST_WORDS).optional(),
  changedBy: commitSchema.optional(),
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
        part: z.enum(['file', 'override']).optional(),
        expectedRevision,
      }),
      z.object({
        do: z.literal('remove'),
        name: nameSchema,
        by: z.object({ by: z.string().nullable(), reason: z.string().nullable() }).optional(),
        expectedRevision,
      }),
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
      source: { ...source, rollback: source.rollback },
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
