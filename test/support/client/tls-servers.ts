/** Certificates of an authority of the test, and servers that show them. */
import { createPublicKey } from 'node:crypto';
import { once } from 'node:events';
import type { RequestListener, Server } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import {
  generatePrivateKey,
  issueCertificate,
  type KeyPair,
  makeAuthority,
} from '../../../src/channel/trust/certificates.js';

export const YEAR_MS = 365 * 86_400_000;

interface ServerCertificateOptions {
  readonly names?: readonly string[];
  readonly endsAt?: number;
}

export function testOwnAuthority(endsAt = Date.now() + YEAR_MS): Promise<KeyPair> {
  return makeAuthority('test', endsAt);
}

/** The certificate of a server, without the certificate of its authority. */
export async function serverCertificate(
  authority: KeyPair,
  { names = ['127.0.0.1', 'localhost'], endsAt = Date.now() + YEAR_MS }: ServerCertificateOptions = {},
): Promise<KeyPair> {
  const key = generatePrivateKey();
  const certificate = await issueCertificate(authority, {
    subject: { commonName: 'master', clusterName: 'test' },
    usage: 'server',
    publicKey: createPublicKey(key),
    endsAt,
    names,
  });
  return { key, certificate };
}

/** Listens on a port of the system; resolves with the address. */
export async function listenWithTls(
  { key, certificate }: KeyPair,
  onRequest: RequestListener,
): Promise<{ readonly server: Server; readonly url: string }> {
  const server = createServer({ key, cert: certificate }, onRequest);
  return { server, url: `https://127.0.0.1:${await listening(server)}` };
}

/** Resolves with the port that the system gave the server. */
export async function listening(server: Pick<Server, 'listen' | 'address' | 'once'>): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server as Server, 'listening');
  return (server.address() as AddressInfo).port;
}
