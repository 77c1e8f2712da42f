import { Rounds } from '../../loop/rounds.js';
import { type InstanceUsage, USAGE_EVERY_MS } from '../../model/run/instance-usage.js';
import type { Ambient } from '../../telemetry/ambient.js';
import { keyOf, type RunId, type Runtime, type Usage } from '../runtime.js';
import type { LedRun, ProcessUsage } from './process-usage.js';
import type { ResourceLimits } from './resource-limits.js';

/** How many control groups are read in one turn, which takes two or three milliseconds. */
const GROUPS_AT_ONCE = 32;

export interface SampledRun extends RunId {
  readonly runtime: Runtime;
  /** The run's process; null: the run has no process on this host (a container). */
  readonly pid: number | null;
}

interface UsageSamplerOptions extends Ambient {
  /** The runs that live now. */
  readonly runs: () => Iterable<SampledRun>;
  readonly limits: ResourceLimits;
  readonly processes: Pick<ProcessUsage, 'read'>;
  /** Called after each pass with all samples, by instance id; not called while nothing runs. */
  readonly onSamples: (usages: ReadonlyMap<string, InstanceUsage>) => void;
}

/** The last sample of one run. */
interface Seen {
  readonly id: string;
  readonly at: number;
  readonly usage: InstanceUsage;
}

export class UsageSampler extends Rounds {
  readonly #options: UsageSamplerOptions;
  #seen: ReadonlyMap<string, Seen> = new Map();
  /** The highest memory seen of each live run, in bytes. */
  readonly #most = new Map<string, number>();

  constructor(options: UsageSamplerOptions) {
    super(options.clock, USAGE_EVERY_MS);
    this.#options = options;
  }

  /** The samples of the last pass, by instance id. */
  latest(): ReadonlyMap<string, InstanceUsage> {
    return new Map([...this.#seen.values()].map(({ id, usage }) => [id, usage]));
  }

  /** The highest memory seen of a run, known until the first pass after its end; undefined: never measured. */
  mostMemory(run: RunId): number | undefined {
    return this.#most.get(keyOf(run));
  }

  protected round(): Promise<void> {
    return this.#look().catch((error: unknown) =>
      this.#options.logger.warn({ err: error }, 'what instances use could not be measured'),
    );
  }

  async #look(): Promise<void> {
    const { runs, clock, onSamples } = this.#options;
    const current = new Map([...runs()].map((run) => [keyOf(run), run]));
    const hadSome = this.#seen.size > 0;
    const usages = await this.#measure(current);
    const at = clock.monotonic();
    const seen = new Map<string, Seen>();
    for (const [key, { instanceId }] of current) {
      const usage = usages.get(key);
      if (usage === undefined) continue;
      seen.set(key, { id: instanceId, at, usage: since(this.#seen.get(key), usage, at) });
      this.#most.set(key, Math.max(usage.memoryBytes, this.#most.get(key) ?? 0));
    }
    for (const key of this.#most.keys()) if (!current.has(key)) this.#most.delete(key);
    this.#seen = seen;
    if (!this.stopping.aborted && (hadSome || seen.size > 0)) onSamples(this.latest());
  }

  async #measure(runs: ReadonlyMap<string, SampledRun>): Promise<ReadonlyMap<string, Usage>> {
    const usages = new Map<string, Usage>();
    const led: LedRun[] = [];
    const asked = new Map<Runtime, RunId[]>();
    for (const [key, run] of runs) {
      const usage = this.#readGroup(run);
      if (usage !== undefined) {
        usages.set(key, usage);
        if (usages.size % GROUPS_AT_ONCE === 0)
          await new Promise<void>((resolve) => this.#options.clock.nextTurn(resolve));
      } else if (run.runtime.usage !== undefined)
        asked.set(run.runtime, [...(asked.get(run.runtime) ?? []), run]);
      else if (run.pid !== null) led.push({ run, pid: run.pid });
    }
    for (const [runtime, its] of asked)
      for (const [key, usage] of await this.#ask(runtime, its)) usages.set(key, usage);
    for (const [key, usage] of await this.#options.processes.read(led)) usages.set(key, usage);
    return usages;
  }

  /**
   * The usage by the run's control group. Undefined: the run has no group, or the group is empty because the process
   * could not join it.
   */
  #readGroup(run: SampledRun): Usage | undefined {
    const { limits, logger } = this.#options;
    const usage = limits.usage(run);
    if (usage === undefined || usage.processes === 0) return undefined;
    const kills = limits.noteKills(run);
    if (kills > 0)
      logger.warn(
        { instance: run.instanceId, run: run.run, kills },
        `${run.instanceId} goes on, but is out of memory: its limit of RAM ended ${kills} of its processes`,
      );
    return usage;
  }

  async #ask(runtime: Runtime, runs: readonly RunId[]): Promise<Iterable<readonly [string, Usage]>> {
    try {
      return (await runtime.usage?.(runs)) ?? [];
    } catch (error) {
      this.#options.logger.debug({ err: error, runtime: runtime.key }, 'a runtime did not tell its usage');
      return [];
    }
  }
}

/**
 * Computes the share of the processor since the last sample. Outside of a control group, the time of an ended process
 * disappears from `usage`. The reported time then stays as it is, and never shrinks.
 */
function since(before: Seen | undefined, usage: Usage, at: number): InstanceUsage {
  if (before === undefined) return { ...usage, cpuPercent: null };
  const cpuSeconds = Math.max(usage.cpuSeconds, before.usage.cpuSeconds);
  const elapsedMs = at - before.at;
  const usedMs = (cpuSeconds - before.usage.cpuSeconds) * 1000;
  return { ...usage, cpuSeconds, cpuPercent: elapsedMs > 0 ? (usedMs / elapsedMs) * 100 : null };
}
