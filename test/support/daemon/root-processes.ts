/**
 * The processes of one node's root as the system shows them: its owner, its session owners with their shells, and
 * every process with its mark in the environment. It watches all the time that no instance has two runs alive.
 */
import { readFileSync } from 'node:fs';
import { ProcessTable, readProcess } from '../../../src/runtime/process-table.js';
import { parseMark } from '../../../src/runtime/run-mark.js';
import { until } from '../until.js';

const LOOK_EVERY_MS = 200;

export interface InstanceProcess {
  readonly pid: number;
  readonly startTime: number;
  readonly instanceId: string;
  readonly run: number;
  /** It is the run's own process: the leader of what the owner made for it, or the one child of its session's shell. */
  readonly isLeader: boolean;
}

export class RootProcesses {
  readonly #rootId: string;
  readonly #table = new ProcessTable();
  readonly #doubles = new Set<string>();
  #timer: NodeJS.Timeout | undefined;

  constructor(rootId: string) {
    this.#rootId = rootId;
  }

  /** Pids of the live owners. */
  async owners(): Promise<number[]> {
    const entries = await this.#table.scan();
    return entries.filter(({ pid, isZombie }) => !isZombie && this.#isOwner(pid)).map(({ pid }) => pid);
  }

  /** Pids of the live owners of sessions, and of the shells that lead sessions. */
  async sessionOwners(): Promise<{ readonly sessionOwners: number[]; readonly shells: number[] }> {
    const pids = (await this.#table.scan()).filter(({ isZombie }) => !isZombie).map(({ pid }) => pid);
    return {
      sessionOwners: pids.filter((pid) => this.#isSessionOwner(pid)),
      shells: pids.filter((pid) => this.#isSessionShell(pid)),
    };
  }

  /** Live processes of instances. */
  async marked(): Promise<InstanceProcess[]> {
    const found: InstanceProcess[] = [];
    for (const { pid, startTime, mark, isZombie, session } of await this.#table.scan()) {
      const run = mark === null || isZombie ? undefined : parseMark(this.#rootId, mark);
      if (run === undefined) continue;
      found.push({ ...run, pid, startTime, isLeader: this.#isRunsOwn(pid, session) });
    }
    return found;
  }

  /** Looks again and again whether two runs of one instance live at once, until `unwatch`. */
  watch(): void {
    this.#timer ??= setInterval(() => void this.#look(), LOOK_EVERY_MS);
  }

  unwatch(): void {
    clearInterval(this.#timer);
  }

  /** What watching has seen so far. */
  get doubles(): string[] {
    return [...this.#doubles];
  }

  /** Ends everything there is. */
  async killAll(): Promise<void> {
    await until(async () => {
      const { sessionOwners, shells } = await this.sessionOwners();
      const marked = (await this.marked()).map(({ pid }) => pid);
      const left = [...sessionOwners, ...(await this.owners()), ...shells, ...marked];
      for (const pid of left) kill(pid);
      if (left.length > 0) throw new Error(`still there: ${left}`);
    });
  }

  async #look(): Promise<void> {
    const marked = await this.marked();
    for (const id of new Set(marked.map(({ instanceId }) => instanceId))) {
      const mine = marked.filter(({ instanceId }) => instanceId === id);
      if (runsOf(mine).size < 2) continue;
      // The table is not read at one instant: only those that live now, side by side, count.
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

  /** The server of a screen session has its variables too. */
  #isSessionShell(pid: number): boolean {
    return read(pid, 'environ').includes(`DROVER_SESSION_MARK=${this.#rootId}/`);
  }
}

function runsOf(processes: readonly InstanceProcess[]): Set<number> {
  return new Set(processes.map(({ run }) => run));
}

function isAlive({ pid, startTime }: InstanceProcess): boolean {
  const entry = readProcess(pid);
  return entry?.startTime === startTime && !entry.isZombie;
}

/** Nothing happens when it is gone already. */
export function kill(pid: number, signal: NodeJS.Signals = 'SIGKILL'): void {
  try {
    process.kill(pid, signal);
  } catch {
    // Gone meanwhile.
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
