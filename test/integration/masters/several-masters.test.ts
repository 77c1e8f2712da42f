/** Masters that share a store: edits go to the leader, templates to all, and the audit trails are one. */
import { copyFile, readFile, readlink, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AuditEntry } from '../../../src/model/audit.js';
import { configurationHistorySchema } from '../../../src/model/configuration-history.js';
import { DroverError } from '../../../src/model/errors.js';
import { EPOCH_BASE } from '../../../src/store/epoch-base.js';
import { historyKey, nodeKey, PREFIX } from '../../../src/store/keys.js';
import { nodeRecord } from '../../support/control-plane/records.js';
import { GitRepository, HAS_GIT } from '../../support/git-repository.js';
import { SeveralWorld, type TestMaster } from '../../support/masters/several-world.js';
import { until } from '../../support/until.js';

let world: SeveralWorld;
let a: TestMaster;
let b: TestMaster;
let c: TestMaster;
beforeEach(async () => {
  world = new SeveralWorld();
  [a, b, c] = [await world.start('a'), await world.start('b'), await world.start('c')];
});
afterEach(() => world.close());

const LOBBY = 'configurations/lobby.json';
const lobby = (command: string) => JSON.stringify({ name: 'lobby', command });

async function received(stream: AsyncIterable<Buffer>): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of stream) pieces.push(piece);
  return Buffer.concat(pieces).toString('latin1');
}

describe('an edit of a configuration on a master that follows', () => {
  it('is written by the leader, and reaches all', async () => {
    await b.write(LOBBY, lobby('one'));
    for (const master of [a, c]) await until(async () => expect(await master.read(LOBBY)).toContain('"one"'));
    const [entry] = (await world.store.list(PREFIX.configurations)).entries;
    expect(entry?.value).toMatchObject({ sourceNode: 'b', sourceFile: 'lobby.json' });
    await b.remove(LOBBY);
    for (const master of [a, c])
      await until(async () => expect(await master.files('configurations')).toEqual([]));
  });

  it('is written through the symbolic links of others, which stay', async () => {
    await a.write(LOBBY, lobby('one'));
    await until(async () => expect(await b.read(LOBBY)).toContain('"one"'));
    const target = join(world.root, 'checkout.json');
    const link = b.pathOf(LOBBY);
    await copyFile(link, target);
    await rm(link);
    await symlink(target, link);
    await a.write(LOBBY, lobby('two'));
    await until(async () => expect(await b.read(LOBBY)).toContain('"two"'));
    expect(await readlink(link)).toBe(target);
    expect(await readFile(target, 'utf8')).toContain('"two"');
    await a.remove(LOBBY);
    await until(async () => expect(await b.files('configurations')).toEqual([]));
    expect(await readFile(target, 'utf8'), 'the file behind a link is not removed').toContain('"two"');
  });

  it('waits while nobody leads, and is written by the next leader', async () => {
    world.elect(null);
    await b.write(LOBBY, lobby('one'));
    await until(() => expect(b.log.join('')).toContain('no master leads'));
    expect((await world.store.list(PREFIX.configurations)).entries).toEqual([]);
    world.elect('c');
    await until(async () => expect(await a.read(LOBBY)).toContain('"one"'));
  });

  it('is a conflict when another one came before it', async () => {
    await b.write(LOBBY, lobby('one'));
    await until(async () => expect(await a.read(LOBBY)).toContain('"one"'));
    world.cut.add('b');
    await b.write(LOBBY, lobby('of b'));
    await until(() => expect(b.log.join('')).toContain('cannot be reached'));
    await a.masters.files.put('lobby', { command: 'of a' });
    world.cut.clear();
    await until(() => expect(b.masters.files.errors().map(({ file }) => file)).toEqual(['lobby.json']));
    expect(await b.read(LOBBY)).toContain('of b');
    expect(await a.read(LOBBY)).toContain('of a');
  });
});

describe('a master whose store fails when it begins to follow its directories', () => {
  it.each([
    ['the records of templates are listed', 'list', PREFIX.templates, 1],
    // The first time for the mirrors of the state.
    ['the line of the state is read', 'get', EPOCH_BASE, 2],
  ] as const)('follows them from a later try on, as when %s', async (_when, method, failing, which) => {
    const { store } = world;
    const real = store[method].bind(store) as (key: string) => Promise<never>;
    let asked = 0;
    Object.assign(store, {
      [method]: async (key: string) => {
        if (key === failing && ++asked === which)
          throw new DroverError('DRV_STORE_UNAVAILABLE', 'etcd is away');
        return real(key);
      },
    });
    await expect(world.start('d')).rejects.toThrow('etcd is away');
    const d = world.masters.get('d');
    if (d === undefined) throw new Error('d was not made');
    await d.masters.start();
    world.changed();
    await d.write(LOBBY, lobby('one'));
    await d.write('templates/games/lobby/a.txt', 'hello');
    for (const master of [a, b]) await until(async () => expect(await master.read(LOBBY)).toContain('"one"'));
    await until(async () => expect(await a.read('templates/games/lobby/a.txt')).toBe('hello'));
  });
});

