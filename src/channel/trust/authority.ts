/**
 * The cluster's own certificate authority, made once and shared by all masters. It signs their server certificates and
 * the certificates of nodes that join. admission.ts decides who may join.
 */
import { createPublicKey, type KeyObject, X509Certificate } from 'node:crypto';
import { z } from 'zod';
import { shared } from '../../loop/remembered.js';
import { unusableRoot } from '../../model/errors.js';
import { attempt } from '../../model/plain/attempt.js';
import type { Ambient } from '../../telemetry/ambient.js';
import type { CertificateMaker } from './certificate-thread.js';
import { generatePrivateKey, type KeyPair } from './certificates.js';
import { fingerprintOf, isIssuedBy, isPair } from './peer-certificate.js';

const DAY_MS = 86_400_000;
const AUTHORITY_MS = 36_500 * DAY_MS;
const SERVER_MS = 730 * DAY_MS;
const CLIENT_MS = 365 * DAY_MS;

/** A file of `data/cluster/`, written completely or not at all, and readable by this user only. */
export interface SecretFile {
  /** The path relative to the node's root, for messages. */
  readonly name: string;
  /** The file's text; undefined: it does not exist. Throws DRV_NODE_ROOT_UNUSABLE when others can read it. */
  read(): Promise<string | undefined>;
  write(text: string): Promise<void>;
  /** Removes the file. Does nothing when it does not exist. */
  remove(): Promise<void>;
}

export interface AuthorityOptions extends Ambient {
  readonly clusterName: string;
  /** The names in the master's certificate: its node id, its address, the names of this machine. */
  readonly nodeId: string;
  readonly names: readonly string[];
  /** The file with the authority's key and certificate, as PEM. */
  readonly authorityFile: Pick<SecretFile, 'name' | 'read' | 'write'>;
  readonly serverFile: SecretFile;
  readonly certificates: CertificateMaker;
}

export interface IssuedCertificate {
  /** The certificate as PEM. */
  readonly certificate: string;
  /** When the certificate was made, in Unix milliseconds. */
  readonly issuedAt: number;
  readonly endsAt: number;
}

const serverSchema = z.object({
  names: z.array(z.string()),
  key: z.string(),
  certificate: z.string(),
  issuedAt: z.number(),
  endsAt: z.number(),
});
type ServerCredential = z.output<typeof serverSchema>;

interface Known {
  readonly pair: KeyPair;
  readonly certificate: X509Certificate;
}

