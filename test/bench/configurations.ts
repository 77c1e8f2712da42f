/** Many configurations at once: `drover apply` of files, and files that git writes into `configurations/`. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Row } from './table.js';
import { BenchDaemon, REPOSITORY, until } from './world.js';

const APPLIED = 1000;
const PULLED = 2000;
const APPLY_TARGET_S = 5;
const PULL_TARGET_S = 3.5;

export async function benchConfigurations(): Promise<Row[]> {
  const directory = await mkdtemp(join(tmpdir(), 'drover-bench-'));
  const files = join(directory, 'files');
  const plain = join(directory, 'plain');
  await mkdir(files);
  await mkdir(plain);
  const daemon = await BenchDaemon.start();
  try {
    const rows: Row[] = [];
    for (const [what, ramMB] of [
      ['new configurations', 64],
      ['changed configurations', 65],
    ] as const) {
      const plainS = await timed(() => writeAll(plain, APPLIED, ramMB, true));
      await writeAll(files, APPLIED, ramMB, false);
      const applyS = await timed(() => apply(daemon, files));
      await requireInForce(daemon, APPLIED, ramMB);
      rows.push({
        figure: `drover apply of ${APPLIED} ${what}, from the command to its end`,
        value: `${applyS.toFixed(2)} s (${(applyS / plainS).toFixed(2)} x)`,
        baseline: `plain writes of the same files, a sync each: ${plainS.toFixed(2)} s`,
        target: `<= ${APPLY_TARGET_S} s`,
        ok: applyS <= APPLY_TARGET_S,
      });
    }
    const configurations = join(daemon.root, 'configurations');
    const writeS = await timed(() => writeAll(configurations, PULLED, 66, false));
    const pullS = await timed(() => until(() => isInForce(daemon, PULLED, 66)));
    rows.push({
      figure: `a pull of ${PULLED} files, from the last write until all are in force`,
      value: `${pullS.toFixed(2)} s (${(pullS / writeS).toFixed(2)} x)`,
      baseline: `plain writes of the same files, no sync: ${writeS.toFixed(2)} s`,
      target: `<= ${PULL_TARGET_S} s`,
      ok: pullS <= PULL_TARGET_S,
    });
    return rows;
  } finally {
    await daemon.stop();
    await rm(directory, { recursive: true });
  }
}

/** Writes the files one after another, as a program without Drover would. */
async function writeAll(directory: string, count: number, ramMB: number, isSynced: boolean): Promise<void> {
  for (let index = 0; index < count; index++) {
    const name = `bench-${index}`;
    const content = { name, runtime: 'process', command: `run ${index}`, minimumServiceCount: 0, ramMB };
    const file = join(directory, `${name}.json`);
    const text = `${JSON.stringify(content, null, 2)}\n`;
    if (!isSynced) await writeFile(file, text);
    else {
      const handle = await open(file, 'w');
      await handle.writeFile(text);
      await handle.sync();
      await handle.close();
    }
  }
}

async function apply({ root }: BenchDaemon, directory: string): Promise<void> {
  const words = [join(REPOSITORY, 'dist/main.js'), 'apply', '-f', directory, '--root', root];
  await promisify(execFile)(process.execPath, words, { maxBuffer: 64 * 1024 * 1024 });
}

async function isInForce(daemon: BenchDaemon, count: number, ramMB: number): Promise<boolean> {
  const all = (await daemon.request('GET', '/configurations')) as { readonly ramMB: number }[];
  return all.length === count && all.every((one) => one.ramMB === ramMB);
}

async function requireInForce(daemon: BenchDaemon, count: number, ramMB: number): Promise<void> {
  if (!(await isInForce(daemon, count, ramMB))) throw new Error('what was applied is not in force');
}

async function timed(work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return (performance.now() - startedAt) / 1000;
}
