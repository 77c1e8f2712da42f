/**
 * A node's half of its membership: its key, its certificate, and the authority that it trusts, kept in `data/cluster/`.
 * It joins with a token when it has no credential, or when its credential is refused and it was given a new token. It
 * renews the credential when the master asks.
 */
import { createPublicKey, sign, X509Certificate } from 'node:crypto';
import { z } from 'zod';
import { joinTokenIdSchema } from '../../model/cluster.js';
import { DroverError, invalidNodeConfiguration, unusableRoot } from '../../model/errors.js';
import { nameSchema } from '../../model/names.js';
import { attempt } from '../../model/plain/attempt.js';
import { hostPort } from '../../model/plain/host-port.js';
import type { Ambient } from '../../telemetry/ambient.js';
import { PROTOCOL_VERSION } from '../protocol/messages.js';
import type { Transport } from '../protocol/transport.js';
import type { SecretFile } from '../trust/authority.js';
import { generatePrivateKey } from '../trust/certificates.js';
import { type JoinRequest, joinQuestion, joinStatement } from '../trust/join-messages.js';
import type { JoinToken } from '../trust/join-token.js';
import { fingerprintOf, isIssuedBy, isPair, nodeIdOf } from '../trust/peer-certificate.js';
import { askMasters, type KnownMasters } from './known-masters.js';
import { MasterDialer } from './master-dialer.js';

const credentialSchema = z.object({
  nodeId: nameSchema,
  /** The id of the token that the node joined with. The node does not use this token again. */
  tokenId: joinTokenIdSchema,
  /** The key as PEM. */
  key: z.string(),
  certificate: z.string(),
  authority: z.string(),
});
type Credential = z.output<typeof credentialSchema>;

/** A join that has begun. The record keeps its key, because the master repeats its answer for the same key. */
const joiningSchema = z.object({ tokenId: joinTokenIdSchema, key: z.string() });

interface MembershipOptions extends Ambient {
  readonly nodeId: string;
  readonly clusterName: string;
  readonly masters: Pick<KnownMasters, 'candidates' | 'failed'>;
  readonly silenceMs: number;
  readonly token: JoinToken | undefined;
  readonly memberFile: SecretFile;
  readonly joiningFile: SecretFile;
  /** Called when the token was used and is not needed any more. */
  readonly onJoined: () => Promise<void>;
}

export class Membership {
  readonly #options: MembershipOptions;
  #credential: Credential | undefined;
  /** The new key of a renewal, until the certificate for it is kept. */
  #newKey: string | undefined;

  constructor(options: MembershipOptions) {
    this.#options = options;
  }

  /** The address of the master that this node dials next or dialled last, as an operator writes it. */
  get masterAddress(): string {
    const [first] = this.#options.masters.candidates();
    return first === undefined ? '' : hostPort(first.host, first.port);
  }

