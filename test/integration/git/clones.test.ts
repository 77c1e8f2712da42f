/** Masters with a clone each: a commit that any of them pulled is in force, and an older clone changes nothing. */
import { mkdirSync, renameSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PREFIX } from '../../../src/store/keys.js';
import { ViewWorld } from '../../support/control-plane/view-world.js';
import { GitRepository, HAS_GIT } from '../../support/git-repository.js';
import { until } from '../../support/until.js';

describe.skipIf(!HAS_GIT)('clones of several masters', () => {
  let repository: GitRepository;
  let world: ViewWorld;

  const push = (content: string | undefined, file = 'a.json'): string => {
    if (content === undefined) repository.git('rm', '-q', `configurations/${file}`);
    else repository.write(`configurations/${file}`, `${JSON.stringify({ command: content })}\n`);
    return repository.commit();
  };
  const git = (node: string, ...words: readonly string[]): string =>
    repository.gitIn(join(world.root, node), ...words);
  const start = async (node: string) => {
    repository.git('clone', '-q', repository.top, join(world.root, node));
    return world.start(node);
  };
  const goTo = (node: string, commit: string): void => {
    git(node, 'fetch', '-q');
    git(node, 'reset', '-q', '--hard', commit);
  };
  const becomes = (...records: string[]) => until(async () => expect(await world.records()).toEqual(records));
  /** Resolves when every clone has been looked at since. */
  const looked = async (...masters: readonly { readonly files: { reload(): Promise<void> } }[]) => {
    for (const master of masters) await master.files.reload();
  };
  const clean = (...nodes: readonly string[]) => {
    for (const node of nodes) expect(git(node, 'status', '--porcelain')).toBe('');
  };

  beforeEach(() => {
    repository = new GitRepository();
    repository.write('.gitignore', 'data/\n');
    push('one');
    push('x', 'keep.json');
    world = new ViewWorld();
  });
  afterEach(async () => {
    await world.close();
    repository.remove();
  });

  it.each([
    ['a', 'b'],
    ['b', 'a'],
  ])('take a commit from whichever pulls first: %s, then %s', async (first, second) => {
    const masters = { a: await start('a'), b: await start('b') };
    await becomes('a one', 'keep x');
    push('two');
    git(first, 'pull', '-q');
    await becomes('a two', 'keep x');
    await looked(masters.a, masters.b);
    await becomes('a two', 'keep x');
    git(second, 'checkout', '.');
    await looked(masters.a, masters.b);
    await becomes('a two', 'keep x');
    git(second, 'pull', '-q');
    await looked(masters.a, masters.b);
    await becomes('a two', 'keep x');
    clean('a', 'b');
    expect([...masters.a.conflicts(), ...masters.b.conflicts()]).toEqual([]);
  });

  it('take new files and removals, from whichever pulls first', async () => {
    const [a, b] = [await start('a'), await start('b')];
    push('n', 'new.json');
    git('b', 'pull', '-q');
    await becomes('a one', 'keep x', 'new n');
    git('a', 'pull', '-q');
    await looked(a, b);
    push(undefined);
    git('b', 'pull', '-q');
    await becomes('keep x', 'new n');
    await looked(a, b);
    git('a', 'pull', '-q');
    await looked(a, b);
    await becomes('keep x', 'new n');
    clean('a', 'b');
  });

  it('take a later commit over an earlier one that another clone pulled meanwhile, and a revert', async () => {
    const [a, b] = [await start('a'), await start('b')];
    await becomes('a one', 'keep x');
    const two = push('two');
    const three = push('three');
    goTo('a', two);
    await becomes('a two', 'keep x');
    goTo('b', three);
    await becomes('a three', 'keep x');
    await looked(a, b);
    await becomes('a three', 'keep x');
    goTo('a', three);
    repository.git('revert', '--no-edit', 'HEAD');
    git('b', 'pull', '-q');
    await becomes('a two', 'keep x');
    await looked(a, b);
    await becomes('a two', 'keep x');
    expect([...a.conflicts(), ...b.conflicts()]).toEqual([]);
    clean('a', 'b');
  });

  it('take a revert that one clone has never seen undone', async () => {
    const [a, b] = [await start('a'), await start('b')];
    await becomes('a one', 'keep x');
    const two = push('two');
    repository.git('revert', '--no-edit', 'HEAD');
    goTo('a', two);
    await becomes('a two', 'keep x');
    // The files of b stay as they are, and yet they are newer.
    git('b', 'pull', '-q');
    await becomes('a one', 'keep x');
    await looked(a, b);
    await becomes('a one', 'keep x');
    expect([...a.conflicts(), ...b.conflicts()]).toEqual([]);
  });

  it('ignore a commit between that comes after a revert has come', async () => {
    const [a, b] = [await start('a'), await start('b')];
    await becomes('a one', 'keep x');
    const two = push('two');
    repository.git('revert', '--no-edit', 'HEAD');
    const revert = repository.git('rev-parse', 'HEAD');
    git('b', 'pull', '-q');
    await until(async () =>
      expect((await world.store.get(`${PREFIX.configurations}a`))?.value).toMatchObject({ commit: revert }),
    );
    goTo('a', two);
    await looked(a, b);
    await looked(a, b);
    await becomes('a one', 'keep x');
    expect(a.commands()).toEqual(['a.json two', 'keep.json x']);
    expect(a.conflicts()).toEqual([]);
  });

  it('of a new master at an older commit change nothing until they are pulled', async () => {
    const a = await start('a');
    await becomes('a one', 'keep x');
    repository.git('clone', '-q', repository.top, join(world.root, 'b'));
    push('two');
    git('a', 'pull', '-q');
    await becomes('a two', 'keep x');
    const b = await world.start('b');
    await looked(a, b);
    await becomes('a two', 'keep x');
    expect(b.conflicts()).toEqual([]);
    git('b', 'pull', '-q');
    await looked(a, b);
    await becomes('a two', 'keep x');
    expect(b.conflicts()).toEqual([]);
  });

  it('of a new master bring back nothing that a later commit has removed', async () => {
    const a = await start('a');
    await becomes('a one', 'keep x');
    repository.git('clone', '-q', repository.top, join(world.root, 'b'));
    push(undefined);
    git('a', 'pull', '-q');
    await becomes('keep x');
    await until(async () =>
      expect((await world.store.get('clones/configurations'))?.value).toEqual({
        commit: repository.git('rev-parse', 'HEAD'),
      }),
    );
    const b = await world.start('b');
    await b.edit('new.json', { command: 'by hand' });
    await becomes('keep x', 'new by hand');
    await looked(a, b, b);
    await becomes('keep x', 'new by hand');
    push('again');
    git('b', 'pull', '-q');
    await becomes('a again', 'keep x', 'new by hand');
  });

  it('of a master that goes back to an older commit take nothing away', async () => {
    const one = repository.git('rev-parse', 'HEAD');
    const [a, b] = [await start('a'), await start('b')];
    push('two');
    push('n', 'new.json');
    for (const node of ['a', 'b']) git(node, 'pull', '-q');
    await becomes('a two', 'keep x', 'new n');
    await looked(a, b);
    goTo('b', one);
    await looked(b, b);
    await until(() => expect(b.commands()).toEqual(['a.json one', 'keep.json x']));
    await looked(a, b);
    await becomes('a two', 'keep x', 'new n');
    expect(b.conflicts()).toEqual([]);
    git('b', 'pull', '-q');
    await looked(a, b);
    await becomes('a two', 'keep x', 'new n');
  });

  it('that are swapped as work trees take removals, too, but not where the work tree leaves files out', async () => {
    const swap = async (node: string, ...sparse: readonly string[]): Promise<void> => {
      const tree = join(repository.scratch, `${node}-${repository.git('rev-parse', 'HEAD')}`);
      const link = join(world.root, node, 'configurations');
      repository.git('worktree', 'add', '-q', '--detach', tree);
      if (sparse.length > 0) repository.gitIn(tree, 'sparse-checkout', 'set', '--no-cone', ...sparse);
      mkdirSync(join(world.root, node), { recursive: true });
      symlinkSync(join(tree, 'configurations'), `${link}.new`);
      renameSync(`${link}.new`, link);
      if (started.has(node)) await world.masterOf(node).files.reload();
    };
    const started = new Set<string>();
    for (const node of ['a', 'b']) {
      await swap(node);
      await world.start(node);
      started.add(node);
    }
    await becomes('a one', 'keep x');
    push('y', 'keep.json');
    push(undefined);
    await swap('b');
    await becomes('keep y');
    await swap('a');
    await looked(world.masterOf('a'), world.masterOf('b'));
    await becomes('keep y');
    push('z', 'keep.json');
    push('n', 'new.json');
    await swap('b', '/configurations/new.json');
    await looked(world.masterOf('a'), world.masterOf('b'));
    await becomes('keep y', 'new n');
    expect([...world.masterOf('a').conflicts(), ...world.masterOf('b').conflicts()]).toEqual([]);
  });

  it('are a conflict where both have commits of their own', async () => {
    const [a, b] = [await start('a'), await start('b')];
    await becomes('a one', 'keep x');
    for (const node of ['a', 'b']) {
      await world.masterOf(node).edit('a.json', { command: node });
      git(node, 'commit', '-qam', node);
    }
    git('b', 'fetch', '-q', join(world.root, 'a'));
    git('a', 'fetch', '-q', join(world.root, 'b'));
    await looked(a, b);
    await until(() =>
      expect([a, b].flatMap(({ view }) => view.conflicts().map(({ message }) => message))).toEqual([
        expect.stringMatching(/merge its commits and pull them here, or take the file back with git$/),
      ]),
    );
    git('b', 'merge', '-q', '-X', 'ours', '--no-edit', 'FETCH_HEAD');
    git('a', 'pull', '-q', '--no-rebase', '--no-edit', join(world.root, 'b'), 'main');
    await becomes('a b', 'keep x');
    await until(() => expect([...a.conflicts(), ...b.conflicts()]).toEqual([]));
  });

  it('keep the overrides of callers, whichever master leads and whichever pulls', async () => {
    const [a, b] = [await start('a'), await start('b')];
    await becomes('a one', 'keep x');
    await a.files.put('a', { command: 'one', ramMB: 77 });
    await b.files.remove('keep');
    push('two');
    git('b', 'pull', '-q');
    await becomes('a two');
    git('a', 'pull', '-q');
    await looked(a, b);
    await becomes('a two');
    expect((await world.store.get(`${PREFIX.configurations}a`))?.value).toMatchObject({
      configuration: { ramMB: 77 },
    });
    clean('a', 'b');
  });
});
