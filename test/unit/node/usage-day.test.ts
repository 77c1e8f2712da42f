/** What a node keeps of the usage of its instances: how it survives restarts, clocks and cuts, and how much it keeps. */
import { appendFile, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { UsageQuestion } from '../../../src/model/run/usage-series.js';
import { UsageDay, type UsedNow } from '../../../src/node/usage-day.js';
import { FakeClock } from '../../support/fake-clock.js';

const MINUTE = 60_000;
const SIGNAL = new AbortController().signal;

let directory: string;
let clock: FakeClock;
let day: UsageDay;
let used: UsedNow[];
let players: ReadonlyMap<string, number> | undefined;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'drover-usage-'));
  // Between two minutes: a sample is taken right after each full one.
  clock = new FakeClock({ startAt: Date.UTC(2026, 0, 1, 0, 0, 30) });
  used = [];
  players = new Map();
  day = begun();
});
afterEach(async () => {
  await day.stop();
  await rm(directory, { recursive: true, force: true });
});

function begun(): UsageDay {
  const next = new UsageDay({
    directory,
    instances: () => used,
    players: async () => {
      if (players === undefined) throw new Error('the master is away');
      return players;
    },
    clock,
    logger: pino({ level: 'silent' }),
  });
  next.start();
  return next;
}

function one(id: string, figures: Partial<UsedNow> = {}): UsedNow {
  return { id, configuration: 'lobby', run: 1, cpuPercent: 10, memoryBytes: 100, ...figures };
}

/** Lets minutes pass, each until its note is on disk. */
async function minutes(count: number): Promise<void> {
  for (let minute = 0; minute < count; minute++) {
    await clock.advance(MINUTE);
    // The next timer is set when the note is on disk.
    while (clock.pending === 0) await nextTurn();
  }
}

async function read(asked: Partial<UsageQuestion> = {}) {
  return day.read({ everyMs: MINUTE, points: 3, by: 'all', ...asked }, SIGNAL);
}

it('sums what is up in each minute, and knows the players from the master', async () => {
  used = [one('aaaaaa'), one('bbbbbb', { cpuPercent: 5.04, memoryBytes: null })];
  players = new Map([['aaaaaa', 7]]);
  await minutes(2);
  const sum = {
    cpuPercent: [null, 15, 15],
    memoryBytes: [null, 100, 100],
    players: [null, 7, 7],
    restarts: [null, 0, 0],
  };
  expect(await read()).toEqual([{ instance: null, configuration: null, ...sum }]);
  players = undefined;
  await minutes(1);
  expect((await read({ by: 'instance', instance: 'aaaaaa' }))[0]).toMatchObject({
    instance: 'aaaaaa',
    configuration: 'lobby',
    players: [7, 7, null],
  });
});

it('goes on after a restart of the daemon, with the restarts that happened meanwhile and a gap', async () => {
  used = [one('aaaaaa', { run: 3 })];
  await minutes(1);
  await day.stop();
  await clock.advance(MINUTE);
  used = [one('aaaaaa', { run: 5 })];
  day = begun();
  await minutes(1);
  expect((await read())[0]).toMatchObject({ cpuPercent: [10, null, 10], restarts: [0, null, 2] });
});

it('counts the restarts of what is down in each sample, and writes nothing where nothing lives', async () => {
  await minutes(1);
  expect(await readdir(directory)).toEqual([]);
  for (const run of [4, 6]) {
    used = [one('aaaaaa', { run, cpuPercent: null, memoryBytes: null })];
    await minutes(1);
  }
  expect((await read())[0]).toMatchObject({ cpuPercent: [null, null, null], restarts: [null, 0, 2] });
});

it('has what is used now in an answer, and does not keep it', async () => {
  await minutes(1);
  used = [one('aaaaaa')];
  expect((await read())[0]?.cpuPercent).toEqual([null, null, 10]);
  used = [];
  expect(await read()).toEqual([]);
});

it('leaves out a line that a crash has cut, and reads the one after it', async () => {
  used = [one('aaaaaa')];
  await minutes(1);
  const [name = ''] = await readdir(directory);
  await appendFile(join(directory, name), '\n[17672256000');
  await minutes(1);
  expect((await read())[0]?.cpuPercent).toEqual([null, 10, 10]);
});

it('shows nothing of a time to come after the clock was set back, and takes notes again at once', async () => {
  used = [one('aaaaaa')];
  clock.jumpWallClock(30 * MINUTE);
  await minutes(1);
  clock.jumpWallClock(-30 * MINUTE);
  used = [];
  expect(await read()).toEqual([]);
  used = [one('aaaaaa')];
  await minutes(1);
  expect((await read())[0]?.cpuPercent).toEqual([null, null, 10]);
});

it('averages the CPU of a longer step over its minutes and now, and takes the most memory and players', async () => {
  for (const [cpuPercent, memoryBytes] of [
    [10, 1],
    [20, 9],
    [30, 5],
  ] as const) {
    used = [one('aaaaaa', { cpuPercent, memoryBytes })];
    await minutes(1);
  }
  expect((await read({ everyMs: 5 * MINUTE, points: 1 }))[0]).toMatchObject({
    cpuPercent: [22.5],
    memoryBytes: [9],
  });
});

it('keeps a day and no more, whatever ran: one small file an hour', async () => {
  used = [one('aaaaaa'), one('bbbbbb', { configuration: 'web' })];
  await minutes(30 * 60);
  const names = await readdir(directory);
  expect(names.length).toBeLessThanOrEqual(26);
  const sizes = await Promise.all(names.map(async (name) => (await readFile(join(directory, name))).length));
  expect(Math.max(...sizes)).toBeLessThan(60 * 2 * 60);
  const [series] = await read({
    everyMs: 60 * MINUTE,
    points: 24,
    by: 'configuration',
    configurations: ['web'],
  });
  expect([series?.configuration, series?.cpuPercent]).toEqual(['web', new Array<number>(24).fill(10)]);
});

it('removes what is old on a full disk too', async () => {
  used = [one('aaaaaa')];
  const now = clock.now() / (60 * MINUTE);
  await appendFile(join(directory, `${Math.floor(now) - 30}.jsonl`), 'old');
  // A directory in the place of the file refuses the line, as a full disk does.
  await mkdir(join(directory, `${Math.floor(now)}.jsonl`));
  await minutes(1);
  expect(await readdir(directory)).toEqual([`${Math.floor(now)}.jsonl`]);
});
