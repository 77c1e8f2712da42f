import { pause } from '../../loop/pause.js';
import { DroverError, storeUnavailable, storeWriteFailed } from '../../model/errors.js';
import { RepeatedLog } from '../../telemetry/repeated-log.js';
import { EmbeddedStore, type WriteObserver } from '../embedded-store.js';
import { EPOCH_BASE, lineOf } from '../epoch-base.js';
import type { Accepted, KeyTable } from '../key-table.js';
import { MAX_OPERATIONS } from '../store.js';
import type { ChangeHistory } from '../watch.js';
import { type Content, checkCount, contentOf, corrupt, type Written, writesOf, writeTo } from './content.js';
import type { KeyChange } from './etcd.js';
import { EtcdError, MAKE_ROOM } from './etcd-error.js';
import { encodeEntry } from './etcd-record.js';
import type { RangeNews } from './follow.js';
import type { LeaseOptions } from './lease.js';
import type { ElectedTerm } from './term.js';
import type { NumberedWrite, TermWriter } from './term-writer.js';

/** How long a write waits for an etcd that does not answer, for example because etcd elects its own leader. */
const PATIENCE_MS = 5000;
const AGAIN_AFTER_MS = 50;
const REFUSED_AGAIN_AFTER_MS = 1000;
/** The size limit for several changes in one request; etcd takes 1.5 MiB by default. */
export const GROUP_BYTES = 512 * 1024;
const MAY_BE_DONE = 'what was asked for may have been done: look, then try again';

interface EtcdStoreOptions extends Omit<LeaseOptions, 'own'> {
  readonly table: KeyTable;
  /** The mod revision of the summary; 0: there is no summary. */
  readonly summaryRevision: number;
  readonly history: ChangeHistory;
  readonly onWrite?: WriteObserver | undefined;
  /** Called after the last write, when the store closes. */
  readonly onClose: () => Promise<void>;
}

export class EtcdStore extends EmbeddedStore {
  readonly #options: EtcdStoreOptions;
  readonly #refusals: RepeatedLog | undefined;
  readonly #closing = new AbortController();
  /** The writer of the present term; undefined: this master follows. */
  #writer: TermWriter | undefined;
  #etcdRevision: number;
  /** Why writes are refused now; undefined: writes are accepted. */
  #hindrance: string | undefined;
  #recovering: Promise<void> | undefined;

  constructor(options: EtcdStoreOptions) {
    super(options.table, options.history, options.onWrite);
    this.#options = options;
    this.#refusals = options.logger && new RepeatedLog(options.logger, options.clock, 'error');
    this.#etcdRevision = options.summaryRevision;
  }

  /** The revision of etcd up to which this store has the writes of all masters. */
  get etcdRevision(): number {
    return this.#writer?.revision ?? this.#etcdRevision;
  }

  /** The base number: the numbers of terms are counted from here. */
  get epochBase(): number {
    return lineOf(this.table.get(EPOCH_BASE)?.value).base;
  }

  get size(): Content['summary'] {
    return { revision: this.table.revision, entries: this.table.size };
  }

  /** Takes the writes of other masters while this master follows. Throws DRV_STORE_CORRUPT. */
  take(news: RangeNews): void {
    const { keys } = this.#options;
    if (news.kind === 'snapshot') this.#takeWrite(writeTo(contentOf(news, keys), this.table));
    else for (const write of writesOf(news.events, keys)) this.#takeWrite(write);
  }

  /** Begins a term: from now on this master writes. */
  lead(writer: TermWriter): void {
    this.#writer = writer;
  }

  /** Called when the term has ended. Resolves when none of the term's writes is under way. Idempotent. */
  async leave(): Promise<void> {
    await this.untilWritten();
    await this.#recovering;
    this.#etcdRevision = this.etcdRevision;
    this.#writer = undefined;
    this.#hindrance = undefined;
  }

  protected override checkWritable(): void {
    this.#checkedWriter().term.check();
    if (this.#hindrance !== undefined) throw this.#unavailable();
  }

  /** How many of the waiting transactions fit into one etcd transaction. */
  protected override sizeOfGroup(waiting: readonly { readonly accepted: Accepted }[]): number {
    let operations = 0;
    let bytes = 0;
    const end = waiting.findIndex(({ accepted: { changes, texts } }) => {
      operations += changes.length;
      for (const text of texts) bytes += text === undefined ? 0 : Buffer.byteLength(text);
      return operations > MAX_OPERATIONS || bytes > GROUP_BYTES;
    });
    return end === -1 ? waiting.length : Math.max(1, end);
  }

  protected async write(group: readonly Accepted[]): Promise<void> {
    const writer = this.#checkedWriter();
    const write = this.#numbered(writer, group);
    const endAt = this.#options.clock.monotonic() + PATIENCE_MS;
    const failure = await this.#tryUntil(endAt, writer.term, () => writer.commit(write));
    if (failure === undefined) return;
    if (failure.error.isRefusal && !failure.isOutcomeUnknown) throw this.#refused(failure.error);
    this.#hindrance = failure.error.message;
    this.#options.logger?.error(`nothing can be written: ${failure.error.message}; reads go on`);
    this.#recovering = this.#recover(writer, write, group);
    throw this.#unavailable();
  }

  protected async release(): Promise<void> {
    this.#closing.abort();
    await this.#recovering;
    await this.#options.onClose();
  }

  #checkedWriter(): TermWriter {
    if (this.#writer !== undefined) return this.#writer;
    throw new DroverError('DRV_NOT_LEADER', 'this master does not lead: nothing can be written here');
  }

  #takeWrite({ changes, summary, summaryRevision }: Written): void {
    const { revision } = summary;
    if (revision < this.table.revision)
      throw corrupt(`it is at revision ${revision}, and was at ${this.table.revision} before`);
    this.settleLate([{ revision, changes, texts: [] }]);
    checkCount(this.table.size, summary);
    this.#etcdRevision = summaryRevision;
  }

