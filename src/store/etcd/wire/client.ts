/**
 * `Etcd` over gRPC, spoken on Node's own HTTP/2. It keeps a single connection, and takes the next endpoint after a call
 * without an answer. It gets a token for its user, and a new token when etcd has forgotten the old one.
 */
import { readFile } from 'node:fs/promises';
import type { SecureContextOptions } from 'node:tls';
import type { Clock } from '../../../loop/clock.js';
import { withDeadline } from '../../../loop/deadline.js';
import { messageOf } from '../../../model/errors.js';
import type {
  Alarm,
  Etcd,
  EventBatch,
  MemberStatus,
  RangeAnswer,
  RangeRequest,
  TransactionAnswer,
  TransactionRequest,
} from '../etcd.js';
import { CompactedError, EtcdError } from '../etcd-error.js';
import { Connection } from './connection.js';
import {
  decodeAlarms,
  decodeLeaseSeconds,
  decodeRange,
  decodeStatus,
  decodeToken,
  decodeTransaction,
  encodeAuthenticate,
  encodeLeaseGrant,
  encodeNumber,
  encodeRange,
  encodeTransaction,
} from './messages.js';
import { watchEvents } from './watch-stream.js';

const DEADLINE_MS = 5000;
const NO_FIELDS = Buffer.alloc(0);
/**
 * A header for etcd members that have lost contact with the other members. With it, such a member refuses a
 * call at once, or ends the watch; without it, the member keeps silent.
 */
const NEEDS_LEADER = { hasleader: 'true' };

interface EtcdUser {
  readonly name: string;
  /** The file with the password. It is read for each new token, because the password may change. */
  readonly passwordFile: string;
}

interface EtcdClientOptions {
  /** The endpoints, at least one: `http://host:port` or `https://host:port`. */
  readonly endpoints: readonly string[];
  readonly tls?: Pick<SecureContextOptions, 'ca' | 'cert' | 'key'>;
  readonly user?: EtcdUser | undefined;
  readonly clock: Clock;
}

export class EtcdClient implements Etcd {
  readonly name: string;
  readonly #options: EtcdClientOptions;
  #next = 0;
  #connection: Connection | undefined;
  #isClosed = false;

  constructor(options: EtcdClientOptions) {
    this.#options = options;
    this.name = options.endpoints.join(', ');
  }

  range(request: RangeRequest, deadlineMs?: number): Promise<RangeAnswer> {
    return this.#call('KV/Range', encodeRange(request), decodeRange, deadlineMs);
  }

  transact(request: TransactionRequest, deadlineMs?: number): Promise<TransactionAnswer> {
    return this.#call('KV/Txn', encodeTransaction(request), decodeTransaction, deadlineMs);
  }

  grantLease(id: number, seconds: number, deadlineMs?: number): Promise<void> {
    return this.#call('Lease/LeaseGrant', encodeLeaseGrant(id, seconds), nothing, deadlineMs);
  }

  renewLease(id: number, deadlineMs?: number): Promise<number> {
    // The call is a stream, used for one question and one answer, so that a renewal has a deadline like any other call.
    return this.#call('Lease/LeaseKeepAlive', encodeNumber(id), decodeLeaseSeconds, deadlineMs);
  }

  revokeLease(id: number, deadlineMs?: number): Promise<void> {
    return this.#call('Lease/LeaseRevoke', encodeNumber(id), nothing, deadlineMs);
  }

  compact(revision: number): Promise<void> {
    return this.#call('KV/Compact', encodeNumber(revision), nothing);
  }

  status(): Promise<MemberStatus> {
    return this.#call('Maintenance/Status', NO_FIELDS, decodeStatus);
  }

  alarms(): Promise<readonly Alarm[]> {
    return this.#call('Maintenance/Alarm', NO_FIELDS, decodeAlarms);
  }

  async *watch(
    range: { readonly key: string; readonly end: string; readonly revision: number },
    signal: AbortSignal,
  ): AsyncGenerator<EventBatch> {
    const connection = this.#usable();
    try {
      const headers = await this.#headers(connection, DEADLINE_MS);
      yield* watchEvents(connection, { headers, range, clock: this.#options.clock, signal });
    } catch (error) {
      this.#judge(connection, error);
      throw error;
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#connection?.destroy('the connection was closed');
  }

  async #call<T>(
    method: string,
    message: Buffer,
    decode: (answer: Buffer) => T,
    deadlineMs = DEADLINE_MS,
  ): Promise<T> {
    const connection = this.#usable();
    const path = `/etcdserverpb.${method}`;
    const { clock } = this.#options;
    const endsAt = clock.monotonic() + deadlineMs;
    const leftMs = (): number => Math.max(1, Math.ceil(endsAt - clock.monotonic()));
    const attempt = async (): Promise<T> => {
      const headers = await this.#headers(connection, leftMs());
      const answer = await connection.call({ path, headers }, message, leftMs());
      try {
        return decode(answer);
      } catch (error) {
        throw new EtcdError(`an answer cannot be read: ${messageOf(error)}`);
      }
    };
    try {
      return await attempt().catch((error: unknown) => {
        if (!this.#judge(connection, error)) throw error;
        return attempt();
      });
    } catch (error) {
      this.#judge(connection, error);
      throw error;
    }
  }

  /**
   * Handles the error of a call. Returns true when the token has expired, and the call may be tried again with a new
   * token.
   */
  #judge(connection: Connection, error: unknown): boolean {
    if (error instanceof EtcdError && error.isTokenOver && connection.token !== undefined) {
      connection.token = undefined;
      return true;
    }
    const isAnswered = error instanceof CompactedError || (error instanceof EtcdError && error.isRefusal);
    if (!isAnswered) {
      connection.retire();
      if (this.#connection === connection) this.#connection = undefined;
    }
    return false;
  }

  #usable(): Connection {
    if (this.#isClosed) throw new EtcdError('the connection to etcd was closed');
    if (this.#connection?.isUsable === true) return this.#connection;
    const { endpoints, tls = {}, clock } = this.#options;
    const endpoint = endpoints[this.#next++ % endpoints.length] ?? '';
    this.#connection = new Connection(endpoint, tls, clock);
    return this.#connection;
  }

  /** The headers of a call. All calls share one request for a token, and no call waits for it longer than `limitMs`. */
  async #headers(connection: Connection, limitMs: number): Promise<Record<string, string>> {
    const { user, clock } = this.#options;
    if (user === undefined) return NEEDS_LEADER;
    connection.token ??= this.#authenticate(connection, user);
    const { token } = connection;
    const { signal } = new AbortController();
    const expired = (): EtcdError =>
      new EtcdError(`${connection.endpoint}: no token for ${user.name} within ${limitMs} ms`);
    return { ...NEEDS_LEADER, token: await withDeadline({ limitMs, clock, signal, expired }, () => token) };
  }

  async #authenticate(connection: Connection, { name, passwordFile }: EtcdUser): Promise<string> {
    try {
      const password = (await readFile(passwordFile, 'utf8')).replace(/\r?\n$/, '');
      const call = { path: '/etcdserverpb.Auth/Authenticate', headers: NEEDS_LEADER };
      return decodeToken(await connection.call(call, encodeAuthenticate(name, password), DEADLINE_MS));
    } catch (error) {
      connection.token = undefined;
      throw error instanceof EtcdError ? error : new EtcdError(`${passwordFile}: ${String(error)}`);
    }
  }
}

function nothing(): void {}
