/**
 * Decides which nodes belong to the cluster, by join tokens and by the recorded key of each joined node. The cluster
 * port asks it for every connection, and commands do. A certificate alone is not enough: its key must be the recorded
 * one.
 */
import { createPublicKey, type KeyObject, timingSafeEqual, verify, type X509Certificate } from 'node:crypto';
import type { Clock } from '../../loop/clock.js';
import type { AuditTrail } from '../../model/audit.js';
import { type MemberRecord, memberRecordSchema } from '../../model/cluster.js';
import { DroverError } from '../../model/errors.js';
import { countText } from '../../model/words.js';
import { joinTokenKey, memberKey, nodeKey } from '../../store/keys.js';
import type { Entry, Operation, Store } from '../../store/store.js';
import type { Logger } from '../../telemetry/logger.js';
import { PROTOCOL_VERSION } from '../protocol/messages.js';
import type { Authority, IssuedCertificate } from './authority.js';
import { isSupportedKey } from './certificates.js';
import { type JoinRequest, joinStatement } from './join-messages.js';
import { hashSecret } from './join-token.js';
import type { JoinTokens, KnownToken } from './join-tokens.js';
import { isIssuedBy, keyHashOf, nodeIdOf } from './peer-certificate.js';

/** A try fails only when another join or revocation was written meanwhile. */
const MAX_TRIES = 100;

export interface MembersOptions {
  readonly clusterName: string;
  /** The master's own node id, which no other may take. */
  readonly masterNodeId: string;
  readonly store: Store;
  readonly authority: Authority;
  readonly tokens: JoinTokens;
  readonly clock: Pick<Clock, 'now'>;
  readonly audit: Pick<AuditTrail, 'record'>;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
}

/** A node whose connection was let in. */
export interface Peer {
  readonly nodeId: string;
}

export class Members {
  readonly #options: MembersOptions;

  constructor(options: MembersOptions) {
    this.#options = options;
  }

  /**
   * Lets a node join: checks token and request, and answers with the node's certificate, PEM. The same request may be
   * repeated, because its answer may have been lost. `address` is for the audit trail. Throws DRV_JOIN_REFUSED.
   */
  async admit(request: JoinRequest, address: string | null): Promise<string> {
    const { audit, logger } = this.#options;
    const { nodeId } = request;
    try {
      const certificate = await this.#admit(request);
      audit.record({ key: null, action: 'join', subject: nodeId, address, result: 'ok' });
      logger.info({ node: nodeId, tokenId: request.tokenId }, `node ${nodeId} has joined the cluster`);
      return certificate;
    } catch (error) {
      audit.record({ key: null, action: 'join', subject: nodeId, address, result: 'failed' });
      throw error;
    }
  }

  /**
   * Answers which node this certificate belongs to, if that node may connect now. Throws DRV_JOIN_REFUSED for a
   * certificate of another authority, and for one that is expired by the master's clock, forgotten, or replaced by a
   * newer one.
   */
  async authenticate(certificate: X509Certificate): Promise<Peer> {
    const { authority, clock } = this.#options;
    const known = await authority.ensure();
    const nodeId = isIssuedBy(certificate, known.certificate, 'client') ? nodeIdOf(certificate) : undefined;
    if (nodeId === undefined)
      throw refused('the certificate is not one of this cluster: join again with a token of this master');
    const entry = await this.#member(nodeId);
    if (entry === undefined)
      throw refused(
        `node ${nodeId} is not a member any more (cluster forget): join it again with a new token`,
      );
    const endsAt = Date.parse(certificate.validTo);
    if (endsAt < clock.now())
      throw refused(
        `the certificate of node ${nodeId} ended ${instant(endsAt)}, and by this master's clock it is ` +
          `${instant(clock.now())}: run "cluster forget ${nodeId}" and join it again with a new token`,
      );
    await this.#acknowledge(nodeId, keyHashOf(certificate.publicKey), entry);
    return { nodeId };
  }

