/** The watch over the configurations directory, without the looks that follow its hints. */
import { appendFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ConfigurationWatch, findWatchPoints } from '../../../src/configuration-files/watch.js';
import { until } from '../../support/until.js';

let root: string;
let directory: string;
let hints: (string | null)[];
let watch: ConfigurationWatch;
/** Called once, within the next hint. */
let onNextHint: (() => void) | undefined;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'drover-test-'));
  directory = join(root, 'configurations');
  mkdirSync(directory);
  hints = [];
  watch = new ConfigurationWatch({
    onHint: (file) => {
      hints.push(file);
      const act = onNextHint;
      onNextHint = undefined;
      act?.();
    },
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

it('hears of a change that is made while another is told', async () => {
  const file = join(directory, 'a.json');
  writeFileSync(file, '');
  await watch.follow(await findWatchPoints({ directory, links: [], directories: [] }));
  await until(() => expect(hints).toEqual([null]));
  onNextHint = () => appendFileSync(file, 'second');
  // Appending is one event of the system; writing the file anew would be two, of which one could be lost unseen.
  appendFileSync(file, 'first');
  await until(() => expect(onNextHint).toBeUndefined());
  // The system reports in order: what came before this new file was told, or is lost.
  writeFileSync(join(directory, 'last.json'), '');
  await until(() => expect(hints).toContain('last.json'));
  expect(hints.filter((hint) => hint === 'a.json')).toHaveLength(2);
});
