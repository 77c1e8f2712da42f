/**
 * The operations on a simulated fleet, as values. They are drawn from the seed before the run, so a run with fewer
 * of them is the same run up to there.
 */
import type { Wait } from '../../../src/model/fields/waits-for.js';
import type { InstanceState } from '../../../src/model/instance.js';
import type { RestartPolicy } from '../../../src/model/stopping.js';
import type { Outage } from '../machine/templates.js';
import { drawMasterDeed, drawTwoLeaders, type MasterDeed } from '../masters/master-deeds.js';
import type { Direction } from '../network/path.js';
import type { Random } from '../random.js';

export interface ServiceShape {
  readonly minimum: number;
  readonly maximum: number | undefined;
  readonly ports: { readonly min: number; readonly max: number } | undefined;
  readonly hostAddress: string | undefined;
  readonly ramMB: number;
  readonly static: boolean;
  readonly templates: readonly string[];
  readonly restartPolicy?: RestartPolicy | undefined;
  /** Its programs say so after this time (null: never), and count as not ready after `timeoutSeconds`. */
  readonly readiness?: { readonly afterMs: number | null; readonly timeoutSeconds: number } | undefined;
  /** Its programs have a stop command, and heed it or not. */
  readonly stopCommand?: 'heeded' | 'ignored' | undefined;
  readonly stopTimeoutSeconds?: number | undefined;
  /** Its programs print lines, and are watched for them. */
  readonly isWatched?: boolean;
  /** Its instances on one node share their port. */
  readonly sharesPort?: boolean;
  /** Its programs end by themselves. */
  readonly ends?: ProgramEnd | undefined;
  readonly waitsFor?: readonly Wait[];
  /** Number of the only node that it may run on. */
  readonly node: number | undefined;
}

interface ProgramEnd {
  readonly afterMs: number;
  readonly code: number;
}

/** A configuration whose instances are runs. */
export interface JobShape {
  /** Null: its programs go on until their time-out. */
  readonly ends: ProgramEnd | null;
  readonly timeoutSeconds: number | undefined;
  /** Undefined: a run is never started again. */
  readonly retries: number | undefined;
  readonly isScheduled: boolean;
}

export type Lifecycle = 'start' | 'stop' | 'restart' | 'update' | 'update-when-empty';

/** `pick` chooses among the instances, `node` among the machines (0: the master's), in the order in which they came. */
export type Operation =
  | { readonly do: 'put'; readonly name: string; readonly shape: ServiceShape }
  | { readonly do: 'put-job'; readonly shape: JobShape }
  /** A client asks for a run, and again with the same key until it knows the answer. */
  | { readonly do: 'run-job'; readonly key: string }
  | { readonly do: 'drop'; readonly name: string }
  | { readonly do: 'create'; readonly name: string; readonly count: number }
  | { readonly do: 'lifecycle'; readonly pick: number; readonly targets: readonly Lifecycle[] }
  /** Starts one of those that are stopped. */
  | { readonly do: 'revive'; readonly pick: number }
  | { readonly do: 'delete'; readonly pick: number }
  /** Instances of the configuration say that they are stopped as soon as they have started, until the calm. */
  | { readonly do: 'quit'; readonly name: string }
  | { readonly do: 'put-state'; readonly pick: number; readonly state: InstanceState }
  /** The instance reports itself ONLINE, with so many players. */
  | { readonly do: 'players'; readonly pick: number; readonly count: number }
  | { readonly do: 'crash'; readonly pick: number; readonly code: number; readonly isLooping: boolean }
  | { readonly do: 'toggle-stubborn'; readonly pick: number }
  /** The process goes on without doing anything, until the calm. */
  | { readonly do: 'hang'; readonly pick: number }
  | { readonly do: 'change-template' | 'remove-template'; readonly name: string }
  /** A template is saved twice, and an instance restarted right after. */
  | {
      readonly do: 'save-and-restart';
      readonly name: string;
      readonly pick: number;
      readonly againAfterMs: number;
      readonly restartAfterMs: number;
    }
  /** The storage of templates cannot be asked for a while. */
  | { readonly do: 'fail-storage'; readonly outage: Outage; readonly forMs: number }
  /** A template changes, its nodes are cut off before they may have it, and what runs there crashes. */
  | {
      readonly do: 'crash-alone';
      readonly node: number;
      readonly name: string;
      readonly cutAfterMs: number;
      readonly crashAfterMs: number;
      readonly forMs: number;
    }
  | { readonly do: 'toggle-port'; readonly node: number; readonly port: number }
  | {
      readonly do: 'toggle-starts' | 'toggle-runtime' | 'lose-runtime' | 'cordon' | 'uncordon';
      readonly node: number;
    }
  /** By force, whatever it runs. It may come back after some time; null: never. */
  | { readonly do: 'forget'; readonly node: number; readonly backAfterMs: number | null }
  | { readonly do: 'drain'; readonly node: number; readonly withinMs: number }
  | { readonly do: 'join' }
  | { readonly do: 'leave'; readonly node: number }
  | { readonly do: 'power-off'; readonly node: number; readonly forMs: number }
  /** `kill -9` at the effect after so many more. */
  | { readonly do: 'kill'; readonly node: number; readonly effects: number; readonly forMs: number }
  | {
      readonly do: 'stop-daemon';
      readonly node: number;
      readonly isInterrupt: boolean;
      readonly forMs: number;
    }
  | { readonly do: 'stall'; readonly node: number; readonly forMs: number }
  | {
      readonly do: 'cut';
      readonly node: number;
      readonly directions: readonly Direction[];
      readonly forMs: number;
    }
  /** It is cut off again and again, each time for long enough to be lost. */
  | {
      readonly do: 'flap';
      readonly node: number;
      readonly times: number;
      readonly forMs: number;
      readonly backMs: number;
    }
  | { readonly do: 'reset-connection'; readonly node: number }
  | { readonly do: 'slow-network'; readonly node: number; readonly latencyMs: number }
  | { readonly do: 'fill-disk' | 'slow-disk'; readonly node: number; readonly forMs: number }
  | { readonly do: 'jump-clock'; readonly node: number; readonly byMs: number }
  | { readonly do: 'to-masters'; readonly deed: MasterDeed };

