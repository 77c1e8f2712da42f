/**
 * One call of the API of the master that runs in a directory of this machine. With TLS the server must first show what
 * that directory has: the cluster's own authority, or the operator's certificate. So the key reaches no other program
 * that took the port, and no clock and no name matters.
 */
import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { request } from 'node:http';
import { connect as connectPlain, type Socket } from 'node:net';
import { join, resolve } from 'node:path';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { bindAddressOf } from '../api/http/bind-address.js';
import { isIssuedBy } from '../channel/trust/peer-certificate.js';
import { fileReason } from '../configuration-files/file-reason.js';
import { DroverError, messageOf } from '../model/errors.js';
import type { NodeConfiguration } from '../model/node.js';
import { systemReason } from '../model/words.js';

const TIMEOUT_MS = 30_000;
const MAX_BYTES = 1024 * 1024;

export interface LocalCall {
  /** The root of the master. */
  readonly directory: string;
  readonly configuration: NodeConfiguration;
  readonly key: string;
  /** Below `/api`. */
  readonly path: string;
  readonly body: object;
}

/** Posts the body and answers with the parsed JSON. Throws DRV_NODE_DISCONNECTED with one clear line. */
export async function postToLocalApi(call: LocalCall): Promise<unknown> {
  const address = await addressOf(call.configuration);
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const socket = await open(call, address, signal);
  try {
    const { status, text } = await post(socket, call, signal).catch((error: unknown) => {
      throw silent(address.url, error);
    });
    if (status >= 200 && status < 300) return JSON.parse(text);
    throw disconnected(
      `the server at ${address.url} is not this master, or it is not ready (status ${status})`,
    );
  } finally {
    socket.destroy();
  }
}

interface Address {
  readonly host: string;
  readonly port: number;
  readonly url: string;
}

async function addressOf(configuration: NodeConfiguration): Promise<Address> {
  const bound = await bindAddressOf(configuration);
  const host = bound === '0.0.0.0' || bound === '::' ? '127.0.0.1' : bound;
  const { apiPort: port, apiTls } = configuration;
  const scheme = apiTls === undefined ? 'http' : 'https';
  return { host, port, url: `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}/api` };
}

async function open(call: LocalCall, { host, port, url }: Address, signal: AbortSignal): Promise<Socket> {
  const { apiTls } = call.configuration;
  if (apiTls === undefined)
    return connected(connectPlain({ host, port }), 'connect', signal).catch((error: unknown) => {
      throw silent(url, error);
    });
  const isShownBy = await expectationOf(call.directory, apiTls);
  // `isShownBy` decides instead, before anything is said.
  const socket = await connected(
    connectTls({ host, port, rejectUnauthorized: false }),
    'secureConnect',
    signal,
  ).catch((error: unknown) => {
    throw silent(url, error);
  });
  if (isShownBy(socket)) return socket;
  socket.destroy();
  const whose = apiTls === 'cluster' ? "one of this cluster's authority" : `that of ${apiTls.certificate}`;
  throw disconnected(`the server at ${url} shows another certificate than ${whose}: it is not this master`);
}

/** Says whether the other side shows what this master would show. */
async function expectationOf(
  directory: string,
  apiTls: NonNullable<NodeConfiguration['apiTls']>,
): Promise<(socket: TLSSocket) => boolean> {
  const file = apiTls === 'cluster' ? join(directory, 'api-ca.pem') : resolve(directory, apiTls.certificate);
  const expected = await readCertificate(file);
  return (socket) => {
    const shown = socket.getPeerX509Certificate();
    if (shown === undefined) return false;
    return apiTls === 'cluster' ? isIssuedBy(shown, expected, 'server') : shown.raw.equals(expected.raw);
  };
}

async function readCertificate(file: string): Promise<X509Certificate> {
  try {
    return new X509Certificate(await readFile(file));
  } catch (error) {
    const reason =
      error instanceof Error && 'syscall' in error ? fileReason(error) : 'it holds no certificate';
    throw disconnected(`${file} cannot be read: ${reason}; start the master once`, error);
  }
}

function connected<T extends Socket>(
  socket: T,
  event: 'connect' | 'secureConnect',
  signal: AbortSignal,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => void socket.destroy(new Error(`no answer in ${TIMEOUT_MS / 1000} s`));
    signal.addEventListener('abort', onAbort, { once: true });
    // It stays: a later fault is that of the request.
    socket.on('error', reject);
    socket.once('close', () => reject(new Error('it hung up')));
    socket.once(event, () => resolve(socket));
  });
}

function post(
  socket: Socket,
  { key, path, body }: LocalCall,
  signal: AbortSignal,
): Promise<{ readonly status: number; readonly text: string }> {
  const text = JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const outgoing = request({
      createConnection: () => socket,
      method: 'POST',
      path: `/api${path}`,
      headers: {
        host: 'localhost',
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(text),
        connection: 'close',
      },
      signal,
    });
    outgoing.on('error', reject);
    outgoing.on('response', (response) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        chunks.push(chunk);
        if (bytes > MAX_BYTES) response.destroy(new Error('the answer is too long'));
      });
      response.on('error', reject);
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') }),
      );
    });
    outgoing.end(text);
  });
}

function silent(url: string, error: unknown): DroverError {
  const reason = systemReason(error) ?? messageOf(error);
  return disconnected(`the master does not answer at ${url} (${reason}): start it first`, error);
}

function disconnected(message: string, cause?: unknown): DroverError {
  return new DroverError('DRV_NODE_DISCONNECTED', message, { cause });
}
