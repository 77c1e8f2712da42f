/**
 * The certificate that the API shows now, and its description for a person. The server takes it at its start and at
 * each change. It is replaced when the cluster's own certificates are renewed, or when the operator's files change.
 */
import { X509Certificate } from 'node:crypto';
import { z } from 'zod';
import type { KeyPair } from './certificates.js';

const DAY_MS = 86_400_000;
/**
 * How long before the end the certificate counts as a problem. Less time is left only when the renewal does not work.
 */
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
  /** The PEM of the authority with which clients check the certificate; null: the certificate is the operator's own. */
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

  /** Shows another pair from the next connection on. Clears an earlier problem. */
  replace(pair: KeyPair): void {
    this.#problem = null;
    if (pair.key === this.#pair.key && pair.certificate === this.#pair.certificate) return;
    this.#pair = pair;
    for (const listener of this.#listeners) listener(pair);
  }

  /** Notes why a newer pair cannot be shown. The present pair stays. */
  keepFor(problem: string): void {
    this.#problem = problem;
  }

  onChange(listener: (pair: KeyPair) => void): void {
    this.#listeners.push(listener);
  }

  /** Describes the certificate. `now`: Unix milliseconds. */
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

/** The problem with the certificate's dates, for a person; null: no problem. */
export function timeProblem({ validFrom, validTo }: X509Certificate, now: number): string | null {
  const begins = Date.parse(validFrom);
  const ends = Date.parse(validTo);
  const day = (at: number): string => new Date(at).toISOString().slice(0, 10);
  if (now < begins)
    return `the certificate of the API is valid only from ${day(begins)} on: clients refuse it`;
  if (now >= ends) return `the certificate of the API has ended on ${day(ends)}: clients refuse it`;
  return ends - now < SOON_MS ? `the certificate of the API ends on ${day(ends)}: renew it` : null;
}

/** The names and addresses in the certificate. Node shows them as `DNS:a.example, IP Address:10.0.0.1`. */
function namesOf({ subjectAltName = '' }: X509Certificate): string[] {
  return subjectAltName
    .split(', ')
    .flatMap((entry) => /^(?:DNS|IP Address):(.+)$/.exec(entry)?.[1] ?? [])
    .map((name) => (name.startsWith('"') ? name.slice(1, -1) : name));
}
