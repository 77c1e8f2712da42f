/**
 * One attempt to reach an instance at its port, by TCP or HTTP. It goes to addresses of this machine only: loopback,
 * and the instance's own address if this machine has it.
 */
import { request } from 'node:http';
import { connect, isIP, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { addAbortSignal, type Readable } from 'node:stream';

const LOOPBACK = ['127.0.0.1', '::1'];
const LEAVE_MS = 1000;
const LEAVE_BYTES = 2 ** 20;

/** The problem, in words that a client may read; null: the check holds. */
export type Finding = string | null;

/** The addresses at which an instance with this `hostAddress` may listen on this machine. */
export function localAddresses(hostAddress: string): readonly string[] {
  if (isIP(hostAddress) === 0 || LOOPBACK.includes(hostAddress)) return LOOPBACK;
  const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return own.some(({ address }) => address === hostAddress) ? [...LOOPBACK, hostAddress] : LOOPBACK;
}

interface Asked {
  readonly port: number;
  /** Absent: a connection is enough. */
  readonly path?: string | undefined;
}

/**
 * Holds when one of the addresses accepts a connection, or answers with 2xx or 3xx. Redirects are not followed. Tries
 * all addresses at once, because a program may listen at only one of them. When all fail, an answer is reported rather
 * than a refusal. Ends when `signal` aborts.
 */
export async function tryAt(
  { port, path }: Asked,
  addresses: readonly string[],
  signal: AbortSignal,
): Promise<Finding> {
  const rest = new AbortController();
  const ended = AbortSignal.any([signal, rest.signal]);
  const findings: Finding[] = [];
  const tries = addresses.map(async (host) => {
    const finding = await (path === undefined
      ? connectTo(host, port, ended)
      : get({ host, port, path }, ended));
    if (finding === null) return;
    findings.push(finding);
    throw new Error(finding);
  });
  await Promise.any(tries).catch(() => undefined);
  rest.abort();
  if (findings.length < addresses.length) return null;
  return findings.find((finding) => finding !== REFUSED) ?? REFUSED;
}

function connectTo(host: string, port: number, signal: AbortSignal): Promise<Finding> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const answered = endsWith(signal, socket);
    socket.once('connect', () => {
      answered();
      resolve(isItself(socket) ? REFUSED : null);
      socket.end();
      leave(socket, socket);
    });
    socket.on('error', (error) => resolve(signal.aborted ? NO_ANSWER : wordsFor(error)));
    socket.once('close', () => resolve(NO_ANSWER));
  });
}

/** Destroys what asks when `signal` aborts, until the returned function is called. */
function endsWith(signal: AbortSignal, asking: { destroy(): unknown }): () => void {
  const end = (): void => void asking.destroy();
  if (signal.aborted) end();
  signal.addEventListener('abort', end, { once: true });
  return () => signal.removeEventListener('abort', end);
}

/**
 * Takes what a program still sends until it closes the connection, for a second and 1 MiB at most. Closed with unread
 * data, a connection is reset, and that ends a program which listens for no errors of its connections.
 */
function leave(said: Readable, socket: Socket): void {
  let bytes = 0;
  said.on('data', (piece: Buffer) => {
    bytes += piece.length;
    if (bytes > LEAVE_BYTES) socket.destroy();
  });
  socket.unref();
  addAbortSignal(AbortSignal.timeout(LEAVE_MS), socket);
}

/** True for a connection to itself: where no program listens, the system may choose this very port for our end. */
function isItself({ localPort, remotePort, localAddress, remoteAddress }: Socket): boolean {
  return localPort === remotePort && localAddress === remoteAddress;
}

function get(
  { host, port, path }: { readonly host: string; readonly port: number; readonly path: string },
  signal: AbortSignal,
): Promise<Finding> {
  return new Promise((resolve) => {
    const asked = request({ host, port, path, agent: false, headers: { connection: 'close' } });
    const answered = endsWith(signal, asked);
    asked.once('response', (response) => {
      answered();
      const status = response.statusCode ?? 0;
      leave(response, response.socket);
      resolve(status >= 200 && status < 400 ? null : `it answers with status ${status}`);
    });
    asked.on('error', (error) => resolve(signal.aborted ? NO_ANSWER : wordsFor(error)));
    asked.once('close', () => resolve(NO_ANSWER));
    asked.end();
  });
}

const REFUSED = 'the connection is refused';
const NO_ANSWER = 'there is no answer';

function wordsFor(error: Error): string {
  const code = 'code' in error ? error.code : undefined;
  // A machine without IPv6 has no ::1, so no program can listen there.
  if (code === 'ECONNREFUSED' || code === 'EADDRNOTAVAIL' || code === 'EAFNOSUPPORT') return REFUSED;
  if (code === 'ECONNRESET') return 'the connection is reset';
  return typeof code === 'string' && code.startsWith('HPE_')
    ? 'what it answers is not HTTP'
    : `it cannot be reached (${String(code ?? 'unknown error')})`;
}
