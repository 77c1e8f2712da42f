/** Which certificates a connection takes for the master's, and fingerprints as people read them. */
import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { ConnectionOptions } from 'node:tls';
import { ClientError, EXIT } from '../../command-tree/runs/client-error.js';
import { reasonOf } from './private-text.js';

export type Trust =
  /** The authorities that Node.js comes with, and those of NODE_EXTRA_CA_CERTS. */
  | { readonly kind: 'system' }
  /** A PEM file. `from` names it in messages, such as `DROVER_CA`. */
  | { readonly kind: 'file'; readonly path: string; readonly from: string }
  /** A certificate that was pinned, PEM. */
  | { readonly kind: 'pinned'; readonly certificate: string };

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;
const FINGERPRINT = /^(?:sha-?256(?: fingerprint)?[ =:]+)?((?:[0-9a-f]{2}:?){31}[0-9a-f]{2})$/i;

/** For tls.connect and https.request. Throws a ClientError when a file is of no use. */
export async function tlsOptionsOf(trust: Trust): Promise<ConnectionOptions> {
  if (trust.kind === 'system') return {};
  const certificates = trust.kind === 'pinned' ? [trust.certificate] : await readCertificates(trust);
  const known = new Set(certificates.map(fingerprintOf));
  const { checkServerIdentity } = await import('node:tls');
  const options = {
    ca: certificates,
    // A pinned certificate ends the search for issuers, also when it is no authority's.
    allowPartialTrustChain: true,
    // Who pins a server's own certificate has said which server it is, whatever its names.
    checkServerIdentity: (...[host, peer]: Parameters<typeof checkServerIdentity>) =>
      known.has(peer.fingerprint256) ? undefined : checkServerIdentity(host, peer),
  };
  return options;
}

/** The certificates of a PEM file, at least one. Throws a ClientError. */
export async function readCertificates({
  path,
  from,
}: {
  readonly path: string;
  readonly from: string;
}): Promise<string[]> {
  const named = from === path ? path : `${from} (${path})`;
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new ClientError(EXIT.failed, `${named} cannot be read: ${reasonOf(cause)}`, { cause });
  });
  const certificates = text.match(CERTIFICATE) ?? [];
  if (certificates.length === 0 || !certificates.every(isCertificate))
    throw new ClientError(EXIT.failed, `${named} must hold certificates in PEM`);
  return certificates;
}

export function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
}

/** SHA-256 of a certificate in PEM: `AB:CD:...`. */
export function fingerprintOf(pem: string): string {
  return new X509Certificate(pem).fingerprint256;
}

/** Reads a fingerprint with or without colons, also with the words that openssl puts before it; undefined: it is none. */
export function parseFingerprint(text: string): string | undefined {
  const [, digits] = FINGERPRINT.exec(text.trim()) ?? [];
  return digits?.replaceAll(':', '').toUpperCase().match(/../g)?.join(':');
}
