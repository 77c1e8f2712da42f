/**
 * A template of 1,000 files, from POST to ONLINE, beside `cp -r` of the same files: on an idle machine, and with one
 * process that spins. Nothing is deleted meanwhile: ext4 looks at each inode that was freed in the last seconds before
 * it makes a file, which would be most of what is measured.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Row } from './table.js';
import { BenchDaemon, type InstanceInfo, median, ms } from './world.js';

const FILES = 1000;
const FILE_BYTES = 4096;
const DIRECTORIES = 10;
const INSTALLS = 15;
/** The first ones compile the code, and bring the template into the cache. */
const WARM_UP = 5;
const BUSY_INSTALLS = 9;

export async function benchTemplateInstall(): Promise<Row[]> {
  const directory = await mkdtemp(join(tmpdir(), 'drover-bench-'));
  const daemon = await BenchDaemon.start();
  let spinner: ChildProcess | undefined;
  try {
    const template = join(daemon.root, 'templates', 'bench', 'small');
    await writeTemplate(template);
    await daemon.request('PUT', '/configurations/small', {
      name: 'small',
      command: 'sleep 100000',
      runtime: 'process',
      minimumServiceCount: 0,
      ramMB: 1,
      cpu: 0,
      templateInstallationConfig: { allOf: [{ group: 'bench', name: 'small' }] },
    });
    let copies = 0;
    const copy = (): Promise<unknown> =>
      promisify(execFile)('cp', ['-r', template, join(directory, `${copies++}`)]);
    const pairs = async (count: number): Promise<[number, number][]> => {
      const found: [number, number][] = [];
      for (let index = 0; index < count; index++) found.push([await timed(copy), await timeToOnline(daemon)]);
      return found;
    };
    await pairs(WARM_UP);
    const quiet = await pairs(INSTALLS);
    spinner = spawn(process.execPath, ['-e', 'for (;;);']);
    return [
      row('POST /instances to ONLINE', quiet, 1),
      row('the same beside a process that spins', await pairs(BUSY_INSTALLS), 1.3),
    ];
  } finally {
    spinner?.kill('SIGKILL');
    await daemon.stop();
    await rm(directory, { recursive: true });
  }
}

function row(what: string, pairs: readonly [number, number][], target: number): Row {
  const plain = median(pairs.map(([copyMs]) => copyMs));
  const drover = median(pairs.map(([, onlineMs]) => onlineMs));
  return {
    figure: `template of ${FILES} files of ${FILE_BYTES / 1024} KiB, ${what}, medians`,
    value: `${(drover / plain).toFixed(2)} x (${ms(drover)})`,
    baseline: `cp -r: ${ms(plain)}`,
    target: `<= ${target.toFixed(1)} x`,
    ok: drover / plain <= target,
  };
}

async function writeTemplate(root: string): Promise<void> {
  for (let index = 0; index < DIRECTORIES; index++) await mkdir(join(root, `d${index}`), { recursive: true });
  for (let index = 0; index < FILES; index++)
    await writeFile(
      join(root, `d${index % DIRECTORIES}`, `f${index}`),
      Buffer.alloc(FILE_BYTES, `${index} `),
    );
}

async function timeToOnline(daemon: BenchDaemon): Promise<number> {
  return timed(async () => {
    const { id } = (await daemon.request('POST', '/instances', {
      configurationName: 'small',
    })) as InstanceInfo;
    while (((await daemon.request('GET', `/instances/${id}`)) as InstanceInfo).state !== 'ONLINE')
      await delay(1);
  });
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}
