/** Masters with a clone each that has templates: no master writes them, and the order of commits says what is in force. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { GitTemplates } from '../../../src/templates/library/git-templates.js';
import { GitRepository, HAS_GIT } from '../../support/git-repository.js';
import { SeveralWorld, type TestMaster } from '../../support/masters/several-world.js';
import { until } from '../../support/until.js';

const FILE = 'templates/games/arena/map.txt';

describe.skipIf(!HAS_GIT)('templates of masters with a clone each', () => {
  let repository: GitRepository;
  let world: SeveralWorld;

  const push = (content: string | undefined, file = FILE): string => {
    if (content === undefined) repository.git('rm', '-q', '-r', file);
    else repository.write(file, content);
    return repository.commit();
  };
  const git = (node: string, ...words: readonly string[]): string =>
    repository.gitIn(join(world.root, node), ...words);
  const goTo = (node: string, commit: string): void => {
    git(node, 'fetch', '-q');
    git(node, 'reset', '-q', '--hard', commit);
  };
  const start = (node: string): Promise<TestMaster> => {
    repository.git('clone', '-q', repository.top, join(world.root, node));
    return world.start(node);
  };
  /** The content in force of the map by each master; null: the template is not in force. */
  const inForce = async (name = 'arena'): Promise<readonly (string | null)[]> => {
    const of = async ({ templates: { sources } }: TestMaster): Promise<string | null> => {
      const digest = await sources.digest('games', name, 'local');
      if (digest === null) return null;
      const parts: Buffer[] = [];
      for await (const part of sources.openBundle(digest)) parts.push(part);
      return /of [a-z]+/.exec(Buffer.concat(parts).toString())?.[0] ?? '';
    };
    return Promise.all([...world.masters.values()].map(of));
  };
  /** Resolves when each master has looked at its templates. */
  const looked = async () => {
    for (const { masters } of world.masters.values()) await masters.templates.follow();
  };
  const becomes = (content: string | null, name?: string) =>
    until(async () => {
      await looked();
      expect(await inForce(name)).toEqual([...world.masters.values()].map(() => content));
    });
  /** What is in force stays, whatever the masters look at; and each clone is as git has it. */
  const stays = async (content: string | null) => {
    for (let looks = 0; looks < 2; looks++)
      for (const { masters } of world.masters.values()) {
        await masters.templates.follow();
        expect(new Set(await inForce())).toEqual(new Set([content]));
      }
    for (const [node, { masters }] of world.masters) {
      expect(git(node, 'status', '--porcelain')).toBe('');
      expect(masters.templates.conflicts()).toEqual([]);
    }
  };

  beforeEach(() => {
    repository = new GitRepository();
    repository.write('.gitignore', 'data/\ntemplates/worlds/\n');
    repository.write('templates/games/hall/map.txt', 'of hall');
    push('of one');
    world = new SeveralWorld();
  });
  afterEach(async () => {
    await world.close();
    repository.remove();
  });

  it.each([
    ['a', 'b'],
    ['b', 'a'],
  ])('are in force from whichever pulls first, and written on none: %s, then %s', async (first, second) => {
    await start('a');
    await start('b');
    await becomes('of one');
    push('of two');
    push('of new', 'templates/games/new/map.txt');
    git(first, 'pull', '-q');
    await becomes('of two');
    await becomes('of new', 'new');
    await stays('of two');
    git(second, 'checkout', '.');
    await stays('of two');
    git(second, 'pull', '-q');
    await stays('of two');
    push(undefined, 'templates/games/new');
    git(second, 'pull', '-q');
    await becomes(null, 'new');
    await stays('of two');
    git(first, 'pull', '-q');
    await stays('of two');
    expect(await inForce('new')).toEqual([null, null]);
  });

  it('follow a revert, also one that a clone has never seen undone, and no clone that goes back', async () => {
    await start('a');
    await start('b');
    await becomes('of one');
    const two = push('of two');
    repository.git('revert', '--no-edit', 'HEAD');
    const reverted = repository.git('rev-parse', 'HEAD');
    goTo('a', two);
    await becomes('of two');
    // The files of b stay as they are, and yet they are newer.
    goTo('b', reverted);
    await becomes('of one');
    await stays('of one');
    goTo('a', reverted);
    await stays('of one');
    goTo('a', two);
    await stays('of one');
    // A leader that is behind, and was not there before, gives out what is in force.
    goTo('b', two);
    const three = push('of three');
    goTo('a', three);
    await becomes('of three');
    await start('c');
    goTo('c', two);
    world.elect('c');
    await stays('of three');
  });

  it('take a merge of two changes of one template over either of them', async () => {
    await start('a');
    await start('b');
    await becomes('of one');
    repository.git('checkout', '-q', '-b', 'side');
    push('x', 'templates/games/arena/rules');
    repository.git('checkout', '-q', 'main');
    const two = push('of two');
    repository.git('merge', '-q', '--no-edit', 'side');
    goTo('a', two);
    await becomes('of two');
    git('b', 'pull', '-q');
    const digest = () => world.masters.get('b')?.templates.library.digest('games', 'arena');
    await until(async () =>
      expect(await world.masters.get('a')?.templates.sources.digest('games', 'arena', 'local')).toBe(
        await digest(),
      ),
    );
    await stays('of two');
  });

  it('are not written through the API, which says who owns them', async () => {
    const a = await start('a');
    const b = await start('b');
    await becomes('of one');
    const head = git('a', 'rev-parse', 'HEAD');
    const refused = {
      code: 'DRV_TEMPLATE_OWNED',
      message: expect.stringMatching(
        new RegExp(
          `^template games/\\w+ is changed in templates/games/\\w+ of node a \\(in git, at commit ${head}\\)`,
        ),
      ),
    };
    const { local } = a.templates;
    const bytes = () => Readable.from(['x']);
    await expect(local.replaceFile('games', 'arena', 'map.txt', bytes())).rejects.toMatchObject(refused);
    await expect(local.createFile('games', 'arena', 'more', bytes())).rejects.toMatchObject(refused);
    await expect(local.createFile('games', 'other', 'more', bytes())).rejects.toMatchObject(refused);
    await expect(local.removeFile('games', 'arena', 'map.txt')).rejects.toMatchObject(refused);
    await expect(local.importArchive('games', 'arena', bytes())).rejects.toMatchObject(refused);
    await expect(a.templates.fromStorage('games', 'arena', 'none')).rejects.toMatchObject(refused);
    await stays('of one');
    const alone = new GitTemplates({
      nodeId: 'a',
      directory: a.pathOf('templates'),
      logger: pino({ level: 'silent' }),
    });
    await alone.start();
    await expect(alone.requireWritable('games', 'arena', undefined)).rejects.toMatchObject(refused);
    await alone.requireWritable('worlds', 'big', undefined);
    // What git ignores is written as ever, on all masters.
    await local.createFile('worlds', 'big', 'map.txt', Readable.from(['of world']));
    await until(async () => expect(await b.read('templates/worlds/big/map.txt')).toBe('of world'));
    await stays('of one');
    await a.masters.templates.follow();
    rmSync(a.pathOf('templates/worlds/big'), { recursive: true });
    await until(async () => expect(await b.files('templates')).not.toContain('worlds/big'));
  });

  it('are written on a master without a clone, which refuses to change them, too', async () => {
    await start('a');
    await becomes('of one');
    const c = await world.start('c');
    world.elect('c');
    await until(async () => expect(await c.read(FILE)).toBe('of one'));
    push('of two');
    git('a', 'pull', '-q');
    await until(async () => expect(await c.read(FILE)).toBe('of two'));
    await expect(
      c.templates.local.replaceFile('games', 'arena', 'map.txt', Readable.from(['x'])),
    ).rejects.toMatchObject({
      code: 'DRV_TEMPLATE_OWNED',
      message: expect.stringContaining(`of node a (in git, at commit ${git('a', 'rev-parse', 'HEAD')})`),
    });
    await c.templates.local.createFile('worlds', 'big', 'map.txt', Readable.from(['of world']));
    await until(async () =>
      expect(await world.masters.get('a')?.read('templates/worlds/big/map.txt')).toBe('of world'),
    );
  });

  it('are written where config.json says so', async () => {
    world.writes = 'file';
    const a = await start('a');
    const b = await start('b');
    await becomes('of one');
    await a.templates.local.replaceFile('games', 'arena', 'map.txt', Readable.from(['of api']));
    await until(async () => expect(await b.read(FILE)).toBe('of api'));
    expect(git('b', 'status', '--porcelain')).toBe(`M ${FILE}`);
  });
});
