/** Which commit files come from, in repositories that the real git made. */
import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { gitOriginsOf } from '../../../src/git/git-origins.js';
import { GitRepository, HAS_GIT } from '../../support/git-repository.js';

/** `lobby.json clean`, one for each file; `?` where it cannot be known. */
async function told(directory: string, ...files: string[]): Promise<string[]> {
  const words = new Map<boolean | null, string>([
    [true, 'dirty'],
    [false, 'clean'],
    [null, '?'],
  ]);
  return [...(await gitOriginsOf(directory, files))].map(
    ([file, { commit, isDirty }]) => `${file} ${words.get(isDirty)} ${commit}`,
  );
}

describe.skipIf(!HAS_GIT)('the commit of a file', () => {
  let repository: GitRepository;
  let directory: string;

  beforeEach(() => {
    repository = new GitRepository();
    directory = join(repository.top, 'configurations');
    repository.write('configurations/lobby.json', '{"command":"a"}\n');
    repository.write('configurations/game.json', '{"command":"b"}\n');
  });
  afterEach(() => repository.remove());

  it('is the one that is checked out, and the file is clean', async () => {
    const commit = repository.commit();
    expect(await told(directory, 'lobby.json', 'game.json')).toEqual([
      `lobby.json clean ${commit}`,
      `game.json clean ${commit}`,
    ]);
  });

  it('counts line ends as git stores them, and knows nothing where a filter decides', async () => {
    repository.write(
      '.gitattributes',
      'configurations/lobby.json text eol=crlf\nconfigurations/game.json filter=secret\n',
    );
    const commit = repository.commit();
    repository.write('configurations/lobby.json', '{"command":"a"}\r\n');
    repository.write('configurations/game.json', '{"command": "decrypted"}\n');
    expect(await told(directory, 'lobby.json', 'game.json')).toEqual([
      `lobby.json clean ${commit}`,
      `game.json ? ${commit}`,
    ]);
    repository.write('configurations/lobby.json', '{"command":"x"}\r\n');
    expect(await told(directory, 'lobby.json')).toEqual([`lobby.json dirty ${commit}`]);
    repository.write('.gitattributes', '');
    repository.write('configurations/lobby.json', '{"command":"a"}\r\n');
    expect(await told(directory, 'lobby.json')).toEqual([`lobby.json dirty ${commit}`]);
    repository.git('config', 'core.autocrlf', 'true');
    expect(await told(directory, 'lobby.json')).toEqual([`lobby.json clean ${commit}`]);
  });

  it.each([2, 3, 4])('is told apart from changes with an index of version %i', async (version) => {
    repository.write('configurations/staged.json', '{}');
    repository.write('configurations/gone.json', '{}');
    repository.write('configurations/touched.json', '{}');
    const commit = repository.commit();
    // Version 3 is what git writes when an entry has further flags.
    if (version === 4) repository.git('update-index', '--index-version', '4');
    repository.write('configurations/lobby.json', '{"command":"x"}\n');
    repository.write('configurations/staged.json', '{"command":"c"}');
    repository.git('add', 'configurations/staged.json');
    repository.write('configurations/new.json', '{}');
    repository.write('configurations/planned.json', '{}');
    if (version === 3) repository.git('add', '-N', 'configurations/planned.json');
    rmSync(join(directory, 'gone.json'));
    repository.write('configurations/touched.json', '{}');
    const files = ['lobby', 'game', 'staged', 'gone', 'touched', 'new', 'planned'];
    expect(await told(directory, ...files.map((name) => `${name}.json`))).toEqual([
      `lobby.json dirty ${commit}`,
      `game.json clean ${commit}`,
      `staged.json dirty ${commit}`,
      `gone.json dirty ${commit}`,
      `touched.json clean ${commit}`,
      `new.json dirty ${commit}`,
      `planned.json dirty ${commit}`,
    ]);
  });

  it('follows a new commit of the same content', async () => {
    repository.commit();
    const second = repository.git('commit', '-q', '--allow-empty', '-m', 'nothing');
    expect(second).toBe('');
    expect(await told(directory, 'lobby.json')).toEqual([
      `lobby.json clean ${repository.git('rev-parse', 'HEAD')}`,
    ]);
  });

  it('is found in the top folder, on a detached head, and with packed refs and objects', async () => {
    repository.write('top.json', '{}');
    for (let number = 0; number < 12; number++) {
      // Many entries, of which one changes: git keeps such trees as deltas.
      for (let other = 0; other < 60; other++)
        repository.write(`configurations/other-${other}.json`, `${other}`);
      repository.write('configurations/other-7.json', `${number}`);
      repository.commit();
    }
    const commit = repository.git('rev-parse', 'HEAD');
    repository.git('pack-refs', '--all');
    repository.git('gc', '-q', '--aggressive', '--prune=now');
    expect(repository.git('count-objects')).toBe('0 objects, 0 kilobytes');
    expect(await told(repository.top, 'top.json')).toEqual([`top.json clean ${commit}`]);
    const first = repository.git('rev-parse', 'HEAD~11');
    repository.git('checkout', '-q', '--detach', first);
    expect(await told(directory, 'other-7.json')).toEqual([`other-7.json clean ${first}`]);
    repository.write('configurations/other-7.json', 'x');
    expect(await told(directory, 'other-7.json')).toEqual([`other-7.json dirty ${first}`]);
    repository.git('checkout', '-q', '-f', 'main');
    for (let back = 1; back < 12; back += 3) {
      repository.git('checkout', '-q', `main~${back}`);
      const at = repository.git('rev-parse', 'HEAD');
      expect(await told(directory, 'other-7.json', 'lobby.json')).toEqual([
        `other-7.json clean ${at}`,
        `lobby.json clean ${at}`,
      ]);
    }
  });

  it('is found with deltas that name their base by its hash', async () => {
    for (let number = 0; number < 8; number++) {
      for (let other = 0; other < 60; other++)
        repository.write(`configurations/other-${other}.json`, `${other}`);
      repository.write('configurations/other-7.json', `${number}`);
      repository.commit();
    }
    repository.git('-c', 'repack.useDeltaBaseOffset=false', 'repack', '-q', '-a', '-d', '-f');
    repository.git('prune-packed');
    repository.git('checkout', '-q', 'main~5');
    expect(await told(directory, 'other-7.json')).toEqual([
      `other-7.json clean ${repository.git('rev-parse', 'HEAD')}`,
    ]);
  });

  it('is found in a linked work tree, behind a link, and in a clone that borrows its objects', async () => {
    repository.commit();
    repository.git('branch', 'other');
    repository.write('configurations/lobby.json', '{"command":"c"}\n');
    repository.commit();
    const linked = join(repository.scratch, 'linked');
    repository.git('worktree', 'add', '-q', linked, 'other');
    const other = repository.git('rev-parse', 'other');
    expect(await told(join(linked, 'configurations'), 'lobby.json')).toEqual([`lobby.json clean ${other}`]);
    const link = join(repository.scratch, 'current');
    symlinkSync(join(linked, 'configurations'), link);
    expect(await told(link, 'lobby.json')).toEqual([`lobby.json clean ${other}`]);
    const clone = join(repository.scratch, 'clone');
    repository.git('clone', '-q', '--shared', '.', clone);
    appendFileSync(join(clone, 'configurations', 'game.json'), ' ');
    const main = repository.git('rev-parse', 'main');
    expect(await told(join(clone, 'configurations'), 'lobby.json', 'game.json')).toEqual([
      `lobby.json clean ${main}`,
      `game.json dirty ${main}`,
    ]);
  });

  it('is found in a repository of SHA-256', async () => {
    repository.remove();
    repository = new GitRepository('--object-format=sha256');
    directory = join(repository.top, 'configurations');
    repository.write('configurations/lobby.json', '{}');
    repository.write('configurations/game.json', '{}');
    const commit = repository.commit();
    expect(commit).toHaveLength(64);
    repository.git('gc', '-q');
    repository.write('configurations/game.json', '{ }');
    expect(await told(directory, 'lobby.json', 'game.json')).toEqual([
      `lobby.json clean ${commit}`,
      `game.json dirty ${commit}`,
    ]);
  });

  it('counts a file as clean where git writes other ends of lines than it keeps', async () => {
    repository.write('.gitattributes', '*.json text eol=crlf\n');
    const commit = repository.commit();
    rmSync(join(directory, 'lobby.json'));
    repository.git('checkout', '--', 'configurations/lobby.json');
    repository.age('configurations/lobby.json');
    expect(await told(directory, 'lobby.json')).toEqual([`lobby.json clean ${commit}`]);
  });

  it('is not known of a link, and of a file while the objects of the commit are away', async () => {
    symlinkSync('game.json', join(directory, 'link.json'));
    const commit = repository.commit();
    expect(await told(directory, 'link.json')).toEqual([`link.json ? ${commit}`]);
    const objects = join(repository.top, '.git', 'objects');
    renameSync(objects, join(repository.scratch, 'objects'));
    mkdirSync(objects);
    expect(await told(directory, 'lobby.json')).toEqual([`lobby.json ? ${commit}`]);
  });

  it('is found in a repository of another user', async () => {
    const commit = repository.commit();
    if (process.getuid?.() === 0) execFileSync('chown', ['-R', '12345:12345', repository.top]);
    expect(await told(directory, 'lobby.json')).toEqual([`lobby.json clean ${commit}`]);
  });

  it('is unknown where git cannot be asked, which is said with the reason', async () => {
    repository.commit();
    const reasons: string[] = [];
    const note = (reason: string): void => void reasons.push(reason);
    writeFileSync(join(repository.top, '.git', 'config'), '[core');
    expect(await gitOriginsOf(directory, ['lobby.json'], note)).toEqual(new Map());
    expect(reasons).toEqual([expect.stringMatching(/bad config/)]);
    // Outside of any work tree git is not asked.
    expect(await gitOriginsOf(repository.scratch, ['lobby.json'], note)).toEqual(new Map());
    expect(reasons).toHaveLength(1);
  });

  it('is found for thousands of files at once', async () => {
    const names = Array.from({ length: 2000 }, (_, number) => `other-${number}.json`);
    for (const name of names) repository.write(`configurations/${name}`, name);
    const commit = repository.commit();
    for (const name of names.slice(0, 1000)) repository.write(`configurations/${name}`, 'x');
    const origins = await gitOriginsOf(directory, names);
    expect(names.map((name) => origins.get(name))).toEqual(
      names.map((_, number) => ({ commit, isDirty: number < 1000 })),
    );
  });

  it('is none without a commit, without a work tree, and where the commit has no such folder', async () => {
    expect(await told(directory, 'lobby.json')).toEqual([]);
    repository.commit();
    const outside = join(repository.scratch, 'outside');
    mkdirSync(outside);
    writeFileSync(join(outside, 'lobby.json'), '{}');
    expect(await told(outside, 'lobby.json')).toEqual([]);
    const ignored = join(repository.top, 'running');
    mkdirSync(ignored);
    writeFileSync(join(ignored, 'lobby.json'), '{}');
    expect(await told(ignored, 'lobby.json')).toEqual([]);
  });
});
