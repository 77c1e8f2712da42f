/**
 * The processes of one node's root as the system shows them: its owner, its session owners with their shells, and
 * every process with its mark in the environment. It watches all the time that no instance has two runs alive.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { type ProcessEntry, readProcess } from '../../../src/runtime/process-table.js';
import { MARK_VARIABLE, parseMark } from '../../../src/runtime/run-mark.js';
import { until } from '../until.js';

const LOOK_EVERY_MS = 200;
/** In a shorter time than this the system gives no pid again. */
const PID_IS_NEW_MS = 2000;

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
  readonly #doubles = new Set<string>();
  /** Older than the root, so not of it: most processes of the machine. Looks are so many that reading these costs most. */
  #strangers = new Set(pidsOfAll());
  #lookedAt = performance.now();
  #timer: NodeJS.Timeout | undefined;

  /** Nothing runs yet in this root. */
  constructor(rootId: string) {
    this.#rootId = rootId;
  }

  /** Pids of the live owners. */
  async owners(): Promise<number[]> {
    return this.#livePids().filter((pid) => this.#isOwner(pid));
  }

  /** Pids of the live owners of sessions, and of the shells that lead sessions. */
  async sessionOwners(): Promise<{ readonly sessionOwners: number[]; readonly shells: number[] }> {
    const pids = this.#livePids();
    return {
      sessionOwners: pids.filter((pid) => this.#isSessionOwner(pid)),
      shells: pids.filter((pid) => this.#isSessionShell(pid)),
    };
  }

  /** Live processes of instances. */
  async marked(): Promise<InstanceProcess[]> {
    const found: InstanceProcess[] = [];
    for (const { pid, startTime, isZombie, session } of this.#scan()) {
      const run = isZombie ? undefined : parseMark(this.#rootId, markOf(pid));
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

  #livePids(): number[] {
    return this.#scan().flatMap(({ pid, isZombie }) => (isZombie ? [] : pid));
  }

  /** All processes that could be of this root, zombies included. */
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

function pidsOfAll(): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && pid !== process.pid);
}

/** Empty: it has none, or may not be read. */
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
