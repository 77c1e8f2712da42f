/**
 * Decides who may join the cluster: by join token, name, and proof of a key. The cluster port asks it. The token is
 * checked first: until it is known to be good, an answer repeats nothing of the request.
 */
import { type KeyObject, timingSafeEqual, verify } from 'node:crypto';
import { z } from 'zod';
import type { AuditTrail } from '../../model/audit.js';
import type { MemberRecord } from '../../model/cluster.js';
import { nodeRecordSchema } from '../../model/node.js';
import { countText } from '../../model/words.js';
import { joinTokenKey, memberKey, nodeKey } from '../../store/keys.js';
import type { Entry, Operation, Store } from '../../store/store.js';
import type { Ambient } from '../../telemetry/ambient.js';
import { PROTOCOL_VERSION } from '../protocol/messages.js';
import type { Authority, IssuedCertificate } from './authority.js';
import { readPublicKey } from './certificates.js';
import { DoorRefusal } from './door-refusal.js';
import {
  type JoinEnvelope,
  type JoinMasterRequest,
  type JoinRequest,
  joinCheckSchema,
  joinEnvelopeSchema,
  joinMasterSchema,
  joinRequestSchema,
  joinStatement,
} from './join-messages.js';
import { hashSecret } from './join-token.js';
import type { JoinTokens, KnownToken } from './join-tokens.js';
import type { MasterHandover } from './master-handover.js';
import { type KnownMember, MemberRecords, pendingKeysOf, updateOf } from './member-records.js';
import { keyHashOf } from './peer-certificate.js';

interface AdmissionOptions extends Ambient {
  readonly clusterName: string;
  /** The master's own node id, which no other may take. */
  readonly masterNodeId: string;
  readonly store: Store;
  readonly authority: Authority;
  /** Collects what a new master gets. Absent: this master keeps the state in its own file, and is the only master. */
  readonly handover?: () => Promise<MasterHandover>;
  readonly tokens: JoinTokens;
  readonly audit: Pick<AuditTrail, 'record'>;
}

const isMasterSchema = nodeRecordSchema.pick({ master: true }).extend({ master: z.literal(true) });

/** The token and the member record of a node that may join. */
interface Place {
  readonly token: KnownToken;
  readonly present: KnownMember | undefined;
  /** True when the key is already the member's: the same request was let in before, and its answer was lost. */
  readonly isRepeated: boolean;
}

export class Admission {
  readonly #options: AdmissionOptions;
  readonly #records: MemberRecords;

  constructor(options: AdmissionOptions) {
    this.#options = options;
    this.#records = new MemberRecords(options.store);
  }

  /**
   * Lets a node join: checks token and request, and returns the node's certificate as PEM. The same request may be
   * repeated, because its answer may have been lost. `address` is for the audit trail. Throws DoorRefusal.
   */
  async admit(body: unknown, address: string | null): Promise<string> {
    const { authority, audit, logger } = this.#options;
    const request = await this.#read(body, joinRequestSchema);
    const { nodeId } = request;
    this.#checkCluster(request);
    const publicKey = this.#checkProof(request);
    const issued = await authority.issueClient(nodeId, publicKey);
    const isNew = await this.#records.changing(() => this.#enter(request, keyHashOf(publicKey), issued));
    if (isNew) {
      audit.record({ key: null, action: 'join', subject: nodeId, address, result: 'ok' });
      logger.info({ node: nodeId, tokenId: request.tokenId }, `node ${nodeId} has joined the cluster`);
    }
    return issued.certificate;
  }

  /**
   * Lets a node become a master of the cluster, and returns what the node needs for that. A node that is a member must
   * sign with its member key, and its membership ends. A repeated request counts as another use of the token. Throws
   * DoorRefusal.
   */
  async admitMaster(body: unknown, address: string | null): Promise<MasterHandover> {
    const { handover, audit, logger } = this.#options;
    const request = await this.#read(body, joinMasterSchema);
    const { nodeId } = request;
    if (handover === undefined)
      throw new DoorRefusal(
        'no-handover',
        'this master keeps its state in a file of its own, so it is the only one: several masters need etcd (drover ' +
          'store migrate --to etcd)',
        { nodeId },
      );
    const publicKey = this.#checkProof({ ...request, clusterName: '' });
    const handed = await handover();
    await this.#records.changing(() => this.#enterMaster(request, keyHashOf(publicKey)));
    audit.record({ key: null, action: 'join as master', subject: nodeId, address, result: 'ok' });
    logger.info(
      { node: nodeId, tokenId: request.tokenId },
      `node ${nodeId} has become a master of the cluster`,
    );
    return handed;
  }

