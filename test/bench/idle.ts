/** What an idle node costs with the two example instances, and how late its event loop gets while 100 start. */
import { setTimeout as delay } from 'node:timers/promises';
import { cpuTicks, ownerOf, residentMB, TICKS_PER_SECOND } from './process-figures.js';
import type { Row } from './table.js';
import { BenchDaemon, ms, until } from './world.js';

const IDLE_SECONDS = 30;
const STARTED_TOGETHER = 100;

export async function benchIdle(): Promise<Row[]> {
  return [...(await idleRows()), await lagRow()];
}

async function idleRows(): Promise<Row[]> {
  const daemon = await BenchDaemon.start({ withExample: true });
  try {
    await until(
      async () => (await daemon.instances()).filter(({ state }) => state === 'ONLINE').length === 2,
    );
    // The garbage of the start is collected in the first half minute; idle is what comes after.
    await delay(30_000);
    const owner = await ownerOf((await daemon.instances())[0]?.processPid ?? 0);
    const before = (await cpuTicks(daemon.pid)) + (await cpuTicks(owner));
    await delay(IDLE_SECONDS * 1000);
    const ticks = (await cpuTicks(daemon.pid)) + (await cpuTicks(owner)) - before;
    const percent = (ticks / TICKS_PER_SECOND / IDLE_SECONDS) * 100;
    const [daemonMB, ownerMB] = [await residentMB(daemon.pid), await residentMB(owner)];
    const empty = await residentMB(process.pid);
    return [
      {
        figure: `idle with two instances, CPU of daemon and owner over ${IDLE_SECONDS} s`,
        value: `${percent.toFixed(2)} % of a core`,
        baseline: '-',
        target: '< 0.50 %',
        ok: percent < 0.5,
      },
      {
        figure: 'idle with two instances, resident memory of daemon and owner',
        value: `${Math.round(daemonMB + ownerMB)} MB (${Math.round(daemonMB)} + ${Math.round(ownerMB)})`,
        baseline: `this benchmark process ${Math.round(empty)} MB`,
        target: '< 150 MB',
        ok: daemonMB + ownerMB < 150,
      },
    ];
  } finally {
    await daemon.stop();
  }
}

async function lagRow(): Promise<Row> {
  const daemon = await BenchDaemon.start({ withLoopDelay: true });
  try {
    // The first instance of a node also starts the owner process, once.
    await daemon.request('PUT', '/configurations/first', {
      name: 'first',
      command: 'sleep 100000',
      runtime: 'process',
      ramMB: 64,
      cpu: 0,
    });
    await until(async () => (await daemon.instances())[0]?.state === 'ONLINE');
    await delay(2000);
    await daemon.loopDelay();
    await delay(3000);
    const { p99: idle } = await daemon.loopDelay();
    await daemon.request('PUT', '/configurations/burst', {
      name: 'burst',
      command: 'sleep 100000',
      runtime: 'process',
      ramMB: 64,
      cpu: 0,
      minimumServiceCount: STARTED_TOGETHER,
    });
    await until(
      async () =>
        (await daemon.instances()).filter(({ state }) => state === 'ONLINE').length === STARTED_TOGETHER + 1,
    );
    const { p99: busy } = await daemon.loopDelay();
    return {
      figure: `event-loop delay p99 while ${STARTED_TOGETHER} instances start`,
      value: ms(busy),
      baseline: `idle ${ms(idle)}`,
      target: '<= 5 ms',
      ok: busy <= 5,
    };
  } finally {
    await daemon.stop();
  }
}
