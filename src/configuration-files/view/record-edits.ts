/** A change of the records of configurations by one master's files or API: a compare-and-set by the leader. */
import { z } from 'zod';
import type { ConfigurationRecord } from '../../model/configuration.js';
import { DroverError } from '../../model/errors.js';
import { nameSchema } from '../../model/names.js';
import { configurationKey, revisionKey } from '../../store/keys.js';
import { MAX_OPERATIONS, type Operation } from '../../store/store.js';
import { isConfigurationFile } from '../directory.js';
import { type ParsedConfiguration, validateConfiguration } from '../parse.js';

export type RecordEdit =
  | {
      readonly do: 'put';
      readonly name: string;
      /** The file that says it, on the node that brings it. */
      readonly file: string;
      readonly parsed: Pick<ParsedConfiguration, 'configuration' | 'content' | 'hash'>;
      /** 0: there is no record. */
      readonly expectedRevision: number;
    }
  | { readonly do: 'remove'; readonly name: string; readonly expectedRevision: number };

/** Each is two operations at most. */
const EDITS_AT_ONCE = MAX_OPERATIONS / 2;
/** Of the contents in one transaction: a store on etcd takes 1.5 MiB at once, and a content goes into two records. */
const LONGEST_CONTENTS = 256 * 1024;

/** Cuts edits into transactions, in order. A content that is too long for any stands alone. */
export function inTransactions(edits: readonly RecordEdit[]): RecordEdit[][] {
  const transactions: RecordEdit[][] = [];
  let length = 0;
  for (const edit of edits) {
    const added = edit.do === 'put' ? JSON.stringify(edit.parsed.content).length : 0;
    const last = transactions.at(-1);
    if (last === undefined || last.length === EDITS_AT_ONCE || length + added > LONGEST_CONTENTS) {
      transactions.push([edit]);
      length = added;
    } else {
      last.push(edit);
      length += added;
    }
  }
  return transactions;
}

/** `sourceNode`: the node that brings them. */
export function operationsOf(edits: readonly RecordEdit[], sourceNode: string): Operation[] {
  return edits.flatMap((edit): Operation[] => {
    const key = configurationKey(edit.name);
    const { expectedRevision } = edit;
    if (edit.do === 'remove') return [{ do: 'remove', key, expectedRevision }];
    const { configuration, hash } = edit.parsed;
    const value: ConfigurationRecord = { configuration, sourceFile: edit.file, sourceNode, hash };
    return [
      expectedRevision === 0 ? { do: 'create', key, value } : { do: 'update', key, value, expectedRevision },
      { do: 'put', key: revisionKey(hash), value: configuration },
    ];
  });
}

const fileName = z
  .string()
  .max(255)
  .refine((name) => isConfigurationFile(name) && !name.includes('/'), {
    error: 'is no file of configurations',
  });
const expectedRevision = z.int().min(0);
const questionSchema = z
  .array(
    z.discriminatedUnion('do', [
      z.object({
        do: z.literal('put'),
        name: nameSchema,
        file: fileName,
        content: z.unknown(),
        expectedRevision,
      }),
      z.object({ do: z.literal('remove'), name: nameSchema, expectedRevision }),
    ]),
  )
  .min(1)
  .max(EDITS_AT_ONCE);

/** The edits as they go to another master. */
export function encodeEdits(edits: readonly RecordEdit[]): unknown {
  return edits.map((edit) => {
    if (edit.do === 'remove') return edit;
    const { parsed, ...rest } = edit;
    return { ...rest, content: parsed.content };
  });
}

/** Judges again what another master sent. Throws DRV_REQUEST_INVALID and DRV_CONFIGURATION_INVALID. */
export function decodeEdits(question: unknown): RecordEdit[] {
  const { data, error } = questionSchema.safeParse(question);
  if (data === undefined)
    throw new DroverError('DRV_REQUEST_INVALID', `no edits of configurations: ${error.message}`);
  return data.map((edit): RecordEdit => {
    if (edit.do === 'remove') return edit;
    const { content, ...rest } = edit;
    return { ...rest, parsed: validateConfiguration(edit.name, content) };
  });
}