  /**
   * Checks whether a node of this name could join with this token, and changes nothing. Throws DoorRefusal like
   * `admit`.
   */
  async check(body: unknown): Promise<{ readonly clusterName: string }> {
    const { nodeId, publicKey, ...envelope } = await this.#read(body, joinCheckSchema);
    const key = publicKey === undefined ? undefined : readPublicKey(publicKey);
    await this.#findPlace({ ...envelope, nodeId }, key === undefined ? undefined : keyHashOf(key));
    return { clusterName: this.#options.clusterName };
  }

  /** Reads a request, after its token was found good. */
  async #read<T extends JoinEnvelope & { nodeId: string }>(body: unknown, schema: z.ZodType<T>): Promise<T> {
    const { data: envelope, error } = joinEnvelopeSchema.safeParse(body);
    if (envelope === undefined) throw malformed(error);
    await this.#checkToken(envelope);
    if (envelope.protocol !== PROTOCOL_VERSION)
      throw new DoorRefusal(
        'protocol',
        `this master speaks protocol ${PROTOCOL_VERSION}, the node speaks ${envelope.protocol}: run the same Drover version on both`,
      );
    const parsed = schema.safeParse(body);
    if (!parsed.success) throw malformed(parsed.error);
    return parsed.data;
  }

  async #checkToken({ tokenId, secret }: JoinEnvelope): Promise<KnownToken> {
    const token = await this.#options.tokens.find(tokenId);
    const hash = Buffer.from(hashSecret(secret), 'hex');
    const expected = Buffer.from(token?.record.hash ?? hashSecret(''), 'hex');
    if (!timingSafeEqual(hash, expected) || token === undefined)
      throw new DoorRefusal(
        'token-unknown',
        'this master does not know the join token: it was revoked, or is another one\'s; make another with "drover ' +
          'token" on the master',
      );
    if (await this.#options.tokens.hasEnded(token))
      throw new DoorRefusal(
        'token-expired',
        `join token ${tokenId} expired ${new Date(token.record.expiresAt ?? 0).toISOString()}: make another with "drover token" on the master`,
      );
    return token;
  }

