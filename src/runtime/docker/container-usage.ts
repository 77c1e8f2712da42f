/**
 * Measures containers by the control groups that their engine made, which costs the engine nothing. Where the groups
 * cannot be seen it asks the engine, which takes a second for each container.
 */

import { eachBounded } from '../../loop/each-bounded.js';
import { messageOf } from '../../model/errors.js';
import { attempt } from '../../model/plain/attempt.js';
import type { Logger } from '../../telemetry/logger.js';
import { GroupFiles } from '../limits/group-files.js';
import { GroupFigures, VERSION_1, VERSION_2, type Version } from '../limits/hierarchy.js';
import { type OwnGroups, readOwnGroups } from '../limits/own-groups.js';
import { keyOf, type Usage } from '../runtime.js';
import type { ContainerRun } from './container-run.js';
import type { Engine } from './engine/engine.js';

/**
 * How many containers the engine is asked about at once. Engines measure once a second, so most of the time is
 * waiting.
 */
const ASKED_AT_ONCE = 32;

/** Directories of a container's control group. In version 2 they are the same. */
interface ContainerGroup {
  readonly memory: string;
  readonly accounting: string;
  readonly version: Version;
}

export class ContainerUsage {
  readonly #engine: Pick<Engine, 'inspect' | 'usage'>;
  readonly #logger: Logger;
  readonly #files = new GroupFiles();
  /**
   * Groups by container id; null: the group is not visible to this process. Holds only the containers of the last call.
   */
  #groups = new Map<string, ContainerGroup | null>();

  constructor(engine: Pick<Engine, 'inspect' | 'usage'>, logger: Logger) {
    this.#engine = engine;
    this.#logger = logger;
  }

  /** The present usage of runs, by `<instanceId>/<run>`. Runs that could not be measured are left out. */
  async measure(runs: readonly ContainerRun[], signal: AbortSignal): Promise<ReadonlyMap<string, Usage>> {
    const known = this.#groups;
    const groups = new Map<string, ContainerGroup | null>();
    const found = new Map<string, Usage>();
    await eachBounded(runs, ASKED_AT_ONCE, signal, async ({ id: run, containerId: id }) => {
      try {
        const group = known.get(id) ?? (known.has(id) ? null : await this.#find(id));
        groups.set(id, group);
        const usage =
          group === null
            ? await this.#engine.usage(id)
            : new GroupFigures(this.#files, group.version).usage({
                ...group,
                cpu: undefined,
                pids: undefined,
              });
        if (usage !== undefined) found.set(keyOf(run), usage);
      } catch (error) {
        this.#logger.debug({ reason: messageOf(error), container: id }, 'a container could not be measured');
      }
    });
    this.#groups = groups;
    return found;
  }

  /** The pid of a container's main process, if it is the same process here; undefined: it is not. */
  async visiblePid(id: string): Promise<number | undefined> {
    const { pid } = await this.#engine.inspect(id);
    return groupOfMain(id, pid) === null ? undefined : pid;
  }

  async #find(id: string): Promise<ContainerGroup | null> {
    const { pid } = await this.#engine.inspect(id);
    return groupOfMain(id, pid);
  }
}

function groupOfMain(id: string, pid: number): ContainerGroup | null {
  if (pid === 0) return null;
  // No group when the process is not visible here: the engine counts its processes in another PID namespace.
  return attempt(() => groupOf(id, readOwnGroups(pid)), null);
}

/**
 * Finds the control group of container `id` among the groups of its main process. Null when the group is not mounted
 * here, or when its path lacks the id: then the pid belongs to another process here.
 */
export function groupOf(id: string, { version1, version2 }: OwnGroups): ContainerGroup | null {
  const memory = upTo(id, version1.get('memory')?.directory);
  const accounting = upTo(id, version1.get('cpuacct')?.directory);
  if (memory !== undefined && accounting !== undefined) return { memory, accounting, version: VERSION_1 };
  const both = upTo(id, version2?.directory);
  return both === undefined ? null : { memory: both, accounting: both, version: VERSION_2 };
}

/** The part of `directory` up to the container's own group, because a container may make groups below its own. */
function upTo(id: string, directory: string | undefined): string | undefined {
  const at = directory?.indexOf(id) ?? -1;
  if (directory === undefined || at < 0) return undefined;
  const end = directory.indexOf('/', at);
  return end < 0 ? directory : directory.slice(0, end);
}
