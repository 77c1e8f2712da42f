/** Runs one simulation from its seed to its end: operations and faults, then a calm in which the fleet must settle. */
import { Metrics } from '../../src/telemetry/metrics.js';
import { Fleet, textOf } from './fleet.js';
import type { Machine } from './machine/machine.js';
import type { Disorder } from './network/path.js';
import { Clients } from './operator/clients.js';
import { drawScript, drawSize, type Size, type Step } from './operator/operations.js';
import { Operator } from './operator/operator.js';
import { Random } from './random.js';
import { unsettledOf } from './settled.js';

/** Longer than every delay there is: creations, restarts, believed ports, retries, a bye's minute. */
const SETTLE_WITHIN_MS = 300_000;
const LOOK_EVERY_MS = 2000;
/** The last failures are forgotten, and believed ports doubted, after a minute. */
const AFTERMATH_MS = 65_000;
const QUIET_MS = 30_000;
/** Every key is looked at again within five minutes: now and then a settled fleet is left alone for longer. */
const RESYNC_MS = 320_000;

export interface SimulationOptions {
  readonly seed: string;
  /** Default: one. */
  readonly masters?: number | undefined;
  readonly metrics: Metrics;
  readonly disorder?: Disorder;
  readonly size?: Size;
  /** Only so many of the operations that the seed gives. */
  readonly operations?: number;
  /** Positions of operations to leave out. */
  readonly without?: ReadonlySet<number>;
  readonly isTraced?: boolean;
}

export interface Outcome {
  readonly seed: string;
  readonly violation: string | undefined;
  readonly operations: number;
  readonly nodes: number;
  readonly instances: number;
  readonly events: number;
  readonly virtualMs: number;
  /** Terms of several masters. */
  readonly terms?: number;
  readonly trace: readonly string[];
}

export function newSharedMetrics(): Metrics {
  return new Metrics();
}

/** TCP repeats and reorders nothing; the protocol does not count on that. */
function drawDisorder(random: Random): Disorder {
  return random.weighted<Disorder>([
    [20, {}],
    [1, { repeat: 0.3 }],
    [1, { reorder: 0.3 }],
  ]);
}

export async function simulate(options: SimulationOptions): Promise<Outcome> {
  const { seed, metrics, isTraced = false } = options;
  const random = new Random(seed);
  const disorder = options.disorder ?? drawDisorder(random.fork('disorder'));
  const size = options.size ?? drawSize(random.fork('size'), options.masters);
  const script = drawScript(random.fork('script'), size).filter(
    (_step, index) =>
      index < (options.operations ?? Number.POSITIVE_INFINITY) && options.without?.has(index) !== true,
  );
  const fleet = new Fleet({ seed, disorder, isTraced, metrics, masters: options.masters });
  let violation: string | undefined;
  try {
    await play(fleet, size, script);
    violation = fleet.invariants.violation ?? (await settle(fleet));
    // Messages that come twice go on to cause work.
    const isOrderly = options.disorder !== undefined || Object.keys(disorder).length === 0;
    if (isOrderly) violation ??= await rest(fleet, random.fork('rest').chance(0.05) ? RESYNC_MS : QUIET_MS);
  } catch (error) {
    violation = fleet.invariants.violation ?? textOf(error);
  }
  for (const { life } of [...fleet.daemons.values()]) life.die('the end');
  return {
    seed,
    violation,
    operations: script.length,
    nodes: fleet.machines.size,
    instances: fleet.invariants.book.everSeen.length,
    events: fleet.scheduler.count,
    virtualMs: fleet.scheduler.now,
    ...(fleet.masters !== undefined && { terms: fleet.masters.terms.count }),
    trace: fleet.trace.lines,
  };
}

async function play(fleet: Fleet, size: Size, script: readonly Step[]): Promise<void> {
  fleet.templates.change('base');
  for (let number = 0; number < size.nodes; number++) fleet.addMachine();
  await fleet.scheduler.advance(1500);
  const operator = new Operator(fleet);
  for (const { operation, pauseMs } of script) {
    operator.perform(operation);
    await fleet.scheduler.advance(pauseMs);
    if (fleet.invariants.violation !== undefined) return;
  }
}