export class Authority {
  readonly #options: AuthorityOptions;
  #known: Known | undefined;
  readonly #found = shared(async () => {
    // Look again first: another master may have made the authority since this master started.
    await this.open();
    return this.#known ?? this.#make();
  });
  #server: ServerCredential | undefined;

  constructor(options: AuthorityOptions) {
    this.#options = options;
  }

  /** Reads what an earlier start made. Throws DRV_NODE_ROOT_UNUSABLE when it is damaged. */
  async open(): Promise<void> {
    const { authorityFile, serverFile } = this.#options;
    const text = await authorityFile.read();
    if (text === undefined) return;
    this.#known = readAuthority(authorityFile.name, text);
    this.#server = readServer(await serverFile.read(), this.#known.certificate);
  }

  /** Makes the authority when there is none. Calls may repeat and overlap. */
  async ensure(): Promise<{ readonly certificate: X509Certificate; readonly fingerprint: string }> {
    const { certificate } = await this.#ready();
    return { certificate, fingerprint: fingerprintOf(certificate) };
  }

  /**
   * The master's own key, and its certificate followed by the authority's, as PEM. Both are made again when the names
   * have changed, or less than a third of the certificate's life is left.
   */
  async serverCredential(): Promise<KeyPair> {
    const known = await this.#ready();
    if (this.#server === undefined || !this.#isCurrent(this.#server)) this.#server = await this.#serve(known);
    const { key, certificate } = this.#server;
    return { key, certificate: certificate + known.pair.certificate };
  }

  /** Makes a certificate for a node's public key. */
  async issueClient(nodeId: string, publicKey: KeyObject): Promise<IssuedCertificate> {
    const { pair } = await this.#ready();
    const issuedAt = this.#options.clock.now();
    const endsAt = issuedAt + CLIENT_MS;
    const subject = { commonName: nodeId, clusterName: this.#options.clusterName };
    const certificate = await this.#options.certificates.issueCertificate(pair, {
      subject,
      usage: 'client',
      publicKey,
      endsAt,
    });
    return { certificate, issuedAt, endsAt };
  }

  async #ready(): Promise<Known> {
    return this.#known ?? this.#found();
  }

  async #make(): Promise<Known> {
    const { clusterName, authorityFile, clock, logger } = this.#options;
    const pair = await this.#options.certificates.makeAuthority(clusterName, clock.now() + AUTHORITY_MS);
    const text = pair.certificate + pair.key;
    await authorityFile.write(text);
    this.#known = readAuthority(authorityFile.name, text);
    logger.info(
      { fingerprint: fingerprintOf(this.#known.certificate) },
      `made the certificate authority of cluster ${clusterName} (${authorityFile.name})`,
    );
    return this.#known;
  }

  #isCurrent({ names, issuedAt, endsAt }: ServerCredential): boolean {
    const { names: wanted, clock } = this.#options;
    const isSame = names.length === wanted.length && names.every((name, index) => name === wanted[index]);
    return isSame && !isDueForRenewal({ issuedAt, endsAt }, clock.now());
  }

  async #serve({ pair }: Known): Promise<ServerCredential> {
    const { clusterName, nodeId, names, serverFile, clock } = this.#options;
    const key = generatePrivateKey();
    const issuedAt = clock.now();
    const endsAt = issuedAt + SERVER_MS;
    const certificate = await this.#options.certificates.issueCertificate(pair, {
      subject: { commonName: nodeId, clusterName },
      usage: 'server',
      publicKey: createPublicKey(key),
      endsAt,
      names,
    });
    const server = { names: [...names], key, certificate, issuedAt, endsAt };
    await serverFile.write(JSON.stringify(server));
    return server;
  }
}

/** True when two thirds of a certificate's life are over. */
export function isDueForRenewal(
  { issuedAt, endsAt }: { readonly issuedAt: number; readonly endsAt: number },
  now: number,
): boolean {
  return now >= issuedAt + ((endsAt - issuedAt) * 2) / 3;
}

function readAuthority(name: string, text: string): Known {
  try {
    const certificate = new X509Certificate(text);
    const [key] = /-----BEGIN PRIVATE KEY-----[^-]+-----END PRIVATE KEY-----\n/.exec(text) ?? [];
    if (key === undefined || !certificate.ca) throw new Error('key or certificate is missing');
    if (!isPair(key, certificate)) throw new Error('key and certificate differ');
    if (!certificate.verify(certificate.publicKey)) throw new Error('the certificate was changed');
    return { pair: { key, certificate: certificate.toString() }, certificate };
  } catch (cause) {
    throw unusableRoot(
      `${name} is damaged, and with another authority no node of the cluster could connect: restore it from a ` +
        'backup, or delete it and let every node join again',
      { cause },
    );
  }
}

/**
 * The pair that `server.json` held at the last start, shown while the authority cannot be read. Undefined: no usable
 * pair.
 */
export function readServerPair(text: string | undefined): KeyPair | undefined {
  return attempt(() => {
    const { key, certificate } = serverSchema.parse(JSON.parse(text ?? ''));
    return isPair(key, new X509Certificate(certificate)) ? { key, certificate } : undefined;
  });
}

/** Reads the server's credential; undefined: it is unusable and must be made again. */
function readServer(text: string | undefined, authority: X509Certificate): ServerCredential | undefined {
  return attempt(() => {
    const server = serverSchema.parse(JSON.parse(text ?? ''));
    const certificate = new X509Certificate(server.certificate);
    const isWhole = isIssuedBy(certificate, authority, 'server') && isPair(server.key, certificate);
    return isWhole ? server : undefined;
  });
}
