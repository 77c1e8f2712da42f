/** What a view notes of a directory and the state, while either of them changes under it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Bases } from '../../../controllers/master/directories/bases.js';
import { DirectoryEngine } from '../../../controllers/master/directories/reconciler.js';
import { SystemClock } from '../../../src/loop/system-clock.js';
import { Metrics } from '../../../src/telemetry/metrics.js';
import type { ViewTree } from '../../../src/views/view.js';
import { until } from '../../support/until.js';

const logger = pino({ level: 'silent' });

let root: string;
let view: DirectoryEngine;
/** Lets what is being written into the state be there. */
let answer: () => void;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'drover-view-'));
  answer = () => undefined;
});
afterEach(async () => {
  const stopping = view.stop();
  answer();
  await stopping;
  await rm(root, { recursive: true, force: true });
});

it('knows nothing of a directory that took the place of the one whose edit it was writing', async () => {
  const there = new Map([['arena', 'one']]);
  let here = { directory: 'first', hash: 'one' };
  const tree: ViewTree = {
    observe: () => ({
      here: new Map([['arena', here.hash]]),
      there,
      undecided: new Set(),
      standing: { directory: here.directory, revision: 1 },
      brought: () => true,
    }),
    writeHere: () => Promise.reject(new Error('nothing is to be written here')),
    removeHere: () => Promise.reject(new Error('nothing is to be removed here')),
    writeThere: async (changes) => {
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
      for (const { name, hash } of changes) there.set(name, hash);
    },
    removeThere: () => Promise.reject(new Error('nothing is to be removed there')),
  };
  const bases = new Bases({ path: join(root, 'bases.json'), store: { get: async () => undefined }, logger });
  view = new DirectoryEngine({
    ...{ name: 'templates', tree, bases, clock: new SystemClock(), random: () => 0.5, logger },
    metrics: new Metrics(),
    onRound: () => undefined,
  });
  await view.start();
  await view.follow();

  here = { directory: 'first', hash: 'two' };
  const isAsked = new Promise<void>((resolve) => {
    const write = tree.writeThere;
    tree.writeThere = (changes) => {
      const writing = write(changes);
      resolve();
      return writing;
    };
  });
  view.wake();
  await isAsked;
  // An old checkout is moved there, and somebody asks for conflicts.
  here = { directory: 'second', hash: 'old' };
  view.conflicts();
  answer();
  await until(() => expect(view.conflicts()).toEqual([{ name: 'arena', kind: 'unknown-base' }]));
  await view.follow();
  expect(there.get('arena')).toBe('two');
});