  /** The record of a joined node, if there is one. */
  async get(nodeId: string): Promise<MemberRecord | undefined> {
    return (await this.#member(nodeId))?.record;
  }

  /** Makes a certificate for a new key of a connected node. The old one stays good until the node shows the new one. */
  async renew(nodeId: string, publicKeyPem: string): Promise<IssuedCertificate> {
    const publicKey = readKey(publicKeyPem);
    const issued = await this.#options.authority.issueClient(nodeId, publicKey);
    await this.#change(nodeId, { nextKey: keyHashOf(publicKey) });
    return issued;
  }

  /** Notes that the renewed certificate is on the node's disk. Until then a renewal counts as due. */
  async renewed(nodeId: string, { issuedAt, endsAt }: IssuedCertificate): Promise<void> {
    await this.#change(nodeId, { issuedAt, endsAt });
  }

  /** Ends the node's credential. Answers false when it had none. The caller ends its connections. */
  async revoke(nodeId: string): Promise<boolean> {
    if ((await this.#member(nodeId)) === undefined) return false;
    await this.#options.store.transact([{ do: 'remove', key: memberKey(nodeId) }]);
    return true;
  }

  async #admit(request: JoinRequest): Promise<string> {
    const { clusterName, masterNodeId, authority } = this.#options;
    if (request.protocol !== PROTOCOL_VERSION)
      throw refused(
        `this master speaks protocol ${PROTOCOL_VERSION}, node ${request.nodeId} speaks ${request.protocol}: run the same Drover version on both`,
      );
    // First of all: a caller without a token learns nothing of the cluster.
    await this.#checkToken(request);
    if (request.clusterName !== clusterName)
      throw refused(
        `this master's cluster is ${clusterName}, node ${request.nodeId} asks for ${request.clusterName}: check clusterName in its config.json`,
      );
    if (request.nodeId === masterNodeId)
      throw refused(`the master itself is node ${masterNodeId}: give the other node its own nodeId`);
    const publicKey = readKey(request.publicKey);
    if (!verify('sha256', joinStatement(request), publicKey, Buffer.from(request.proof, 'base64')))
      throw refused('the join request is not signed with the key in it');
    const issued = await authority.issueClient(request.nodeId, publicKey);
    await this.#changing(() => this.#enter(request, keyHashOf(publicKey), issued));
    return issued.certificate;
  }

  async #checkToken({ tokenId, secret }: JoinRequest): Promise<KnownToken> {
    const token = await this.#options.tokens.find(tokenId);
    const hash = Buffer.from(hashSecret(secret), 'hex');
    const expected = Buffer.from(token?.record.hash ?? hashSecret(''), 'hex');
    if (!timingSafeEqual(hash, expected) || token === undefined)
      throw refused("this master does not know the join token: it was revoked, or is another one's");
    const { expiresAt } = token.record;
    const now = this.#options.clock.now();
    if (expiresAt !== null && expiresAt <= now)
      throw refused(
        `join token ${tokenId} expired ${instant(expiresAt)}: make another with "drover token" on the master`,
      );
    return token;
  }

  async #change(nodeId: string, fields: Partial<MemberRecord>): Promise<void> {
    await this.#changing(async () => {
      const entry = await this.#member(nodeId);
      if (entry === undefined) throw refused(`node ${nodeId} is not a member any more`);
      await this.#options.store.transact([update(entry, { ...entry.record, ...fields })]);
    });
  }

  /** Counts the use of the token and adds the member, in one write. */
  async #enter(request: JoinRequest, key: string, { issuedAt, endsAt }: IssuedCertificate): Promise<void> {
    const { nodeId, tokenId } = request;
    const token = await this.#checkToken(request);
    const present = await this.#member(nodeId);
    // A member without a node record never opened the channel: it could not be forgotten, and owns nothing.
    const isKnown = (await this.#options.store.get(nodeKey(nodeId))) !== undefined;
    if (present !== undefined && present.record.key !== key && isKnown)
      throw refused(
        `a node ${nodeId} has joined already: give this one its own nodeId, or, if it is the same machine without ` +
          `its data/cluster, run "cluster forget ${nodeId}" on the master first`,
      );
    const { maxUses, uses } = token.record;
    // A repeated request was counted the first time.
    if (present === undefined && maxUses !== null && uses >= maxUses)
      throw refused(
        `join token ${tokenId} was for ${countText(maxUses, 'node')}: make another with "drover token" on the master`,
      );
    const record: MemberRecord = {
      nodeId,
      key,
      nextKey: null,
      joinedAt: present?.record.joinedAt ?? issuedAt,
      tokenId,
      issuedAt,
      endsAt,
    };
    const used = { ...token.record, uses: uses + (present === undefined ? 1 : 0) };
    await this.#options.store.transact([
      { do: 'update', key: joinTokenKey(tokenId), value: used, expectedRevision: token.revision },
      present === undefined
        ? { do: 'create', key: memberKey(nodeId), value: record }
        : update(present, record),
    ]);
  }

  /** Ends the former certificate: a node that shows its renewed one has it on its disk. */
  async #acknowledge(nodeId: string, key: string, entry: Known): Promise<void> {
    const { record } = entry;
    if (record.key === key) return;
    if (record.nextKey !== key)
      throw refused(
        `this certificate of node ${nodeId} was replaced by a newer one: if its data/cluster is lost or was copied, ` +
          `run "cluster forget ${nodeId}" and join it again with a new token`,
      );
    await this.#options.store
      .transact([update(entry, { ...record, key, nextKey: null })])
      .catch((error: unknown) => {
        // Another connection did it, or the disk is full: both certificates are good until the next connection.
        this.#options.logger.warn(
          { err: error, node: nodeId },
          `the new key of ${nodeId} was not recorded yet`,
        );
      });
  }

  async #member(nodeId: string): Promise<Known | undefined> {
    const entry = await this.#options.store.get(memberKey(nodeId));
    return entry === undefined ? undefined : { ...entry, record: memberRecordSchema.parse(entry.value) };
  }

  async #changing(change: () => Promise<void>): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        return await change();
      } catch (error) {
        if (!DroverError.is(error, 'DRV_STORE_CONFLICT') || tries >= MAX_TRIES) throw error;
        // The winner's write may still be on its way to the disk, and is not read before.
        await this.#options.store.barrier();
      }
    }
  }
}

interface Known extends Entry {
  readonly record: MemberRecord;
}

function update({ key, revision }: Known, value: MemberRecord): Operation {
  return { do: 'update', key, value, expectedRevision: revision };
}

function readKey(pem: string): KeyObject {
  try {
    const key = createPublicKey(pem);
    if (isSupportedKey(key) && !pem.includes('PRIVATE')) return key;
  } catch {
    // The error below says it.
  }
  throw refused('the key in the request is not a public P-256 key');
}

function instant(at: number): string {
  return new Date(at).toISOString();
}

function refused(message: string): DroverError {
  return new DroverError('DRV_JOIN_REFUSED', message);
}
