/**
 * The native part of node-pty, without its JavaScript class. That class reports an exit up to 200 ms late. It
 * closes the terminal under a program that redirected all its output, which the kernel answers with SIGHUP. And it
 * spins while a program does not read its input.
 */
import { createRequire } from 'node:module';

export interface ForkedPty {
  /** The master side, non-blocking. */
  readonly fd: number;
  readonly pid: number;
  /** Path of the slave side. */
  readonly pty: string;
}

export interface ForkOptions {
  readonly file: string;
  readonly parameters: readonly string[];
  /** `NAME=value`. */
  readonly environment: readonly string[];
  readonly workingDirectory: string;
  readonly columns: number;
  readonly rows: number;
  /** Called once, when waitpid has the status; `signal` is 0 for a normal exit. */
  readonly onExit: (code: number, signal: number) => void;
}

export interface NativePty {
  /** Forks a program on a new terminal. Throws when the system refuses; the error does not say why. */
  fork(options: ForkOptions): ForkedPty;
  /** Sets the size; the terminal's programs get SIGWINCH. Throws when the descriptor is no terminal any more. */
  resize(fd: number, columns: number, rows: number): void;
}

/** Throws when node-pty is not installed, or not built for this machine. */
export function loadNativePty(): NativePty {
  const require = createRequire(import.meta.url);
  const library: unknown = require('node-pty');
  if (!hasFork(library)) throw new Error('this version of node-pty has no native.fork or native.resize');
  const { native } = library;
  return {
    fork: (options) => forkWith(native, options),
    resize: (fd, columns, rows) => void native.resize(fd, columns, rows),
  };
}

interface Native {
  fork(...parameters: readonly unknown[]): unknown;
  resize(...parameters: readonly unknown[]): unknown;
}

const SAME_USER = -1;

function forkWith(native: Native, options: ForkOptions): ForkedPty {
  const forked = native.fork(
    options.file,
    [...options.parameters],
    [...options.environment],
    options.workingDirectory,
    options.columns,
    options.rows,
    SAME_USER,
    SAME_USER,
    true,
    '',
    options.onExit,
  );
  if (!isForked(forked)) throw new Error('this version of node-pty answers native.fork differently');
  return forked;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function hasFork(value: unknown): value is { native: Native } {
  if (!isObject(value) || !isObject(value.native)) return false;
  return typeof value.native.fork === 'function' && typeof value.native.resize === 'function';
}

function isForked(value: unknown): value is ForkedPty {
  if (!isObject(value)) return false;
  return typeof value.fd === 'number' && typeof value.pid === 'number' && typeof value.pty === 'string';
}
