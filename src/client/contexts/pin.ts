/**
 * Decides which certificates a new context trusts. A private authority's certificate is pinned after a person has
 * confirmed it.
 */

import { ClientError, EXIT, failedError, usageError } from '../../command-tree/runs/client-error.js';
import { toPlainText } from '../../telemetry/plain-text.js';
import { certificateFailure, failureOf, isUntrusted } from '../connection/failures.js';
import { lookAtServer, type ShownCertificate } from '../connection/server-certificate.js';
import { parseFingerprint, type Trust } from '../connection/trust.js';
import type { Terminal } from './terminal.js';

interface NewContext {
  readonly name: string;
  readonly url: string;
}

/**
 * Returns the trust for a TLS server, by the certificates it shows now. `fingerprint`: the certificate that has it
 * is pinned. Absent: the known authorities are trusted if they suffice, else a certificate is pinned that a person
 * confirms. Throws a ClientError when the server is unreachable, its certificate is not usable, or nobody confirmed
 * it.
 */
export async function trustServer(
  { name, url }: NewContext,
  fingerprint: string | undefined,
  terminal: Terminal,
): Promise<Trust> {
  const system: Trust = { kind: 'system' };
  const wanted = fingerprint === undefined ? undefined : readFingerprint(fingerprint);
  const { chain, problem } = await look({ name, url }, system);
  if (wanted !== undefined) {
    const found = chain.find((shown) => shown.fingerprint === wanted);
    if (found === undefined) throw otherFingerprint(url, wanted, chain);
    return pinned({ name, url }, found);
  }
  if (problem === undefined) return system;
  if (!isUntrusted(problem))
    throw await certificateFailure(problem, { name, url, kind: 'context', trust: system });
  const top = chain.at(-1) ?? chain[0];
  await confirm(url, top, chain.length > 1, terminal);
  return pinned({ name, url }, top);
}

/** Pins the certificate. Throws when a connection would still fail with it, such as for another host name. */
async function pinned(context: NewContext, { pem }: ShownCertificate): Promise<Trust> {
  const trust: Trust = { kind: 'pinned', certificate: pem };
  const { problem } = await look(context, trust);
  if (problem !== undefined) throw await certificateFailure(problem, { ...context, kind: 'context', trust });
  return trust;
}

async function look(context: NewContext, trust: Trust) {
  try {
    return await lookAtServer(context.url, trust);
  } catch (error) {
    throw await failureOf(error, { ...context, kind: 'context', trust });
  }
}

async function confirm(
  url: string,
  { title, fingerprint }: ShownCertificate,
  isAuthority: boolean,
  terminal: Terminal,
): Promise<void> {
  const what = isAuthority ? 'a certificate of an authority' : 'a certificate';
  terminal.say(`${url} shows ${what} that is not known here:`);
  terminal.say(`  ${toPlainText(title)}`);
  terminal.say(`  SHA-256 ${fingerprint}`);
  if (!terminal.isInteractive)
    throw usageError(
      'nobody is here to confirm it: compare the fingerprint with the one that the master prints at its start and in "cluster status", then give it with --fingerprint; or give the authority with --ca FILE',
    );
  terminal.say('Compare it with what the master prints at its start, and in "cluster status".');
  const answer = await terminal.ask('Is it the same? Type yes to trust it from now on: ');
  if (answer.trim().toLowerCase() !== 'yes') throw failedError('not confirmed: no context was added');
}

/** Parses a fingerprint. Throws a ClientError for usage. */
function readFingerprint(text: string): string {
  const fingerprint = parseFingerprint(text);
  if (fingerprint !== undefined) return fingerprint;
  throw usageError(
    '--fingerprint must be the SHA-256 of a certificate: 64 hexadecimal digits, with or without colons',
  );
}

function otherFingerprint(url: string, wanted: string, chain: readonly ShownCertificate[]): ClientError {
  const shown = chain.map(({ fingerprint }) => fingerprint).join(' and ');
  return new ClientError(
    EXIT.unreachable,
    `${url} does not show the certificate with SHA-256 ${wanted}, but ${shown}: the fingerprint is of another master, or another server answers`,
  );
}
