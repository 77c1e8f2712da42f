/** `npm run bench`: runs the benchmarks in turn and prints one table. Informs; never fails on a figure. */
import { parseArgs } from 'node:util';
import { benchApi } from './api/api.js';
import { benchCluster } from './cluster/cluster.js';
import { benchClusterLarge } from './cluster/cluster-large.js';
import { benchConfigurations } from './configurations.js';
import { benchControlPlane } from './control-plane.js';
import { benchDashboard } from './dashboard/dashboard.js';
import { benchEtcdSize } from './etcd-size/etcd-size.js';
import { benchClientGrowth } from './growth/client-growth.js';
import { benchInstanceGrowth, benchNodeGrowth } from './growth/cluster-growth.js';
import { benchLogGrowth } from './growth/log-growth.js';
import { benchIdle } from './idle.js';
import { benchLiveLog } from './live-log/live-log.js';
import { compareResults } from './report/compare.js';
import { writePage } from './report/page.js';
import {
  ResultError,
  type ResultRow,
  readResult,
  resultOf,
  resultRowsOf,
  writeResult,
} from './report/result.js';
import { benchSessions } from './sessions.js';
import { benchSoak } from './soak/soak.js';
import { benchStart } from './start.js';
import { benchStartAndRestart } from './start-and-restart.js';
import { benchStore } from './store.js';
import { printColumns, printTable, type Row } from './table.js';
import { benchTemplateFanOut } from './template-fan-out.js';
import { benchTemplateInstall } from './template-install.js';
import { benchTemplateUpload } from './template-upload.js';
import { benchWatch } from './watch/watch.js';

type Benches = Readonly<Record<string, () => Promise<Row[]>>>;

const BENCHES: Benches = {
  start: benchStart,
  store: benchStore,
  configurations: benchConfigurations,
  'control-plane': benchControlPlane,
  cluster: benchCluster,
  'start-and-restart': benchStartAndRestart,
  sessions: benchSessions,
  api: benchApi,
  'template-upload': benchTemplateUpload,
  'template-fan-out': benchTemplateFanOut,
  'template-install': benchTemplateInstall,
  'live-log': benchLiveLog,
  watch: benchWatch,
  idle: benchIdle,
};

/** Too long or too large to run along with the others. */
const BY_NAME: Benches = {
  'growth-nodes': benchNodeGrowth,
  'growth-instances': benchInstanceGrowth,
  'growth-log-lines': benchLogGrowth,
  'growth-clients': benchClientGrowth,
  'cluster-large': benchClusterLarge,
  'etcd-size': benchEtcdSize,
  dashboard: benchDashboard,
  soak: benchSoak,
};

const ALL: Benches = { ...BENCHES, ...BY_NAME };

const HELP = `npm run bench -- [NAME ...] [--json FILE]
  Runs the named benchmarks, or all that need no naming, and prints a table.
    ${Object.keys(BENCHES).join(' ')}
  Only when named:
    ${Object.keys(BY_NAME).join(' ')}
  --json FILE  also writes the rows there, with machine, date and commit; after each benchmark anew

npm run bench compare A.json B.json
  Shows what changed from A to B.

npm run bench page FILE.json ...
  Writes the figures and plots of docs/performance.md. Of a row that several files have it takes the run in the middle.`;

/** Resolves with the exit code. */
async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    options: { json: { type: 'string' }, help: { type: 'boolean' } },
    allowPositionals: true,
  });
  const [verb, ...files] = positionals;
  if (values.help === true) console.log(HELP);
  else if (verb === 'compare') compare(files);
  else if (verb === 'page' && files.length > 0) writePage(files.map(readResult), Object.keys(ALL));
  else return run(positionals, values.json);
  return 0;
}

function compare([a, b, ...more]: readonly string[]): void {
  if (a === undefined || b === undefined || more.length > 0)
    throw new ResultError('compare takes two files: npm run bench compare A.json B.json');
  const { notes, table } = compareResults(readResult(a), readResult(b));
  for (const note of notes) console.log(note);
  console.log('');
  printColumns(table);
}

async function run(wanted: readonly string[], file: string | undefined): Promise<number> {
  const unknown = wanted.filter((name) => !Object.hasOwn(ALL, name));
  if (unknown.length > 0)
    throw new ResultError(
      `no benchmark is named ${unknown.join(', ')}; there are: ${Object.keys(ALL).join(', ')}`,
    );
  const rows: ResultRow[] = [];
  let failed = false;
  for (const [name, bench] of Object.entries(wanted.length > 0 ? ALL : BENCHES)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    console.log(`running ${name} ...`);
    try {
      rows.push(...resultRowsOf(name, await bench()));
    } catch (error) {
      // The rows of the others are worth as much without it.
      console.error(`${name} failed:`, error);
      failed = true;
    }
    if (file !== undefined) writeResult(file, resultOf(rows));
  }
  console.log('');
  printTable(rows);
  return failed ? 1 : 0;
}

// Ended from outside, as by a time limit: what benchmarks have started is ended by its listeners of `exit`.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
try {
  // pm2's client keeps sockets open.
  process.exit(await main());
} catch (error) {
  const isKnown = error instanceof ResultError || (error instanceof TypeError && 'code' in error);
  console.error(isKnown ? error.message : error);
  process.exit(1);
}
