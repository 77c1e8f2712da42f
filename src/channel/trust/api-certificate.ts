/**
 * The certificate that the API shows now, and what a person is told of it. The server takes it at its start and at each
 * change. Renewal of the cluster's own certificates replaces it, or the watch over the operator's files.
 */
import { X509Certificate } from 'node:crypto';
import { z } from 'zod';
import type { KeyPair } from './certificates.js';

const DAY_MS = 86_400_000;
/** Less is left only when what should renew the certificate does not work. */
const SOON_MS = 14 * DAY_MS;

export const apiCertificateSchema = z.object({
  source: z.enum(['cluster', 'files']).describe("who signed it: the cluster's own authority, or others"),
  fingerprint: z
    .string()
    .describe("SHA-256 of the authority's certificate (`cluster`), or of the certificate itself (`files`)"),
  names: z.array(z.string()).describe('host names and IP addresses that it is for'),
  endsAt: z.number().describe('Unix milliseconds'),
  problem: z.string().nullable().describe('what is wrong with it; null: nothing'),
});
export type ApiCertificateInfo = z.output<typeof apiCertificateSchema>;

export class ApiCertificate {
  /** PEM of the authority that clients check it with; null: it is the operator's own. */
  readonly authority: string | null;
  readonly #listeners: ((pair: KeyPair) => void)[] = [];
  #pair: KeyPair;
  #problem: string | null = null;

  constructor(pair: KeyPair, authority: string | null) {
    this.#pair = pair;
    this.authority = authority;
  }

  get pair(): KeyPair {
    return this.#pair;
  }

  /** Shows another pair from the next connection on. An earlier problem is over. */
  replace(pair: KeyPair): void {
    this.#problem = null;
    if (pair.key === this.#pair.key && pair.certificate === this.#pair.certificate) return;
    this.#pair = pair;
    for (const listener of this.#listeners) listener(pair);
  }

  /** Notes why a newer pair cannot be shown. The present one stays. */
  keepFor(problem: string): void {
    this.#problem = problem;
  }

  onChange(listener: (pair: KeyPair) => void): void {
    this.#listeners.push(listener);
  }

  /** `now`: Unix milliseconds. */
  describe(now: number): ApiCertificateInfo {
    const certificate = new X509Certificate(this.#pair.certificate);
    const { fingerprint256 } = this.authority === null ? certificate : new X509Certificate(this.authority);
    return {
      source: this.authority === null ? 'files' : 'cluster',
      fingerprint: fingerprint256,
      names: namesOf(certificate),
      endsAt: Date.parse(certificate.validTo),
      problem: this.#problem ?? timeProblem(certificate, now),
    };
  }
}

/** What is wrong with the certificate's dates; null: nothing. */
export function timeProblem({ validFrom, validTo }: X509Certificate, now: number): string | null {
  const begins = Date.parse(validFrom);
  const ends = Date.parse(validTo);
  const day = (at: number): string => new Date(at).toISOString().slice(0, 10);
  if (now < begins)
    return `the certificate of the API is valid only from ${day(begins)} on: clients refuse it`;
  if (now >= ends) return `the certificate of the API has ended on ${day(ends)}: clients refuse it`;
  return ends - now < SOON_MS ? `the certificate of the API ends on ${day(ends)}: renew it` : null;
}

/** Names and addresses. Node shows them as `DNS:a.example, IP Address:10.0.0.1`. */
function namesOf({ subjectAltName = '' }: X509Certificate): string[] {
  return subjectAltName
    .split(', ')
    .flatMap((entry) => /^(?:DNS|IP Address):(.+)$/.exec(entry)?.[1] ?? [])
    .map((name) => (name.startsWith('"') ? name.slice(1, -1) : name));
}
