/**
 * Says which connected node a certificate belongs to, renews the certificates of members, and ends them. The cluster
 * port asks it for every connection. A certificate alone is not enough: its key must be a recorded one. Who becomes a
 * member is decided by admission.ts.
 */
import type { X509Certificate } from 'node:crypto';
import type { Clock } from '../../loop/clock.js';
import type { MemberRecord } from '../../model/cluster.js';
import { DroverError } from '../../model/errors.js';
import { joinTokenKey, memberKey } from '../../store/keys.js';
import type { Operation, Store } from '../../store/store.js';
import type { Logger } from '../../telemetry/logger.js';
import type { Authority, IssuedCertificate } from './authority.js';
import { readPublicKey } from './certificates.js';
import { DoorRefusal } from './door-refusal.js';
import type { JoinTokens } from './join-tokens.js';
import {
  type KnownMember,
  MemberRecords,
  pendingKeysOf,
  updateOf,
  withPendingKeys,
} from './member-records.js';
import { isIssuedBy, keyHashOf, nodeIdOf } from './peer-certificate.js';

/**
 * Broken-off renewals whose keys are remembered. A node makes a further key only after it has kept the one before, so
 * two are enough; older wrappers make one per try.
 */
const MAX_PENDING_KEYS = 16;

export interface MembersOptions {
  readonly store: Store;
  readonly authority: Authority;
  readonly tokens: JoinTokens;
  readonly clock: Pick<Clock, 'now'>;
  readonly logger: Pick<Logger, 'warn'>;
}

/** A node whose connection was let in. */
export interface Peer {
  readonly nodeId: string;
  /** It holds a certificate for a server of this cluster, which only masters can make. */
  readonly isMaster?: true;
}

export class ClusterMembers {
  readonly #options: MembersOptions;
  readonly #records: MemberRecords;

  constructor(options: MembersOptions) {
    this.#options = options;
    this.#records = new MemberRecords(options.store);
  }

  /**
   * Answers which node this certificate belongs to, if that node may connect. Throws DoorRefusal for a certificate of
   * another authority, and for one that is forgotten or replaced by a newer one. Its code is DRV_NODE_CERTIFICATE_ENDED
   * for one that is expired by the master's clock, which may be wrong. It is DRV_STORE_CORRUPT where the record of the
   * member cannot be read.
   */
  async authenticate(certificate: X509Certificate): Promise<Peer> {
    const { clock } = this.#options;
    const peer = await this.identify(certificate);
    if (peer.isMaster === true) return peer;
    const { nodeId } = peer;
    const entry = await this.#records.find(nodeId);
    if (entry === undefined) throw noMember(nodeId);
    const endsAt = Date.parse(certificate.validTo);
    if (endsAt < clock.now())
      throw new DoorRefusal({
        reason: 'certificate-ended',
        nodeId,
        code: 'DRV_NODE_CERTIFICATE_ENDED',
        // The day alone: the same trouble gives the same text, which logs fold.
        message:
          `the certificate of node ${nodeId} ended ${dayOf(endsAt)}, and by this master's clock it is ` +
          `${dayOf(clock.now())}: run "cluster forget ${nodeId}" and join it again with a new token`,
      });
    await this.#acknowledge(nodeId, keyHashOf(certificate.publicKey), entry);
    return { nodeId };
  }

  /**
   * Answers which node of this cluster a certificate was made for, without a look at the store: the node may have been
   * forgotten since, and the certificate replaced. Throws DoorRefusal for one of another authority.
   */
  async identify(certificate: X509Certificate): Promise<Peer> {
    const { certificate: authority } = await this.#options.authority.ensure();
    const isMaster = isIssuedBy(certificate, authority, 'server');
    const nodeId =
      isMaster || isIssuedBy(certificate, authority, 'client') ? nodeIdOf(certificate) : undefined;
    if (nodeId !== undefined) return { nodeId, ...(isMaster && { isMaster }) };
    throw new DoorRefusal({
      reason: 'other-authority',
      message: 'the certificate is not one of this cluster: join again with a token of this master',
    });
  }

