/**
 * The native part of node-pty, without its JavaScript class. That class reports an exit up to 200 ms late. It
 * closes the terminal under a program that redirected all its output, which the kernel answers with SIGHUP. And it
 * spins while a program does not read its input.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { isObject } from '../../model/json-object.js';
import { attempt } from '../../model/plain/attempt.js';
import { fields, isNumber, isText } from '../owner/checks.js';

export interface ForkedPty {
  /** The descriptor of the terminal's master side, non-blocking. */
  readonly fd: number;
  readonly pid: number;
  /** The path of the terminal's slave side. */
  readonly pty: string;
}

interface ForkOptions {
  readonly file: string;
  readonly parameters: readonly string[];
  /** The variables, each as `NAME=value`. */
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

/** Throws when node-pty is not installed, or has no build for this machine, which the error then says. */
export function loadNativePty(): NativePty {
  const library = requireNative();
  if (!hasFork(library)) throw new Error('this version of node-pty has no fork or resize');
  return {
    fork: (options) => forkWith(library, options),
    resize: (fd, columns, rows) => void library.resize(fd, columns, rows),
  };
}

/** The prebuilt binary is a package of its own for each platform, which node-pty depends on. */
function requireNative(): unknown {
  const path = createRequire(import.meta.url).resolve('node-pty');
  const { platform, arch } = process;
  try {
    return createRequire(path)(`@lydell/node-pty-${platform}-${arch}/pty.node`);
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    throw new Error(`${NEEDED}; this is ${platform}-${arch}, ${libc()}: ${said}`, { cause: error });
  }
}

/** The C library as Node.js found it: only glibc has a version there. */
function libc(): string {
  const { header } = process.report.getReport() as { header?: { glibcVersionRuntime?: string } };
  const version = header?.glibcVersionRuntime;
  return version === undefined ? 'without glibc (musl, as on Alpine)' : `glibc ${version}`;
}

interface Native {
  fork(...parameters: readonly unknown[]): unknown;
  resize(...parameters: readonly unknown[]): unknown;
}

const SAME_USER = -1;
const NEEDED =
  'terminals of instances need node-pty, which is built for Linux x64 and arm64 with glibc 2.28 or later';

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
  if (!isForked(forked)) throw new Error('this version of node-pty answers fork differently');
  return forked;
}

function hasFork(value: unknown): value is Native {
  return isObject(value) && typeof value.fork === 'function' && typeof value.resize === 'function';
}

const isForked = fields<ForkedPty>({ fd: isNumber, pid: isNumber, pty: isText });

/**
 * The flag close-on-exec, which node-pty does not set on its terminals, and Node cannot set. So each instance could
 * inherit the terminals of the others, read their output and write their input. Therefore shell-prelude.ts closes the
 * inheritable descriptors.
 */
const CLOSE_ON_EXEC = 0o2000000;
const FIRST_AFTER_STANDARD = 3;

/** True when `fd` is open and lacks close-on-exec. */
export function isInheritable(fd: number): boolean {
  return attempt(() => {
    const flags = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'latin1'))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
  }, false);
}

/** All inheritable descriptors but the standard three. Reads one file for each open descriptor. */
export function inheritableDescriptors(): number[] {
  return readdirSync('/proc/self/fd')
    .map(Number)
    .filter((fd) => fd >= FIRST_AFTER_STANDARD && isInheritable(fd));
}
