/** Reads the certificates that a server shows. Sends nothing but a handshake. */
import { isIP } from 'node:net';
import type { DetailedPeerCertificate } from 'node:tls';
import { hostOf } from './master-url.js';
import { type Trust, tlsOptionsOf } from './trust.js';

export interface ShownCertificate {
  readonly pem: string;
  /** The SHA-256 fingerprint, as `AB:CD:...`. */
  readonly fingerprint: string;
  /** The subject's common name and organization, or a text that says both are missing. */
  readonly title: string;
  readonly validFrom: string;
  readonly validTo: string;
}

export interface ShownCertificates {
  /** The server's own certificate first, then its issuers as far as they are shown or known. */
  readonly chain: readonly [ShownCertificate, ...ShownCertificate[]];
  /** Code of the failed check against the given trust; undefined: the certificate is trusted. */
  readonly problem: string | undefined;
}

const TIMEOUT_MS = 10_000;

/** Makes a handshake with the host of an https URL and accepts any certificate. Throws the error of the connection. */
export async function lookAtServer(url: string, trust: Trust): Promise<ShownCertificates> {
  const [{ connect }, options] = await Promise.all([import('node:tls'), tlsOptionsOf(trust)]);
  const host = hostOf(url);
  const port = Number(new URL(url).port || 443);
  return new Promise((resolve, reject) => {
    const socket = connect({
      ...options,
      host,
      port,
      ...(isIP(host) === 0 && { servername: host }),
      // Accept any certificate: it is only read, and nothing is sent on this connection.
      rejectUnauthorized: false,
      timeout: TIMEOUT_MS,
    });
    socket.once('secureConnect', () => {
      const [own, ...issuers] = chainOf(socket.getPeerCertificate(true));
      const { authorized, authorizationError } = socket;
      socket.destroy();
      if (own === undefined) reject(new Error('the server shows no certificate'));
      else
        resolve({ chain: [own, ...issuers], problem: authorized ? undefined : codeOf(authorizationError) });
    });
    socket.once('timeout', () => {
      socket.destroy(Object.assign(new Error('no handshake in time'), { code: 'ETIMEDOUT' }));
    });
    // Keep the listener: a second error of a closed connection must not end the program.
    socket.on('error', reject);
  });
}

function chainOf(peer: DetailedPeerCertificate): ShownCertificate[] {
  const chain: ShownCertificate[] = [];
  const seen = new Set<string>();
  // Stop at the root certificate, which is its own issuer.
  for (let next: DetailedPeerCertificate | undefined = peer; next?.raw !== undefined; ) {
    if (seen.has(next.fingerprint256)) break;
    seen.add(next.fingerprint256);
    chain.push(shown(next));
    next = next.issuerCertificate;
  }
  return chain;
}

function shown({
  raw,
  fingerprint256,
  subject,
  valid_from,
  valid_to,
}: DetailedPeerCertificate): ShownCertificate {
  const base64 = raw.toString('base64').replace(/.{1,64}/g, '$&\n');
  return {
    pem: `-----BEGIN CERTIFICATE-----\n${base64}-----END CERTIFICATE-----`,
    fingerprint: fingerprint256,
    title: titleOf(subject),
    validFrom: valid_from,
    validTo: valid_to,
  };
}

function titleOf(subject: DetailedPeerCertificate['subject']): string {
  const { CN, O } = { ...subject };
  const titles = [CN, O].flat().filter((text) => text !== undefined && text !== '');
  return titles.length === 0 ? 'a certificate without a name' : titles.join(', ');
}

/** Returns the code of a TLS problem. Node declares an Error, but passes the bare code. */
function codeOf(problem: unknown): string {
  return problem instanceof Error && 'code' in problem ? String(problem.code) : String(problem);
}
