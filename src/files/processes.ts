/**
 * Reads from /proc what a process is. Its pid and start time together identify it. A zombie counts as dead, although
 * `kill(pid, 0)` succeeds on it.
 */
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { constants } from 'node:os';
import { attempt } from '../model/plain/attempt.js';
import { replaceFileSync } from './replace-file-sync.js';

/** Room for the 52 numbers of up to 20 digits and the name of up to 64 bytes in `/proc/<pid>/stat`. */
const STAT_BYTES = 2048;

/** The pid and the start time of a process. No other process since the boot has the same two. */
export interface ProcessStamp {
  readonly pid: number;
  /** Clock ticks since boot. */
  readonly startTime: number;
}

export interface ProcessEntry extends ProcessStamp {
  /** The pid of the parent. */
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  readonly isZombie: boolean;
  /** True while a signal such as SIGSTOP holds the process. */
  readonly isSuspended: boolean;
  /** Processor time of the process and of the children that it has waited for, in clock ticks. */
  readonly cpuTicks: number;
  readonly residentPages: number;
}

/** The process with this pid; undefined: no such process. */
export function readProcess(pid: number): ProcessEntry | undefined {
  const stat = readStat(pid);
  return stat === undefined ? undefined : parseStat(stat);
}

/** The process that a line of /proc/<pid>/stat describes. */
export function parseStat(stat: string): ProcessEntry {
  // The name in parentheses may hold anything, parentheses and spaces too.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const state = fields[0] ?? '';
  return {
    pid: Number.parseInt(stat, 10),
    parent: Number(fields[1]),
    group: Number(fields[2]),
    session: Number(fields[3]),
    startTime: Number(fields[19]),
    isZombie: state === 'Z' || state === 'X',
    isSuspended: state === 'T',
    cpuTicks: Number(fields[11]) + Number(fields[12]) + Number(fields[13]) + Number(fields[14]),
    residentPages: Number(fields[21]),
  };
}

/**
 * Reads with three system calls. readFileSync makes five and takes four times as long, and a scan reads every process.
 */
function readStat(pid: number): string | undefined {
  const buffer = Buffer.allocUnsafe(STAT_BYTES);
  return readOpen(`/proc/${pid}/stat`, (fd) => buffer.toString('latin1', 0, readSync(fd, buffer)));
}

/** Opens a file for reading, and returns what `read` makes of it; undefined: the file cannot be opened or read. */
export function readOpen<T>(path: string, read: (fd: number) => T): T | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(path, 'r');
    return read(fd);
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** The name of a process, at most 15 characters; undefined: no such process. */
export function readProcessName(pid: number): string | undefined {
  return readOpen(`/proc/${pid}/comm`, (fd) => readFileSync(fd, 'utf8').trimEnd());
}

/** The id of the present boot. Pids and start times are comparable only within one boot. */
export function readBootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
}

/** True while the process with this pid and start time lives. */
export function isRunning({ pid, startTime }: ProcessStamp): boolean {
  const entry = readProcess(pid);
  return entry !== undefined && entry.startTime === startTime && !entry.isZombie;
}

/** Writes a process of this boot to a file, for `notedProcess`. */
export function noteProcess(file: string, { pid, startTime }: ProcessStamp): void {
  replaceFileSync(file, `${pid} ${startTime} ${readBootId()}`);
}

/** Reads the process that `noteProcess` wrote. Undefined: there is no such file, or it is from an earlier boot. */
export function notedProcess(file: string): ProcessStamp | undefined {
  return attempt(() => {
    const [pid, startTime, bootId] = readFileSync(file, 'latin1').split(' ');
    return bootId === readBootId() ? { pid: Number(pid), startTime: Number(startTime) } : undefined;
  });
}

/** The name of a signal, such as `SIGTERM`; undefined: this machine has no such signal. */
export function signalName(signal: number): string | undefined {
  return Object.entries(constants.signals).find(([, number]) => number === signal)?.[0];
}
