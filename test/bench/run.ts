/** `npm run bench [name ...]`: runs the benchmarks in turn and prints one table. Informs; never fails on a figure. */
import { benchApi } from './api.js';
import { benchCluster } from './cluster/cluster.js';
import { benchControlPlane } from './control-plane.js';
import { benchIdle } from './idle.js';
import { benchLiveLog } from './live-log/live-log.js';
import { benchSessions } from './sessions.js';
import { benchStart } from './start.js';
import { benchStartAndRestart } from './start-and-restart.js';
import { printTable, type Row } from './table.js';
import { benchTemplateFanOut } from './template-fan-out.js';
import { benchTemplateUpload } from './template-upload.js';

const BENCHES: Readonly<Record<string, () => Promise<Row[]>>> = {
  start: benchStart,
  'control-plane': benchControlPlane,
  cluster: benchCluster,
  'start-and-restart': benchStartAndRestart,
  sessions: benchSessions,
  api: benchApi,
  'template-upload': benchTemplateUpload,
  'template-fan-out': benchTemplateFanOut,
  'live-log': benchLiveLog,
  idle: benchIdle,
};

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !Object.hasOwn(BENCHES, name));
if (unknown.length > 0) {
  console.error(`no benchmark is named ${unknown.join(', ')}; there are: ${Object.keys(BENCHES).join(', ')}`);
  process.exit(1);
}

const rows: Row[] = [];
for (const [name, bench] of Object.entries(BENCHES)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  console.log(`running ${name} ...`);
  rows.push(...(await bench()));
}
console.log('');
printTable(rows);
// pm2's client keeps sockets open.
process.exit(0);
