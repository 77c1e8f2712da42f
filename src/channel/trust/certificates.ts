/**
 * Makes certificates; no other file does. The daemon calls it in a thread (certificate-thread.ts), because the library
 * is large and loaded for the first certificate. Reading and checking certificates needs only node:crypto
 * (peer-certificate.ts).
 */
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  webcrypto,
  X509Certificate,
} from 'node:crypto';
import { isIP } from 'node:net';
import { attempt } from '../../model/plain/attempt.js';
import { USAGE, type Usage } from './peer-certificate.js';

/** A private key and its certificate, both PEM. */
export interface KeyPair {
  readonly key: string;
  readonly certificate: string;
}

interface Subject {
  /** The common name: a node id, or the title of the authority. */
  readonly commonName: string;
  readonly clusterName: string;
}

export interface IssueOptions {
  readonly subject: Subject;
  readonly usage: Usage;
  readonly publicKey: KeyObject;
  /** The end of the certificate, in Unix milliseconds. */
  readonly endsAt: number;
  /** The addresses and host names of a server. */
  readonly names?: readonly string[];
}

/**
 * The start of all certificates, long before the time of any slow clock. The master's records say when a certificate
 * was made.
 */
const BEGINS = new Date(Date.UTC(2000, 0, 1));
const CURVE = 'P-256';
const ALGORITHM = { name: 'ECDSA', namedCurve: CURVE, hash: 'SHA-256' };
const SERIAL_BYTES = 16;

/** A new P-256 private key as PEM. */
export function generatePrivateKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: CURVE });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

/** Reads a public key of the kind that certificates are made for, as PEM; undefined: something else. */
export function readPublicKey(pem: string): KeyObject | undefined {
  if (pem.includes('PRIVATE')) return undefined;
  return attempt(() => {
    const key = createPublicKey(pem);
    const { asymmetricKeyType, asymmetricKeyDetails } = key;
    return asymmetricKeyType === 'ec' && asymmetricKeyDetails?.namedCurve === 'prime256v1' ? key : undefined;
  });
}

/** Makes a new authority that signs for one cluster. */
export async function makeAuthority(clusterName: string, endsAt: number): Promise<KeyPair> {
  const x509 = await loadLibrary();
  const key = generatePrivateKey();
  const keys = { privateKey: await signingKeyOf(key), publicKey: await importPublic(createPublicKey(key)) };
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: newSerial(),
    name: nameOf({ commonName: 'Drover cluster authority', clusterName }),
    notBefore: BEGINS,
    notAfter: new Date(endsAt),
    signingAlgorithm: ALGORITHM,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { key, certificate: pemOf(certificate.rawData) };
}

/** Makes a certificate for another party's public key, as PEM. */
export async function issueCertificate(authority: KeyPair, options: IssueOptions): Promise<string> {
  const x509 = await loadLibrary();
  const { subject, usage, publicKey, endsAt, names } = options;
  const issuer = new x509.X509Certificate(authority.certificate);
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: newSerial(),
    subject: nameOf(subject),
    issuer: issuer.subjectName,
    notBefore: BEGINS,
    notAfter: new Date(endsAt),
    signingAlgorithm: ALGORITHM,
    publicKey: await importPublic(publicKey),
    signingKey: await signingKeyOf(authority.key),
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([USAGE[usage]], true),
      await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey),
      ...(names === undefined ? [] : [new x509.SubjectAlternativeNameExtension(names.map(generalName))]),
    ],
  });
  return pemOf(certificate.rawData);
}

/** The PEM ends with a newline, so that texts can be joined. */
function pemOf(raw: ArrayBuffer): string {
  return new X509Certificate(Buffer.from(raw)).toString();
}

async function loadLibrary(): Promise<typeof import('@peculiar/x509')> {
  await import('reflect-metadata');
  return import('@peculiar/x509');
}

/** Builds a structure, not a text, so that no part of a name can become another attribute. */
function nameOf({ commonName, clusterName }: Subject): Record<string, string[]>[] {
  return [{ O: [clusterName] }, { CN: [commonName] }];
}

function generalName(value: string): { type: 'ip' | 'dns'; value: string } {
  return { type: isIP(value) === 0 ? 'dns' : 'ip', value };
}

/** A serial number that is positive and of full length. */
function newSerial(): string {
  const bytes = randomBytes(SERIAL_BYTES);
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x40;
  return bytes.toString('hex');
}

async function signingKeyOf(pem: string): Promise<webcrypto.CryptoKey> {
  const der = createPrivateKey(pem).export({ type: 'pkcs8', format: 'der' });
  return webcrypto.subtle.importKey('pkcs8', der, ALGORITHM, false, ['sign']);
}

function importPublic(key: KeyObject): Promise<webcrypto.CryptoKey> {
  const der = key.export({ type: 'spki', format: 'der' });
  return webcrypto.subtle.importKey('spki', der, ALGORITHM, true, ['verify']);
}
