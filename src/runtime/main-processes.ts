/**
 * Chooses which processes of a run get a signal first: its main processes. The rest is theirs to end, or a shell that
 * stands before them.
 *
 * ```
 * sh -c "cd x && server"       sh start.sh            server, with handler       no handler anywhere
 *   `- server (handles) <--      `- java <--             <--`- worker              sh -c "sleep 9; true"
 *        `- worker               (sh waits)                 `- worker                `- sleep       <-- both
 * ```
 *
 * A main process handles the signal, and no process above it does. "Handles" is what /proc says: the signal is caught,
 * or blocked for a thread that waits for it. A process above (a shell, a launcher) would die of the signal, and the
 * terminal with it. A process below is the main process's to end. Where nothing handles the signal, nobody loses work by
 * it: then there is no main process.
 *
 * A shell with a trap for the signal handles it. Two things are no traps: every shell catches SIGINT for itself, and
 * bash catches all that would end it (SIGSEGV, too) to run its trap for EXIT. It dies of them all the same.
 */
import { readFileSync, readlinkSync } from 'node:fs';
import { constants } from 'node:os';
import { basename } from 'node:path';
import { type ProcessEntry, readProcessName } from '../files/processes.js';
import { attempt } from '../model/plain/attempt.js';

/** How a process takes signals, and what matters of its surroundings. */
export interface SignalManners {
  /** Bit n - 1 stands for signal n. */
  readonly caught: bigint;
  readonly blocked: bigint;
  readonly ignored: bigint;
  readonly isShell: boolean;
  /** True when standard input is /dev/null, as a shell gives it to what it runs in the background. */
  readonly hasNoInput: boolean;
}

const SHELLS: ReadonlySet<string> = new Set(['sh', 'dash', 'bash', 'ash', 'ksh', 'mksh', 'zsh', 'fish']);
const UNKNOWN: SignalManners = { caught: 0n, blocked: 0n, ignored: 0n, isShell: false, hasNoInput: false };

/** The main processes among all live processes of a run; none: no process handles the signal. */
export function mainProcesses<P extends ProcessEntry>(
  processes: readonly P[],
  signal: NodeJS.Signals,
  mannersOf: (pid: number) => SignalManners = readManners,
): readonly P[] {
  const bit = bitOf(signal);
  const manners = new Map(processes.map(({ pid }) => [pid, mannersOf(pid)]));
  const of = ({ pid }: P): SignalManners => manners.get(pid) ?? UNKNOWN;
  const childrenOf = ({ pid }: P): readonly P[] => processes.filter((one) => one.parent === pid);
  const below = (one: P): readonly P[] => [one, ...childrenOf(one).flatMap(below)];
  const mainsOf = (one: P): readonly P[] => {
    const { caught, blocked, isShell } = of(one);
    const mains = childrenOf(one).flatMap(mainsOf);
    if (((caught | blocked) & bit) === 0n) return mains;
    if (!isShell) return [one];
    if (signal === 'SIGINT' || (caught & bitOf('SIGSEGV')) !== 0n) return mains;
    // A shell runs a trap only when its program in the foreground has ended, so that gets the signal as well.
    const front = childrenOf(one).filter((child) => !isInBackground(of(child)));
    return [one, ...front.flatMap((child) => (mainsOf(child).length > 0 ? mainsOf(child) : below(child)))];
  };
  return processes.filter(({ parent }) => !manners.has(parent)).flatMap(mainsOf);
}

/** True for what a shell without job control has started with `&`. */
function isInBackground({ ignored, hasNoInput }: SignalManners): boolean {
  const both = bitOf('SIGINT') | bitOf('SIGQUIT');
  return hasNoInput || (ignored & both) === both;
}

function bitOf(signal: NodeJS.Signals): bigint {
  return 1n << BigInt(constants.signals[signal] - 1);
}

function readManners(pid: number): SignalManners {
  return attempt(() => {
    const status = readFileSync(`/proc/${pid}/status`, 'latin1');
    const mask = (name: string): bigint =>
      BigInt(`0x${new RegExp(`^${name}:\\s*([0-9a-f]+)$`, 'm').exec(status)?.[1] ?? '0'}`);
    const name = readProcessName(pid) ?? '';
    const program = linkOf(pid, 'exe') ?? name;
    return {
      caught: mask('SigCgt'),
      blocked: mask('SigBlk'),
      ignored: mask('SigIgn'),
      // All programs of busybox are one file.
      isShell:
        SHELLS.has(basename(program)) || (basename(program) === 'busybox' && /^(a?sh|.*\.sh)$/.test(name)),
      hasNoInput: linkOf(pid, 'fd/0') === '/dev/null',
    };
  }, UNKNOWN);
}

/** True when the process reads its standard input from a pipe. False also when this user may not know. */
export function readsPipe(pid: number): boolean {
  return linkOf(pid, 'fd/0')?.startsWith('pipe:') === true;
}

function linkOf(pid: number, name: string): string | undefined {
  return attempt(() => readlinkSync(`/proc/${pid}/${name}`));
}
