/** The watch over the configurations directory, without the looks that follow its hints. */
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
  const file = join(directory, 'a.json');
  writeFileSync(file, '0');
  const own = chokidarWatch(directory, { depth: 0, ignoreInitial: true, atomic: false });
  onTestFinished(() => own.close());
  await once(own, 'ready');
  await watch.follow(await findWatchPoints({ directory, links: [], directories: [] }));
  await until(() => expect(hints).toEqual([null]));
  // The second change is made while the first is told. On a slow machine 50 ms may be over before it is seen.
  let tries = 0;
  await until(async () => {
    const told: string[] = [];
    const last = `last-${tries++}.json`;
    const added: string[] = [];
    own.on('add', (path) => added.push(path));
    own.on('change', () => {
      told.push(readFileSync(file, 'utf8'));
      if (told.length === 1) writeFileSync(file, 'second');
    });
    hints.length = 0;
    writeFileSync(file, 'first');
    await until(() => expect(hints.length).toBeGreaterThan(0));
    await until(() => expect(told).toHaveLength(1));
    // The system reports in order: what came before this new file was told, or is lost.
    writeFileSync(join(directory, last), '');
    await until(() => expect(added).toContain(join(directory, last)));
    await until(() => expect(hints).toContain(last));
    own.removeAllListeners();
    expect(hints.filter((hint) => hint === 'a.json').length).toBeGreaterThan(1);
    expect(told).toEqual(['first']);
  });
});