describe('the history of a configuration', () => {
  const history = async () =>
    configurationHistorySchema.parse((await world.store.get(historyKey('lobby')))?.value).contents;
  const untilOnAll = async (command: string): Promise<void> => {
    for (const master of [a, b, c])
      await until(async () => expect(await master.read(LOBBY)).toContain(`"${command}"`));
  };

  it('says who brought each content, on whichever master, and goes with it', async () => {
    await b.write(LOBBY, lobby('one'));
    await untilOnAll('one');
    await a.masters.files.put('lobby', { command: 'two' }, { by: { key: 'deploy' } });
    await untilOnAll('two');
    await c.write(LOBBY, lobby('three'));
    await untilOnAll('three');
    // The next leader goes on with it.
    world.elect('c');
    const by = { key: 'ops', rollback: 'players fall' };
    await c.masters.files.put('lobby', { command: 'one' }, { by });
    await untilOnAll('one');
    const contents = await history();
    const unknown = { file: 'lobby.json', commit: null, isDirty: null };
    expect(contents).toMatchObject([
      { ...unknown, number: 1, node: 'b', key: null, end: { outcome: 'replaced' } },
      { ...unknown, number: 2, node: 'a', key: 'deploy', end: { outcome: 'replaced' } },
      {
        ...unknown,
        number: 3,
        node: 'c',
        key: null,
        end: { outcome: 'rolled-back', reason: 'players fall' },
      },
      { ...unknown, number: 4, node: 'c', key: 'ops' },
    ]);
    expect(contents[3]?.revision).toBe(contents[0]?.revision);
    for (const { at } of contents) expect(at).toBeTypeOf('number');
    await c.masters.files.remove('lobby');
    expect(await world.store.get(historyKey('lobby'))).toBeUndefined();
  });

  it.skipIf(!HAS_GIT)('names the commit of the directory where the file was edited', async () => {
    await b.stop();
    const repository = new GitRepository();
    const git = (...words: string[]) => repository.gitIn(join(world.root, 'b'), ...words);
    try {
      git('init', '-q');
      await b.write(LOBBY, lobby('one'));
      git('add', 'configurations');
      git('commit', '-q', '-m', 'a lobby');
      const commit = git('rev-parse', 'HEAD');
      b = await world.start('b');
      await untilOnAll('one');
      expect(await history()).toMatchObject([{ node: 'b', key: null, commit, isDirty: false }]);
      await b.write(LOBBY, lobby('two'));
      await untilOnAll('two');
      expect((await history())[1]).toMatchObject({ node: 'b', key: null, commit, isDirty: true });
    } finally {
      repository.remove();
    }
  });

  it('loses no content when masters write at once', async () => {
    await a.masters.files.put('lobby', { command: 'start' });
    await untilOnAll('start');
    const names = ['x', 'y', 'z'];
    for (const [n, master] of [a, b, c].entries())
      await master.write(
        `configurations/${names[n]}.json`,
        JSON.stringify({ name: names[n], command: 'run' }),
      );
    for (let n = 0; n < 5; n++) await a.masters.files.put('lobby', { command: `of a, ${n}` });
    expect((await history()).map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6]);
    for (const name of names)
      await until(async () => expect(await world.store.get(historyKey(name))).toBeDefined());
  });
});

describe('the files of all masters', () => {
  it('are named by the leader where they are not in force, also by the next leader', async () => {
    await b.write(LOBBY, lobby('one'));
    for (const master of [a, c]) await until(async () => expect(await master.read(LOBBY)).toContain('"one"'));
    await c.write('configurations/broken.json', '{');
    const named = (master: TestMaster) => master.masters.files.errors().map(({ node, file }) => [node, file]);
    await until(() => expect(named(a)).toEqual([['c', 'broken.json']]));
    expect(a.masters.files.ownErrors()).toEqual([]);
    expect(named(b)).toEqual([]);
    world.elect('b');
    await until(() => expect(named(b)).toEqual([['c', 'broken.json']]));
    await until(() => expect(named(a)).toEqual([]));
    await c.remove('configurations/broken.json');
    await until(() => expect(named(b)).toEqual([]));
    await c.write('configurations/broken.json', '{');
    await until(() => expect(named(b)).toHaveLength(1));
    await c.stop();
    expect(named(b)).toEqual([]);
  });

  it('are read again by all of them at once, and what has no file any more goes when that is confirmed', async () => {
    const names = ['v', 'w', 'x', 'y', 'z'];
    for (const name of names)
      await b.write(`configurations/${name}.json`, JSON.stringify({ name, command: 'one' }));
    await until(async () => expect(await a.files('configurations')).toHaveLength(5));
    await b.masters.files.reloadHere(false);
    await b.remove(...names.map((name) => `configurations/${name}.json`));
    await a.masters.files.reload();
    expect(b.masters.files.waiting().size).toBe(5);
    await until(() =>
      expect(a.masters.files.errors()).toEqual([
        expect.objectContaining({ node: 'b', message: expect.stringContaining('`config reload --confirm`') }),
      ]),
    );
    await a.masters.files.reload(true);
    expect((await world.store.list(PREFIX.configurations)).entries).toEqual([]);
    await until(async () => expect(await a.files('configurations')).toEqual([]));
    world.cut.add('c');
    await a.masters.files.reload();
    expect(a.log.join('')).toContain('the files of master c were not read again');
  });
});

