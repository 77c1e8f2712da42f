/**
 * `npm run simulate`: runs many seeds on all cores, or one of them again. When a seed fails it reports it and ends
 * with code 1.
 */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { reportOf } from './report.js';
import { simulateRollouts } from './rollouts/rollout-world.js';
import { newSharedMetrics, type Outcome, type SimulationOptions, simulate } from './simulate.js';

/**
 * `--rollouts`: of one service instead of whole fleets. `--masters 3`: fleets with so many masters, on etcd. `--bail` begins
 * no other seeds after one that failed, and makes no report.
 */
const USAGE = `npm run simulate -- [--rollouts | --masters 3] [--seeds 1000] [--from 0] [--workers <cores>] [--bail]
npm run simulate -- --rollouts --seed <seed>
npm run simulate -- [--masters 3] --seed <seed> [--operations <n>] [--without 3,5] [--trace]`;
/** Seeds that one worker is given at a time: few, so that no core waits long for the others at the end. */
const CHUNK = 2;
/** A seed makes much that is soon gone: with more room for that it is collected less often. */
const YOUNG_MB = 64;
const TELL_EVERY_MS = 5000;

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string', default: '0' },
    workers: { type: 'string', default: String(availableParallelism()) },
    seed: { type: 'string' },
    operations: { type: 'string' },
    without: { type: 'string' },
    trace: { type: 'boolean', default: false },
    bail: { type: 'boolean', default: false },
    rollouts: { type: 'boolean', default: false },
    masters: { type: 'string', default: '1' },
    help: { type: 'boolean', default: false },
  },
});

const masters = Number(values.masters);

if (values.help) console.log(USAGE);
else if (values.seed === undefined) await runMany();
else if (values.rollouts) await runRollouts(values.seed);
else await runOne(values.seed);

async function runOne(seed: string): Promise<void> {
  const options: SimulationOptions = {
    seed,
    masters,
    metrics: newSharedMetrics(),
    isTraced: values.trace,
    ...(values.operations !== undefined && { operations: Number(values.operations) }),
    ...(values.without !== undefined && { without: new Set(values.without.split(',').map(Number)) }),
  };
  const outcome = await simulate(options);
  for (const line of outcome.trace) console.log(line);
  console.log(summaryOf(outcome));
  if (outcome.violation === undefined) return;
  process.exitCode = 1;
  console.log(values.trace ? `seed ${seed} fails: ${outcome.violation}` : await reportOf(options, outcome));
}

async function runRollouts(seed: string): Promise<void> {
  const outcome = await simulateRollouts(seed);
  for (const line of outcome.trace) console.log(line);
  console.log(summaryOf(outcome));
  if (outcome.violation === undefined) return;
  process.exitCode = 1;
  console.log(`seed ${seed} fails: ${outcome.violation}`);
}

async function runMany(): Promise<void> {
  const [seeds, from] = [Number(values.seeds), Number(values.from)];
  const startedAt = performance.now();
  const failed: Outcome[] = [];
  let next = from;
  let done = 0;
  let events = 0;
  let terms = 0;
  const tell = (): void =>
    console.log(
      `${done} of ${seeds} seeds, ${failed.length} failed, ${Math.round((performance.now() - startedAt) / 1000)} s`,
    );
  const timer = setInterval(tell, TELL_EVERY_MS);
  const chunk = (): string[] | undefined => {
    if (next >= from + seeds || (values.bail && failed.length > 0)) return undefined;
    const first = next;
    next = Math.min(first + CHUNK, from + seeds);
    return Array.from({ length: next - first }, (_, index) => String(first + index));
  };
  const take = (outcome: Outcome): void => {
    done++;
    events += outcome.events;
    terms += outcome.terms ?? 0;
    if (outcome.violation === undefined) return;
    failed.push(outcome);
    console.log(`seed ${outcome.seed}: ${outcome.violation.slice(0, 300)}`);
  };
  await Promise.all(Array.from({ length: Number(values.workers) }, () => work(chunk, take)));
  clearInterval(timer);
  tell();
  console.log(
    `${events} events, ${terms > 0 ? `${terms} terms of masters, ` : ''}${((performance.now() - startedAt) / seeds).toFixed(1)} ms a seed`,
  );
  const [first] = failed.toSorted((a, b) => a.operations - b.operations);
  if (first === undefined) return;
  process.exitCode = 1;
  if (values.bail) return;
  if (values.rollouts) await runRollouts(first.seed);
  else console.log(await reportOf({ seed: first.seed, masters, metrics: newSharedMetrics() }, first));
}

/** One worker thread, fed until nothing is left. */
function work(chunk: () => string[] | undefined, take: (outcome: Outcome) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./worker.js', import.meta.url), {
      workerData: { isOfRollouts: values.rollouts, masters },
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
    });
    const feed = (): void => worker.postMessage(chunk());
    worker.on('message', (message: Outcome | 'more') => {
      if (message === 'more') feed();
      else take(message);
    });
    worker.on('error', reject);
    worker.on('exit', () => resolve());
    feed();
  });
}

function summaryOf({ seed, violation, nodes, operations, instances, events, virtualMs }: Outcome): string {
  const how = violation === undefined ? 'holds' : 'fails';
  return `seed ${seed} ${how}: ${nodes} nodes, ${operations} operations, ${instances} instances, ${events} events in ${Math.round(virtualMs / 1000)} virtual s`;
}