  /** The record of a joined node, if there is one. */
  async get(nodeId: string): Promise<MemberRecord | undefined> {
    return (await this.#records.find(nodeId))?.record;
  }

  /**
   * Makes a certificate for a new key of a connected node. The former ones stay good until the node shows this one: the
   * answer may be lost on its way.
   */
  async renew(nodeId: string, publicKeyPem: string): Promise<IssuedCertificate> {
    const publicKey = readPublicKey(publicKeyPem);
    if (publicKey === undefined)
      throw new DroverError('DRV_CHANNEL_CALL_FAILED', `the new key of ${nodeId} is not a public P-256 key`);
    const issued = await this.#options.authority.issueClient(nodeId, publicKey);
    const key = keyHashOf(publicKey);
    await this.#change(nodeId, (record) => {
      const others = pendingKeysOf(record).filter((pending) => pending !== key);
      return withPendingKeys(record, [...others, key].slice(-MAX_PENDING_KEYS));
    });
    return issued;
  }

  /** Notes that the renewed certificate is on the node's disk. Until then a renewal counts as due. */
  async renewed(nodeId: string, { issuedAt, endsAt }: IssuedCertificate): Promise<void> {
    await this.#change(nodeId, (record) => ({ ...record, issuedAt, endsAt }));
  }

  /**
   * Ends the node's credential, and the token that it joined with unless `keepToken`: with it the node could join
   * again. Answers with the token's id if it could still be used. Repeatable. The caller ends the node's connections.
   */
  async revoke(nodeId: string, { keepToken }: { readonly keepToken: boolean }): Promise<string | undefined> {
    const { store, tokens } = this.#options;
    return this.#records.changing(async () => {
      const known = await this.#records.left(nodeId);
      if (known === undefined) return undefined;
      const { tokenId } = known;
      const removals: Operation[] = [{ do: 'remove', key: memberKey(nodeId) }];
      const isUsable = tokenId !== undefined && (await tokens.isUsable(tokenId));
      if (isUsable && !keepToken) removals.push({ do: 'remove', key: joinTokenKey(tokenId) });
      await store.transact(removals);
      return isUsable ? tokenId : undefined;
    });
  }

  async #change(nodeId: string, change: (record: MemberRecord) => MemberRecord): Promise<void> {
    await this.#records.changing(async () => {
      const entry = await this.#records.find(nodeId);
      if (entry === undefined) throw noMember(nodeId);
      await this.#options.store.transact([updateOf(entry, change(entry.record))]);
    });
  }

  /**
   * Ends the certificates before the one that the node shows: it has this one on its disk. Renewals after it hold on,
   * because the node may be writing one of them just then.
   */
  async #acknowledge(nodeId: string, key: string, entry: KnownMember): Promise<void> {
    const { record } = entry;
    if (record.key === key) return;
    const pending = pendingKeysOf(record);
    if (!pending.includes(key))
      throw new DoorRefusal({
        reason: 'certificate-replaced',
        nodeId,
        message:
          `this certificate of node ${nodeId} was replaced by a newer one: if its data/cluster is lost or was copied, ` +
          `run "cluster forget ${nodeId}" and join it again with a new token`,
      });
    const later = pending.slice(pending.indexOf(key) + 1);
    await this.#options.store
      .transact([updateOf(entry, withPendingKeys({ ...record, key }, later))])
      .catch((error: unknown) => {
        // Another connection did it, or the disk is full: both certificates are good until the next connection.
        this.#options.logger.warn(
          { err: error, node: nodeId },
          `the new key of ${nodeId} was not recorded yet`,
        );
      });
  }
}

function noMember(nodeId: string): DoorRefusal {
  return new DoorRefusal({
    reason: 'no-member',
    nodeId,
    message: `node ${nodeId} is not a member any more (cluster forget): join it again with a new token`,
  });
}

function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}