describe('templates of several masters', () => {
  const FILE = 'templates/games/arena/map.txt';

  it('are on two masters when a write is answered, and soon on all', async () => {
    await a.templates.local.createFile('games', 'arena', 'map.txt', Readable.from(['one']));
    const copies = await Promise.all([b, c].map((master) => master.read(FILE).catch(() => undefined)));
    expect(copies).toContain('one');
    for (const master of [b, c]) await until(async () => expect(await master.read(FILE)).toBe('one'));
    const [entry] = (await world.store.list(PREFIX.templates)).entries;
    expect(entry).toMatchObject({ key: 'templates/games/arena', value: { sourceNode: 'a' } });
    expect(entry?.value).toMatchObject({ digest: await c.templates.library.digest('games', 'arena') });
  });

  it('say with the answer, and in the log, that no second master could take a write', async () => {
    world.cut.add('a');
    const made = await a.templates.local.createFile('games', 'arena', 'map.txt', Readable.from(['one']));
    expect(made.note).toMatch(/^on this master only so far: b: .*master b cannot be reached/);
    expect(a.log.join('')).toContain('on this master only so far');
    world.cut.clear();
    world.changed();
    for (const master of [b, c]) await until(async () => expect(await master.read(FILE)).toBe('one'));
  });

  it('go from the directory of any master into those of the others, and leave them with it', async () => {
    await b.write(FILE, 'one');
    await b.write('templates/games/arena/bin/run', 'two');
    for (const master of [a, c])
      await until(async () =>
        expect(await master.files('templates')).toEqual([
          'games',
          'games/arena',
          'games/arena/bin',
          'games/arena/bin/run',
          'games/arena/map.txt',
        ]),
      );
    await b.write(FILE, 'newer');
    for (const master of [a, c]) await until(async () => expect(await master.read(FILE)).toBe('newer'));
    await b.masters.templates.follow();
    await b.remove('templates/games/arena');
    for (const master of [a, c]) await until(async () => expect(await master.files('templates')).toEqual([]));
  });

  it('are fetched from a master that has them by one that was away, whoever brought them', async () => {
    await a.write(FILE, 'one');
    await until(async () => expect(await b.read(FILE)).toBe('one'));
    await until(async () => expect(await c.read(FILE)).toBe('one'));
    await c.masters.templates.follow();
    await c.stop();
    await a.write(FILE, 'newer');
    await until(async () => expect(await b.read(FILE)).toBe('newer'));
    await b.masters.templates.follow();
    await a.stop();
    world.elect('b');
    c = await world.start('c');
    await until(async () => expect(await c.read(FILE)).toBe('newer'));
  });

  it('are given out by a leader that has not got them yet, and never of a conflict', async () => {
    await a.write(FILE, 'one');
    for (const master of [b, c]) await until(async () => expect(await master.read(FILE)).toBe('one'));
    for (const master of [b, c]) await master.masters.templates.follow();
    const one = await c.templates.sources.digest('games', 'arena', 'local');
    await b.stop();
    await a.write('templates/games/hall/map.txt', 'hall');
    await until(async () => expect(await c.read('templates/games/hall/map.txt')).toBe('hall'));
    const hall = await a.templates.library.digest('games', 'hall');
    await b.write(FILE, 'of b');
    // It leads before it has fetched anything.
    world.cut.add('b');
    b = await world.start('b');
    world.elect('b');
    const { sources } = b.templates;
    await until(async () => expect(await sources.digest('games', 'hall', 'local')).toBe(hall));
    expect(sources.groups()).toEqual(new Map([['games', ['arena', 'hall']]]));
    expect(await b.files('templates')).not.toContain('games/hall');
    await expect(received(sources.openBundle(hall ?? ''))).rejects.toMatchObject({
      code: 'DRV_TEMPLATE_UNKNOWN',
    });
    // Changed here while it was away, and not by anybody else: it is in force as soon as it can be written.
    await until(async () => expect(await sources.digest('games', 'arena', 'local')).not.toBe(one));

    const told: string[] = [];
    const unsubscribe = sources.onChange((group, name) => told.push(`${group}/${name}`));
    world.cut.clear();
    expect(await received(sources.openBundle(hall ?? ''))).toContain('hall');
    world.changed();
    await until(async () => expect(await b.read('templates/games/hall/map.txt')).toBe('hall'));
    await until(() => expect(told).toContain('games/arena'));
    unsubscribe();
  });

  it('go on where the tree of one cannot be had', async () => {
    const lost = { digest: 'f'.repeat(64), sourceNode: 'z' };
    await world.store.transact([{ do: 'put', key: 'templates/games/lost', value: lost }]);
    await until(() => expect(a.log.join('')).toContain('templates do not agree with the state'));
    const made = await a.templates.local.createFile('games', 'arena', 'map.txt', Readable.from(['one']));
    expect(made.note).toBeUndefined();
    await b.write('templates/games/hall/map.txt', 'hall');
    await until(async () => expect(await c.read('templates/games/hall/map.txt')).toBe('hall'));
  });

  it('that were changed on two sides are a conflict, and neither is overwritten', async () => {
    await a.write(FILE, 'one');
    await until(async () => expect(await b.read(FILE)).toBe('one'));
    await b.masters.templates.follow();
    world.cut.add('b');
    await b.write(FILE, 'of b');
    await until(() => expect(b.log.join('')).toContain('cannot be reached'));
    await a.write(FILE, 'of a');
    await until(async () => expect(await c.read(FILE)).toBe('of a'));
    world.cut.clear();
    world.changed();
    await until(() =>
      expect(b.masters.templates.conflicts()).toEqual([{ name: 'games/arena', kind: 'both-changed' }]),
    );
    expect(await b.read(FILE)).toBe('of b');
    const told = {
      file: 'templates/games/arena',
      message: expect.stringMatching(/^conflict: template games\/arena was changed elsewhere, and here too/),
    };
    // The leader says it of the other master, beside the faults of configuration files.
    await until(() => expect(a.masters.files.errors()).toMatchObject([{ node: 'b', ...told }]));
    expect(b.masters.files.ownErrors()).toEqual([]);
    // What is in force is given out, also by a leader whose directory has something else, and it says so to writers.
    world.elect('b');
    expect(b.masters.files.errors()).toMatchObject([told]);
    const inForce = (await a.templates.library.digest('games', 'arena')) ?? '';
    expect(await b.templates.sources.digest('games', 'arena', 'local')).toBe(inForce);
    expect(await received(b.templates.sources.openBundle(inForce))).toContain('of a');
    await expect(
      b.templates.local.createFile('games', 'arena', 'more.txt', Readable.from(['x'])),
    ).rejects.toMatchObject({
      code: 'DRV_STORE_CONFLICT',
      message: expect.stringContaining('what is in force stays'),
    });
    await b.remove('templates/games/arena');
    await until(async () => expect(await b.read(FILE)).toBe('of a'));
    expect(await b.files('templates')).not.toContain('games/arena/more.txt');
    await until(() => expect(b.masters.files.errors()).toEqual([]));
  });
});

