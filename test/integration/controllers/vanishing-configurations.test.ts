/** Configuration files that go or change before a look has seen it, over a real master and a real directory. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ConfigurationFollower } from '../../../controllers/master/configurations/follower.js';
import { Bases } from '../../../controllers/master/directories/bases.js';
import { transactionOf } from '../../../src/configuration-files/record-edits.js';
import { DirectorySource } from '../../../src/configuration-files/source.js';
import { ControlPlane } from '../../support/control-plane/control-plane.js';
import { FakeClock } from '../../support/fake-clock.js';
import { until } from '../../support/until.js';

let directory: string;
let clock: FakeClock;
let source: DirectorySource;
let plane: ControlPlane;
let follower: ConfigurationFollower;
let doubts: string[];

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'drover-vanishing-'));
  clock = new FakeClock();
  doubts = [];
  const logger = pino({ level: 'silent' });
  source = new DirectorySource({ nodeId: 'master', directory, clock, logger });
  source.onDoubt((file) => doubts.push(file));
  plane = new ControlPlane({ clock, isInForce: ({ sourceFile }) => source.isAsRead(sourceFile) });
  const { store, master, metrics } = plane;
  const edited = { ...master.state, store, clock, logger };
  follower = new ConfigurationFollower({
    ...{ source, store, metrics, clock, logger, configurations: edited.configurations },
    overrides: edited.overrides,
    timetables: edited.timetables,
    door: { write: async (edits) => store.transact(await transactionOf(edits, 'master', edited)) },
    bases: new Bases({ path: join(directory, 'bases'), store, logger }),
    random: () => 0.5,
  });
  await plane.start();
  await follower.start();
  await plane.addNode('alpha');
  write('race', 'run');
  await look();
  await until(async () => {
    await clock.advance(50);
    expect(running()).toHaveLength(1);
  });
});

afterEach(async () => {
  await follower.stop();
  await plane.stop();
  rmSync(directory, { recursive: true, force: true });
});

const running = () => plane.nodes.get('alpha')?.runtime.alive ?? [];

function write(name: string, command: string): void {
  writeFileSync(join(directory, `${name}.json`), JSON.stringify({ runtime: 'process', command, ramMB: 10 }));
}

/** The files are read, and the records follow. */
async function look(): Promise<void> {
  await source.read({ isFinal: true });
  const followed = follower.follow();
  await clock.advance(50);
  await followed;
}

/** The one instance is deleted, and the enforcer has wanted to make another. */
async function removeInstance(): Promise<void> {
  for (const id of running()) await plane.master.writer.remove(id);
  await until(async () => {
    await clock.advance(50);
    expect(doubts).toContain('race.json');
  });
}

it('makes nothing of a configuration whose file is gone', async () => {
  rmSync(join(directory, 'race.json'));
  await removeInstance();
  await clock.advance(1000);
  expect(plane.records()).toEqual([]);
  await look();
  expect(plane.records()).toEqual([]);
});

it('makes nothing of a file that is known to be gone, before the records follow', async () => {
  rmSync(join(directory, 'race.json'));
  await source.read({ isFinal: true });
  for (const id of running()) await plane.master.writer.remove(id);
  await clock.advance(1000);
  expect(plane.records()).toEqual([]);
});

it('makes what a changed file says, not what it said before', async () => {
  write('race', 'run anew');
  await removeInstance();
  expect(plane.records()).toEqual([]);
  await look();
  await until(async () => {
    await clock.advance(50);
    expect(running()).toHaveLength(1);
  });
  expect(plane.nodes.get('alpha')?.runtime.starts.map(({ command }) => command)).toEqual(['run', 'run anew']);
});

it.each([
  ['a link to nothing', (path: string) => symlinkSync('nowhere', path)],
  ['a fifo', (path: string) => execFileSync('mkfifo', [path])],
])('goes on with the last good content of a file that is %s', async (_what, make) => {
  rmSync(join(directory, 'race.json'));
  make(join(directory, 'race.json'));
  await look();
  for (const id of running()) await plane.master.writer.remove(id);
  await until(async () => {
    await clock.advance(50);
    expect(plane.nodes.get('alpha')?.runtime.starts).toHaveLength(2);
  });
  expect(doubts).toEqual([]);
});

it('goes on with the last reading when the directory is another one', async () => {
  rmSync(directory, { recursive: true });
  for (const id of running()) await plane.master.writer.remove(id);
  await until(async () => {
    await clock.advance(50);
    expect(plane.nodes.get('alpha')?.runtime.starts).toHaveLength(2);
  });
  expect(doubts).toEqual([]);
});