/** Ends every fault; what is wrong when the fleet does not become what is desired. */
async function settle(fleet: Fleet): Promise<string | undefined> {
  endFaults(fleet);
  const until = fleet.scheduler.now + SETTLE_WITHIN_MS;
  let missing: string[];
  do {
    await fleet.scheduler.advance(LOOK_EVERY_MS);
    if (fleet.invariants.violation !== undefined) return fleet.invariants.violation;
    revive(fleet);
    if (fleet.masters !== undefined) fleet.applyFiles();
    else fleet.master?.syncFiles().catch(() => undefined);
    goOnForgetting(fleet);
    missing = unsettledOf(fleet);
  } while (missing.length > 0 && fleet.scheduler.now < until);
  return missing.length > 0
    ? `not settled after ${SETTLE_WITHIN_MS / 1000} s: ${missing.join('; ')}`
    : undefined;
}

function endFaults(fleet: Fleet): void {
  fleet.trace.note('world', () => 'all faults end');
  // Due times would come for ever, and a settled fleet is at rest.
  for (const [name, { schedules: _ended, ...content }] of fleet.files) fleet.files.set(name, content);
  fleet.calm();
  fleet.masterDisk.latencyMs = 2;
  for (const machine of fleet.machines.values()) {
    machine.foreignPorts.clear();
    fleet.fill(machine, false);
    machine.disk.latencyMs = 2;
    machine.runtime.failWith = undefined;
    machine.runtime.isAvailable = true;
    for (const path of fleet.network.pathsOf(machine.nodeId)) path.latencyMs = 2;
    fleet.heal(machine);
    fleet.powerOn(machine);
  }
  revive(fleet);
}

/** A daemon that still dies of an effect, or ends after an orderly stop, is started again. */
function revive(fleet: Fleet): void {
  for (const machine of fleet.machines.values()) fleet.start(machine);
}

/** An operator repeats what was cut short, as its answer said. */
function goOnForgetting(fleet: Fleet): void {
  const clients = new Clients(fleet);
  for (const nodeId of fleet.network.shutOut) {
    const machine = fleet.machines.get(nodeId);
    if (machine !== undefined && fleet.invariants.book.nodes.has(nodeId)) clients.forget(machine);
  }
}

/** A settled fleet writes nothing and says nothing but beats. A drain under way goes on at its own pace. */
async function rest(fleet: Fleet, ms: number): Promise<string | undefined> {
  const until = fleet.scheduler.now + SETTLE_WITHIN_MS;
  let starts: number;
  do {
    // One that crashed is started again after its delay, with the files that it had, also where its template is gone.
    starts = startsOf(fleet);
    await fleet.scheduler.advance(AFTERMATH_MS);
  } while ((startsOf(fleet) !== starts || hasRunUnderWay(fleet)) && fleet.scheduler.now < until);
  if (
    [...fleet.invariants.book.nodes.values()].some(
      ({ drain }) => drain !== undefined && drain.doneAt === null,
    )
  )
    return fleet.invariants.violation;
  const before = busyness(fleet);
  await fleet.scheduler.advance(ms);
  if (fleet.invariants.violation !== undefined) return fleet.invariants.violation;
  const [unsettled] = unsettledOf(fleet);
  if (unsettled !== undefined) return `settled, and then not any more: ${unsettled}`;
  const after = busyness(fleet);
  const { changes: changesBefore } = fleet.invariants.book;
  if (before !== after) return `a settled fleet is not at rest: ${before}, then ${after}`;
  fleet.master?.master?.term?.controllers.resyncNow();
  await fleet.scheduler.advance(LOOK_EVERY_MS);
  const { changes } = fleet.invariants.book;
  return changes === changesBefore
    ? undefined
    : `a change woke too few: ${changes - changesBefore} writes follow when the master looks at everything again`;
}

function busyness(fleet: Fleet): string {
  const disks = ownMachines(fleet).reduce((sum, { disk }) => sum + disk.commits, 0);
  const { changes } = fleet.invariants.book;
  return `${changes} changes of the state, ${disks} writes of the nodes, ${fleet.network.sent} messages, ${startsOf(fleet)} starts`;
}

/** A run that lasts, and its delay before the next try, may be longer together than the aftermath. */
function hasRunUnderWay({ invariants }: Fleet): boolean {
  return [...invariants.book.instances.values()].some(
    ({ job, desired, placement, status }) =>
      job !== undefined && desired.goal === 'run' && placement !== null && status.endedAt === undefined,
  );
}

function startsOf(fleet: Fleet): number {
  return ownMachines(fleet).reduce((sum, { runtime }) => sum + runtime.starts.length, 0);
}

/** A node that was forgotten has its own affairs. */
function ownMachines(fleet: Fleet): Machine[] {
  return [...fleet.machines.values()].filter(({ nodeId }) => !fleet.network.shutOut.has(nodeId));
}