describe('the audit trail of several masters', () => {
  const entry = (at: number, key: string): AuditEntry => ({
    at,
    key,
    action: 'GET',
    subject: null,
    address: null,
    result: '200',
  });
  const last = (limit: number) => a.masters.audit(limit, AbortSignal.timeout(120_000));

  it('is one, by time', async () => {
    a.audit.push(entry(1, 'x'), entry(4, 'x'));
    b.audit.push(entry(2, 'y'), entry(5, 'y'));
    c.audit.push(entry(3, 'z'));
    const { entries, missing } = await last(4);
    expect(entries.map(({ at, master }) => `${at} ${master}`)).toEqual(['2 b', '3 c', '4 a', '5 b']);
    expect(missing).toEqual([]);
  });

  it('says which master was not reached', async () => {
    a.audit.push(entry(1, 'x'));
    b.audit.push(entry(2, 'y'));
    for (const id of ['a', 'b', 'c', 'd'])
      await world.store.transact([{ do: 'put', key: nodeKey(id), value: nodeRecord(id, { master: true }) }]);
    world.cut.add('c');
    await until(async () => {
      const { entries, missing } = await last(10);
      expect(entries.map(({ master }) => master)).toEqual(['a', 'b']);
      expect(missing).toEqual([
        { nodeId: 'd', why: 'it is not up' },
        { nodeId: 'c', why: 'master c cannot be reached' },
      ]);
    });
  });
});
