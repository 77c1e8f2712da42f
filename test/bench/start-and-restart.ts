/**
 * Real processes: POST to ONLINE against a bare node-pty spawn and pm2, and with the state on etcd; SIGKILL to the next
 * process against pm2.
 */
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { spawn as spawnPty } from 'node-pty';
import { startPm2 } from './pm2.js';
import { etcdRows, postsToOnline, STARTS } from './post-to-online.js';
import type { Row } from './table.js';
import { BenchDaemon, median, ms, percentile, until } from './world.js';

const PM2_STARTS = 10;
const KILLS = 15;

export async function benchStartAndRestart(): Promise<Row[]> {
  const directory = await mkdtemp(join(tmpdir(), 'drover-bench-program-'));
  const program = join(directory, 'program.sh');
  // Says its pid and when it runs, to the nanosecond; the same program for both sides.
  await writeFile(program, '#!/bin/sh\necho "$$ $(date +%s%N)" >> "$1"\nexec sleep 100000\n');
  await chmod(program, 0o755);
  const daemon = await BenchDaemon.start();
  const pm2 = await startPm2();
  try {
    const bare = bareSpawns(program, join(directory, 'bare'));
    const command = `${program} ${join(directory, 'drover')}`;
    const drover = await postsToOnline(daemon, command);
    const onEtcd = await etcdRows(drover, command);
    const pm2Starts = await pm2CliStarts(program, join(directory, 'pm2'));
    const droverKills = await killsOfDrover(daemon, program, directory);
    const pm2Kills = await killsOfPm2(pm2.start, program, directory);
    return [...startRows(drover, bare, pm2Starts), restartRow(droverKills, pm2Kills), ...onEtcd];
  } finally {
    await pm2.stop();
    await daemon.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

function startRows(drover: number[], bare: number[], pm2: number[]): Row[] {
  const above = percentile(drover, 0.99) - percentile(bare, 0.99);
  return [
    {
      figure: 'POST /instances to ONLINE over HTTP, p50',
      value: ms(median(drover)),
      baseline: `bare node-pty spawn ${ms(median(bare))}`,
      target: '<= 6 ms',
      ok: median(drover) <= 6,
    },
    {
      figure: 'POST /instances to ONLINE, p99 above a bare node-pty spawn',
      value: `${ms(above)} (${ms(percentile(drover, 0.99))})`,
      baseline: `node-pty ${ms(percentile(bare, 0.99))}`,
      target: '<= 40 ms above',
      ok: above <= 40,
    },
    {
      figure: 'POST /instances to ONLINE against `pm2 start`, medians',
      value: `${(median(pm2) / median(drover)).toFixed(1)} x faster`,
      baseline: `pm2 ${ms(median(pm2))}`,
      target: '>= 15 x',
      ok: median(pm2) / median(drover) >= 15,
    },
  ];
}

function restartRow(drover: number[], pm2: number[]): Row {
  const ratio = median(drover) / median(pm2);
  return {
    figure: 'kill -9 to the next process, medians',
    value: `${ms(median(drover))} (${ratio.toFixed(2)} x)`,
    baseline: `pm2 ${ms(median(pm2))}`,
    target: '<= 1.0 x',
    ok: ratio <= 1,
  };
}

function bareSpawns(program: string, file: string): number[] {
  const times: number[] = [];
  for (let index = 0; index < STARTS; index++) {
    const startedAt = performance.now();
    const terminal = spawnPty('/bin/sh', ['-c', `${program} ${file}`], {});
    times.push(performance.now() - startedAt);
    terminal.kill('SIGKILL');
  }
  return times;
}

/** `pm2 start` as it is typed, its daemon running already: from the command to the line of the started program. */
async function pm2CliStarts(program: string, file: string): Promise<number[]> {
  const command = createRequire(import.meta.url).resolve('pm2/bin/pm2');
  const times: number[] = [];
  for (let index = 0; index < PM2_STARTS; index++) {
    const startedAt = performance.timeOrigin + performance.now();
    const options = [
      'start',
      program,
      '--name',
      `start-${index}`,
      '--interpreter',
      'none',
      '--',
      `${file}-${index}`,
    ];
    await promisify(execFile)(process.execPath, [command, ...options]);
    await until(async () => (await linesOf(`${file}-${index}`)).length >= 1);
    const at = (await linesOf(`${file}-${index}`))[0]?.split(' ')[1];
    times.push(Number(BigInt(at ?? 0) / 1000n) / 1000 - startedAt);
  }
  return times;
}

/** Each instance is killed once, as a long-running one is: a second crash within a minute waits on purpose. */
async function killsOfDrover(daemon: BenchDaemon, program: string, directory: string): Promise<number[]> {
  const name = 'restart';
  const command = `${program} ${join(directory, 'drover-$DROVER_INSTANCE_ID')}`;
  await daemon.request('PUT', `/configurations/${name}`, configuration(name, command, KILLS));
  await until(
    async () => (await daemon.instances()).filter(({ state }) => state === 'ONLINE').length === KILLS,
  );
  const times: number[] = [];
  for (const { id } of await daemon.instances()) {
    const file = join(directory, `drover-${id}`);
    await until(async () => (await linesOf(file)).length >= 1);
    times.push(await timeToNextLine(file));
  }
  return times;
}

async function killsOfPm2(
  start: (options: object) => Promise<void>,
  program: string,
  directory: string,
): Promise<number[]> {
  const times: number[] = [];
  for (let index = 0; index < KILLS; index++) {
    const file = join(directory, `pm2-${index}`);
    await start({ name: `restart-${index}`, script: program, args: [file], interpreter: 'none' });
    await until(async () => (await linesOf(file)).length >= 1);
    times.push(await timeToNextLine(file));
  }
  return times;
}

/** Kills the process of the last line; milliseconds from then to the instant at which the next one says that it runs. */
async function timeToNextLine(file: string): Promise<number> {
  const before = await linesOf(file);
  const pid = Number(before.at(-1)?.split(' ')[0]);
  const killedAt = BigInt(Math.round((performance.timeOrigin + performance.now()) * 1e6));
  process.kill(pid, 'SIGKILL');
  await until(async () => (await linesOf(file)).length > before.length);
  const next = (await linesOf(file))[before.length]?.split(' ')[1];
  return Number(BigInt(next ?? 0) - killedAt) / 1e6;
}

async function linesOf(file: string): Promise<string[]> {
  return (await readFile(file, 'utf8')).split('\n').filter((line) => line !== '');
}

function configuration(name: string, command: string, minimumServiceCount: number): object {
  return { name, command, minimumServiceCount, runtime: 'process', ramMB: 64, cpu: 0 };
}
