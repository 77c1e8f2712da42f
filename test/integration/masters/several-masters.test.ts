/** Masters that share a store: edits go to the leader, templates to all, and the audit trails are one. */
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AuditEntry } from '../../../src/model/audit.js';
import { nodeKey, PREFIX } from '../../../src/store/keys.js';
import { nodeRecord } from '../../support/control-plane/records.js';
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

  it('say in the log that no second master could take a write', async () => {
    world.cut.add('a');
    await a.templates.local.createFile('games', 'arena', 'map.txt', Readable.from(['one']));
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
    await b.remove('templates/games/arena');
    await until(async () => expect(await b.read(FILE)).toBe('of a'));
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
  const last = (limit: number) => a.masters.audit.last(limit, AbortSignal.timeout(120_000));

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
