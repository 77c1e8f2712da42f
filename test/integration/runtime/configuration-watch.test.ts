/** The watch over the configurations directory, without the looks that follow its hints. */
import { once } from 'node:events';
import { appendFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { watch as chokidarWatch } from 'chokidar';
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest';
import { ConfigurationWatch, findWatchPoints } from '../../../src/configuration-files/watch.js';
import { until } from '../../support/until.js';

let root: string;
let directory: string;
let hints: (string | null)[];
let watch: ConfigurationWatch;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'drover-test-'));
  directory = join(root, 'configurations');
  mkdirSync(directory);
  hints = [];
  watch = new ConfigurationWatch({
    onHint: (file) => hints.push(file),
    onFailure: (error) => {
      throw error;
    },
  });
});

afterEach(async () => {
  await watch.stop();
  rmSync(root, { recursive: true, force: true });
});

it('hears of files again after the directory was away and back between two looks', async () => {
  await watch.follow(await findWatchPoints({ directory, links: [], directories: [] }));
  // The hint of a watch that has begun.
  await until(() => expect(hints).toEqual([null]));
  renameSync(directory, `${directory}-away`);
  await until(() => expect(hints.length).toBeGreaterThan(1));
  renameSync(`${directory}-away`, directory);
  await watch.follow(await findWatchPoints({ directory, links: [], directories: [] }));
  await until(() => {
    writeFileSync(join(directory, 'a.json'), '{}');
    expect(hints).toContain('a.json');
  });
});

it('names files of subdirectories by their paths, and asks for a look when one may have come', async () => {
  mkdirSync(join(directory, 'team'));
  await watch.follow(await findWatchPoints({ directory, links: [], directories: ['team'] }));
  await until(() => expect(hints).toEqual([null]));
  writeFileSync(join(directory, 'team/a.json'), '{}');
  await until(() => expect(hints).toContain('team/a.json'));
  expect(hints).toEqual([null, ...hints.slice(1).map(() => 'team/a.json')]);
  mkdirSync(join(directory, 'team/eu'));
  await until(() => expect(hints.slice(1)).toContain(null));
});

it('hears of a change right after another, which an event "change" of chokidar does not tell', async () => {
  const own = chokidarWatch(directory, { depth: 0, ignoreInitial: true, atomic: false });
  onTestFinished(() => own.close());
  await once(own, 'ready');
  await watch.follow(await findWatchPoints({ directory, links: [], directories: [] }));
  await until(() => expect(hints).toEqual([null]));
  const added: string[] = [];
  const changed: string[] = [];
  own.on('add', (path) => added.push(basename(path)));
  own.on('change', (path) => {
    changed.push(basename(path));
    // The second change is made while the first is told. To append is one event of the system.
    if (changed.length === 1) appendFileSync(path, 'second');
  });
  let files = 0;
  /** Makes a file. The system reports in order: what came before it was told by then, or is lost. */
  const reported = async (): Promise<string> => {
    const name = `${files++}.json`;
    writeFileSync(join(directory, name), '');
    await until(() => expect(added).toContain(name));
    await until(() => expect(hints).toContain(name));
    return name;
  };
  // A try fails when chokidar is late with the first change, or when a slow machine makes the second one after the 50 ms
  // in which chokidar tells nothing.
  await until(async () => {
    const name = await reported();
    changed.length = 0;
    hints.length = 0;
    appendFileSync(join(directory, name), 'first');
    await reported();
    expect(changed).toEqual([name]);
    await reported();
    expect(changed).toEqual([name]);
    expect(hints.filter((hint) => hint === name)).toHaveLength(2);
  });
});
