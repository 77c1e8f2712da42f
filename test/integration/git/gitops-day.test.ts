/** A day of GitOps with the real git, row by row: what git says, what is in force afterwards, and what Drover says. */
import { cpSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { configurationRecordSchema } from '../../../src/model/configuration.js';
import type { ConfigurationWrites } from '../../../src/model/plain/configuration-writes.js';
import { PREFIX } from '../../../src/store/keys.js';
import { CommandWorld } from '../../support/control-plane/command-world.js';
import { GitRepository, HAS_GIT } from '../../support/git-repository.js';

const text = (minimumServiceCount: number, cpu: number): string =>
  `${JSON.stringify({ cpu, runtime: 'process', command: 'run', ramMB: 10, minimumServiceCount }, null, 2)}\n`;

/** A master with a clone that has `lobby` and `game`, and the repository that developers push to. */
class Day {
  readonly origin = new GitRepository();
  readonly world: CommandWorld;
  /** The words of git and of Drover so far. */
  said = '';

  private constructor(world: CommandWorld) {
    this.world = world;
  }

  static async begin(writes: ConfigurationWrites): Promise<Day> {
    const day = new Day(await CommandWorld.create(undefined, writes));
    for (const name of ['lobby', 'game']) day.origin.write(`${name}.json`, text(0, 1));
    day.origin.commit();
    day.origin.git('clone', '-q', day.origin.top, day.directory);
    for (const [name, value] of [
      ['pull.rebase', 'false'],
      ['user.name', 'Test'],
      ['user.email', 'test@example.org'],
    ])
      day.git('config', name ?? '', value ?? '');
    await day.world.files.reload();
    return day;
  }

  get directory(): string {
    return join(this.world.root, 'configurations');
  }

  /** Runs git in the clone. A failure is said. */
  git(...words: readonly string[]): string {
    try {
      return this.origin.gitIn(this.directory, ...words);
    } catch (error) {
      this.said += `git failed: ${error instanceof Error ? error.message : ''}\n`;
      return '';
    }
  }

  async drover(line: string): Promise<void> {
    this.said += await this.world.run(line);
    await this.world.files.reload();
  }

  /** Pushes another CPU of a configuration. */
  push(name: string, cpu = 2): void {
    this.origin.write(`${name}.json`, text(0, cpu));
    this.origin.commit();
  }

  /** Everything in force, as `name minimum cpu`. */
  async inForce(): Promise<string> {
    await this.world.files.reload();
    const { entries } = await this.world.plane.store.list(PREFIX.configurations);
    return entries
      .map(({ value }) => configurationRecordSchema.parse(value).configuration)
      .map(({ name, minimumServiceCount, cpu }) => `${name} ${minimumServiceCount} ${cpu}`)
      .join(', ');
  }

  async end(): Promise<void> {
    await this.world.stop();
    this.origin.remove();
  }
}

/** What is done. `status`: what `git status` says afterwards. `inForce` is a pattern. */
type Row = readonly [
  what: string,
  writes: ConfigurationWrites,
  act: (day: Day) => Promise<unknown> | unknown,
  status: string,
  inForce: string,
  said: RegExp,
];

/** Scales the lobby, and pushes another CPU of it, before the clone moves. */
const scaled =
  (...moves: readonly string[]): Row[2] =>
  async (day) => {
    await day.drover('config scale lobby 1');
    day.push('lobby');
    for (const move of moves) day.git(...move.split(' '));
  };
const OVERRIDDEN = /1 field overridden.*as origin\/main/s;
const WRITTEN = /lobby.json is changed and not in git: commit it, or the next pull that brings it fails\n/;

const ROWS: readonly Row[] = [
  ['scale', 'state', (day) => day.drover('config scale lobby 1'), '', 'game 0 1, lobby 1 1', OVERRIDDEN],
  [
    'a pull of another file after scale',
    'state',
    async (day) => {
      await day.drover('config scale lobby 1');
      day.push('game');
      day.git('pull', '-q');
    },
    '',
    'game 0 2, lobby 1 1',
    OVERRIDDEN,
  ],
  ['a pull after scale', 'state', scaled('pull -q'), '', 'game 0 1, lobby 1 2', OVERRIDDEN],
  [
    'a pull --ff-only after scale',
    'state',
    scaled('pull -q --ff-only'),
    '',
    'game 0 1, lobby 1 2',
    OVERRIDDEN,
  ],
  ['--autostash after scale', 'state', scaled('pull -q --autostash'), '', 'game 0 1, lobby 1 2', OVERRIDDEN],
  ['stash and pull after scale', 'state', scaled('stash', 'pull -q'), '', 'game 0 1, lobby 1 2', OVERRIDDEN],
  [
    'reset --hard after scale',
    'state',
    scaled('fetch -q', 'reset -q --hard @{upstream}'),
    '',
    'game 0 1, lobby 1 2',
    OVERRIDDEN,
  ],
  [
    'a directory that takes the place of the clone',
    'state',
    async (day) => {
      await day.drover('config scale lobby 1');
      day.push('lobby');
      const next = join(day.origin.scratch, 'next');
      day.origin.git('clone', '-q', day.origin.top, next);
      renameSync(day.directory, join(day.origin.scratch, 'former'));
      renameSync(next, day.directory);
    },
    '',
    'game 0 1, lobby 1 2',
    OVERRIDDEN,
  ],
  [
    'a copy of files over the clone',
    'state',
    async (day) => {
      await day.drover('config scale lobby 1');
      day.push('lobby');
      cpSync(join(day.origin.top, 'lobby.json'), join(day.directory, 'lobby.json'));
    },
    'M lobby.json',
    'game 0 1, lobby 1 2',
    /1 field overridden.*1 file changed, not in git/s,
  ],
  [
    'DELETE and a pull of another file',
    'state',
    async (day) => {
      await day.drover('config delete lobby');
      day.push('game');
      day.git('pull', '-q');
    },
    '',
    'game 0 2',
    /configuration lobby is deleted.*lobby +\(removed\) /s,
  ],
  [
    'DELETE and a pull of its file',
    'state',
    async (day) => {
      await day.drover('config delete lobby');
      day.push('lobby');
      day.git('pull', '-q');
    },
    '',
    'game 0 1, lobby 0 2',
    /there are no overrides/,
  ],
  [
    'rollback, which holds git back',
    'state',
    async (day) => {
      day.push('lobby');
      day.git('pull', '-q');
      await day.world.files.reload();
      await day.drover('config rollback lobby --reason slow');
    },
    '',
    'game 0 1, lobby 0 2',
    /held back/,
  ],
  [
    'rollback, and a revert that ends it',
    'state',
    async (day) => {
      day.push('lobby');
      day.git('pull', '-q');
      await day.world.files.reload();
      await day.drover('config rollback lobby --reason slow');
      day.origin.git('revert', '--no-edit', 'HEAD');
      day.git('pull', '-q');
    },
    '',
    'game 0 1, lobby 0 1',
    /lobby.json +Healthy\n/,
  ],
  [
    'rollback --write',
    'state',
    async (day) => {
      day.push('lobby');
      day.git('pull', '-q');
      await day.world.files.reload();
      await day.drover('config rollback lobby --write --reason slow');
    },
    '',
    'game 0 1, lobby 0 1',
    OVERRIDDEN,
  ],
  [
    'a pull after a force push',
    'state',
    (day) => {
      day.push('lobby');
      day.git('pull', '-q');
      day.origin.git('reset', '-q', '--hard', 'HEAD~1');
      day.push('game');
      day.git('pull', '-q', '--ff-only');
    },
    '',
    'game 0 1, lobby 0 2',
    /Not possible to fast-forward.*1 commit behind and 1 commit ahead of origin\/main/s,
  ],
  [
    'scale where only git writes',
    'refuse',
    (day) => day.drover('config scale lobby 1'),
    '',
    'game 0 1, lobby 0 1',
    /configuration "lobby" is changed in lobby.json of node master .* and nowhere else/,
  ],
  [
    'scale into the file',
    'file',
    (day) => day.drover('config scale lobby 1'),
    'M lobby.json',
    'game 0 1, lobby 1 1',
    WRITTEN,
  ],
  [
    'a pull after scale into the file',
    'file',
    scaled('pull -q --ff-only'),
    'M lobby.json',
    'game 0 1, lobby 1 1',
    /would be overwritten by merge.*1 commit behind origin\/main; 1 file changed, not in git/s,
  ],
  [
    '--autostash of two changes of one line',
    'file',
    async (day) => {
      await day.drover('config scale lobby 1');
      day.origin.write('lobby.json', text(2, 1));
      day.origin.commit();
      day.git('pull', '-q', '--autostash');
    },
    'UU lobby.json',
    // Git passes through the older content and the new one; whichever was seen last holds.
    'game 0 1, lobby [012] 1',
    /1 file in conflict\n.*a conflict of git is left in it/s,
  ],
  [
    'stash, pull and pop after scale into the file',
    'file',
    scaled('stash -q', 'pull -q', 'stash pop -q'),
    'M lobby.json',
    'game 0 1, lobby 1 2',
    /1 file changed, not in git/,
  ],
  [
    'reset --hard after scale into the file',
    'file',
    scaled('fetch -q', 'reset -q --hard @{upstream}'),
    '',
    'game 0 1, lobby 0 2',
    WRITTEN,
  ],
  [
    'DELETE of the file, and a pull that touches it',
    'file',
    async (day) => {
      await day.drover('config delete lobby');
      day.push('lobby');
      day.git('pull', '-q');
    },
    '',
    'game 0 1, lobby 0 2',
    /configuration lobby is deleted/,
  ],
];

describe.skipIf(!HAS_GIT)('a day of GitOps', () => {
  let day: Day;
  afterEach(() => day.end());

  it.each(ROWS)('%s (%s)', async (_what, writes, act, status, inForce, said) => {
    day = await Day.begin(writes);
    await act(day);
    expect(await day.inForce()).toMatch(new RegExp(`^${inForce}$`));
    expect(day.git('status', '--porcelain')).toBe(status);
    for (const line of ['config list', 'config overrides']) await day.drover(line);
    expect(day.said).toMatch(said);
  });
});
