/**
 * The processes of one node's root as the system shows them: its owner, its session owners with their shells, and every
 * process with its mark in the environment. It watches all the time that no instance has two live runs.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { type ProcessEntry, readProcess } from '../../../src/files/processes.js';
import { MARK_VARIABLE, parseMark } from '../../../src/runtime/run-mark.js';
import { until } from '../until.js';

const LOOK_EVERY_MS = 200;
/** The system does not use a pid again in a shorter time than this. */
const PID_IS_NEW_MS = 2000;

interface InstanceProcess {
  readonly pid: number;
  readonly startTime: number;
  readonly instanceId: string;
  readonly run: number;
  /**
   * True for the run's own process: the leader of the group that the owner made, or the only child of the session's
   * shell.
   */
  readonly isLeader: boolean;
}

export class RootProcesses {
  readonly #rootId: string;
  readonly #doubles = new Set<string>();
  /**
   * The pids that existed before the root, so they do not belong to it: most processes of the machine. Reading their
   * environments at every look would cost most.
   */
  #strangers = new Set(pidsOfAll());
  #lookedAt = performance.now();
  #timer: NodeJS.Timeout | undefined;

  /** Made before any process runs in this root. */
  constructor(rootId: string) {
    this.#rootId = rootId;
  }

  /** The pids of the live owners. */
  async owners(): Promise<number[]> {
    return this.#livePids().filter((pid) => this.#isOwner(pid));
  }

  /** The pids of the live session owners, and of the shells that lead sessions. */
  async sessionOwners(): Promise<{ readonly sessionOwners: number[]; readonly shells: number[] }> {
    const pids = this.#livePids();
    return {
      sessionOwners: pids.filter((pid) => this.#isSessionOwner(pid)),
      shells: pids.filter((pid) => this.#isSessionShell(pid)),
    };
  }

  /** The live processes of instances. */
  async marked(): Promise<InstanceProcess[]> {
    const found: InstanceProcess[] = [];
    for (const { pid, startTime, isZombie, session } of this.#scan()) {
      const run = isZombie ? undefined : parseMark(this.#rootId, markOf(pid));
      if (run === undefined) continue;
      found.push({ ...run, pid, startTime, isLeader: this.#isRunsOwn(pid, session) });
    }
    return found;
  }

  /** Checks again and again, until `unwatch`, whether two runs of one instance live at once. */
  watch(): void {
    this.#timer ??= setInterval(() => void this.#look(), LOOK_EVERY_MS);
  }

  unwatch(): void {
    clearInterval(this.#timer);
  }

  /** The instances that had two live runs at once, as the watch has seen so far. */
  get doubles(): string[] {
    return [...this.#doubles];
  }

  /** Kills every process of this root. */
  async killAll(): Promise<void> {
    await until(async () => {
      const { sessionOwners, shells } = await this.sessionOwners();
      const marked = (await this.marked()).map(({ pid }) => pid);
      const left = [...sessionOwners, ...(await this.owners()), ...shells, ...marked];
      for (const pid of left) kill(pid);
      if (left.length > 0) throw new Error(`still there: ${left}`);
    });
  }

  #livePids(): number[] {
    return this.#scan().flatMap(({ pid, isZombie }) => (isZombie ? [] : pid));
  }

  /** All processes that may belong to this root, zombies included. */
  #scan(): ProcessEntry[] {
    const pids = pidsOfAll();
    const isFresh = performance.now() - this.#lookedAt < PID_IS_NEW_MS;
    this.#lookedAt = performance.now();
    this.#strangers = new Set(isFresh ? pids.filter((pid) => this.#strangers.has(pid)) : []);
    return pids.flatMap((pid) => (this.#strangers.has(pid) ? [] : (readProcess(pid) ?? [])));
  }

  async #look(): Promise<void> {
    const marked = await this.marked();
    for (const id of new Set(marked.map(({ instanceId }) => instanceId))) {
      const mine = marked.filter(({ instanceId }) => instanceId === id);
      if (runsOf(mine).size < 2) continue;
      // The table is not read at one instant, so only runs that are alive now count.
      const runs = runsOf(mine.filter(isAlive));
      if (runs.size > 1) this.#doubles.add(`instance ${id}: runs ${[...runs].join(' and ')} at once`);
    }
  }

  #isRunsOwn(pid: number, session: number): boolean {
    const parent = parentOf(pid);
    return session === pid ? this.#isOwner(parent) : this.#isSessionShell(parent);
  }

  #isOwner(pid: number): boolean {
    const words = read(pid, 'cmdline').replaceAll('\0', ' ');
    if (words.includes(' --tool ')) return false;
    return words.includes(`drover owner ${this.#rootId}`) || words.includes(`--root ${this.#rootId}`);
  }

  #isSessionOwner(pid: number): boolean {
    const words = read(pid, 'cmdline').replaceAll('\0', ' ');
    return words.includes(`-owner ${this.#rootId}`) || words.includes(`--root ${this.#rootId} `);
  }

  /** True for the shell of a session. The server of a screen session has the shell's variables too. */
  #isSessionShell(pid: number): boolean {
    return read(pid, 'environ').includes(`DROVER_SESSION_MARK=${this.#rootId}/`);
  }
}

function pidsOfAll(): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && pid !== process.pid);
}

/** The mark of a process; empty: it has none, or its environment may not be read. */
function markOf(pid: number): string {
  const prefix = `${MARK_VARIABLE}=`;
  const variable = read(pid, 'environ')
    .split('\0')
    .find((one) => one.startsWith(prefix));
  return variable?.slice(prefix.length) ?? '';
}

function runsOf(processes: readonly InstanceProcess[]): Set<number> {
  return new Set(processes.map(({ run }) => run));
}

function isAlive({ pid, startTime }: InstanceProcess): boolean {
  const entry = readProcess(pid);
  return entry?.startTime === startTime && !entry.isZombie;
}

/** Signals a process. Does nothing when the process is gone already. */
export function kill(pid: number, signal: NodeJS.Signals = 'SIGKILL'): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process is gone meanwhile.
  }
}

function parentOf(pid: number): number {
  const stat = read(pid, 'stat');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
}

function read(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'latin1');
  } catch {
    return '';
  }
}
