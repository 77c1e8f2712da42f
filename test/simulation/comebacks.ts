/**
 * Judges that a crash of what is wanted is followed by a start in time, whatever the master, its templates and the
 * network do meanwhile. Only what happens to the node's own machine is an excuse.
 */

import { z } from 'zod';
import { portsOf } from '../../src/model/fields/ports.js';
import type { StartSpec } from '../../src/runtime/runtime.js';
import type { Machine } from './machine/machine.js';
import type { Scheduler } from './scheduler.js';

/** Beyond the delay of a restart: an install, a start, and their writes. */
const GRACE_MS = 3000;
/** By then the node has kept what it made of the crash. */
const LOOK_AFTER_MS = 500;

const ASSIGNMENTS = 'assignments/';
const handleSchema = z.object({
  run: z.int(),
  restartToken: z.int(),
  streak: z.int(),
  hasEnded: z.boolean(),
  installed: z.object({ restartToken: z.int() }).nullable(),
});
type Handle = z.infer<typeof handleSchema>;
const assignmentSchema = z.object({ goal: z.string(), restartToken: z.int(), revision: z.string() });

interface ComebacksOptions {
  readonly scheduler: Scheduler;
  readonly report: (violation: string) => void;
  /** The node's daemon works: it lives, is not stopped, and its disks take writes. */
  readonly isFit: (machine: Machine) => boolean;
  /** The restart policy of a content starts an instance again after any end. */
  readonly isAlways: (revision: string) => boolean;
}

export class Comebacks {
  readonly #options: ComebacksOptions;
  /** Virtual time at which something last happened to a machine itself. */
  readonly #excusedAt = new Map<string, number>();
  /** Runs whose start was not on the disk when their daemon died. */
  readonly #unkept = new WeakSet<StartSpec>();

  constructor(options: ComebacksOptions) {
    this.#options = options;
  }

  excuse(nodeId: string): void {
    this.#excusedAt.set(nodeId, this.#options.scheduler.now);
  }

  /** The daemon of a machine has just died. */
  noteDeath(machine: Machine): void {
    this.excuse(machine.nodeId);
    for (const id of machine.runtime.alive) {
      const spec = machine.runtime.specOf(id);
      if (spec !== undefined && handleOf(machine, id)?.run !== spec.run) this.#unkept.add(spec);
    }
  }

  /** The process of an instance has just ended by itself. */
  noteCrash(machine: Machine, id: string): void {
    const { scheduler, isFit, isAlways } = this.#options;
    const spec = machine.runtime.specOf(id);
    // By the content that the node knows of: a newer one may not have reached it.
    const revision = assignmentOf(machine, id)?.revision;
    if (spec === undefined || revision === undefined || !isFit(machine) || !isAlways(revision)) return;
    const { now } = scheduler;
    const starts = startsOf(machine, id);
    const isVoid = (): boolean => this.#isExcused(machine, now) || startsOf(machine, id) > starts;
    scheduler.after(LOOK_AFTER_MS, () => {
      const handle = handleOf(machine, id);
      if (assignmentOf(machine, id)?.revision !== revision) return;
      if (isVoid() || handle === undefined || !handle.hasEnded || handle.run !== spec.run) return;
      // What the run was made from went with its daemon: newer templates have to come.
      if (this.#unkept.has(spec) && !knowsItsInstall(handle)) return;
      const delayMs = handle.streak <= 1 ? 0 : Math.min(1000 * 2 ** (handle.streak - 2), 60_000);
      scheduler.after(delayMs + GRACE_MS, () => {
        if (isVoid() || !isFit(machine) || !this.#isWanted(machine, id, handle.restartToken)) return;
        if (portsOf(spec).some((port) => machine.isPortTaken(port))) return;
        this.#options.report(
          `${id} crashed ${scheduler.now - now} ms ago, and ${machine.nodeId} has not started it again`,
        );
      });
    });
  }

  /** As far as the node knows. A policy holds at once, also for what waits for a restart. */
  #isWanted(machine: Machine, id: string, restartToken: number): boolean {
    const { goal, restartToken: asked, revision = '' } = assignmentOf(machine, id) ?? {};
    return goal === 'run' && asked === restartToken && this.#options.isAlways(revision);
  }

  #isExcused({ nodeId }: Machine, since: number): boolean {
    return (this.#excusedAt.get(nodeId) ?? Number.NEGATIVE_INFINITY) >= since;
  }
}

function startsOf({ runtime }: Machine, id: string): number {
  return runtime.starts.filter(({ instanceId }) => instanceId === id).length;
}

/** As the node would find it when its daemon died now. */
function handleOf({ disk }: Machine, id: string): Handle | undefined {
  return handleSchema.safeParse(disk.entries.get(`handles/${id}`)?.value).data;
}

function knowsItsInstall({ installed, restartToken }: Handle): boolean {
  return installed?.restartToken === restartToken;
}

function assignmentOf({ disk }: Machine, id: string): z.infer<typeof assignmentSchema> | undefined {
  return assignmentSchema.safeParse(disk.entries.get(ASSIGNMENTS + id)?.value).data;
}