  #checkCluster({ nodeId, clusterName: wanted }: JoinRequest): void {
    const { clusterName } = this.#options;
    if (wanted === clusterName) return;
    throw new DoorRefusal(
      'other-cluster',
      `this master's cluster is ${clusterName}, node ${nodeId} asks for ${wanted}: check clusterName in its config.json`,
      { nodeId },
    );
  }

  #checkProof(request: JoinRequest): KeyObject {
    const publicKey = readPublicKey(request.publicKey);
    const proof = Buffer.from(request.proof, 'base64');
    if (publicKey !== undefined && verify('sha256', joinStatement(request), publicKey, proof))
      return publicKey;
    throw new DoorRefusal(
      'bad-key',
      publicKey === undefined
        ? 'the key in the request is not a public P-256 key'
        : 'the join request is not signed with the key in it',
      { nodeId: request.nodeId },
    );
  }

  /** Checks whether this key may take this name with this token. */
  async #findPlace(
    request: JoinEnvelope & { readonly nodeId: string },
    key: string | undefined,
  ): Promise<Place> {
    const { nodeId, tokenId } = request;
    const token = await this.#checkToken(request);
    const present = await this.#records.find(nodeId);
    const isRepeated = isOwnKey(present, key);
    if (token.record.asMaster === true) throw otherKind(nodeId, tokenId);
    // Check the uses before the name: the holder of a used-up token must learn nothing more of the cluster.
    if (!isRepeated) refuseUsedUp(nodeId, token);
    const node = await this.#checkName(nodeId);
    // A member that has no node record gives up its name: it never opened the channel, owns nothing, and cannot be
    // forgotten.
    if (present !== undefined && node !== undefined && !isRepeated) throw nameTaken(nodeId);
    return { token, present, isRepeated };
  }

  /** Refuses the names of masters. Returns the record of the node, if there is one. */
  async #checkName(nodeId: string): Promise<Entry | undefined> {
    const { store, masterNodeId } = this.#options;
    if (nodeId === masterNodeId)
      throw new DoorRefusal(
        'name-taken',
        `the master itself is node ${masterNodeId}: give the other node its own nodeId`,
        { nodeId },
      );
    const node = await store.get(nodeKey(nodeId));
    if (isMasterSchema.safeParse(node?.value).success) throw nameTaken(nodeId);
    return node;
  }

  /** Counts the use of the token and ends the membership of a former wrapper, in a single write. */
  async #enterMaster(request: JoinMasterRequest, key: string): Promise<void> {
    const { nodeId, tokenId } = request;
    const token = await this.#checkToken(request);
    if (token.record.asMaster !== true) throw otherKind(nodeId, tokenId);
    refuseUsedUp(nodeId, token);
    const node = await this.#checkName(nodeId);
    const present = await this.#records.find(nodeId);
    if (present !== undefined && node !== undefined && !isOwnKey(present, key)) throw nameTaken(nodeId);
    await this.#options.store.transact([
      usedOnce(token),
      ...(present === undefined
        ? []
        : [{ do: 'remove', key: memberKey(nodeId), expectedRevision: present.revision } as const]),
    ]);
  }

  /** Counts the use of the token and adds the member, in a single write. False: the node was a member already. */
  async #enter(request: JoinRequest, key: string, { issuedAt, endsAt }: IssuedCertificate): Promise<boolean> {
    const { nodeId, tokenId } = request;
    const { token, present, isRepeated } = await this.#findPlace(request, key);
    const record: MemberRecord = {
      nodeId,
      key,
      nextKey: null,
      joinedAt: present?.record.joinedAt ?? issuedAt,
      tokenId,
      issuedAt,
      endsAt,
    };
    await this.#options.store.transact([
      usedOnce(token, isRepeated ? 0 : 1),
      present === undefined
        ? { do: 'create', key: memberKey(nodeId), value: record }
        : updateOf(present, record),
    ]);
    return !isRepeated;
  }
}

/** True when the key is the member's present key, or the key of a renewal that the member has not shown yet. */
function isOwnKey(member: KnownMember | undefined, key: string | undefined): boolean {
  if (member === undefined || key === undefined) return false;
  return [member.record.key, ...pendingKeysOf(member.record)].includes(key);
}

/** The write that counts a use of the token that was read. */
function usedOnce({ record, revision }: KnownToken, times = 1): Operation {
  const value = { ...record, uses: record.uses + times };
  return { do: 'update', key: joinTokenKey(record.id), value, expectedRevision: revision };
}

function refuseUsedUp(nodeId: string, { record: { id, maxUses, uses } }: KnownToken): void {
  if (maxUses === null || uses < maxUses) return;
  throw new DoorRefusal(
    'token-used-up',
    `join token ${id} was for ${countText(maxUses, 'node')}: make another with "drover token" on the master`,
    { nodeId },
  );
}

function nameTaken(nodeId: string): DoorRefusal {
  return new DoorRefusal(
    'name-taken',
    `a node ${nodeId} has joined already: give this one its own nodeId, or, if it is the same machine without ` +
      `its data/cluster, run "cluster forget ${nodeId}" on the master first`,
    { nodeId },
  );
}

function otherKind(nodeId: string, tokenId: string): DoorRefusal {
  return new DoorRefusal(
    'token-other-kind',
    `a token of "drover token --as-master" makes masters by "drover join --as-master", and no other does: ${tokenId} is of the other kind`,
    { nodeId },
  );
}

function malformed({ issues: [issue] }: z.ZodError): DoorRefusal {
  return new DoorRefusal(
    'malformed',
    `the join request is malformed (${issue?.path.join('.') ?? ''}): run the same Drover version on both`,
  );
}
