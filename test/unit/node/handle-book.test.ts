/** What outlives the daemon of what it knows of an instance. */
import { afterAll, expect, it } from 'vitest';
import { DEFAULT_STOP } from '../../../src/model/stopping.js';
import { newHandle } from '../../../src/node/handle.js';
import { HandleBook } from '../../../src/node/handle-book.js';
import { WriteBehind } from '../../../src/node/write-behind.js';
import { FakeClock } from '../../support/fake-clock.js';
import { MemoryStore } from '../../support/store/memory-store.js';
import { quietLogger } from '../../support/templates/template-trees.js';

const store = new MemoryStore();
const clock = new FakeClock();
afterAll(() => store.close());

const open = async (): Promise<HandleBook> => {
  const book = new HandleBook(new WriteBehind({ store, clock, logger: quietLogger }));
  await book.load(clock);
  return book;
};

it('every field that is kept comes back, the warning of the last install too', async () => {
  const book = await open();
  const fields = {
    id: 'aaaaaa',
    configurationName: 'web',
    static: false,
    runtime: 'process',
    restartToken: 2,
  };
  const kept = {
    run: 3,
    phase: { is: 'down', directory: 'prepared', next: { problem: null, delay: null } },
    warning: 'fileModifications: x is in none of the templates',
  } as const;
  book.put({ ...newHandle(fields), ...kept });
  await book.keep();
  expect((await open()).get('aaaaaa')).toEqual({ ...newHandle(fields), ...kept });
});

const EXIT = { code: 1, signal: null, at: 5 };
const IDENTITY = { pid: 42, startTime: 7, bootId: 'boot' };
const BEGUN = { signal: 'SIGTERM', begunAt: 0 } as const;

it.each<[string, object, object]>([
  [
    'a prepared directory',
    { isPrepared: true },
    { phase: { is: 'down', directory: 'prepared' }, end: 'asked' },
  ],
  [
    'a process',
    { process: IDENTITY },
    { phase: { is: 'up', process: IDENTITY, since: null, stopping: null } },
  ],
  [
    'a process that is being stopped',
    { process: IDENTITY, stopping: BEGUN },
    { phase: { is: 'up', stopping: BEGUN } },
  ],
  ['a stop whose process ended', { stopping: BEGUN }, { phase: { is: 'stopped', stopping: BEGUN } }],
  [
    'an end by itself',
    { exit: EXIT, hasEnded: true },
    { phase: { is: 'down', directory: 'stale' }, end: 'unasked' },
  ],
  ['an end for good', { exit: EXIT, hasEnded: true, hasFinished: true }, { end: 'final' }],
])('a record tells the phase: %s', async (_what, fields, expected) => {
  const record = {
    ...{ id: 'bbbbbb', configurationName: 'web', static: false, runtime: 'process', run: 1, restarts: 0 },
    ...{ isPrepared: false, process: null, exit: null, streak: 0, restartToken: 0, begunAt: null, exits: [] },
    ...{ stop: DEFAULT_STOP, stopping: null, hasEnded: false, hasFinished: false, readiness: null },
    ...{ warning: null, logFrom: 1, installed: null, ...fields },
  };
  await store.transact([{ do: 'put', key: 'handles/bbbbbb', value: record }]);
  const book = await open();
  const read = book.get('bbbbbb');
  expect(read).toMatchObject(expected);
  if (read === undefined) return;
  book.put({ ...read, warning: 'new' });
  await book.keep();
  expect((await store.list('handles/bbbbbb')).entries[0]?.value).toMatchObject({ ...record, warning: 'new' });
});
