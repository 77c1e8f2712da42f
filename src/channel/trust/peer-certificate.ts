/**
 * Reads and checks the certificates of the other side, for master and wrapper. Trust rests on the signature of the
 * cluster's own authority, never on a date: a node whose clock is wrong by years must still find its master. members.ts
 * decides by the master's clock whether a node's certificate has ended.
 */
import { createHash, type KeyObject, sign, verify, type X509Certificate } from 'node:crypto';
import { nameSchema } from '../../model/names.js';

/** The object identifiers of the two possible uses of a certificate. */
export const USAGE = { server: '1.3.6.1.5.5.7.3.1', client: '1.3.6.1.5.5.7.3.2' } as const;
export type Usage = keyof typeof USAGE;

/** True when the authority signed this certificate for exactly this use. */
export function isIssuedBy(certificate: X509Certificate, authority: X509Certificate, usage: Usage): boolean {
  const usages = certificate.keyUsage as readonly string[] | undefined;
  return (
    certificate.checkIssued(authority) &&
    certificate.verify(authority.publicKey) &&
    !certificate.ca &&
    usages?.length === 1 &&
    usages[0] === USAGE[usage]
  );
}

/**
 * True when the private key, as PEM, signs what the certificate's public key verifies. Comparing public halves is not
 * enough: the text of a key holds its public half too, which stays when the secret half changes.
 */
export function isPair(key: string, { publicKey }: X509Certificate): boolean {
  const probe = Buffer.from('drover');
  return verify('sha256', probe, publicKey, sign('sha256', probe, key));
}

/** The common name if it is a node's id; undefined otherwise. */
export function nodeIdOf({ subject }: X509Certificate): string | undefined {
  const names = subject.split('\n').filter((line) => line.startsWith('CN='));
  const [name] = names;
  return name === undefined || names.length > 1 ? undefined : nameSchema.safeParse(name.slice(3)).data;
}

/** The SHA-256 of the whole certificate, hex. Join tokens hold it. */
export function fingerprintOf(certificate: X509Certificate): string {
  return createHash('sha256').update(certificate.raw).digest('hex');
}

/** The SHA-256 of the public key, hex. Members' records hold it. */
export function keyHashOf(publicKey: KeyObject): string {
  return createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('hex');
}
