/**
 * Usage of runs without a control group, read from /proc: the sum over a run's session and process group, and over
 * other processes that carry its mark. One pass over /proc serves all runs.
 */
import { readFileSync } from 'node:fs';
import type { MarkedEntry, ProcessTable } from '../process-table.js';
import { parseMark } from '../run-mark.js';
import { keyOf, type RunId, type Usage } from '../runtime.js';

/** The unit of processor times on every Linux, whatever the kernel's own tick. */
const TICKS_PER_SECOND = 100;
const PAGE_SIZE_ENTRY = 6n;
const AUXILIARY_ENTRY_BYTES = 16;
const USUAL_PAGE_BYTES = 4096;

export interface LedRun {
  readonly run: RunId;
  /** The process that leads its session. */
  readonly pid: number;
}

interface Sum {
  ticks: number;
  pages: number;
  processes: number;
}

export class ProcessUsage {
  readonly #table: ProcessTable;
  readonly #rootId: string;
  readonly #pageBytes = readPageSize();
  /** The marks by `<pid>/<start time>`, so that an environment is read only once in a process's life. */
  #marks = new Map<string, string | null>();

  constructor(table: ProcessTable, rootId: string) {
    this.#table = table;
    this.#rootId = rootId;
  }

  /** The usage by `<instanceId>/<run>`. Runs without a live process are left out. */
  async read(runs: readonly LedRun[]): Promise<ReadonlyMap<string, Usage>> {
    if (runs.length === 0) return new Map();
    const sums = new Map<string, Sum>();
    await this.#each(runs, (key, entry) => add(sums, key, entry));
    return new Map(
      [...sums].map(([key, { ticks, pages, processes }]) => [
        key,
        { cpuSeconds: ticks / TICKS_PER_SECOND, memoryBytes: pages * this.#pageBytes, processes },
      ]),
    );
  }

  /** The pids of a run's processes. */
  async pids(run: LedRun): Promise<number[]> {
    const pids: number[] = [];
    await this.#each([run], (_key, { pid }) => pids.push(pid));
    return pids;
  }

  /** Calls `found` for each process of the runs, with the run's `<instanceId>/<run>`. */
  async #each(runs: readonly LedRun[], found: (key: string, entry: MarkedEntry) => void): Promise<void> {
    const byLeader = new Map(runs.map(({ run, pid }) => [pid, keyOf(run)]));
    const asked = new Set(runs.map(({ run }) => keyOf(run)));
    const marks = new Map<string, string | null>();
    for (const entry of await this.#table.scan()) {
      if (entry.isZombie) continue;
      const key = byLeader.get(entry.session) ?? byLeader.get(entry.group) ?? this.#runOf(entry, marks);
      if (key !== undefined && asked.has(key)) found(key, entry);
    }
    this.#marks = marks;
  }

  #runOf(entry: MarkedEntry, seen: Map<string, string | null>): string | undefined {
    const run = parseMark(this.#rootId, this.#markOf(entry, seen) ?? '');
    return run === undefined ? undefined : keyOf(run);
  }

  #markOf(entry: MarkedEntry, seen: Map<string, string | null>): string | null {
    const key = `${entry.pid}/${entry.startTime}`;
    const known = this.#marks.get(key);
    const mark = known === undefined ? entry.mark : known;
    seen.set(key, mark);
    return mark;
  }
}

function add(sums: Map<string, Sum>, key: string, entry: MarkedEntry): void {
  const sum = sums.get(key) ?? { ticks: 0, pages: 0, processes: 0 };
  sum.ticks += entry.cpuTicks;
  sum.pages += entry.residentPages;
  sum.processes++;
  sums.set(key, sum);
}

/** Reads the page size from the table of pairs of 64-bit numbers that the kernel passes to each program. */
function readPageSize(): number {
  const table = readFileSync('/proc/self/auxv');
  for (let at = 0; at + AUXILIARY_ENTRY_BYTES <= table.length; at += AUXILIARY_ENTRY_BYTES)
    if (table.readBigUInt64LE(at) === PAGE_SIZE_ENTRY) return Number(table.readBigUInt64LE(at + 8));
  return USUAL_PAGE_BYTES;
}
