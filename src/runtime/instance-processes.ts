/**
 * All processes of a run, wherever they went: the leader, its session and process group, the members of its control
 * group, and other processes that carry the run's mark. Signals go out by kill(2), after a check of identity, so that a
 * reused pid is never hit.
 */

import { type ProcessEntry, type ProcessStamp, readProcess, readProcessName } from '../files/processes.js';
import { hasFileCode, systemCodeOf } from '../files/system-error.js';
import type { StopTo } from '../model/stopping.js';
import { mainProcesses, readsPipe } from './main-processes.js';
import { inSlices, type MarkedEntry, type ProcessTable } from './process-table.js';
import { formatMark, parseMark } from './run-mark.js';
import type { ProcessIdentity, RunId } from './runtime.js';

/**
 * How many times SIGKILL is repeated for processes forked meanwhile. Processes left after that wait for the caller's
 * next round.
 */
const MOST_KILL_PASSES = 5;

/** The process by which a run is known. */
export interface Leader {
  readonly identity: ProcessIdentity;
  /**
   * The process that leads the session and group, when it is another process than `identity`. Both are of the same
   * boot.
   */
  readonly session?: ProcessStamp | undefined;
  /** When the leader's end was first seen, in clock ticks since boot; null while it runs. */
  readonly exitedAtTicks: number | null;
}

export class InstanceProcesses {
  readonly #table: ProcessTable;
  readonly #rootId: string;
  readonly #runtime: string;
  readonly #groups: RunGroups;
  /** The pids in all groups, by the pass over the processes for which they were read. */
  readonly #grouped = new WeakMap<readonly MarkedEntry[], ReadonlySet<number>>();

  /** `runtime`: the runtime whose marks count; processes with another runtime's mark are left alone. */
  constructor(table: ProcessTable, rootId: string, runtime: string, groups: RunGroups = NO_GROUPS) {
    this.#table = table;
    this.#rootId = rootId;
    this.#runtime = runtime;
    this.#groups = groups;
  }

