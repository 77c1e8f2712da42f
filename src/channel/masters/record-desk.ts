/** Lets views edit records: the leader writes the edits, and the other masters ask the leader to. */
import { z } from 'zod';
import type { Leadership } from '../../leadership/leadership.js';
import type { MaybePromise } from '../../loop/maybe-promise.js';
import { storeUnavailable } from '../../model/errors.js';
import type { Operation, Store } from '../../store/store.js';
import type { Logger } from '../../telemetry/logger.js';
import type { RecordDoor } from '../../views/view.js';
import type { MasterCalls } from './master-calls.js';
import type { MasterDesk } from './master-desk.js';

const answerSchema = z.object({ revision: z.int().min(1) });

/** One kind of records that views edit. */
interface EditKind<Edit> {
  /** The name of the question, such as `configurations`. */
  readonly name: string;
  encode(edits: readonly Edit[]): unknown;
  /** Reads the edits of a question. Throws DroverErrors when they are not valid. */
  decode(question: unknown): readonly Edit[];
  /** The store operations of the edits, on the leader. `from`: the node that brings the edits. */
  operations(edits: readonly Edit[], from: string): MaybePromise<readonly Operation[]>;
}

export interface RecordDeskOptions {
  readonly nodeId: string;
  readonly store: Pick<Store, 'transact'>;
  readonly leadership: Pick<Leadership, 'leader' | 'term'>;
  readonly calls: MasterCalls;
  readonly desk: MasterDesk;
  /** Aborts when the master stops. */
  readonly signal: AbortSignal;
  readonly logger: Pick<Logger, 'info'>;
}

/** The door for one kind of records. It also answers the doors of the other masters while this master leads. */
export function openRecordDesk<Edit extends { readonly name: string }>(
  kind: EditKind<Edit>,
  { nodeId, store, leadership, calls, desk, signal, logger }: RecordDeskOptions,
): RecordDoor<Edit> {
  const writeHere = async (edits: readonly Edit[], from: string): Promise<number> => {
    const revision = await store.transact(await kind.operations(edits, from));
    const names = edits.map(({ name }) => name);
    logger.info({ node: from, names }, `${kind.name} changed by node ${from}: ${names.join(', ')}`);
    return revision;
  };
  desk.on(kind.name, async (question, from) => {
    if (leadership.term() === null) throw storeUnavailable('this master does not lead');
    return { revision: await writeHere(kind.decode(question), from) };
  });
  return {
    write: async (edits) => {
      if (leadership.term() !== null) return writeHere(edits, nodeId);
      const leader = leadership.leader();
      if (leader === null || leader.nodeId === nodeId)
        throw storeUnavailable('no master leads at this moment');
      const answer = await calls.ask(leader, { name: kind.name, content: kind.encode(edits) }, signal);
      return answerSchema.parse(answer).revision;
    },
  };
}
