/**
 * `npm run failover`: what a client of several masters notices when the leader or etcd fails, tried on hosts of their
 * own, and whether anything was lost. Ends with exit code 1 when something was; times are only shown.
 */
import { parseArgs } from 'node:util';
import { Hosts } from '../support/cluster/hosts.js';
import { hasEtcd } from '../support/etcd/etcd-server.js';
import { FAULTS, type Fault } from './faults.js';
import { Fleet } from './fleet.js';
import { Onlookers } from './onlookers.js';
import { tableOf } from './table.js';
import { type Stage, tryOnce } from './trial.js';
import { Witness } from './witness.js';

const HELP = `npm run failover -- [KIND ...] [--trials N]
  Tries each kind of failure, or all, N times (default 3), and prints a table. Ctrl-C ends it after the trial
  under way. Needs root, iproute2 and etcd.
${[...FAULTS].map(([kind, { what }]) => `    ${kind.padEnd(16)} ${what}`).join('\n')}`;

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    options: { trials: { type: 'string', default: '3' }, help: { type: 'boolean' } },
    allowPositionals: true,
  });
  const trials = Number(values.trials);
  const kinds = positionals.length > 0 ? positionals : [...FAULTS.keys()];
  const unknown = kinds.filter((kind) => !FAULTS.has(kind));
  if (values.help === true || unknown.length > 0 || !(trials >= 1)) {
    console.log(HELP);
    return unknown.length > 0 || !(trials >= 1) ? 2 : 0;
  }
  const reason = hasEtcd ? Hosts.reasonForNone() : 'needs etcd (Debian package etcd-server)';
  if (reason !== undefined) throw new Error(reason);
  const ending = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ending.abort());
  const lines: { readonly what: string; readonly gapsMs: readonly number[] }[] = [];
  let isSound = true;
  for (const [kind, fault] of FAULTS) {
    if (!kinds.includes(kind) || ending.signal.aborted) continue;
    const { gapsMs, faults } = await tryKind({ kind, fault, trials }, ending.signal);
    lines.push({ what: fault.what, gapsMs });
    isSound &&= faults === 0;
  }
  console.log(`\n${tableOf(lines)}`);
  return isSound ? 0 : 1;
}

/** Trials of one kind, on a fleet of their own. `ending` lets the one under way come to its end. */
async function tryKind(
  { kind, fault, trials }: { readonly kind: string; readonly fault: Fault; readonly trials: number },
  ending: AbortSignal,
): Promise<{ readonly gapsMs: readonly number[]; readonly faults: number }> {
  const fleet = await Fleet.start({ hasSmallDisks: fault.hasSmallDisks === true });
  const witness = new Witness(fleet.endpoints);
  let onlookers: Onlookers | undefined;
  const gapsMs: number[] = [];
  let count = 0;
  try {
    const [first] = await fleet.runs('m1');
    onlookers = new Onlookers(fleet, first?.id ?? '');
    const stage: Stage = { fleet, witness, onlookers };
    await onlookers.goOn();
    for (let trial = 1; trial <= trials && !ending.aborted; trial++) {
      const { gapMs, acknowledged, faults } = await tryOnce(stage, fault, `${kind}-${trial}`);
      console.log(`${kind} ${trial}: ${Math.round(gapMs)} ms, ${acknowledged} writes acknowledged`);
      for (const line of faults) console.log(`  FAULT: ${line}`);
      gapsMs.push(gapMs);
      count += faults.length;
    }
    console.log(
      `${kind}: ${witness.terms} terms, ${witness.writes} writes to etcd, each in the term that led`,
    );
  } catch (error) {
    console.error(fleet.world.output());
    throw error;
  } finally {
    onlookers?.end();
    await witness.stop();
    await fleet.close();
  }
  return { gapsMs, faults: count };
}

try {
  process.exit(await main());
} catch (error) {
  console.error(error);
  process.exit(1);
}
