/** The watch over the configurations directory, without the looks that follow its hints. */
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { DirectoryWatch } from '../../../src/configuration-files/watch.js';
import { findWatchPoints } from '../../../src/configuration-files/watch-points.js';
import { until } from '../../support/until.js';

let root: string;
let directory: string;
let hints: (string | null)[];
let watch: DirectoryWatch;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'drover-test-'));
  directory = join(root, 'configurations');
  mkdirSync(directory);
  hints = [];
  watch = new DirectoryWatch({
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
  await watch.follow(await findWatchPoints(directory, []));
  // The hint of a watch that has begun.
  await until(() => expect(hints).toEqual([null]));
  renameSync(directory, `${directory}-away`);
  await until(() => expect(hints.length).toBeGreaterThan(1));
  renameSync(`${directory}-away`, directory);
  await watch.follow(await findWatchPoints(directory, []));
  await until(() => {
    writeFileSync(join(directory, 'a.json'), '{}');
    expect(hints).toContain('a.json');
  });
});
