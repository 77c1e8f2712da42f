/**
 * etcd as one life of a master reaches it: every call is tried once and ends at its deadline, whatever became of it
 * there, and a watch ends when nothing is heard of it.
 */
import type {
  Alarm,
  Etcd,
  EventBatch,
  MemberStatus,
  RangeAnswer,
  RangeRequest,
  TransactionAnswer,
  TransactionRequest,
} from '../../../src/store/etcd/etcd.js';
import { EtcdError } from '../../../src/store/etcd/etcd-error.js';
import type { Life } from '../machine/life.js';
import type { Random } from '../random.js';
import type { Scheduler } from '../scheduler.js';
import type { SimulatedEtcd } from './etcd.js';
import type { EtcdPath } from './etcd-path.js';
import { EtcdWatch } from './etcd-watch.js';

const DEADLINE_MS = 5000;

export interface EtcdClientOptions {
  readonly etcd: SimulatedEtcd;
  readonly path: EtcdPath;
  readonly life: Life;
  /** Told of each transaction at the instant at which the master sends it. */
  readonly onSend: (request: TransactionRequest) => void;
  /** Told of each transaction that etcd has got, before it has any effect. */
  readonly onArrive: (request: TransactionRequest) => void;
  /** Told when a renewal has succeeded, with the virtual time at which it was sent. */
  readonly onRenewed: (sentAt: number) => void;
  readonly scheduler: Scheduler;
  readonly random: Random;
}

export class SimulatedEtcdClient implements Etcd {
  readonly name = 'simulated';
  readonly #options: EtcdClientOptions;
  #isClosed = false;

  constructor(options: EtcdClientOptions) {
    this.#options = options;
  }

  range(request: RangeRequest, deadlineMs?: number): Promise<RangeAnswer> {
    return this.#call('a range', (etcd) => etcd.range(request), deadlineMs);
  }

  transact(request: TransactionRequest, deadlineMs?: number): Promise<TransactionAnswer> {
    const { onSend, onArrive } = this.#options;
    onSend(request);
    const effect = (etcd: SimulatedEtcd): TransactionAnswer => {
      onArrive(request);
      return etcd.transact(request);
    };
    return this.#call('a transaction', effect, deadlineMs);
  }

  async grantLease(id: number, seconds: number, deadlineMs?: number): Promise<void> {
    const sentAt = this.#options.scheduler.now;
    await this.#call('a grant', (etcd) => etcd.grant(id, seconds), deadlineMs);
    this.#options.onRenewed(sentAt);
  }

  async renewLease(id: number, deadlineMs?: number): Promise<number> {
    const sentAt = this.#options.scheduler.now;
    const seconds = await this.#call('a renewal', (etcd) => etcd.renew(id), deadlineMs);
    if (seconds > 0) this.#options.onRenewed(sentAt);
    return seconds;
  }

  revokeLease(id: number, deadlineMs?: number): Promise<void> {
    return this.#call('a revocation', (etcd) => etcd.revoke(id), deadlineMs);
  }

  watch(
    range: { readonly key: string; readonly end: string; readonly revision: number },
    signal: AbortSignal,
  ): AsyncIterable<EventBatch> {
    return new EtcdWatch(this.#options, range).batches(signal);
  }

  compact(revision: number): Promise<void> {
    return this.#call('a compaction', (etcd) => etcd.compact(revision));
  }

  status(): Promise<MemberStatus> {
    return this.#call('status', () => ({ version: '3', databaseBytes: 4096, databaseBytesInUse: 1024 }));
  }

  alarms(): Promise<readonly Alarm[]> {
    return this.#call('alarms', (etcd) => (etcd.isFull ? ['NOSPACE'] : []));
  }

  close(): void {
    this.#isClosed = true;
  }

  #call<T>(what: string, effect: (etcd: SimulatedEtcd) => T, deadlineMs = DEADLINE_MS): Promise<T> {
    const { life, path, etcd } = this.#options;
    return new Promise((resolve, reject) => {
      if (this.#isClosed) throw new EtcdError('the connection to etcd was closed');
      if (!life.effect(what)) return;
      const fail = (why: string): void => {
        deadline.cancel();
        path.retire();
        reject(new EtcdError(why));
      };
      const deadline = life.clock.setTimer(deadlineMs, () => fail(`no answer within ${deadlineMs} ms`));
      const unsubscribe = path.onBreak(() => life.after(0, () => fail('the connection was reset')));
      path.carry(() => {
        unsubscribe();
        const answer = answerOf(() => effect(etcd), { resolve, reject });
        if (!path.isAnswered()) return;
        life.after(path.latencyMs(), () => {
          deadline.cancel();
          answer();
        });
      });
    });
  }
}

/** Does `effect` now; the answer is for later. */
function answerOf<T>(
  effect: () => T,
  { resolve, reject }: { readonly resolve: (value: T) => void; readonly reject: (error: unknown) => void },
): () => void {
  try {
    const value = effect();
    return () => resolve(value);
  } catch (error) {
    return () => reject(error);
  }
}
