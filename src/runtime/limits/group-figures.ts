/** The figures of control groups. The two versions keep them in other files. */
import type { Usage } from '../runtime.js';
import type { GroupFiles } from './group-files.js';
import type { RunGroup } from './hierarchy.js';

/** Where one version of control groups keeps its figures. */
interface FigureNames {
  /** The file with the memory in use. */
  readonly used: string;
  /** The field of `memory.stat` with the file pages that the kernel would give up at once. */
  readonly spare: string;
  /** The field of `memory.stat` with the files in memory (tmpfs). */
  readonly inMemory: string;
  /** The file with the field `oom_kill`. */
  readonly kills: string;
  readonly cpuSeconds: (files: GroupFiles, directory: string) => number;
}

export const VERSION_1: FigureNames = {
  used: 'memory.usage_in_bytes',
  spare: 'total_inactive_file',
  inMemory: 'total_shmem',
  kills: 'memory.oom_control',
  cpuSeconds: (files, directory) => (files.number(directory, 'cpuacct.usage') ?? 0) / 1e9,
};

export const VERSION_2: FigureNames = {
  used: 'memory.current',
  spare: 'inactive_file',
  inMemory: 'shmem',
  kills: 'memory.events',
  cpuSeconds: (files, directory) => (files.field(directory, 'cpu.stat', 'usage_usec') ?? 0) / 1e6,
};

export class GroupFigures {
  readonly #files: GroupFiles;
  readonly #names: FigureNames;

  constructor(files: GroupFiles, names: FigureNames) {
    this.#files = files;
    this.#names = names;
  }

  /** The present usage; undefined: there is no such group. */
  usage(group: RunGroup): Usage | undefined {
    const members = group.accounting ?? group.memory ?? group.cpu;
    const pids = members === undefined ? undefined : this.#files.pids(members);
    if (pids === undefined) return undefined;
    return {
      cpuSeconds: this.cpuSeconds(group),
      memoryBytes: group.memory === undefined ? 0 : this.#memoryOf(group.memory),
      processes: pids.length,
    };
  }

  /** Processor time of all processes that were ever in the group, in seconds; 0: not counted. */
  cpuSeconds({ accounting }: RunGroup): number {
    return accounting === undefined ? 0 : this.#names.cpuSeconds(this.#files, accounting);
  }

  /** Bytes of files in memory (tmpfs), which outlive the processes that wrote them; 0: not counted. */
  fileBytesInMemory({ memory }: RunGroup): number {
    return memory === undefined ? 0 : (this.#files.field(memory, 'memory.stat', this.#names.inMemory) ?? 0);
  }

  /** How many processes the memory limit has ended. */
  memoryKills({ memory }: RunGroup): number {
    return memory === undefined ? 0 : (this.#files.field(memory, this.#names.kills, 'oom_kill') ?? 0);
  }

  /** The memory in use, less the file pages that the kernel would give up at once. */
  #memoryOf(directory: string): number {
    const used = this.#files.number(directory, this.#names.used) ?? 0;
    return Math.max(0, used - (this.#files.field(directory, 'memory.stat', this.#names.spare) ?? 0));
  }
}
