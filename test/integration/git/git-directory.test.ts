/** How a directory stands in its work tree, in repositories that the real git made. */
import { appendFileSync, readdirSync, renameSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { GitDirectory } from '../../../src/configuration-files/git-directory.js';
import { SystemClock } from '../../../src/loop/system-clock.js';
import { GitRepository, HAS_GIT } from '../../support/git-repository.js';

describe.skipIf(!HAS_GIT)('the standing of a directory in git', () => {
  let origin: GitRepository;
  let clone: string;
  let directory: string;
  let looked: GitDirectory;

  beforeEach(() => {
    origin = new GitRepository();
    for (const name of ['lobby', 'game', 'web'])
      origin.write(`configurations/${name}.json`, `{"of":"${name}"}\n`);
    origin.write('.gitignore', 'configurations/local.json\n');
    origin.commit();
    clone = join(origin.scratch, 'clone');
    origin.git('clone', '-q', origin.top, clone);
    directory = join(clone, 'configurations');
    looked = new GitDirectory(directory, new SystemClock());
  });
  afterEach(() => origin.remove());

  const git = (...words: string[]): string => origin.gitIn(clone, ...words);
  const look = (of = directory, by = looked) =>
    by.look(
      new Map(
        readdirSync(of).map((file) => {
          const { ino, size, mtimeNs } = statSync(join(of, file), { bigint: true });
          return [file, { signature: `${ino}:${size}:${mtimeNs}` }];
        }),
      ),
    );
  /** Commits a content of a file in the origin. */
  const commit = (file: string, text: string): string => {
    origin.write(`configurations/${file}`, text);
    return origin.commit();
  };

  it('is clean after a clone, and counts the commits of a fetch until they are pulled', async () => {
    const first = git('rev-parse', 'HEAD');
    const clean = { branch: 'main', upstream: 'origin/main', isShallow: false, underWay: null };
    const none = { changed: 0, deleted: 0, untracked: 0, conflicts: 0 };
    expect((await look()).standing).toEqual({ commit: first, ...clean, behind: 0, ahead: 0, ...none });
    commit('game.json', '{"a":1}\n');
    const second = commit('game.json', '{"a":2}\n');
    // Git knows of them only after a fetch, and Drover fetches nothing.
    expect((await look()).standing).toMatchObject({ behind: 0 });
    git('fetch', '-q');
    expect((await look()).standing).toMatchObject({ commit: first, behind: 2, ahead: 0 });
    git('pull', '-q', '--ff-only');
    expect((await look()).standing).toMatchObject({ commit: second, behind: 0, ahead: 0 });
    git('commit', '-q', '--allow-empty', '-m', 'of here');
    expect((await look()).standing).toMatchObject({ behind: 0, ahead: 1 });
    git('pack-refs', '--all');
    expect((await look()).standing).toMatchObject({ behind: 0, ahead: 1 });
  });

  it('names what is changed, new, ignored and gone', async () => {
    appendFileSync(join(directory, 'lobby.json'), ' ');
    for (const name of ['new', 'local', 'added']) appendFileSync(join(directory, `${name}.json`), '{}');
    git('add', 'configurations/added.json');
    rmSync(join(directory, 'web.json'));
    const found = await look();
    expect(Object.fromEntries(found.files)).toEqual({
      'added.json': 'changed',
      'game.json': 'committed',
      'lobby.json': 'changed',
      'local.json': 'ignored',
      'new.json': 'untracked',
    });
    expect(found.deleted).toEqual(['web.json']);
    expect(found.standing).toMatchObject({ changed: 2, deleted: 1, untracked: 1, conflicts: 0 });
    git('rm', '-q', '--cached', 'configurations/web.json');
    expect((await look()).deleted).toEqual(['web.json']);
    git('reset', '-q', '--hard');
    expect((await look()).standing).toMatchObject({ changed: 0, deleted: 0, untracked: 1 });
  });

  it('says a merge and a rebase that wait for a person, with the files in conflict', async () => {
    commit('lobby.json', '{"of":"there"}\n');
    origin.gitIn(clone, 'commit', '-q', '--allow-empty', '-m', 'nothing');
    appendFileSync(join(directory, 'lobby.json'), '{"of":"here"}\n');
    git('commit', '-q', '-a', '-m', 'of here');
    git('fetch', '-q');
    expect(() => git('merge', '-q', 'origin/main')).toThrow();
    const found = await look();
    expect(found.standing).toMatchObject({ underWay: 'merge', conflicts: 1, behind: 1, ahead: 2 });
    expect(found.files.get('lobby.json')).toBe('conflict');
    git('merge', '--abort');
    expect((await look()).standing).toMatchObject({ underWay: null, conflicts: 0 });
    expect(() => git('rebase', '-q', 'origin/main')).toThrow();
    expect((await look()).standing).toMatchObject({ underWay: 'rebase', branch: null });
    git('rebase', '--abort');
    appendFileSync(join(directory, 'game.json'), ' ');
    // A pull with --autostash leaves markers and no merge.
    commit('game.json', '{"of":"there, too"}\n');
    git('reset', '-q', '--hard', 'origin/main');
    appendFileSync(join(directory, 'game.json'), 'of here\n');
    git('pull', '-q', '--autostash');
    expect((await look()).standing).toMatchObject({ underWay: null, conflicts: 1, behind: 0 });
  });

  it('counts as far as a shallow clone reaches', async () => {
    commit('lobby.json', '{"a":1}\n');
    const shallow = join(origin.scratch, 'shallow');
    origin.git('clone', '-q', '--depth=1', `file://${origin.top}`, shallow);
    for (const text of ['2', '3', '4']) commit('lobby.json', text);
    const inside = join(shallow, 'configurations');
    const one = new GitDirectory(inside, new SystemClock());
    origin.gitIn(shallow, 'fetch', '-q');
    expect((await look(inside, one)).standing).toMatchObject({ isShallow: true, behind: 3, ahead: 0 });
    for (const text of ['5', '6', '7']) commit('lobby.json', text);
    origin.gitIn(shallow, 'fetch', '-q', '--depth=1');
    // Nothing tells how the two hang together.
    expect((await look(inside, one)).standing).toMatchObject({ isShallow: true, behind: 1, ahead: null });
  });

  it('has no upstream on a detached head, and where the branch has none or lost it', async () => {
    git('checkout', '-q', '--detach');
    expect((await look()).standing).toMatchObject({ branch: null, upstream: null, behind: null });
    git('checkout', '-q', '-b', 'mine');
    expect((await look()).standing).toMatchObject({ branch: 'mine', upstream: null, behind: null });
    git('branch', '-q', '--set-upstream-to=origin/main');
    git('update-ref', '-d', 'refs/remotes/origin/main');
    expect((await look()).standing).toMatchObject({ upstream: 'origin/main', behind: null });
  });

  it('follows the swap of a link between work trees', async () => {
    const link = join(origin.scratch, 'current');
    symlinkSync(directory, link);
    const one = new GitDirectory(link, new SystemClock());
    expect((await look(link, one)).standing).toMatchObject({ branch: 'main' });
    const first = git('rev-parse', 'HEAD');
    git('worktree', 'add', '-q', '--detach', '../linked', 'main');
    rmSync(link);
    symlinkSync(join(origin.scratch, 'linked', 'configurations'), link);
    expect((await look(link, one)).standing).toMatchObject({ branch: null, commit: first });
  });

  it('is none outside of a work tree, and where git tracks no file of the directory', async () => {
    expect(
      (await look(origin.scratch, new GitDirectory(origin.scratch, new SystemClock()))).standing,
    ).toBeNull();
    origin.write('running/lobby.json', '{}');
    const running = join(origin.top, 'running');
    expect((await look(running, new GitDirectory(running, new SystemClock()))).standing).toBeNull();
  });

  it('asks git only after something changed', async () => {
    await look();
    const before = await look();
    // Whoever asks git from here on gets a fault.
    renameSync(join(clone, '.git', 'objects'), join(clone, 'objects'));
    expect(await look()).toBe(before);
    appendFileSync(join(directory, 'lobby.json'), ' ');
    expect(await look()).toMatchObject({
      standing: null,
      fault: expect.stringMatching(/not a git repository|bad object|unable to read/),
    });
    renameSync(join(clone, 'objects'), join(clone, '.git', 'objects'));
    appendFileSync(join(directory, 'lobby.json'), ' ');
    expect((await look()).standing).toMatchObject({ changed: 1 });
  });
});