  /**
   * Reads the kept credential. Throws DRV_NODE_CONFIG_INVALID when there is neither a credential nor a token, or when
   * the credential belongs to another node.
   */
  async open(): Promise<void> {
    const { memberFile, token, nodeId } = this.#options;
    const text = await memberFile.read();
    this.#credential = text === undefined ? undefined : parseCredential(memberFile.name, text);
    if (this.#credential === undefined && token === undefined)
      throw invalidNodeConfiguration(
        `config.json: isMasterNode is false, and this node has not joined the master at ${this.masterAddress} yet: run ` +
          '"drover token" on the master, then "drover join <token> --master host:port" here',
      );
    if (this.#credential !== undefined && this.#credential.nodeId !== nodeId && token === undefined)
      throw invalidNodeConfiguration(
        `config.json: nodeId is ${nodeId}, but this node joined as ${this.#credential.nodeId}: set it back, or join ` +
          'again with a new token',
      );
  }

  /**
   * Joins when this node has never joined. Throws DRV_JOIN_REFUSED. Does not throw when a master does not answer,
   * because `connect` tries again.
   */
  async joinFirst(signal: AbortSignal): Promise<void> {
    if (this.#credential !== undefined) return;
    await this.#join(signal).catch((error: unknown) => {
      if (!DroverError.is(error, 'DRV_CHANNEL_CLOSED')) throw error;
    });
  }

  /**
   * Connects; joins first when the node has no fitting credential, or has a new token and its credential is refused.
   * Throws DRV_JOIN_REFUSED, DRV_CHANNEL_CLOSED, DRV_NODE_ROOT_UNUSABLE.
   */
  async connect(signal: AbortSignal): Promise<Transport> {
    const credential = this.#credential;
    if (credential === undefined || this.#isForAnother(credential)) return this.#joinAndOpen(signal);
    try {
      return await this.#openWith(credential, signal);
    } catch (error) {
      const { token } = this.#options;
      const hasOther = token !== undefined && token.id !== credential.tokenId;
      if (!hasOther || !DroverError.is(error, 'DRV_JOIN_REFUSED')) throw error;
      return this.#joinAndOpen(signal);
    }
  }

  /**
   * The public half of a new key, as PEM. Repeated calls answer with the same key until its certificate is kept,
   * because an answer may be lost on either side. So the master knows every key that the node may come back with.
   */
  makeKey(): string {
    this.#newKey ??= generatePrivateKey();
    return publicHalf(this.#newKey);
  }

  /** Keeps a renewed certificate. Throws DRV_JOIN_REFUSED when the certificate is not for the key of `makeKey`. */
  async takeCertificate(certificate: string): Promise<void> {
    const credential = this.#credential;
    const key = this.#newKey;
    if (credential === undefined || key === undefined)
      throw new DroverError('DRV_JOIN_REFUSED', 'this node made no key for a new certificate');
    await this.#keep({ ...credential, key, certificate });
    if (this.#newKey === key) this.#newKey = undefined;
  }

  /**
   * True when the credential does not fit the token: the token belongs to another cluster, or the node was given
   * another name. False when there is no token.
   */
  #isForAnother({ authority, nodeId }: Credential): boolean {
    const { token, nodeId: wanted } = this.#options;
    if (token === undefined) return false;
    return nodeId !== wanted || fingerprintOf(new X509Certificate(authority)) !== token.fingerprint;
  }

  #openWith({ key, certificate, authority }: Credential, signal: AbortSignal): Promise<Transport> {
    const trusted = new X509Certificate(authority);
    return this.#askMasters(signal, (dialer) => dialer.open({ key, certificate }, trusted, signal));
  }

  #askMasters<T>(signal: AbortSignal, question: (dialer: MasterDialer) => Promise<T>): Promise<T> {
    const { masters, silenceMs, clock } = this.#options;
    return askMasters(masters, signal, (at, isOnly) =>
      question(new MasterDialer({ ...at, silenceMs, clock, isOnly })),
    );
  }

  async #joinAndOpen(signal: AbortSignal): Promise<Transport> {
    return this.#openWith(await this.#join(signal), signal);
  }

