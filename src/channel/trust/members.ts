/**
 * Finds the node that a connection's certificate belongs to, renews the certificates of members, and ends them. The
 * cluster port asks it for every connection. A certificate alone is not enough: its key must be recorded. admission.ts
 * decides who becomes a member.
 */
import type { X509Certificate } from 'node:crypto';
import type { MemberRecord } from '../../model/cluster.js';
import { DroverError } from '../../model/errors.js';
import { joinTokenKey, memberKey } from '../../store/keys.js';
import type { Operation, Store } from '../../store/store.js';
import type { Ambient } from '../../telemetry/ambient.js';
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
 * How many keys of interrupted renewals are remembered. A node makes another key only after it kept the key before, so
 * two would do; older wrappers make a key per try.
 */
const MAX_PENDING_KEYS = 16;

interface MembersOptions extends Ambient {
  readonly store: Store;
  readonly authority: Authority;
  readonly tokens: JoinTokens;
}

/** A node whose connection was let in. */
export interface Peer {
  readonly nodeId: string;
  /** True when the node holds a certificate for a server of this cluster, which only masters can make. */
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
   * Returns the node that this certificate belongs to, if that node may connect. Otherwise throws DoorRefusal: the
   * certificate comes from another authority, or its node is forgotten, or a newer certificate replaced it. The code
   * is DRV_NODE_CERTIFICATE_ENDED when the certificate has expired by the master's clock, which may be wrong. The
   * code is DRV_STORE_CORRUPT when the member's record cannot be read.
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
      throw new DoorRefusal(
        'certificate-ended',
        // The message names only the day: logs fold equal texts, and an exact time would differ at each try.
        `the certificate of node ${nodeId} ended ${dayOf(endsAt)}, and by this master's clock it is ` +
          `${dayOf(clock.now())}: run "cluster forget ${nodeId}" and join it again with a new token`,
        { nodeId, code: 'DRV_NODE_CERTIFICATE_ENDED' },
      );
    await this.#acknowledge(nodeId, keyHashOf(certificate.publicKey), entry);
    return { nodeId };
  }

  /**
   * Returns the node of this cluster that a certificate was made for, without reading the store: the node may have been
   * forgotten since, and the certificate replaced. Throws DoorRefusal when another authority signed it.
   */
  async identify(certificate: X509Certificate): Promise<Peer> {
    const { certificate: authority } = await this.#options.authority.ensure();
    const isMaster = isIssuedBy(certificate, authority, 'server');
    const nodeId =
      isMaster || isIssuedBy(certificate, authority, 'client') ? nodeIdOf(certificate) : undefined;
    if (nodeId !== undefined) return { nodeId, ...(isMaster && { isMaster }) };
    throw new DoorRefusal(
      'other-authority',
      'the certificate is not one of this cluster: join again with a token of this master',
    );
  }

  /** The record of a joined node, if there is one. */
  async get(nodeId: string): Promise<MemberRecord | undefined> {
    return (await this.#records.find(nodeId))?.record;
  }

  /**
   * Makes a certificate for a new key of a connected node. Earlier certificates stay good until the node shows the new
   * one, because the answer may be lost.
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

  /** Notes that the node has the renewed certificate on its disk. Until then a renewal counts as due. */
  async renewed(nodeId: string, { issuedAt, endsAt }: IssuedCertificate): Promise<void> {
    await this.#change(nodeId, (record) => ({ ...record, issuedAt, endsAt }));
  }

  /**
   * Ends the node's credential. Unless `keepToken`, also ends the token that the node joined with, because the node
   * could join again with that token. Returns the token's id if a node could still use the token. Repeatable. The
   * caller ends the node's connections.
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
   * Called when a node shows a certificate, which it therefore has on its disk. Ends the certificates before it. Later
   * renewals stay good, because the node may be writing one of them just now.
   */
  async #acknowledge(nodeId: string, key: string, entry: KnownMember): Promise<void> {
    const { record } = entry;
    if (record.key === key) return;
    const pending = pendingKeysOf(record);
    if (!pending.includes(key))
      throw new DoorRefusal(
        'certificate-replaced',
        `this certificate of node ${nodeId} was replaced by a newer one: if its data/cluster is lost or was copied, ` +
          `run "cluster forget ${nodeId}" and join it again with a new token`,
        { nodeId },
      );
    const later = pending.slice(pending.indexOf(key) + 1);
    await this.#options.store
      .transact([updateOf(entry, withPendingKeys({ ...record, key }, later))])
      .catch((error: unknown) => {
        // Another connection recorded the key, or the disk is full. Both certificates stay good until the next
        // connection.
        this.#options.logger.warn(
          { err: error, node: nodeId },
          `the new key of ${nodeId} was not recorded yet`,
        );
      });
  }
}

function noMember(nodeId: string): DoorRefusal {
  return new DoorRefusal(
    'no-member',
    `node ${nodeId} is not a member any more (cluster forget): join it again with a new token`,
    { nodeId },
  );
}

function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}