export interface Step {
  readonly operation: Operation;
  /** Virtual time until the next one. */
  readonly pauseMs: number;
}

/** The dimensions of one simulation. */
export interface Size {
  readonly nodes: number;
  readonly operations: number;
  /** Default: one. */
  readonly masters?: number;
}

const NAMES = ['lobby', 'game', 'proxy'] as const;
/** Each waits for some of those before it. */
const ORDERED = ['disk', 'migrate', 'db', 'shop'] as const;
export const JOB = 'report';
const TEMPLATES = ['base', 'world'] as const;
const HOUR_MS = 3_600_000;

/** Mostly small fleets: what two nodes can do to each other, three show sooner. */
export function drawSize(random: Random, masters = 1): Size {
  if (masters > 1) return { masters, nodes: masters + 1 + random.below(3), operations: 8 + random.below(24) };
  const kind = random.next();
  if (kind < 0.002) return { nodes: 200, operations: 8 };
  if (kind < 0.012) return { nodes: 50, operations: 12 };
  return { nodes: 2 + random.below(6), operations: 8 + random.below(28) };
}

export function drawScript(random: Random, size: Size): Step[] {
  const steps: Step[] = [{ operation: drawPut(random, size), pauseMs: random.pick([0, 50, 2000]) }];
  for (let index = 1; index < size.operations; index++)
    steps.push({ operation: drawOperation(random, size), pauseMs: drawPause(random) });
  weave(steps, drawOrdered(random.fork('ordered')), random.fork('when ordered'));
  weave(steps, drawJobs(random.fork('jobs')), random.fork('when jobs'));
  const late = random.fork('late');
  if (size.masters !== undefined && late.chance(0.2)) {
    const deed = drawTwoLeaders(late);
    steps.push({ operation: { do: 'to-masters', deed }, pauseMs: deed.awayMs + deed.forMs });
  }
  return steps;
}

/** Puts the operations among the steps, in their order. */
function weave(steps: Step[], operations: readonly Operation[], random: Random): void {
  let at = 1;
  for (const operation of operations) {
    at += random.below(Math.max(1, steps.length - at));
    steps.splice(at++, 0, { operation, pauseMs: drawPause(random) });
  }
}