  async #join(signal: AbortSignal): Promise<Credential> {
    const { token, nodeId, logger, onJoined, joiningFile } = this.#options;
    if (token === undefined) throw new DroverError('DRV_JOIN_REFUSED', 'this node has no join token');
    const key = await this.#joiningKey(token.id);
    const request = this.#request(token, key);
    const { answer, authority } = await this.#askMasters(signal, (dialer) =>
      dialer.ask(token.fingerprint, joinQuestion(request), signal),
    );
    const { certificate } = answer;
    const credential = { nodeId, tokenId: token.id, key, certificate, authority: authority.toString() };
    await this.#keep(credential);
    await joiningFile.remove();
    logger.info(
      { master: this.masterAddress },
      `joined the master at ${this.masterAddress} as node ${nodeId}`,
    );
    await onJoined();
    return credential;
  }

  #request({ id: tokenId, secret }: JoinToken, key: string): JoinRequest {
    const { nodeId, clusterName } = this.#options;
    const proof = sign('sha256', joinStatement({ nodeId, clusterName, tokenId }), key).toString('base64');
    return {
      protocol: PROTOCOL_VERSION,
      nodeId,
      clusterName,
      tokenId,
      secret,
      publicKey: publicHalf(key),
      proof,
    };
  }

  /** Keeps the key on disk before the master sees it. If the answer is lost, the master knows only this key. */
  async #joiningKey(tokenId: string): Promise<string> {
    const { joiningFile } = this.#options;
    const begun = parseJoining(await joiningFile.read());
    if (begun?.tokenId === tokenId) return begun.key;
    const key = generatePrivateKey();
    await joiningFile.write(JSON.stringify({ tokenId, key }));
    return key;
  }

  async #keep(credential: Credential): Promise<void> {
    const certificate = new X509Certificate(credential.certificate);
    const isOurs =
      isIssuedBy(certificate, new X509Certificate(credential.authority), 'client') &&
      nodeIdOf(certificate) === credential.nodeId &&
      certificate.publicKey.equals(createPublicKey(credential.key));
    if (!isOurs)
      throw new DroverError('DRV_JOIN_REFUSED', 'the master sent a certificate that is not for this node');
    await this.#options.memberFile.write(JSON.stringify(credential));
    this.#credential = credential;
  }
}

/**
 * The public key (PEM) of this node's membership under this name, or of its begun join with this token. `drover join`
 * sends it, so that the master recognizes the node. Undefined: there is no such key. Throws DRV_NODE_ROOT_UNUSABLE.
 */
export async function readMemberKey(
  { memberFile, joiningFile }: Pick<MembershipOptions, 'memberFile' | 'joiningFile'>,
  { nodeId, token }: { readonly nodeId: string; readonly token: JoinToken },
): Promise<string | undefined> {
  const own = await memberKeyOf(memberFile, { nodeId, token });
  if (own !== undefined) return own.publicKey;
  const begun = parseJoining(await joiningFile.read());
  return begun?.tokenId === token.id ? publicHalf(begun.key) : undefined;
}

/**
 * The private and public key (PEM) of this node's membership in the token's cluster under this name. Undefined: the
 * node is no such member. Throws DRV_NODE_ROOT_UNUSABLE.
 */
export async function memberKeyOf(
  memberFile: SecretFile,
  { nodeId, token }: { readonly nodeId: string; readonly token: JoinToken },
): Promise<{ readonly privateKey: string; readonly publicKey: string } | undefined> {
  const text = await memberFile.read();
  const credential = text === undefined ? undefined : parseCredential(memberFile.name, text);
  const isSame =
    credential?.nodeId === nodeId &&
    fingerprintOf(new X509Certificate(credential.authority)) === token.fingerprint;
  return isSame ? { privateKey: credential.key, publicKey: publicHalf(credential.key) } : undefined;
}

function publicHalf(key: string): string {
  return createPublicKey(key).export({ type: 'spki', format: 'pem' }).toString();
}

function parseCredential(name: string, text: string): Credential {
  try {
    const credential = credentialSchema.parse(JSON.parse(text));
    const authority = new X509Certificate(credential.authority);
    const certificate = new X509Certificate(credential.certificate);
    if (!certificate.verify(authority.publicKey) || !isPair(credential.key, certificate))
      throw new Error('its key and certificates do not belong together');
    return credential;
  } catch (cause) {
    throw unusableRoot(
      `${name} is damaged: delete it, run "cluster forget" for this node on the master, and join again with a new token`,
      { cause },
    );
  }
}

function parseJoining(text: string | undefined): z.output<typeof joiningSchema> | undefined {
  return attempt(() => joiningSchema.parse(JSON.parse(text ?? '')));
}
