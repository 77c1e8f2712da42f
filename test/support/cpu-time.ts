/** Measures the processor time of work in this process, so that the waits of a busy machine do not count. */

/** Returns the milliseconds of processor time that the work took. */
export async function cpuMsOf(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** The work of one measurement: its longest turn of the event loop, and all of it. */
interface Cost {
  readonly turnMs: number;
  readonly allMs: number;
}

/** Measures the processor time of work that takes several turns of the event loop. */
async function costOf(work: () => Promise<unknown>): Promise<Cost> {
  let turnMs = 0;
  let allMs = 0;
  let before = process.cpuUsage();
  let isRunning = true;
  const look = (): void => {
    const { user, system } = process.cpuUsage(before);
    before = process.cpuUsage();
    const ms = (user + system) / 1000;
    allMs += ms;
    turnMs = Math.max(turnMs, ms);
    if (isRunning) setImmediate(look);
  };
  setImmediate(look);
  try {
    await work();
  } finally {
    isRunning = false;
    look();
  }
  return { turnMs, allMs };
}

/** The most that a text of 1 MiB may cost: others wait for one turn. */
const MOST: Cost = { turnMs: 50, allMs: 1000 };
/** How much more the work may take than `slowness` says, because other work of the machine comes and goes. */
const LEEWAY = 1.5;
/** A collection of garbage may fall into the work, so it may be done again. */
const TRIES = 5;

/** Why the work is over the budget of a text, in words; undefined: one of a few tries was within it. */
export async function excessOf(work: () => unknown): Promise<string | undefined> {
  let slow = 1;
  const costs: string[] = [];
  while (costs.length < TRIES) {
    const { turnMs, allMs } = await costOf(async () => work());
    if (turnMs < LEEWAY * slow * MOST.turnMs && allMs < LEEWAY * slow * MOST.allMs) return undefined;
    costs.push(`a turn of ${turnMs} ms and ${allMs} ms in all at ${slow} times the time of a quiet machine`);
    slow = await slowness();
  }
  return costs.join('; ');
}

/** How long a quiet machine parses YARDSTICK. */
const QUIET_MS = 30;
const YARDSTICK = `{${Array.from({ length: 80_000 }, (_, index) => `"u${index}":1`).join(',')}}`;

/** How many times slower than a quiet machine this one is now, at least 1. Other work makes processor time longer, too. */
async function slowness(): Promise<number> {
  const parse = (): Promise<number> => cpuMsOf(() => JSON.parse(YARDSTICK));
  return Math.max(1, Math.min(await parse(), await parse(), await parse()) / QUIET_MS);
}
