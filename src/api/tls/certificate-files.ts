/**
 * The operator's own certificate and key for the API, two PEM files. They are read at the start and checked every two
 * seconds. Watches of the system would miss some ways of renewal: swapped links, and directories behind them. A pair
 * that cannot be used changes nothing: the former pair stays, and log and status give the reason.
 */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import { ApiCertificate, timeProblem } from '../../channel/trust/api-certificate.js';
import type { KeyPair } from '../../channel/trust/certificates.js';
import { fileReason } from '../../configuration-files/file-reason.js';
import { Rounds } from '../../loop/rounds.js';
import { DroverError, invalidNodeConfiguration, messageOf } from '../../model/errors.js';
import type { Ambient } from '../../telemetry/ambient.js';
import { TLS_VERSIONS } from './tls-versions.js';

const LOOK_MS = 2000;
const MAX_BYTES = 1024 * 1024;
const SERVER_USAGE = '1.3.6.1.5.5.7.3.1';
const OTHERS_READ = 0o004;

interface CertificateFilesOptions extends Ambient {
  /** The absolute paths of the files. */
  readonly certificate: string;
  readonly key: string;
}

export class CertificateFiles extends Rounds {
  readonly #options: CertificateFilesOptions;
  #shown: ApiCertificate | undefined;
  /** The state of the files when they were read last (`#read`), and at the last look (`#seen`). */
  #read = '';
  #seen = '';

  constructor(options: CertificateFilesOptions) {
    super(options.clock, LOOK_MS);
    this.#options = options;
  }

  /** Reads the files. Throws DRV_NODE_CONFIG_INVALID with the field, the fault and the fix in one line. */
  async open(): Promise<ApiCertificate> {
    const { clock, logger } = this.#options;
    this.#read = await this.#state();
    const { pair, leaf } = await this.#load();
    await this.#warnIfOpen();
    const problem = timeProblem(leaf, clock.now());
    if (problem !== null) logger.warn(`${problem} (${this.#options.certificate})`);
    this.#shown = new ApiCertificate(pair, null);
    return this.#shown;
  }

  /** Takes a new pair when the files have changed. */
  protected async round(): Promise<void> {
    const state = await this.#state();
    const before = this.#seen;
    this.#seen = state;
    // Wait until the files are unchanged between two looks, because the two are renewed one after the other.
    if (state === this.#read || state !== before) return;
    this.#read = state;
    const { certificate, logger } = this.#options;
    try {
      const { pair } = await this.#load();
      this.#shown?.replace(pair);
      await this.#warnIfOpen();
      logger.info(`the API shows the renewed certificate of ${certificate}`);
    } catch (error) {
      this.#shown?.keepFor(messageOf(error));
      logger.warn(`the API keeps its former certificate: ${messageOf(error)}`);
    }
  }

  /** A text that changes when either file is replaced or changed. */
  async #state(): Promise<string> {
    const { certificate, key } = this.#options;
    const states = [certificate, key].map((path) =>
      stat(path, { bigint: true }).then(
        ({ dev, ino, size, mtimeNs, ctimeNs }) => [dev, ino, size, mtimeNs, ctimeNs].join(':'),
        (error: unknown) => fileReason(error),
      ),
    );
    return (await Promise.all(states)).join(' ');
  }

  async #load(): Promise<{ readonly pair: KeyPair; readonly leaf: X509Certificate }> {
    const { certificate: certificateFile, key: keyFile } = this.#options;
    const certificate = await readPem('certificate', certificateFile);
    const key = await readPem('key', keyFile);
    const leaf = parseCertificate(certificateFile, certificate);
    if (!leaf.checkPrivateKey(parseKey(keyFile, key)))
      throw refusal(
        'key',
        keyFile,
        `is not the key of the certificate in ${certificateFile} (its first one): give the two that were made together`,
      );
    try {
      createSecureContext({ ...TLS_VERSIONS, cert: certificate, key });
    } catch (cause) {
      throw refusal('certificate', certificateFile, `cannot be used for TLS: ${messageOf(cause)}`, cause);
    }
    return { pair: { certificate, key }, leaf };
  }

  async #warnIfOpen(): Promise<void> {
    const { key, logger } = this.#options;
    const { mode } = await stat(key);
    if ((mode & OTHERS_READ) === 0) return;
    logger.warn(
      `config.json: apiTls.key: ${key} has mode ${(mode & 0o777).toString(8)}: every user of this machine can read ` +
        `it; run: chmod o-r '${key}'`,
    );
  }
}

async function readPem(field: 'certificate' | 'key', path: string): Promise<string> {
  try {
    const { size } = await stat(path);
    if (size > MAX_BYTES)
      throw refusal(field, path, `is larger than ${MAX_BYTES / 1024} KiB: give a PEM file`);
    return await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof DroverError) throw error;
    throw refusal(
      field,
      path,
      `cannot be read: ${fileReason(error)}; give a PEM file that Drover's user may read`,
      error,
    );
  }
}

function parseCertificate(path: string, text: string): X509Certificate {
  const advice = 'give the certificate in PEM, followed by those of its issuers';
  if (!text.includes('-----BEGIN CERTIFICATE-----'))
    throw refusal('certificate', path, `holds no certificate: ${advice}`);
  let leaf: X509Certificate;
  try {
    leaf = new X509Certificate(text);
  } catch (cause) {
    throw refusal('certificate', path, `is damaged: ${advice}`, cause);
  }
  const usages: readonly string[] | undefined = leaf.keyUsage;
  if (usages !== undefined && !usages.includes(SERVER_USAGE))
    throw refusal('certificate', path, 'is not for a server (extended key usage): give one that is');
  return leaf;
}

function parseKey(path: string, text: string): KeyObject {
  try {
    return createPrivateKey(text);
  } catch (cause) {
    const isLocked = /ENCRYPTED/.test(text);
    const problem = isLocked
      ? 'is locked by a passphrase: give the key without one, in a file of mode 0600'
      : 'holds no private key in PEM';
    throw refusal('key', path, problem, cause);
  }
}

function refusal(field: 'certificate' | 'key', path: string, problem: string, cause?: unknown): DroverError {
  return invalidNodeConfiguration(`config.json: apiTls.${field}: ${path} ${problem}`, { cause });
}
