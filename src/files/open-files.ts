/**
 * The limit of files that this process may have open (`ulimit -n`, in systemd LimitNOFILE). It must be enough for a
 * node, and it bounds the connections of each kind. Node.js raises the soft limit to the hard one at its start.
 */
import { readFileSync } from 'node:fs';
import { DroverError } from '../model/errors.js';

/**
 * The least limit of a node. A start opens up to 64 files, and a running node 30 to 40. With its API and the other
 * connections of strangers full, some must be left for the files of templates, configurations and instances.
 */
const LEAST = 128;
/** The part of the limit that connections other than those of the API leave to the node's own files. */
const OWN = 64;
/** How many connections of one kind there may be at the least limit. */
const FEW = 8;
const RAISE = 'raise it (ulimit -n; in a unit of systemd: LimitNOFILE)';
const LINE = /^Max open files\s+(\d+)/m;

/** The limit, from the text of `/proc/self/limits`; infinite: unlimited. */
export function openFilesLimit(limits = readFileSync('/proc/self/limits', 'utf8')): number {
  return Number(LINE.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY);
}

/** Throws DRV_OVERLOADED when a node cannot work with the limit. */
export function requireOpenFiles(limit = openFilesLimit()): void {
  if (limit >= LEAST) return;
  throw new DroverError(
    'DRV_OVERLOADED',
    `the limit of open files is ${limit}, Drover needs at least ${LEAST}: ${RAISE}`,
  );
}

/** The error to show in place of the system's EMFILE or ENFILE; undefined: `error` is another one. */
export function asFilesLimit(error: unknown): DroverError | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code !== 'EMFILE' && code !== 'ENFILE') return undefined;
  const message =
    code === 'EMFILE'
      ? `this process has too many files open (EMFILE), and its limit is reached: ${RAISE}`
      : 'this machine has too many files open (ENFILE): raise its limit (sysctl fs.file-max)';
  return new DroverError('DRV_OVERLOADED', message, { cause: error });
}

/**
 * How many connections of one kind may be open: a `part` of what the API and the node's own files leave of the limit,
 * and `most` at most. The API has half of the limit.
 */
export function connectionsWithin(part: number, most: number, limit = openFilesLimit()): number {
  return Math.min(most, Math.max(FEW, Math.floor((limit / 2 - OWN) * part)));
}
