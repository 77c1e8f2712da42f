/** How commits descend from each other, in repositories that the real git made. */
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isAncestor } from '../../../src/git/git-ancestry.js';
import { GitRepository, HAS_GIT } from '../../support/git-repository.js';

describe.skipIf(!HAS_GIT)('the ancestry of commits', () => {
  let repository: GitRepository;
  let commits: string[];

  beforeEach(() => {
    repository = new GitRepository();
    commits = ['a', 'b', 'c', 'd'].map((text) => {
      repository.write('configurations/lobby.json', text);
      return repository.commit();
    });
  });
  afterEach(() => repository.remove());

  const ask = (a: string | undefined, b: string | undefined, top = repository.top) =>
    isAncestor(top, a ?? '', b ?? '');

  it('is known along a line, from any folder, also when all is packed', async () => {
    const [a, , , d] = commits;
    expect(await ask(a, d)).toBe('yes');
    expect(await ask(d, d)).toBe('yes');
    expect(await ask(d, a)).toBe('no');
    repository.git('gc', '-q', '--prune=now');
    expect(await ask(a, d, join(repository.top, 'configurations'))).toBe('yes');
    expect(await ask(a?.slice(0, 8), d)).toBe('yes');
  });

  it('is none between branches, and both are in their merge', async () => {
    const [, , , d] = commits;
    repository.git('checkout', '-q', '-b', 'side', 'main~2');
    repository.write('configurations/game.json', 'side');
    const side = repository.commit();
    expect([await ask(side, d), await ask(d, side)]).toEqual(['no', 'no']);
    repository.git('merge', '-q', '--no-edit', 'main');
    const merged = repository.git('rev-parse', 'HEAD');
    expect([await ask(side, merged), await ask(d, merged)]).toEqual(['yes', 'yes']);
  });

  it('is unknown of a commit that is not there, of no hash, and where no repository is', async () => {
    const [a] = commits;
    expect(await ask('c'.repeat(40), a)).toBe('unknown');
    expect(await ask(a, 'c'.repeat(40))).toBe('unknown');
    expect(await ask('--all', a)).toBe('unknown');
    expect(await ask('main', a)).toBe('unknown');
    expect(await ask(a, commits[1], repository.scratch)).toBe('unknown');
  });

  it('is said in a shallow clone only as far as the clone reaches', async () => {
    const [a, , c, d] = commits;
    const clone = join(repository.scratch, 'clone');
    repository.git('clone', '-q', '--depth=2', `file://${repository.top}`, clone);
    expect(await ask(c, d, clone)).toBe('yes');
    expect(await ask(d, c, clone)).toBe('no');
    expect(await ask(a, d, clone)).toBe('unknown');
    // The other branch meets this one before the clone begins, which the clone cannot know.
    repository.git('checkout', '-q', '-b', 'side', 'main~3');
    repository.write('configurations/game.json', 'side');
    const side = repository.commit();
    repository.gitIn(clone, 'fetch', '-q', '--depth=1', 'origin', 'side');
    expect(await ask(side, d, clone)).toBe('unknown');
  });
});