/** Services that wait for each other, put in any order, and some of them again. */
function drawOrdered(random: Random): Operation[] {
  if (random.chance(0.4)) return [];
  return Array.from({ length: 3 + random.below(5) }, (): Operation => {
    const name = random.pick(ORDERED);
    const waitsFor = ORDERED.slice(0, ORDERED.indexOf(name))
      .filter(() => random.chance(0.6))
      .map((configuration) => ({
        configuration,
        until: random.pick<Wait['until']>(['ready', 'finished', 'started']),
      }));
    const isTask = name === 'migrate' || random.chance(0.2);
    return {
      do: 'put',
      name,
      shape: {
        ...{ minimum: isTask ? 1 : 1 + random.below(3), maximum: undefined, ports: undefined },
        ...{ hostAddress: undefined, ramMB: 100, static: random.chance(0.2), templates: [], node: undefined },
        readiness: random.chance(0.4)
          ? { afterMs: random.pick([100, 3000, 20_000]), timeoutSeconds: 60 }
          : undefined,
        restartPolicy: isTask ? 'never' : undefined,
        ends: isTask
          ? { afterMs: random.pick([50, 2000, 15_000]), code: random.pick([0, 0, 0, 3]) }
          : undefined,
        waitsFor,
      },
    };
  });
}

/** A job, and runs of it. */
function drawJobs(random: Random): Operation[] {
  if (random.chance(0.4)) return [];
  const put = (): Operation => ({
    do: 'put-job',
    shape: {
      ends: random.chance(0.8)
        ? { afterMs: random.pick([1, 50, 2000, 30_000]), code: random.pick([0, 0, 1]) }
        : null,
      timeoutSeconds: random.pick([undefined, 10, 40]),
      retries: random.pick([undefined, undefined, 0, 2]),
      isScheduled: random.chance(0.3),
    },
  });
  const operations = Array.from(
    { length: 2 + random.below(7) },
    (_, number): Operation =>
      random.chance(0.15) ? put() : { do: 'run-job', key: `key${random.below(2) === 0 ? number : 0}` },
  );
  return [put(), ...operations];
}

function drawPause(random: Random): number {
  return random.weighted([
    [4, 0],
    [3, random.between(0, 5)],
    [3, random.between(5, 100)],
    [3, random.between(100, 1500)],
    [2, random.between(1500, 8000)],
    [1, random.between(8000, 20_000)],
    [0.5, 70_000],
  ]);
}

function drawOperation(random: Random, size: Size): Operation {
  if (size.masters !== undefined && random.chance(0.4))
    return { do: 'to-masters', deed: drawMasterDeed(random, size) };
  const draw = random.weighted<(random: Random, size: Size) => Operation>([
    [6, drawPut],
    [4, drawWish],
    [10, drawLifecycle],
    [6, drawApplication],
    [3, drawTemplate],
    [7, drawMachine],
    [9, drawDaemon],
    [8, drawNetwork],
  ]);
  return draw(random, size);
}

function drawPut(random: Random, { nodes }: Size): Operation {
  const most = Math.max(4, Math.ceil(nodes * 1.5));
  const minimum = random.below(most);
  return {
    do: 'put',
    name: random.pick(NAMES),
    shape: {
      minimum,
      maximum: random.chance(0.3) ? minimum + random.below(most + 2 - minimum) : undefined,
      ports: random.weighted([
        [3, undefined],
        [2, { min: 30_000, max: 30_003 }],
        [2, { min: 30_002, max: 30_000 + 2 * most }],
      ]),
      hostAddress: random.chance(0.25) ? 'play.example' : undefined,
      ramMB: random.pick([100, 300]),
      static: random.chance(0.3),
      templates: TEMPLATES.filter(() => random.chance(0.35)),
      sharesPort: minimum % 2 === 1,
      restartPolicy: random.chance(0.2) ? random.pick(['on-failure', 'never']) : undefined,
      node: random.chance(0.15) ? random.below(nodes) : undefined,
      readiness: random.chance(0.3)
        ? {
            afterMs: random.weighted([
              [3, random.between(0, 1000)],
              [2, random.between(1000, 10_000)],
              [1, null],
            ]),
            timeoutSeconds: random.pick([1, 5, 60]),
          }
        : undefined,
      stopCommand: random.chance(0.3) ? random.pick(['heeded', 'ignored']) : undefined,
      stopTimeoutSeconds: random.chance(0.3) ? random.pick([0, 1, 4]) : undefined,
      isWatched: random.chance(0.3),
    },
  };
}

function drawWish(random: Random): Operation {
  return random.weighted<Operation>([
    [3, { do: 'create', name: random.pick(NAMES), count: 1 + random.below(3) }],
    [1, { do: 'drop', name: random.pick(NAMES) }],
  ]);
}

