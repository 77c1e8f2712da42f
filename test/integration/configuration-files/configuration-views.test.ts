/** Directories of several masters over one state: each edit reaches all, and none is overwritten unseen. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { readFile, rename } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ViewWorld } from '../../support/control-plane/view-world.js';
import { until } from '../../support/until.js';

let world: ViewWorld;
beforeEach(() => {
  world = new ViewWorld();
});
afterEach(() => world.close());

const lobby = (command: string) => ({ name: 'lobby', command });
/** Three masters, each with the same file. */
async function three() {
  const [a, b, c] = [await world.start('a'), await world.start('b'), await world.start('c')];
  await a.edit('lobby.json', lobby('one'));
  for (const master of [a, b, c]) await until(() => expect(master.commands()).toEqual(['lobby.json one']));
  await until(() => expect([a, b, c].flatMap((master) => master.conflicts())).toEqual([]));
  return { a, b, c, all: [a, b, c] };
}

describe('configurations of several masters', () => {
  it('go from any directory into all others, and leave them when they are deleted where they came from', async () => {
    const { a, b, all } = await three();
    await b.edit('lobby.json', lobby('two'));
    for (const master of all) await until(() => expect(master.commands()).toEqual(['lobby.json two']));
    // It is of b now: a deletion elsewhere takes nothing away.
    await a.delete('lobby.json');
    await until(() => expect(a.commands()).toEqual(['lobby.json two']));
    await b.delete('lobby.json');
    for (const master of all) await until(() => expect(master.commands()).toEqual([]));
    expect(await world.records()).toEqual([]);
  });

  it('of the API are written everywhere, with unknown fields where they were said', async () => {
    const { a, b, all } = await three();
    await a.files.put('lobby', { command: 'api', ramMB: 64, note: 'kept' });
    expect(await world.records()).toEqual(['lobby api']);
    for (const master of all) await until(() => expect(master.commands()).toEqual(['lobby.json api']));
    expect(await readFile(a.path('lobby.json'), 'utf8')).toContain('note');
    await b.files.remove('lobby');
    for (const master of all) await until(() => expect(master.commands()).toEqual([]));
    await expect(b.files.remove('lobby')).rejects.toMatchObject({ code: 'DRV_CONFIGURATION_UNKNOWN' });
  });

  it('of a batch are written in few transactions, and what is refused spoils no other', async () => {
    const { a, b, all } = await three();
    const names = Array.from({ length: 60 }, (_, index) => `c${index}`);
    const before = a.transactions;
    const absent = { precondition: { is: 'absent' } } as const;
    const outcomes = await Promise.allSettled([
      ...names.map((name) => a.files.put(name, { command: 'one' }, absent)),
      a.files.put('lobby', { command: 'x' }, absent),
    ]);
    expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(1);
    expect(outcomes.at(-1)).toMatchObject({ reason: { code: 'DRV_CONFIGURATION_CHANGED' } });
    expect(a.transactions - before).toBeLessThanOrEqual(3);
    for (const master of all) await until(() => expect(master.commands()).toHaveLength(61));
    // Two masters change the same ones at once: each keeps what was written last, and nothing is lost.
    await Promise.all([a, b].flatMap((one) => names.map((name) => one.files.put(name, { command: 'two' }))));
    for (const master of all)
      await until(() =>
        expect(master.commands()).toEqual(
          [...names.map((name) => `${name}.json two`), 'lobby.json one'].sort(),
        ),
      );
  });

  it('keep to preconditions of the API', async () => {
    const { a, b } = await three();
    const changed = { code: 'DRV_CONFIGURATION_CHANGED' };
    await expect(
      a.files.put('lobby', { command: 'x' }, { precondition: { is: 'absent' } }),
    ).rejects.toMatchObject(changed);
    await expect(
      b.files.put('lobby', { command: 'x' }, { precondition: { is: 'existing', revisions: ['other'] } }),
    ).rejects.toMatchObject(changed);
    expect(await world.records()).toEqual(['lobby one']);
  });

  it('that changed on two sides are a conflict, which either side resolves', async () => {
    const { a, b, c } = await three();
    for (const node of ['b', 'c']) world.cut.add(node);
    await b.edit('lobby.json', lobby('of b'));
    await c.edit('lobby.json', lobby('of c'));
    for (const { log } of [b, c]) await until(() => expect(log.join('')).toContain('no master leads'));
    await a.files.put('lobby', { command: 'of a' });
    world.cut.clear();
    await until(() => expect(b.conflicts()).toEqual(['lobby both-changed']));
    await until(() => expect(c.conflicts()).toEqual(['lobby both-changed']));
    expect([b.commands(), c.commands()]).toEqual([['lobby.json of b'], ['lobby.json of c']]);
    expect(await world.records()).toEqual(['lobby of a']);
    expect(b.files.errors()).toEqual([
      expect.objectContaining({
        file: 'lobby.json',
        message: expect.stringContaining('drover apply -f lobby.json'),
      }),
    ]);

    await b.delete('lobby.json');
    await until(() => expect(b.commands()).toEqual(['lobby.json of a']));
    await a.files.put('lobby', lobby('of c'));
    for (const master of [a, b, c])
      await until(() => {
        expect(master.commands()).toEqual(['lobby.json of c']);
        expect(master.conflicts()).toEqual([]);
        expect(master.files.errors()).toEqual([]);
      });
  });

  it('that were removed elsewhere and changed here stay here as a conflict', async () => {
    const { a, b } = await three();
    world.cut.add('b');
    await b.edit('lobby.json', lobby('of b'));
    await until(() => expect(b.log.join('')).toContain('no master leads'));
    await a.files.remove('lobby');
    world.cut.clear();
    await until(() => expect(b.conflicts()).toEqual(['lobby removed-there']));
    expect(b.commands()).toEqual(['lobby.json of b']);
    await b.delete('lobby.json');
    await until(() => expect(b.conflicts()).toEqual([]));
  });

  it('that are new on two masters at once stay in the files that they were put into', async () => {
    const { a, b } = await three();
    // The records come before b looks at its directory.
    writeFileSync(b.path('same.json'), JSON.stringify({ name: 'same', command: 'one' }));
    await a.files.put('same', { command: 'one' });
    writeFileSync(b.path('other.json'), JSON.stringify({ name: 'other', command: 'of b' }));
    await a.files.put('other', { command: 'one' });
    // Half of a file, whose rest comes later.
    writeFileSync(b.path('half.json'), '{ "name": "ha');
    await a.files.put('half', { command: 'one' });
    await b.edit('half.json', { name: 'half', command: 'one' });
    await b.files.reload();
    expect(b.commands()).toEqual(['half.json one', 'lobby.json one', 'other.json of b', 'same.json one']);
    await until(() => expect(b.conflicts()).toEqual([expect.stringMatching(/^other /)]));
    expect(await world.records()).toEqual(['half one', 'lobby one', 'other one', 'same one']);
  });

  it('that were removed elsewhere do not come back from a second file that says the name', async () => {
    const { a, b, c } = await three();
    await c.edit('second.json', lobby('two'));
    await until(() => expect(c.files.errors().map(({ file }) => file)).toEqual(['second.json']));
    await a.files.remove('lobby');
    await until(() => expect(c.conflicts()).toEqual(['lobby removed-there']));
    expect(c.commands()).toEqual(['second.json two']);
    expect(await world.records()).toEqual([]);
    await c.delete('second.json');
    await until(() => expect(c.conflicts()).toEqual([]));
    for (const master of [a, b]) await until(() => expect(master.commands()).toEqual([]));
  });

  it('of a master that was away follow what happened meanwhile, and its own edits are kept', async () => {
    const { a, b } = await three();
    await a.files.put('arena', { command: 'one' });
    await a.files.put('old', { command: 'one' });
    await until(() => expect(b.commands()).toHaveLength(3));
    await until(() => expect(b.log.join('')).toContain('old written here'));
    await b.files.reload();
    await b.stop();
    await a.files.put('lobby', lobby('newer'));
    await a.files.put('arena', { command: 'newer' });
    await a.files.remove('old');
    await b.edit('arena.json', { name: 'arena', command: 'of b' });
    const back = await world.start('b');
    await until(() => expect(back.commands()).toEqual(['arena.json of b', 'lobby.json newer']));
    await until(() => expect(back.conflicts()).toEqual(['arena both-changed']));
    expect(await world.records()).toEqual(['arena newer', 'lobby newer']);
  });

  it('are neither removed by an empty directory nor overwritten by an old checkout', async () => {
    const { a, b } = await three();
    await a.files.put('arena', { command: 'one' });
    await until(() => expect(b.commands()).toHaveLength(2));
    await b.stop();
    await rename(b.directory, `${b.directory}.old`);
    await a.files.put('lobby', lobby('newer'));
    const empty = await world.start('b');
    await until(() => expect(empty.commands()).toEqual(['arena.json one', 'lobby.json newer']));
    await empty.stop();
    await rename(b.directory, `${b.directory}.new`);
    await rename(`${b.directory}.old`, b.directory);
    const old = await world.start('b');
    await until(() => expect(old.conflicts()).toEqual(['lobby unknown-base']));
    expect(old.commands()).toEqual(['arena.json one', 'lobby.json one']);
    expect(await world.records()).toEqual(['arena one', 'lobby newer']);
  });

  it('are written back when they go all at once', async () => {
    const { a } = await three();
    for (const name of ['b', 'c', 'd', 'e']) await a.edit(`${name}.json`, { name, command: 'one' });
    await until(async () => expect(await world.records()).toHaveLength(5));
    await a.files.reload();
    const before = a.commands();
    rmSync(a.directory, { recursive: true });
    mkdirSync(a.directory);
    await a.files.reload();
    await until(() => expect(a.commands()).toEqual(before));
    expect(await world.records()).toHaveLength(5);
  });

  it('of which most lose their files at once stay in force until that is confirmed, or the files are back', async () => {
    const { a, b } = await three();
    const names = ['b', 'c', 'd', 'e'];
    for (const name of names) await a.edit(`${name}.json`, { name, command: 'one' });
    await until(async () => expect(await world.records()).toHaveLength(5));
    await until(() => expect(b.commands()).toHaveLength(5));
    await a.files.reload();
    const kept = await readFile(a.path('b.json'), 'utf8');
    await a.delete('lobby.json', ...names.map((name) => `${name}.json`));
    await a.files.reload();
    expect(await world.records()).toHaveLength(5);
    expect(a.commands()).toEqual([]);
    expect([...a.files.waiting()]).toEqual(['b', 'c', 'd', 'e', 'lobby']);
    expect(a.files.errors()).toEqual([
      expect.objectContaining({ message: expect.stringContaining('`config reload --confirm`') }),
    ]);
    // An edit elsewhere reaches the others as ever, and the file that is gone stays so.
    await b.edit('c.json', { name: 'c', command: 'two' });
    await until(async () => expect(await world.records()).toContain('c two'));
    // It is of b now, so that its file is written here.
    await until(() => expect(a.commands()).toEqual(['c.json two']));
    await a.edit('b.json', kept);
    await a.files.reload();
    expect([...a.files.waiting()]).toEqual(['d', 'e', 'lobby']);
    expect(await world.records()).toHaveLength(5);

    await a.files.reload(true);
    expect(await world.records()).toEqual(['b one', 'c two']);
    expect([...a.files.waiting()]).toEqual([]);
    expect(a.files.errors()).toEqual([]);
    await until(() => expect(b.commands()).toEqual(['b.json one', 'c.json two']));
  });

  it('of which most have lost their files stay in force over restarts of the master, and wait for the same word', async () => {
    const { a } = await three();
    const names = ['b', 'c', 'd', 'e', 'lobby'];
    for (const name of names) await a.edit(`${name}.json`, { name, command: 'one' });
    await until(async () => expect(await world.records()).toHaveLength(5));
    await a.files.reload();
    const kept = await Promise.all(['b', 'c'].map((name) => readFile(a.path(`${name}.json`), 'utf8')));
    for (const name of names) await a.delete(`${name}.json`);
    await a.files.reload();
    await a.stop();

    const again = await world.start('a');
    await again.files.reload();
    expect([...again.files.waiting()]).toEqual(names);
    expect(again.files.errors()).toEqual([
      expect.objectContaining({ message: expect.stringContaining('`config reload --confirm`') }),
    ]);
    expect(again.commands()).toEqual([]);
    expect(await world.records()).toHaveLength(5);
    await again.stop();

    // What is left would be few enough to be meant, but nobody has said so.
    await again.edit('b.json', kept[0] ?? '');
    await again.edit('c.json', kept[1] ?? '');
    const last = await world.start('a');
    await last.files.reload();
    expect([...last.files.waiting()]).toEqual(['d', 'e', 'lobby']);
    expect(last.commands()).toEqual(['b.json one', 'c.json one']);
    expect(await world.records()).toHaveLength(5);
    await last.files.reload(true);
    expect(await world.records()).toEqual(['b one', 'c one']);
    expect([...last.files.waiting()]).toEqual([]);
  });

  it('with broken files are left alone, and follow when they are mended', async () => {
    const { a, b } = await three();
    await b.edit('lobby.json', '{ broken');
    await until(() => expect(b.files.errors()).toHaveLength(1));
    await a.files.put('lobby', lobby('newer'));
    await a.files.put('other', { command: 'x' });
    await until(() => expect(b.commands()).toContain('other.json x'));
    expect(b.commands()[0]).toBe('lobby.json undefined');
    await b.edit('lobby.json', lobby('one'));
    await until(() => expect(b.commands()).toContain('lobby.json newer'));
  });
});
