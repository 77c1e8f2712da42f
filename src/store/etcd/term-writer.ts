/**
 * Writes to etcd in the leader's term. Each write compares the leader key with this term and the summary with the last
 * write. So a write of an old leader fails in etcd itself, and a write without an answer can be repeated until its
 * outcome is known. Only one write at a time.
 */
import type { Etcd, KeyChange, KeyValue } from './etcd.js';
import { encodeJson, type Summary, summaryOf } from './etcd-record.js';
import { holderOf, type StoreKeys } from './leader-key.js';
import type { ElectedTerm } from './term.js';

const WRITE_MS = 2000;

/** A numbered write. The number makes it safe to commit the write again when no answer came. */
export interface NumberedWrite {
  readonly number: number;
  readonly changes: readonly KeyChange[];
  /** The store's revision and number of entries after the write. */
  readonly revision: number;
  readonly entries: number;
}

interface TermWriterOptions {
  readonly etcd: Etcd;
  readonly keys: StoreKeys;
  /** The term in which the writer writes. */
  readonly term: ElectedTerm;
  /** The mod revision of the summary that was read with the store; 0: there is no summary. */
  readonly summaryRevision: number;
}

export class TermWriter {
  readonly term: ElectedTerm;
  readonly #options: TermWriterOptions;
  #summaryRevision: number;
  #number = 0;

  constructor(options: TermWriterOptions) {
    this.#options = options;
    this.term = options.term;
    this.#summaryRevision = options.summaryRevision;
  }

  /** The etcd revision up to which this master knows all writes. */
  get revision(): number {
    return this.#summaryRevision;
  }

  /** The number of a new write. */
  nextNumber(): number {
    return ++this.#number;
  }

  /**
   * Commits `write`, or finds that it was committed before. `earlier`: the number of a write with unknown outcome that
   * `write` replaces. Resolves with the number of the write that took effect. At most one of the two does, because both
   * compare the same revision of the summary. Throws DRV_NOT_LEADER, and EtcdError: the outcome is then unknown, unless
   * the error is a refusal.
   */
  async commit(write: NumberedWrite, earlier = write.number): Promise<number> {
    const { etcd, keys, term } = this.#options;
    term.check();
    const { createRevision, session } = term;
    const { number, changes, revision, entries } = write;
    const summary: Summary = { format: 1, revision, entries, session, write: number };
    const answer = await etcd.transact(
      {
        comparisons: [
          { key: keys.leader, field: 'createRevision', is: createRevision },
          { key: keys.summary, field: 'modRevision', is: this.#summaryRevision },
        ],
        changes: [...changes, { do: 'put', key: keys.summary, value: encodeJson(summary) }],
        otherwiseRead: [keys.leader, keys.summary],
      },
      WRITE_MS,
    );
    if (answer.isDone) {
      this.#summaryRevision = answer.revision;
      return number;
    }
    return this.#judge(answer.read, [number, earlier]);
  }

  /**
   * Explains a commit that changed nothing: returns the number of the write that took effect earlier, or throws the end
   * of the term.
   */
  #judge(read: readonly KeyValue[], numbers: readonly number[]): number {
    const { keys, term } = this.#options;
    const found = read.find(({ key }) => key === keys.summary);
    const summary = found && summaryOf(found.value);
    if (found !== undefined && summary?.session === term.session && numbers.includes(summary.write)) {
      this.#summaryRevision = found.modRevision;
      return summary.write;
    }
    const leader = holderOf(read.find(({ key }) => key === keys.leader));
    if (leader !== undefined && leader.session !== term.session)
      throw term.end(`master ${leader.nodeId} leads now`);
    if ((found?.modRevision ?? 0) !== this.#summaryRevision)
      throw term.end('the state is not as this master has left it: another one has written');
    throw term.end('its lease is over');
  }
}