  /**
   * Repeats `commit` until the term or the time is over. Resolves with undefined when the write is done. Throws errors
   * that are not etcd's.
   */
  async #tryUntil(
    endAt: number,
    term: ElectedTerm,
    commit: () => Promise<unknown>,
  ): Promise<{ readonly error: EtcdError; readonly isOutcomeUnknown: boolean } | undefined> {
    const { clock, etcd } = this.#options;
    let isOutcomeUnknown = false;
    let error: EtcdError | undefined;
    do {
      try {
        term.check();
        if (term.isCurrent) {
          await commit();
          return undefined;
        }
      } catch (thrown) {
        if (!(thrown instanceof EtcdError)) throw isOutcomeUnknown ? mayBeDone(thrown) : thrown;
        error = thrown;
        if (error.isRefusal && !isOutcomeUnknown) break;
        isOutcomeUnknown = true;
      }
      await pause(clock, AGAIN_AFTER_MS, AbortSignal.any([this.#closing.signal, term.signal]));
    } while (clock.monotonic() < endAt && !this.#closing.signal.aborted);
    error ??= new EtcdError(`etcd ${etcd.name} has not renewed the lease of this master`);
    return { error, isOutcomeUnknown };
  }

  /**
   * Finds out whether `write` took effect, however long that takes; its callers already have their answers.
   * An empty write takes the place of `write`. If the empty write takes effect, `write` never will; otherwise
   * `write` has taken effect.
   */
  async #recover(writer: TermWriter, write: NumberedWrite, group: readonly Accepted[]): Promise<void> {
    const { term } = writer;
    const { clock, logger } = this.#options;
    const signal = AbortSignal.any([this.#closing.signal, term.signal]);
    const empty = this.#numbered(writer, []);
    try {
      while (!signal.aborted) {
        let taken = empty.number;
        const failure = await this.#tryUntil(clock.monotonic() + PATIENCE_MS, term, async () => {
          taken = await writer.commit(empty, write.number);
        });
        if (failure === undefined) {
          if (taken === write.number) this.settleLate(group);
          // Let the mirrors see late writes before any part decides on them.
          await new Promise<void>((resolve) => clock.nextTurn(resolve));
          this.#hindrance = undefined;
          logger?.info('the state can be written again');
          return;
        }
        this.#hindrance = failure.error.message;
        await pause(clock, REFUSED_AGAIN_AFTER_MS, signal);
      }
    } catch (error) {
      // The term is over, so `checkWritable` throws from now on.
      if (!DroverError.is(error, 'DRV_NOT_LEADER')) throw error;
    }
  }

  #numbered(writer: TermWriter, group: readonly Accepted[]): NumberedWrite {
    const { keys } = this.#options;
    const { texts, entries, revision } = this.sumOf(group);
    const changes: KeyChange[] = [];
    for (const [id, last] of texts) {
      const key = keys.records + id;
      if (last.text === undefined) changes.push({ do: 'delete', key });
      else changes.push({ do: 'put', key, value: encodeEntry(last.revision, last.text) });
    }
    return { number: writer.nextNumber(), changes, revision, entries };
  }

  #unavailable(): DroverError {
    return storeUnavailable(
      `the state cannot be written now (${this.#hindrance}); reads go on, and ${MAY_BE_DONE}`,
    );
  }

  #refused(error: EtcdError): DroverError {
    const cure = error.isOutOfSpace ? MAKE_ROOM : 'see its log';
    const message = `etcd refused the write and nothing was changed (${error.message}); ${cure}`;
    this.#refusals?.say(error.message, message);
    return storeWriteFailed(message, { cause: error });
  }
}

/** Adds to the error of an ended term that the write may have taken effect: the next leader then has it. */
function mayBeDone(error: unknown): unknown {
  return error instanceof DroverError
    ? new DroverError(error.code, `${error.message}; ${MAY_BE_DONE}`, { cause: error })
    : error;
}
