/** Which certificates a connection takes for the master's, and fingerprints as people read them. */
import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { ConnectionOptions } from 'node:tls';
import { failedError } from '../../command-tree/runs/client-error.js';
import { attempt } from '../../model/plain/attempt.js';
import { systemFailure } from './private-text.js';

export type Trust =
  /** The authorities built into Node.js, and the authorities of NODE_EXTRA_CA_CERTS. */
  | { readonly kind: 'system' }
  /** A PEM file. `from` names its source in messages, such as `DROVER_CA`. */
  | { readonly kind: 'file'; readonly path: string; readonly from: string }
  /** A pinned certificate in PEM. */
  | { readonly kind: 'pinned'; readonly certificate: string };

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;
const FINGERPRINT = /^(?:sha-?256(?: fingerprint)?[ =:]+)?((?:[0-9a-f]{2}:?){31}[0-9a-f]{2})$/i;

/** Returns options for tls.connect and https.request. Throws a ClientError when a file is not usable. */
export async function tlsOptionsOf(trust: Trust): Promise<ConnectionOptions> {
  if (trust.kind === 'system') return {};
  const certificates =
    trust.kind === 'pinned' ? [trust.certificate] : await readCertificates(trust.path, trust.from);
  const known = new Set(certificates.map(fingerprintOf));
  const { checkServerIdentity } = await import('node:tls');
  const options = {
    ca: certificates,
    // End the search for issuers at the pinned certificate, even when it is not an authority's.
    allowPartialTrustChain: true,
    // Skip the check of the server's name: a pinned certificate already identifies the server.
    checkServerIdentity: (...[host, peer]: Parameters<typeof checkServerIdentity>) =>
      known.has(peer.fingerprint256) ? undefined : checkServerIdentity(host, peer),
  };
  return options;
}

/** Reads at least one certificate from a PEM file. `from` names its source in messages. Throws a ClientError. */
export async function readCertificates(path: string, from: string): Promise<string[]> {
  const named = from === path ? path : `${from} (${path})`;
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw systemFailure(`${named} cannot be read`, cause);
  });
  const certificates = text.match(CERTIFICATE) ?? [];
  if (certificates.length === 0 || !certificates.every(isCertificate))
    throw failedError(`${named} must hold certificates in PEM`);
  return certificates;
}

export function isCertificate(pem: string): boolean {
  return attempt(() => new X509Certificate(pem).raw.length > 0, false);
}

/** Returns the SHA-256 of a PEM certificate, as `AB:CD:...`. */
export function fingerprintOf(pem: string): string {
  return new X509Certificate(pem).fingerprint256;
}

/** Reads a fingerprint with or without colons, or with openssl's prefix; undefined: the text is no fingerprint. */
export function parseFingerprint(text: string): string | undefined {
  const [, digits] = FINGERPRINT.exec(text.trim()) ?? [];
  return digits?.replaceAll(':', '').toUpperCase().match(/../g)?.join(':');
}
