/** Builds the one-line error for a failed request: the cause, and what to do. */
import { isIP } from 'node:net';
import { ClientError, EXIT } from '../../command-tree/runs/client-error.js';
import { instantText } from '../../model/words.js';
import { toPlainText } from '../../telemetry/plain-text.js';
import { hostOf } from './master-url.js';
import { reasonOf } from './private-text.js';
import { lookAtServer, type ShownCertificates } from './server-certificate.js';
import type { Target } from './target.js';
import { fingerprintOf } from './trust.js';

type Asked = Pick<Target, 'name' | 'kind' | 'url' | 'trust'>;

const NETWORK: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there: is the master running, and is the port right?',
  ENOTFOUND: 'the host name is not known: check it, and the name service of this machine',
  EAI_AGAIN: 'the host name cannot be looked up now: the name service does not answer',
  EHOSTUNREACH: 'there is no way to the host',
  ENETUNREACH: 'there is no way to its network',
  ETIMEDOUT: 'it does not take a connection: check host and port, and firewalls on the way',
};
const CUT = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED', 'ERR_STREAM_PREMATURE_CLOSE']);
const UNTRUSTED = new Set([
  ...['DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
  ...['UNABLE_TO_GET_ISSUER_CERT', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'CERT_SIGNATURE_FAILURE'],
  ...['CERT_UNTRUSTED', 'CERT_REJECTED', 'INVALID_CA'],
]);
const OUT_OF_TIME = new Set(['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID']);
const WRONG_NAME = 'ERR_TLS_CERT_ALTNAME_INVALID';
/** Matches the TLS errors caused by a server that answers without TLS. */
const NO_TLS = /wrong.version.number|packet.length.too.long|http.request|unknown.protocol/i;

/** True when the certificate is not signed by a trusted authority. `code`: the code of the failed check. */
export function isUntrusted(code: string | undefined): boolean {
  return code !== undefined && UNTRUSTED.has(code);
}

/** Returns an error with exit code 7: `cannot reach prod (https://...): ` and the problem. */
export function unreachable(
  target: Pick<Asked, 'name' | 'url'>,
  problem: string,
  cause?: unknown,
): ClientError {
  return new ClientError(EXIT.unreachable, `cannot reach ${placeOf(target)}: ${problem}`, { cause });
}

/** Returns the error for a request that the master accepted but did not answer in time. */
export function lateAnswer(target: Pick<Asked, 'name' | 'url'>, limitMs: number): ClientError {
  return new ClientError(EXIT.timedOut, `${placeOf(target)} did not answer within ${limitMs / 1000} s`);
}

/** Returns `prod (https://...)`, or the address alone when it is also the name. */
export function placeOf({ name, url }: Pick<Asked, 'name' | 'url'>): string {
  return url.endsWith(`//${name}`) ? url : `${name} (${url})`;
}

/** Returns the ClientError for a failed connection to the target. */
export async function failureOf(error: unknown, target: Asked, isAsked = false): Promise<ClientError> {
  if (error instanceof ClientError) return error;
  const code = codeOf(error);
  const text = error instanceof Error ? error.message : String(error);
  if (isCertificateProblem(code)) return certificateFailure(code, target, error);
  if (NETWORK[code] !== undefined) return unreachable(target, NETWORK[code], error);
  if (code === 'EPROTO' || code.startsWith('ERR_SSL_')) {
    const problem = NO_TLS.test(`${code} ${text}`)
      ? 'the port speaks plain HTTP, not TLS: use http:// in its address'
      : `the TLS handshake failed (${tlsReason(error) ?? code})`;
    return unreachable(target, problem, error);
  }
  if (/before secure TLS/.test(text))
    return unreachable(
      target,
      'it closes the connection in the TLS handshake: does the port speak TLS?',
      error,
    );
  if (code.startsWith('HPE_'))
    return unreachable(target, 'it does not answer in HTTP: if the port speaks TLS, use https://', error);
  if (CUT.has(code) || /socket hang up|aborted/.test(text)) return cutFailure(target, isAsked, error);
  return unreachable(target, reasonOf(error), error);
}

/** Returns the error for a connection that ended before the whole answer had arrived. */
export function cutFailure(target: Asked, isAsked: boolean, cause?: unknown): ClientError {
  const doubt = isAsked ? '; what was asked may be done or not: look before you repeat it' : '';
  return unreachable(
    target,
    `the connection was cut before the answer was whole: the master stopped, or something on the way did it${doubt}`,
    cause,
  );
}

/** Returns the error that explains a problem with the server's certificate. `code`: the code of the failed check. */
export async function certificateFailure(code: string, target: Asked, cause?: unknown): Promise<ClientError> {
  const shown = await lookAtServer(target.url, target.trust).catch(() => undefined);
  return unreachable(target, certificateProblem(code, target, shown, Date.now()), cause);
}

function isCertificateProblem(code: string): boolean {
  return UNTRUSTED.has(code) || OUT_OF_TIME.has(code) || code === WRONG_NAME || code.startsWith('CERT_');
}

function certificateProblem(
  code: string,
  target: Asked,
  shown: ShownCertificates | undefined,
  now: number,
): string {
  if (code === WRONG_NAME) return wrongName(hostOf(target.url));
  if (OUT_OF_TIME.has(code)) {
    const late = shown?.chain.find(
      ({ validFrom, validTo }) => now < Date.parse(validFrom) || now >= Date.parse(validTo),
    );
    const span = late === undefined ? '' : ` (it is valid from ${late.validFrom} to ${late.validTo})`;
    const problem = code === 'CERT_HAS_EXPIRED' ? 'has expired' : 'is not valid yet';
    return `its certificate ${problem}${span}, or the clock of this machine is wrong: it says ${instantText(now)}`;
  }
  const top = shown?.chain.at(-1);
  const isAuthority = (shown?.chain.length ?? 0) > 1;
  const showing =
    top === undefined
      ? ''
      : `; it shows ${isAuthority ? 'the authority' : 'the certificate'} SHA-256 ${top.fingerprint}`;
  return UNTRUSTED.has(code)
    ? `${untrusted(target)}${showing}`
    : `its certificate is refused (${code})${showing}`;
}

function untrusted({ name, kind, trust }: Asked): string {
  switch (trust.kind) {
    case 'pinned':
      return (
        `its certificate is not of the pinned authority, SHA-256 ${fingerprintOf(trust.certificate)}: ` +
        'another server answers, or the cluster got a new authority; if you know that it did, remove the context and add it again'
      );
    case 'file':
      return `its certificate is not of an authority in ${trust.path}: another server answers, or the file is old`;
    case 'system': {
      const what = 'its certificate is of an authority that is not known here';
      if (kind === 'environment') return `${what}: give it with DROVER_CA`;
      return `${what}: remove the context and add it again, with --fingerprint or --ca (drover context remove ${name})`;
    }
  }
}

function wrongName(host: string): string {
  const what = isIP(host) === 0 ? 'name' : 'address';
  return `its certificate is for other names than ${host}: use one that it has, or add this ${what} to apiNames in the master's config.json`;
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

function tlsReason(error: unknown): string | undefined {
  return error instanceof Error && 'reason' in error ? toPlainText(String(error.reason)) : undefined;
}