function drawLifecycle(random: Random): Operation {
  const pick = random.below(1000);
  const target = (): Lifecycle => random.pick(['start', 'stop', 'restart', 'update', 'update-when-empty']);
  return random.weighted<Operation>([
    [5, { do: 'lifecycle', pick, targets: [target()] }],
    [3, { do: 'lifecycle', pick, targets: Array.from({ length: 2 + random.below(3) }, target) }],
    [3, { do: 'revive', pick }],
    [3, { do: 'delete', pick }],
    [2, { do: 'put-state', pick, state: random.pick(['CREATING', 'ONLINE', 'OFFLINE', 'STOPPED']) }],
    [3, { do: 'players', pick, count: random.pick([0, 1, 7]) }],
  ]);
}

function drawApplication(random: Random): Operation {
  const pick = random.below(1000);
  return random.weighted<Operation>([
    [4, { do: 'crash', pick, code: random.below(120), isLooping: random.chance(0.3) }],
    [2, { do: 'toggle-stubborn', pick }],
    [2, { do: 'hang', pick }],
    [0.7, { do: 'quit', name: random.pick(NAMES) }],
  ]);
}

function drawTemplate(random: Random, { nodes }: Size): Operation {
  const name = random.pick(TEMPLATES);
  const draw = random.next();
  if (draw < 0.2)
    return {
      do: 'fail-storage',
      outage: random.pick(['slow', 'down']),
      forMs: random.pick([300, 5000, 100_000]),
    };
  if (draw < 0.4)
    return {
      do: 'crash-alone',
      node: random.below(nodes),
      name,
      cutAfterMs: random.between(0, 130),
      crashAfterMs: random.between(0, 500),
      forMs: random.pick([7000, 30_000, 100_000]),
    };
  if (draw < 0.6)
    return {
      do: 'save-and-restart',
      name,
      pick: random.below(1000),
      againAfterMs: random.between(0, 20),
      restartAfterMs: random.between(0, 10),
    };
  return { do: random.chance(0.7) ? 'change-template' : 'remove-template', name };
}

function drawMachine(random: Random, { nodes }: Size): Operation {
  const node = random.below(nodes);
  return random.weighted<Operation>([
    [3, { do: 'toggle-port', node, port: 30_000 + random.below(5) }],
    [1, { do: 'toggle-starts', node }],
    [1, { do: 'toggle-runtime', node }],
    [1, { do: 'lose-runtime', node }],
    [1, { do: 'cordon', node }],
    [2, { do: 'uncordon', node }],
    [2, { do: 'drain', node, withinMs: random.pick([0, 60_000]) }],
    [0.7, { do: 'forget', node, backAfterMs: random.pick([null, 100, 5000, 40_000]) }],
    [2, { do: 'join' }],
    [0.7, { do: 'leave', node }],
    [
      2,
      { do: 'jump-clock', node, byMs: random.pick([-1, 1]) * random.pick([5000, HOUR_MS, 87_600 * HOUR_MS]) },
    ],
  ]);
}

function drawDaemon(random: Random, { nodes }: Size): Operation {
  // The master is one of many, and what befalls it befalls all.
  const node = random.chance(0.3) ? 0 : random.below(nodes);
  const forMs = random.weighted([
    [3, random.between(10, 1000)],
    [2, random.between(1000, 8000)],
    [1, random.between(8000, 40_000)],
    [0.5, 80_000],
  ]);
  const effects = random.weighted([
    [1, 0],
    [2, random.below(10)],
    [2, random.below(60)],
  ]);
  return random.weighted<Operation>([
    [6, { do: 'kill', node, effects, forMs }],
    [3, { do: 'power-off', node, forMs: forMs + 2000 }],
    [2, { do: 'stop-daemon', node, isInterrupt: random.chance(0.3), forMs }],
    [3, { do: 'stall', node, forMs: random.pick([300, 3000, 30_000]) }],
    [1, { do: 'fill-disk', node, forMs }],
    [1, { do: 'slow-disk', node, forMs }],
  ]);
}

function drawNetwork(random: Random, { nodes }: Size): Operation {
  const node = random.below(nodes);
  const directions = random.pick<readonly Direction[]>([['up', 'down'], ['up', 'down'], ['up'], ['down']]);
  return random.weighted<Operation>([
    [5, { do: 'cut', node, directions, forMs: random.pick([400, 3000, 7000, 14_000, 60_000]) }],
    [
      2,
      {
        do: 'flap',
        node,
        times: 1 + random.below(4),
        forMs: random.pick([7000, 14_000, 70_000]),
        backMs: random.pick([200, 3000, 10_000]),
      },
    ],
    [4, { do: 'reset-connection', node }],
    [1, { do: 'slow-network', node, latencyMs: random.pick([2, 40, 400]) }],
  ]);
}
