/** Certificates and clients for tests of the API over TLS. */
import { createPublicKey } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { type RequestOptions, request } from 'node:https';
import { ApiCertificate } from '../../../src/channel/trust/api-certificate.js';
import {
  generatePrivateKey,
  issueCertificate,
  type KeyPair,
  makeAuthority,
} from '../../../src/channel/trust/certificates.js';
import type { Clock } from '../../../src/loop/clock.js';
import { testAuthority } from '../cluster/cluster-files.js';

const DAY_MS = 86_400_000;

/** A certificate of the authority of a cluster called `test`, for 127.0.0.1, localhost and `master`. */
export async function clusterCertificate(clock: Clock): Promise<ApiCertificate> {
  const authority = testAuthority(clock);
  const { certificate } = await authority.ensure();
  return new ApiCertificate(await authority.serverCredential(), certificate.toString());
}

/** An authority of an operator, which makes key pairs for files. */
export class OperatorAuthority {
  readonly #pair: KeyPair;

  private constructor(pair: KeyPair) {
    this.#pair = pair;
  }

  static async create(): Promise<OperatorAuthority> {
    return new OperatorAuthority(await makeAuthority('operator', Date.now() + 3650 * DAY_MS));
  }

  /** The authority's certificate (PEM), for clients. */
  get ca(): string {
    return this.#pair.certificate;
  }

  /** A key and its certificate, for 127.0.0.1 and a name. */
  async pair({ name = 'api.example', endsAt = Date.now() + 90 * DAY_MS } = {}): Promise<KeyPair> {
    const key = generatePrivateKey();
    const certificate = await issueCertificate(this.#pair, {
      subject: { commonName: name, clusterName: 'operator' },
      usage: 'server',
      publicKey: createPublicKey(key),
      endsAt,
      names: ['127.0.0.1', name],
    });
    return { key, certificate };
  }
}

interface TlsAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** Sends a request on a connection of its own, and checks the server's certificate as any client does. */
export function askTls(
  options: RequestOptions & { readonly token?: string },
  body?: string,
): Promise<TlsAnswer> {
  const { token, ...more } = options;
  const headers = {
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(body !== undefined && { 'content-type': 'application/json' }),
  };
  return new Promise((resolve, reject) => {
    const call = request({ host: '127.0.0.1', agent: false, headers, ...more }, (response) => {
      const chunks: string[] = [];
      response.setEncoding('utf8').on('data', (chunk: string) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text: chunks.join('') }),
      );
    });
    call.on('error', reject);
    call.end(body);
  });
}