  /**
   * True while anything of the run lives. Reads one file while the leader lives; after its end, looks at all
   * processes of the machine.
   */
  async isAlive(run: RunId, leader: Leader | undefined): Promise<boolean> {
    if (leader !== undefined && this.#table.isAlive(leader.identity)) return true;
    const { members } = await this.#select(await this.#table.scan(), run, leader);
    return members.length > 0;
  }

  /**
   * True when no process is in the leader's process group any more. False also when another session has taken over
   * the group's number.
   */
  isGroupGone(leader: Leader | undefined): boolean {
    if (leader === undefined || leader.identity.bootId !== this.#table.bootId) return false;
    try {
      process.kill(-sessionOf(leader).pid, 0);
      return false;
    } catch (error) {
      return hasFileCode(error, 'ESRCH');
    }
  }

  /** The names of the run's live processes. */
  async names(run: RunId, leader: Leader | undefined): Promise<readonly string[]> {
    const { members } = await this.#select(await this.#table.scan(), run, leader);
    return this.#programsOf(members, leader).map(({ pid }) => readProcessName(pid) ?? '?');
  }

  /** The run's live processes whose standard input is a pipe. */
  async pipeReaders(run: RunId, leader: Leader | undefined): Promise<readonly ProcessStamp[]> {
    const { members } = await this.#select(await this.#table.scan(), run, leader);
    return this.#programsOf(members, leader)
      .filter(({ pid }) => readsPipe(pid))
      .map(stampOf);
  }

  /**
   * Sends `signal` once to the run: to its main processes alone, or to everything of it. Suspended processes are
   * continued after it. Returns the main processes when others were spared. A run without processes is no error.
   */
  async signal(
    run: RunId,
    leader: Leader | undefined,
    signal: NodeJS.Signals,
    to: StopTo = 'all',
  ): Promise<readonly ProcessStamp[]> {
    if (to === 'main' && signal !== 'SIGKILL') {
      const { members } = await this.#select(await this.#table.scan(), run, leader);
      const programs = this.#programsOf(members, leader);
      const mains = mainProcesses(programs, signal);
      if (mains.length > 0 && mains.length < programs.length) {
        for (const main of mains) signalProcess(main, signal);
        continueSuspended(members);
        return mains.map(stampOf);
      }
    }
    await this.#signalAll(run, leader, signal);
    return [];
  }

  /** Leaves out the shell that leads the run's session beside the program, because that shell is Drover's. */
  #programsOf(members: readonly MarkedEntry[], leader: Leader | undefined): readonly MarkedEntry[] {
    return members.filter(({ pid }) => pid !== leader?.session?.pid);
  }

  async #signalAll(run: RunId, leader: Leader | undefined, signal: NodeJS.Signals): Promise<void> {
    const reached = new Set<number>();
    let group: number | undefined;
    // Signal the group before the scan, which takes milliseconds: while the leader lives, the group's number
    // certainly belongs to this run.
    if (leader !== undefined && this.#table.isAlive({ ...leader.identity, ...leader.session }))
      group = this.#signalGroup(leader, signal);
    if (signal === 'SIGKILL') await this.#groups.kill(run);
    for (let pass = 0; pass < (signal === 'SIGKILL' ? MOST_KILL_PASSES : 1); pass++) {
      const { members, isOwnSession } = await this.#select(await this.#table.scan(), run, leader);
      if (isOwnSession && leader !== undefined && group === undefined)
        group = this.#signalGroup(leader, signal);
      const fresh = members.filter((member) => member.group !== group && !reached.has(member.pid));
      for (const member of fresh) {
        reached.add(member.pid);
        signalProcess(member, signal);
      }
      if (signal !== 'SIGKILL') continueSuspended(members);
      if (fresh.length === 0) return;
    }
  }

  /** The runs of this root and runtime that still have a live process with their mark. */
  async marked(): Promise<RunId[]> {
    const runs = new Map<string, RunId>();
    for (const entry of await this.#table.scan()) {
      if (entry.mark === null || entry.isZombie) continue;
      const run = parseMark(this.#rootId, entry.mark);
      if (run?.runtime !== this.#runtime) continue;
      runs.set(entry.mark, { instanceId: run.instanceId, run: run.run });
    }
    return [...runs.values()];
  }

  async #select(entries: readonly MarkedEntry[], run: RunId, leader: Leader | undefined) {
    const inGroup = new Set(this.#groups.pids(run));
    const mark = formatMark(this.#rootId, run, this.#runtime);
    const isOwnSession = leader !== undefined && this.#holdsSession(entries, leader);
    const isMember = (entry: MarkedEntry): boolean => {
      if (entry.isZombie) return false;
      if (inGroup.has(entry.pid)) return true;
      // No process of a run is older than its leader.
      if (leader !== undefined && entry.startTime < sessionOf(leader).startTime) return false;
      if (this.#inGroups(entries).has(entry.pid)) return false;
      // A program may overwrite its environment to show a title, as nginx and redis do. Then the session tells which
      // run the process belongs to.
      return entry.mark === mark || (entry.mark === null && isOwnSession && isIn(entry, leader));
    };
    const members: MarkedEntry[] = [];
    const turn = inSlices();
    for (const entry of entries) {
      if (isMember(entry)) members.push(entry);
      await turn();
    }
    return { members, isOwnSession };
  }

  /**
   * The processes in the groups of all runs. Members of other runs are left out before their environments are read:
   * the environments of a thousand throttled processes would hold up the daemon for minutes.
   */
  #inGroups(entries: readonly MarkedEntry[]): ReadonlySet<number> {
    const known = this.#grouped.get(entries) ?? new Set(this.#groups.allPids());
    this.#grouped.set(entries, known);
    return known;
  }

  /**
   * Whether the session with the leader's number is still the run's own. The number is free once session and group are
   * empty, and may then name a stranger's session. But all members of a stranger's session began after our leader's
   * end, so an older member proves that the session is ours.
   */
  #holdsSession(entries: readonly MarkedEntry[], leader: Leader): boolean {
    if (leader.identity.bootId !== this.#table.bootId) return false;
    const session = sessionOf(leader);
    const holder = entries.find((entry) => entry.pid === session.pid);
    if (holder !== undefined) return holder.startTime === session.startTime;
    const latest = leader.exitedAtTicks ?? Number.POSITIVE_INFINITY;
    return entries.some((entry) => isIn(entry, leader) && entry.startTime <= latest);
  }

  #signalGroup(leader: Leader, signal: NodeJS.Signals): number {
    const group = sessionOf(leader).pid;
    send(-group, signal);
    return group;
  }
}

function stampOf({ pid, startTime }: ProcessStamp): ProcessStamp {
  return { pid, startTime };
}

function sessionOf(leader: Leader): ProcessStamp {
  return leader.session ?? leader.identity;
}

function isIn(entry: MarkedEntry, leader: Leader): boolean {
  const { pid } = sessionOf(leader);
  return entry.session === pid || entry.group === pid;
}

/** A suspended process handles a signal only when it goes on. */
function continueSuspended(entries: readonly ProcessEntry[]): void {
  for (const entry of entries) if (entry.isSuspended) signalProcess(entry, 'SIGCONT');
}

function signalProcess(entry: ProcessEntry, signal: NodeJS.Signals): void {
  if (readProcess(entry.pid)?.startTime === entry.startTime) send(entry.pid, signal);
}

function send(target: number, signal: NodeJS.Signals): void {
  try {
    process.kill(target, signal);
  } catch (error) {
    const code = systemCodeOf(error);
    // ESRCH: the process has ended. EPERM: it runs as another user now, and we may not signal it.
    if (code !== 'ESRCH' && code !== 'EPERM') throw error;
  }
}

export interface RunGroups {
  /** The pids of all processes in the run's group and the groups below it; empty when the run has no group. */
  pids(run: RunId): readonly number[];
  /** The pids of all processes in the groups of all runs of this root. */
  allPids(): readonly number[];
  /**
   * Sends SIGKILL to all processes of the group: in one step where the kernel can (`cgroup.kill` of version 2), else
   * one by one. A process forked meanwhile may escape. Repeatable. Never throws.
   */
  kill(run: RunId): Promise<void>;
}

/** The groups of a node that makes no control groups. */
export const NO_GROUPS: RunGroups = { pids: () => [], allPids: () => [], kill: async () => undefined };
