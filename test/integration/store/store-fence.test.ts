/**
 * Two processes that write one store, where the root's lock did not keep them apart: the later one has it, the
 * earlier one writes nothing any more, and nothing is damaged. Needs `npm run build` for the writing program.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, statSync } from 'node:fs';
import { copyFile, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { DroverError } from '../../../src/model/errors.js';
import { openStore } from '../../../src/store/lmdb/open.js';
import type { Store } from '../../../src/store/store.js';
import { FakeClock } from '../../support/fake-clock.js';
import { REPOSITORY } from '../../support/repository-root.js';
import { until } from '../../support/until.js';

const PROGRAM = join(REPOSITORY, 'build/test/support/daemon/store-writer.js');
/** The writers get the same pid, as two containers' first processes do. */
const CONTAINER = ['unshare', '--net', '--pid', '--fork', '--kill-child', '--mount-proc'];
const canUnshare = spawnSync(CONTAINER[0] ?? '', [...CONTAINER.slice(1), 'true']).status === 0;

let directory: string;
let children: ChildProcess[];
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'drover-fence-'));
  children = [];
});
afterEach(async () => {
  for (const child of children) {
    const exited = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined;
    child.kill('SIGKILL');
    await exited;
  }
  await rm(directory, { recursive: true });
});

function put(store: Store, key: string, value: string): Promise<number> {
  return store.transact([{ do: 'put', key, value }]);
}

async function contentOf(store: Store): Promise<Record<string, unknown>> {
  return Object.fromEntries((await store.list('')).entries.map(({ key, value }) => [key, value]));
}

it('refuses the writes of a process once another has opened the store', async () => {
  const fenced: DroverError[] = [];
  const clock = new FakeClock();
  const first = await openStore({ directory, fence: { clock, onFenced: (error) => fenced.push(error) } });
  await put(first, 'a', 'first');
  const second = await openStore({ directory });
  await put(second, 'b', 'second');

  const refused = [put(first, 'b', 'first'), put(first, 'c', 'first')];
  for (const write of refused) await expect(write).rejects.toMatchObject({ code: 'DRV_STORE_FENCED' });
  await expect(put(first, 'd', 'first')).rejects.toMatchObject({ code: 'DRV_STORE_FENCED' });
  expect(fenced.map(({ message }) => message)).toEqual([
    expect.stringMatching(
      /another Drover has opened the store .*store\.mdb; this one writes nothing any more/,
    ),
  ]);

  await put(second, 'c', 'second');
  await first.close();
  await second.close();
  const again = await openStore({ directory });
  expect(await contentOf(again)).toEqual({ a: 'first', b: 'second', c: 'second' });
  await again.close();
});

it('tells a process that writes nothing', async () => {
  const clock = new FakeClock();
  const fenced: DroverError[] = [];
  const first = await openStore({ directory, fence: { clock, onFenced: (error) => fenced.push(error) } });
  await put(first, 'a', 'first');
  await clock.advance(5000);
  expect(fenced).toEqual([]);
  const second = await openStore({ directory });
  await clock.advance(1000);
  await until(() => expect(fenced).toMatchObject([{ code: 'DRV_STORE_FENCED' }]));
  await first.close();
  await second.close();
});

describe('files that are removed from outside while the store is open', () => {
  const clock = new FakeClock();
  const fenced: DroverError[] = [];
  const openFenced = (): Promise<Store> =>
    openStore({ directory, fence: { clock, onFenced: (error) => fenced.push(error) } });

  it.each(['the data file', 'the directory'])('%s: made anew from memory by the next look', async (what) => {
    const store = await openFenced();
    await put(store, 'a', '1');
    await put(store, 'b', '2');
    await rm(what === 'the directory' ? directory : join(directory, 'store.mdb'), { recursive: true });
    await clock.advance(1000);
    await until(() => expect(existsSync(join(directory, 'store.mdb'))).toBe(true));
    expect(statSync(join(directory, 'store.mdb')).mode & 0o777).toBe(0o600);
    await put(store, 'b', '3');
    await store.close();
    const again = await openStore({ directory });
    expect(await contentOf(again)).toEqual({ a: '1', b: '3' });
    expect((await again.get('a'))?.revision).toBe(1);
    await again.close();
    expect(fenced).toEqual([]);
  });

  it('made anew by a write before the next look', async () => {
    const store = await openStore({ directory });
    await put(store, 'a', '1');
    await rename(join(directory, 'store.mdb'), join(directory, 'moved'));
    await put(store, 'b', '2');
    await store.close();
    const again = await openStore({ directory });
    expect(await contentOf(again)).toEqual({ a: '1', b: '2' });
    await again.close();
  });

  it('another file in its place is left alone, and the store counts as lost', async () => {
    const store = await openFenced();
    await put(store, 'a', '1');
    await copyFile(join(directory, 'store.mdb'), join(directory, 'other'));
    await rename(join(directory, 'other'), join(directory, 'store.mdb'));
    await clock.advance(1000);
    await until(() => expect(fenced).toHaveLength(1));
    await expect(put(store, 'b', '2')).rejects.toMatchObject({ code: 'DRV_STORE_FENCED' });
    await store.close();
  });
});

/** Starts a writer in namespaces of its own; resolves when it has opened the store. */
async function startWriter(): Promise<{ readonly child: ChildProcess; readonly ended: Promise<string> }> {
  const [command = '', ...parameters] = [...CONTAINER, process.execPath, PROGRAM, directory];
  const child = spawn(command, parameters, { stdio: ['ignore', 'pipe', 'pipe'] });
  children.push(child);
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const ended = once(child, 'close').then(() => errors);
  const lines = createInterface({ input: child.stdout });
  await Promise.race([once(lines, 'line'), ended]);
  lines.on('line', () => undefined);
  return { child, ended };
}

it.skipIf(!canUnshare)('holds between processes of different containers', async () => {
  const first = await startWriter();
  const second = await startWriter();
  await Promise.race([first.ended, second.ended]);
  expect(second.child.exitCode).toBe(null);
  expect(await first.ended).toContain('DRV_STORE_FENCED');
  second.child.kill('SIGKILL');
  await second.ended;
  const store = await openStore({ directory });
  for (const { key, value } of (await store.list('left/')).entries)
    expect((await store.get(key.replace('left', 'right')))?.value).toBe(value);
  await store.close();
});
