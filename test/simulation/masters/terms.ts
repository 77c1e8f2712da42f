/**
 * Judges what several masters write, at the instant at which it takes effect in etcd: only the master that holds the
 * leader key writes, each term begins with all that was written before, and nobody decides past its lease. What is under
 * way would take effect at no moment after its term. It is also the content of the state, for the other invariants.
 */
import type { KeyEvent, TransactionRequest } from '../../../src/store/etcd/etcd.js';
import { decodeEntry, type Summary, summaryOf } from '../../../src/store/etcd/etcd-record.js';
import { holderOf, storeKeys } from '../../../src/store/etcd/leader-key.js';
import type { Entry, Store } from '../../../src/store/store.js';
import type { CommitListener, Committed } from '../machine/disk.js';
import { PREFIX_ON_ETCD } from './elected-master.js';
import type { Revision, SimulatedEtcd } from './etcd.js';

/** A leader decides for so long after it sent the last renewal that succeeded (`CURRENT_MS` of lease.ts). */
const CURRENT_MS = 2000;
const keys = storeKeys(PREFIX_ON_ETCD);

interface TermOfMaster {
  readonly epoch: number;
  readonly nodeId: string;
}

interface TermsOptions {
  readonly etcd: SimulatedEtcd;
  readonly report: (violation: string) => void;
  /** A term has written for the first time: nothing of an earlier one will ever take effect. */
  readonly onTerm: (term: TermOfMaster) => void;
}

export class Terms {
  readonly #options: TermsOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #listeners: CommitListener[] = [];
  /** By the session that names it in what is written. */
  readonly #terms = new Map<string, TermOfMaster>();
  /** Writes that were sent and have not arrived, by term: the network may still bring each one, however late. */
  readonly #underWay = new Map<TransactionRequest, TermOfMaster>();
  #summary: Summary | undefined;
  #count = 0;

  constructor(options: TermsOptions) {
    this.#options = options;
    options.etcd.onRevision((revision) => this.#take(revision));
  }

  /** Terms that have written. */
  get count(): number {
    return this.#count;
  }

  /** The records of the state. */
  get entries(): ReadonlyMap<string, Entry> {
    return this.#entries;
  }

  onCommit(listener: CommitListener): void {
    this.#listeners.push(listener);
  }

  /** The master that holds the leader key now. */
  get holder(): TermOfMaster | undefined {
    return this.#terms.get(holderOf({ value: this.#options.etcd.value(keys.leader) })?.session ?? '');
  }

  /** A master sends a transaction so long after it sent the last renewal that succeeded. */
  judgeSending(nodeId: string, request: TransactionRequest, sinceRenewalMs: number): void {
    const { changes } = request;
    const summary = changes.find(({ key }) => key === keys.summary);
    const session = summary?.do === 'put' ? summaryOf(summary.value)?.session : undefined;
    const term = this.#terms.get(session ?? '');
    if (term !== undefined) {
      this.#underWay.set(request, term);
      this.#judgeUnderWay();
    }
    const decides = changes.some(({ key }) => key.startsWith(keys.records));
    if (decides && sinceRenewalMs >= CURRENT_MS)
      this.#options.report(
        `${nodeId} writes ${Math.round(sinceRenewalMs)} ms after its last renewal: its lease may be over`,
      );
  }

  arrived(request: TransactionRequest): void {
    this.#underWay.delete(request);
  }

  /** A new leader answers requests: what it has in memory is what was written. */
  async judgeMemory(nodeId: string, store: Store): Promise<void> {
    const { entries, revision } = await store.list('');
    const held = new Map(entries.map((entry) => [entry.key, entry.revision]));
    for (const { key, revision: written } of this.#entries.values())
      if (written <= revision && held.get(key) !== written)
        this.#options.report(`${nodeId} leads with ${key} of ${held.get(key)}, and ${written} was written`);
    for (const [key, at] of held)
      if (!this.#entries.has(key) && (this.#summary?.revision ?? 0) <= revision)
        this.#options.report(`${nodeId} leads with ${key} of ${at}, which was removed`);
  }

  #take({ events }: Revision): void {
    const leader = events.find(({ key }) => key === keys.leader);
    const holder = leader === undefined ? undefined : holderOf(leader);
    if (leader !== undefined && holder !== undefined)
      this.#terms.set(holder.session, { epoch: leader.createRevision, nodeId: holder.nodeId });
    const records = events.filter(({ key }) => key.startsWith(keys.records));
    const summary = events.find(({ key }) => key === keys.summary);
    if (summary?.value !== undefined) this.#judgeWrite(summaryOf(summary.value));
    else if (records.length > 0) this.#options.report('records were written without their summary');
    if (leader !== undefined) this.#judgeUnderWay();
    this.#show(records);
  }

  /** Rare is the instant in which a late write arrives between two terms: each is asked what it would do there. */
  #judgeUnderWay(): void {
    const { etcd, report } = this.#options;
    const { holder } = this;
    for (const [{ comparisons }, term] of this.#underWay)
      if (term.epoch !== holder?.epoch && etcd.holds(comparisons))
        report(`a write of ${said(term)} is under way, and would take effect while ${heldBy(holder)}`);
  }

  #judgeWrite(summary: Summary | undefined): void {
    const { report, onTerm } = this.#options;
    const before = this.#summary;
    const term = this.#terms.get(summary?.session ?? '');
    const { holder } = this;
    if (summary === undefined || term === undefined) {
      report('somebody writes who never held the leader key');
      return;
    }
    if (holder?.epoch !== term.epoch) report(`a write of ${said(term)} takes effect while ${heldBy(holder)}`);
    if (before !== undefined && summary.session === before.session) {
      if (summary.revision < before.revision) report(`${said(term)} goes back to ${summary.revision}`);
    } else {
      this.#count++;
      const former = this.#terms.get(before?.session ?? '');
      if (former !== undefined && former.epoch >= term.epoch)
        report(`${said(term)} begins after ${said(former)}`);
      if (before !== undefined && summary.revision !== before.revision)
        report(
          `${said(term)} begins at revision ${summary.revision}, and ${before.revision} was written before`,
        );
      this.#judgeUnderWay();
      for (const [request, { epoch }] of this.#underWay)
        if (epoch < term.epoch) this.#underWay.delete(request);
      onTerm(term);
    }
    this.#summary = summary;
  }

  #show(records: readonly KeyEvent[]): void {
    if (records.length === 0) return;
    const committed = records.map(({ key, value }): Committed => {
      const id = key.slice(keys.records.length);
      const before = this.#entries.get(id)?.value;
      const entry = value === undefined ? undefined : decodeEntry(id, value);
      if (entry === undefined) this.#entries.delete(id);
      else this.#entries.set(id, entry);
      return { key: id, before, after: entry?.value };
    });
    for (const listener of this.#listeners) listener(committed);
  }
}

function said({ epoch, nodeId }: TermOfMaster): string {
  return `term ${epoch} of ${nodeId}`;
}

function heldBy(holder: TermOfMaster | undefined): string {
  return `${holder === undefined ? 'nobody' : said(holder)} holds the leader key`;
}
