/** One trial: writers and readers go on, a fault strikes, and everything that must hold is looked at. */
import { setTimeout as pause } from 'node:timers/promises';
import { until } from '../support/until.js';
import type { Fault } from './faults.js';
import { type Fleet, MASTERS, WRAPPERS } from './fleet.js';
import type { Onlookers } from './onlookers.js';
import type { Witness } from './witness.js';
import { Writer } from './writer.js';

const WARM_WRITES = 15;
const READ_EVERY_MS = 500;
/** Writes go on for so long before what happened is over. */
const STEADY_MS = 1000;

export interface Stage {
  readonly fleet: Fleet;
  readonly onlookers: Onlookers;
  readonly witness: Witness;
}

interface Outcome {
  /** The longest time in which a client of a master that was not struck had no write answered. */
  readonly gapMs: number;
  readonly acknowledged: number;
  /** What must not be. */
  readonly faults: readonly string[];
}

/** `name`: what keys of this trial begin with. Resolves when the fleet is whole again. */
export async function tryOnce(stage: Stage, fault: Fault, name: string): Promise<Outcome> {
  const { fleet, onlookers, witness } = stage;
  const { world } = fleet;
  const leader = await fleet.leader();
  const others = MASTERS.filter((master) => master !== leader);
  const [survivor = ''] = others;
  const runs = await fleet.runs(survivor);
  const before = { runs, pids: await fleet.pids(runs) };
  const writers = new Map(
    MASTERS.map((master) => [master, new Writer(`${name}-${master}`, world.apiOf(master))]),
  );
  for (const writer of writers.values()) writer.start();
  for (const writer of writers.values()) await untilWrites(writer, WARM_WRITES);
  const reading = new AbortController();
  const reader = keepReading(stage, { writers, through: others, signal: reading.signal });

  const struckAt = performance.now();
  const undo = await fault.strike(fleet, leader);
  await pause(fault.lastsMs);
  const spared = [...writers].filter(([master]) => master !== leader).map(([, writer]) => writer);
  for (const writer of spared) await untilSteady(writer);
  const measuredAt = performance.now();
  const gapMs = Math.max(...spared.map((writer) => writer.longestGap(struckAt, measuredAt)));
  await undo();

  await fleet.leader();
  for (const writer of writers.values()) await untilWrites(writer, writer.acknowledged + 5);
  await Promise.all([...writers.values()].map((writer) => writer.stop()));
  reading.abort();
  await reader;
  const faults: string[] = [];
  await world.untilConnected([...MASTERS, ...WRAPPERS], survivor);
  await onlookers.goOn();
  const after = await until(async () => {
    const runs = await fleet.runs(survivor);
    if (runs.some(({ state }) => state !== 'ONLINE')) throw new Error(JSON.stringify(runs));
    return { runs, pids: await fleet.pids(runs) };
  });
  if (JSON.stringify(after) !== JSON.stringify(before))
    faults.push(`instances were touched: ${JSON.stringify(before)} became ${JSON.stringify(after)}`);
  for (const master of MASTERS)
    for (const writer of writers.values()) await writer.check(world.apiOf(master), master);
  for (const writer of writers.values()) {
    faults.push(...writer.faults);
    await writer.clear(world.apiOf(survivor));
  }
  await witness.catchUp();
  faults.push(...witness.faults.splice(0));
  const acknowledged = [...writers.values()].reduce((sum, writer) => sum + writer.acknowledged, 0);
  return { gapMs, acknowledged, faults };
}

/** Reads what was acknowledged, through each of the masters in turn. A master that does not answer is asked again. */
async function keepReading(
  { fleet }: Stage,
  {
    writers,
    through,
    signal,
  }: {
    readonly writers: ReadonlyMap<string, Writer>;
    readonly through: readonly string[];
    readonly signal: AbortSignal;
  },
): Promise<void> {
  for (let turn = 0; !signal.aborted; turn++) {
    const master = through[turn % through.length] ?? '';
    for (const writer of writers.values())
      await writer.check(fleet.world.apiOf(master), master).catch(() => undefined);
    await pause(READ_EVERY_MS);
  }
}

function untilWrites(writer: Writer, count: number): Promise<void> {
  return until(() => {
    if (writer.acknowledged < count) throw new Error(`${writer.acknowledged} of ${count} writes`);
  });
}

/** Resolves when it has had answers for a while. */
async function untilSteady(writer: Writer): Promise<void> {
  await until(() => {
    const now = performance.now();
    if (writer.longestGap(now - STEADY_MS, now) > STEADY_MS / 2) throw new Error('writes are not answered');
  });
}
