/** What is said of a configurations directory that git owns, by commands over a real master, with the real git. */
import { execFileSync } from 'node:child_process';
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { commitProgress } from '../../../src/operations/commit-progress.js';
import {
  describeDirectory,
  fileFigures,
  listConfigurationFiles,
} from '../../../src/operations/configuration-file-list.js';
import { CommandWorld } from '../../support/control-plane/command-world.js';
import { GitRepository, HAS_GIT } from '../../support/git-repository.js';

describe.skipIf(!HAS_GIT)('a directory that git owns', () => {
  let world: CommandWorld;
  let origin: GitRepository;
  let directory: string;

  const content = (name: string, minimumServiceCount = 0): string =>
    `${JSON.stringify({ name, runtime: 'process', command: 'run', ramMB: 10, cpu: 1, minimumServiceCount })}\n`;
  const git = (...words: string[]): string => origin.gitIn(directory, ...words);
  /** Commits a file in the origin. */
  const commit = (file: string, text: string): string => {
    origin.write(file, text);
    return origin.commit();
  };
  const pull = async (): Promise<void> => {
    git('fetch', '-q');
    git('reset', '-q', '--hard', '@{upstream}');
    await world.files.reload();
  };

  beforeEach(async () => {
    origin = new GitRepository();
    for (const name of ['lobby', 'game']) origin.write(`${name}.json`, content(name));
    origin.commit();
    world = await CommandWorld.create();
    directory = join(world.root, 'configurations');
    execFileSync('git', ['clone', '-q', origin.top, directory]);
    await world.files.reload();
  });
  afterEach(async () => {
    await world.stop();
    origin.remove();
  });

  it('says where it stands: in the list, of each file, in why, and in figures', async () => {
    const first = git('rev-parse', 'HEAD');
    const at = first.slice(0, 8);
    const end = async (): Promise<string> =>
      (await world.run('config list')).trimEnd().split('\n').at(-1) ?? '';
    expect(await end()).toBe(`git: main at ${at}, as origin/main`);
    expect(await world.run('config why lobby')).toMatch(
      new RegExp(`git +in force since ${at}; main at ${at}, as origin/main`),
    );
    const second = commit('lobby.json', content('lobby', 1));
    git('fetch', '-q');
    appendFileSync(join(directory, 'lobby.json'), ' ');
    writeFileSync(join(directory, 'web.json'), content('web'));
    await world.files.reload();
    expect(await end()).toBe(
      `git: main at ${at}, 1 commit behind origin/main; 1 file changed, not in git; 1 file new, not in git`,
    );
    const status = (await world.run('config list')).split('\n').map((line) => line.split(/ {2,}/).at(-1));
    expect(status.slice(1, 4)).toEqual([
      'Healthy',
      'Healthy, changed, not in git',
      'Healthy, new, not in git',
    ]);
    expect(await world.run('config why lobby')).toMatch(/git +changed, not in git; in force since/);
    const files = await listConfigurationFiles(world.dependencies);
    expect(files.map(({ file, inGit, isDirty, commit: wanted }) => [file, inGit, isDirty, wanted])).toEqual([
      ['game.json', 'committed', false, first],
      ['lobby.json', 'changed', true, first],
      ['web.json', 'untracked', true, first],
    ]);
    expect((await describeDirectory(world.dependencies)).files).toEqual([
      { file: 'lobby.json', name: 'lobby', inGit: 'changed', text: 'changed, not in git' },
      { file: 'web.json', name: 'web', inGit: 'untracked', text: 'new, not in git' },
    ]);
    const figures = await fileFigures(world.dependencies);
    expect([figures.behind, figures.states.get('dirty'), figures.states.get('in-force')]).toEqual([1, 2, 3]);
    await pull();
    expect(await end()).toMatch(
      new RegExp(`^git: main at ${second.slice(0, 8)}, as origin/main; 1 file new`),
    );
    expect((await listConfigurationFiles(world.dependencies))[1]).toMatchObject({
      inGit: 'committed',
      commit: second,
      commitInForce: second,
    });
  });

  it('tells how far a commit has come, by a later one that contains it, too', async () => {
    const progress = async (of: string) => {
      const { state, files } = await commitProgress(world.dependencies, of);
      return [state, ...files.map(({ file, why }) => `${file}: ${why}`)].join(', ');
    };
    const first = git('rev-parse', 'HEAD');
    expect(await progress(first.slice(0, 7))).toBe('rolled-out');
    const second = commit('lobby.json', content('lobby', 1));
    expect(await progress(second)).toBe('unknown');
    git('fetch', '-q');
    expect(await progress(second)).toBe('elsewhere');
    await pull();
    expect([await progress(second), await progress(first)]).toEqual(['rolled-out', 'rolled-out']);
    const third = commit('game.json', '{');
    await pull();
    expect(await progress(third)).toMatch(/^pending, game\.json: not valid JSON/);
    const fourth = commit('game.json', content('game'));
    await pull();
    expect([await progress(third), await progress(fourth)]).toEqual(['rolled-out', 'rolled-out']);
    appendFileSync(join(directory, 'lobby.json'), ' ');
    await world.files.reload();
    expect(await progress(fourth)).toBe('pending, lobby.json: changed, not in git');
    expect(await progress('--all')).toBe('unknown');
  });

  it('says why nothing is known where git does not answer', async () => {
    appendFileSync(join(directory, '.git', 'config'), '[core');
    expect(await describeDirectory(world.dependencies)).toMatchObject({
      git: null,
      fault: expect.stringMatching(/bad config/),
    });
    expect(await world.run('config list')).toMatch(/git: not known: .*bad config/);
  });
});
