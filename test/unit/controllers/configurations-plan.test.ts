/** Which file a configuration's name belongs to, and which records the files of the only master change: as text. */
import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { faultsOf } from '../../../controllers/master/configurations/faults.js';
import { ConfigurationTree } from '../../../controllers/master/configurations/tree.js';
import { DirectoryEngine } from '../../../controllers/master/directories/reconciler.js';
import type { Reading } from '../../../src/configuration-files/directory.js';
import { parseConfigurationFile } from '../../../src/configuration-files/parse.js';
import type { RecordEdit } from '../../../src/configuration-files/record-edits.js';
import { SettledFiles } from '../../../src/configuration-files/settled-files.js';
import { ContentOrigins } from '../../../src/git/content-origins.js';
import type { ConfigurationFileError, ConfigurationRecord } from '../../../src/model/configuration.js';
import type { Timetable } from '../../../src/model/schedule.js';
import type { Mirrored } from '../../../src/store/mirror.js';
import { Metrics } from '../../../src/telemetry/metrics.js';
import { FakeClock } from '../../support/fake-clock.js';
import { MemoryStore } from '../../support/store/memory-store.js';

/** `x:one` is a valid file named x with command one; `!` a broken one. */
function reading(file: string, content: string): Reading {
  const [name, command] = content.split(':');
  const text = content === '!' ? '{' : JSON.stringify({ name, command });
  const result = parseConfigurationFile(file, text);
  return 'parsed' in result
    ? { kind: 'valid', signature: content, parsed: result.parsed }
    : { kind: 'broken', signature: content, error: result.error };
}

function readings(files: Record<string, string>): Map<string, Reading> {
  return new Map(Object.entries(files).map(([file, content]) => [file, reading(file, content)]));
}

interface World {
  readonly files?: Record<string, string>;
  /** By name, `file content`, then the node that brought it, default this one; `-`: it names none. */
  readonly records?: Record<string, string>;
  /** Records that are set aside, by name: the file of this source, or null. */
  readonly setAside?: Record<string, string | null>;
  readonly suspects?: string[];
  readonly isRead?: boolean;
  /** Names of what waits to be removed, and of what somebody asked to remove. */
  readonly waiting?: string[];
  readonly confirmed?: string[];
  readonly frozen?: string[];
}

function frozenEntry(name: string): [string, Mirrored<Timetable>] {
  const frozen = { by: 'ops', at: 1, until: null, reason: null };
  return [name, { value: { entries: {}, frozen }, revision: 1 }];
}

const until = async (): Promise<void> => undefined;

/** The only master's directory and records, in memory. */
class Master {
  readonly records: Map<string, Mirrored<ConfigurationRecord>>;
  readonly transactions: (readonly RecordEdit[])[] = [];
  /** How many transactions the store takes. */
  takes = Number.POSITIVE_INFINITY;
  readonly lines: string[] = [];
  readonly engine: DirectoryEngine;
  readonly #tree: ConfigurationTree;
  readonly #world: World;
  readonly #files: ReadonlyMap<string, Reading>;
  #waiting: ReadonlySet<string>;

  constructor(world: World) {
    const { files = {}, records = {}, suspects = [], isRead = true, waiting = [], frozen = [] } = world;
    this.#world = world;
    this.#files = readings(files);
    this.#waiting = new Set(waiting);
    this.records = new Map(Object.entries(records).map(([name, text]) => [name, recordFrom(text)]));
    const logger = pino({ level: 'silent' });
    this.#tree = new ConfigurationTree({
      source: {
        nodeId: 'n1',
        files: isRead ? this.#files : undefined,
        suspects,
        fault: undefined,
        directoryId: 'd',
        origins: new ContentOrigins('/none', logger),
        writes: 'file',
      },
      configurations: this.#mirror(),
      overrides: {
        isReady: true,
        get: () => undefined,
        entries: function* () {},
        setAside: new Map(),
        until,
      },
      timetables: { isReady: true, entries: () => new Map(frozen.map(frozenEntry)).entries() },
      store: new MemoryStore(),
      door: { write: async (edits) => this.#take(edits) },
      logger,
    });
    this.engine = new DirectoryEngine({
      name: 'configurations',
      tree: this.#tree,
      isAlone: true,
      doRemovalsWait: true,
      bases: {
        open: async () => undefined,
        of: () => new Map(),
        waiting: () => this.#waiting,
        note: async (_standing, _notes, waiting = this.#waiting) => {
          this.#waiting = waiting;
          this.lines.push(`wait ${[...waiting].sort().join(' ')}`.trim());
        },
      },
      onRound: () => undefined,
      metrics: new Metrics(),
      clock: new FakeClock(),
      random: () => 0.5,
      logger,
    });
  }

  /** What one round does; it throws what the store throws. */
  async round(): Promise<string[]> {
    this.lines.length = 0;
    const facts = this.engine.observe();
    if (facts === undefined) return [];
    const confirmed = new Set(this.#world.confirmed);
    for (const step of this.engine.plan({ ...facts, confirmed }).steps) await this.engine.perform(step);
    return [...this.lines];
  }

  faults(told: readonly ConfigurationFileError[] = []): ConfigurationFileError[] {
    return faultsOf({
      files: this.#world.isRead === false ? new Map() : this.#files,
      suspects: new Set(this.#world.suspects),
      directoryFault: undefined,
      owners: this.#tree.owners,
      waiting: this.engine.waiting(),
      refusal: this.engine.refusal === undefined ? undefined : String(this.engine.refusal),
      told,
    });
  }

  #take(edits: readonly RecordEdit[]): number {
    if (this.takes-- <= 0) throw new Error('disk full');
    this.transactions.push(edits);
    for (const edit of edits) {
      if (edit.do === 'remove') {
        this.lines.push(`remove ${edit.name}`);
        this.records.delete(edit.name);
        continue;
      }
      const { configuration, hash } = edit.parsed;
      const { file } = edit.source.origin;
      const isSame = this.records.get(edit.name)?.value.hash === hash;
      const how = isSame ? 'same' : configuration.command;
      this.lines.push(`put ${edit.name} ${how} from ${file} over ${edit.expectedRevision}`);
      this.records.set(edit.name, {
        value: { configuration, hash, sourceFile: file, sourceNode: 'n1' },
        revision: 8,
      });
    }
    return 8;
  }

  #mirror() {
    const { records } = this;
    const setAside = new Map(
      Object.entries(this.#world.setAside ?? {}).map(([name, sourceFile]) => [
        name,
        { value: sourceFile === null ? {} : { sourceFile, sourceNode: 'n1' }, revision: 9, problem: '' },
      ]),
    );
    return {
      ready: Promise.resolve(),
      isReady: true,
      revision: 7,
      get size() {
        return records.size;
      },
      get: (name: string) => records.get(name),
      entries: () => records.entries(),
      setAside,
      onChange: () => () => undefined,
      until: async () => undefined,
    };
  }
}

/** What one round does, then all faults as they are reported. */
async function plan(world: World): Promise<string[]> {
  const master = new Master(world);
  const lines = await master.round();
  return [...lines, ...master.faults().map((fault) => `error ${fault.file} ${fault.field ?? 'syntax'}`)];
}

function recordFrom(text: string): Mirrored<ConfigurationRecord> {
  const [file = '', content = '', node = 'n1'] = text.split(' ');
  const from = reading(file, content);
  if (from.kind !== 'valid') throw new Error('a record holds a valid configuration');
  const { configuration, hash } = from.parsed;
  const value = { configuration, hash, sourceFile: file, sourceNode: node };
  return { value, revision: 7 };
}

describe('the plan', () => {
  test.each([
    ['the edit of a file', { 'a.json': 'x:two' }],
    ['the removal of a file', {}],
    ['a file that moves', { 'b.json': 'x:one' }],
  ])('of a frozen configuration leaves %s undone', (_name, files: Record<string, string>) =>
    expect(plan({ files, records: { x: 'a.json x:one' }, frozen: ['x'] })).resolves.toEqual([]),
  );

  test.each([
    ['is written anew by its file', { 'a.json': 'x:one' }, 'a.json', ['put x one from a.json over 9']],
    ['is written anew by another file', { 'b.json': 'x:one' }, null, ['put x one from b.json over 9']],
    ['stays while its file is broken', { 'a.json': '!' }, 'a.json', ['error a.json syntax']],
    ['goes with its file', {}, 'a.json', ['remove x']],
    ['stays when another source may have brought it', {}, null, []],
  ])('a record that is set aside %s', (_name, files: Record<string, string>, file, expected) => {
    return expect(plan({ files, setAside: { x: file } })).resolves.toEqual(expected);
  });

  test.each([
    ['of a settled world is empty', { 'a.json': 'x:one' }, { x: 'a.json x:one' }, []],
    ['adds a new file', { 'a.json': 'x:one' }, {}, ['put x one from a.json over 0']],
    ['writes an edit', { 'a.json': 'x:two' }, { x: 'a.json x:one' }, ['put x two from a.json over 7']],
    ['removes what has no file', {}, { x: 'a.json x:one' }, ['remove x']],
    [
      'moves a name to a renamed file',
      { 'b.json': 'x:one' },
      { x: 'a.json x:one' },
      ['put x same from b.json over 7'],
    ],
    ['keeps what a broken file had', { 'a.json': '!' }, { x: 'a.json x:one' }, ['error a.json syntax']],
    [
      'gives a name to the first file',
      { 'b.json': 'x:two', 'a.json': 'x:one' },
      {},
      ['put x one from a.json over 0', 'error b.json name'],
    ],
    [
      'leaves a name to the file that has it',
      { 'b.json': 'x:two', 'a.json': 'x:one' },
      { x: 'b.json x:two' },
      ['error a.json name'],
    ],
    [
      'leaves a name to a broken file that has it',
      { 'b.json': '!', 'a.json': 'x:one' },
      { x: 'b.json x:two' },
      ['error b.json syntax', 'error a.json name'],
    ],
    [
      'hands a name on when its file takes another',
      { 'a.json': 'y:one', 'b.json': 'x:two' },
      { x: 'a.json x:one' },
      ['put x two from b.json over 7', 'put y one from a.json over 0'],
    ],
    [
      'exchanges two names',
      { 'a.json': 'y:one', 'b.json': 'x:two' },
      { x: 'a.json x:one', y: 'b.json y:two' },
      ['put x two from b.json over 7', 'put y one from a.json over 7'],
    ],
  ])('%s', (_title, files, records, expected) => {
    return expect(plan({ files, records })).resolves.toEqual(expected);
  });

  test('calls no name taken by a file that is just being renamed', async () => {
    const files = { 'a.json': 'x:one', 'b.json': 'x:one' };
    const records = { x: 'a.json x:one' };
    expect(await plan({ files, records, suspects: ['a.json'] })).toEqual([]);
    expect(await plan({ files, records })).toEqual(['error b.json name']);
  });
});

describe('a source', () => {
  test.each([
    ['removes nothing that another brought', {}, { x: 'a.json x:one n2' }, []],
    ['removes what it brought itself', {}, { x: 'a.json x:one n1' }, ['remove x']],
    [
      'takes a name over with a file of its own',
      { 'a.json': 'x:one' },
      { x: 'a.json x:one n2' },
      ['put x same from a.json over 7'],
    ],
    [
      'goes on with the same owner when its node gets another id',
      { 'a.json': 'x:two', 'b.json': 'x:one' },
      { x: 'b.json x:one n2' },
      ['put x same from b.json over 7', 'error a.json name'],
    ],
    [
      'removes nothing with a broken file of the same name',
      { 'a.json': '!' },
      { x: 'a.json x:one n2' },
      ['error a.json syntax'],
    ],
  ])('%s', (_title, files, records, expected) => {
    return expect(plan({ files, records })).resolves.toEqual(expected);
  });

  test('that was never read removes nothing', async () => {
    expect(await plan({ records: { x: 'a.json x:one n1' }, isRead: false })).toEqual([]);
  });
});

describe('many changes', () => {
  const files = Object.fromEntries(
    Array.from({ length: 120 }, (_, index) => [`${index}.json`, `c${index}:new`]),
  );
  const records = Object.fromEntries(
    Array.from({ length: 120 }, (_, index) => [`c${index + 60}`, `${index + 60}.json c${index + 60}:old`]),
  );

  test('writes long contents in transactions of their own: a store takes only so much at once', async () => {
    const long = 'x'.repeat(60_000);
    const master = new Master({
      files: Object.fromEntries(Array.from({ length: 9 }, (_, n) => [`${n}.json`, `n${n}:${long}`])),
    });
    await master.round();
    expect(master.transactions.map((edits) => edits.length)).toEqual([4, 4, 1]);
  });

  test('are written in transactions of at most 25, additions and edits before removals', async () => {
    const master = new Master({ files, records });
    await master.round();
    const { transactions } = master;
    expect(transactions.map((edits) => edits.length)).toEqual([25, 25, 25, 25, 20, 25, 25, 10]);
    const order = transactions.flat().map((edit) => edit.do);
    expect(order.indexOf('remove')).toBe(120);
    expect(order.lastIndexOf('put')).toBe(119);
  });

  test('may end after any transaction: the next round makes the rest, and then nothing', async () => {
    for (let written = 0; written <= 6; written++) {
      const master = new Master({ files, records });
      master.takes = written;
      await master.round().catch(() => undefined);
      master.takes = Number.POSITIVE_INFINITY;
      await master.round();
      expect([...master.records.keys()].sort()).toEqual(
        Object.values(files)
          .map((text) => text.split(':')[0])
          .sort(),
      );
      expect(await master.round()).toEqual([]);
    }
  });
});

describe('the faults of files', () => {
  const files = { 'a.json': 'x:one' };
  const records = { x: 'a.json x:one' };
  const told = new Master({ files: { 'a.json': '!' } }).faults();

  test('are gone with what is mended, but not while somebody is writing', async () => {
    const mended = new Master({ files, records });
    await mended.round();
    expect(mended.faults(told)).toEqual([]);
    const unsure = new Master({ files, records, suspects: ['b.json'] });
    await unsure.round();
    expect(unsure.faults(told)).toEqual(told);
  });

  test('tell of a store that refuses, as long as there is something to write', async () => {
    const master = new Master({ files });
    master.takes = 0;
    await expect(master.round()).rejects.toThrow('disk full');
    expect(master.faults().map(({ file }) => file)).toEqual(['*.json']);
    const [record] = new Master({ records }).records;
    if (record !== undefined) master.records.set(...record);
    await master.round();
    expect(master.faults()).toEqual([]);
  });
});

describe('settled files', () => {
  const settledAfter = (...looks: Record<string, string>[]): string[] => {
    const settled = new SettledFiles();
    for (const files of looks) {
      const found = readings(files);
      const names = [...settled.files.keys(), ...settled.suspects, ...found.keys()];
      settled.take(new Map(names.map((file) => [file, found.get(file)])), { number: 1, isFinal: false });
    }
    return [...settled.files].map(([file, { signature }]) => `${file} ${signature}`);
  };

  test('take a valid file at once', () => {
    expect(settledAfter({ 'a.json': 'x:one' }, { 'a.json': 'x:two' })).toEqual(['a.json x:two']);
  });

  test('believe that a file is broken or gone at the second look', () => {
    const one = { 'a.json': 'x:one' };
    expect(settledAfter(one, { 'a.json': '!' })).toEqual(['a.json x:one']);
    expect(settledAfter(one, { 'a.json': '!' }, { 'a.json': '!' })).toEqual(['a.json !']);
    expect(settledAfter(one, {})).toEqual(['a.json x:one']);
    expect(settledAfter(one, {}, {})).toEqual([]);
  });

  test('begin anew when the second look is another', () => {
    expect(settledAfter({ 'a.json': 'x:one' }, {}, { 'a.json': '!' })).toEqual(['a.json x:one']);
    expect(settledAfter({ 'a.json': 'x:one' }, {}, { 'a.json': 'x:one' }, {})).toEqual(['a.json x:one']);
  });

  test('believe a newer reading over an older one that ends later, and go on to suspect what a newer one suspects', () => {
    const settled = new SettledFiles();
    const take = (number: number, content: string, isFinal = false) =>
      settled.take(readings({ 'a.json': content }), { number, isFinal });
    take(2, '!');
    take(1, 'x:one', true);
    expect(settled.files.get('a.json')?.signature).toBe('x:one');
    expect(settled.suspects).toEqual(['a.json']);
    take(4, 'x:two');
    take(3, 'x:one', true);
    expect(settled.files.get('a.json')?.signature).toBe('x:two');
    expect(settled.suspects).toEqual([]);
  });

  test('take a file that never holds still as it is after fifty looks', () => {
    const settled = new SettledFiles();
    for (let look = 1; look <= 50; look++) {
      expect(settled.files.size).toBe(0);
      const moving: Reading = { ...reading('a.json', '!'), signature: String(look) };
      settled.take(new Map([['a.json', moving]]), { number: look, isFinal: false });
    }
    expect(settled.files.get('a.json')?.kind).toBe('broken');
    expect(settled.suspects).toEqual([]);
  });
});

describe('many configurations whose files are gone at once', () => {
  /** Records `c0` and so on, each of its own file. */
  const records = (count: number): Record<string, string> =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`c${at}`, `c${at}.json c${at}:one`]));
  /** The files of the records from `from` on. */
  const files = (from: number, to: number): Record<string, string> =>
    Object.fromEntries(
      Array.from({ length: to - from }, (_, at) => [`c${at + from}.json`, `c${at + from}:one`]),
    );
  const waitingFault = 'error *.json syntax';

  test('wait when they are more than half of all and more than three', async () => {
    expect(await plan({ records: records(4) })).toEqual(['wait c0 c1 c2 c3', waitingFault]);
  });

  test.each([
    ['are three', { records: records(3) }, 3],
    ['are half of all', { records: records(8), files: files(4, 8) }, 4],
    ['were brought by another node', { records: { ...records(1), x: 'x.json x:one n2' } }, 1],
  ])('go when they %s', async (_what, world, count) => {
    expect(await plan(world)).toEqual(Array.from({ length: count }, (_, at) => `remove c${at}`));
  });

  test('wait on although others come, and one more of them goes by itself', async () => {
    const waiting = ['c0', 'c1', 'c2', 'c3', 'c4', 'c5'];
    expect(await plan({ records: records(30), files: files(7, 30), waiting })).toEqual([
      'remove c6',
      waitingFault,
    ]);
  });

  test('wait before others of new names come, so that these do not make them few', async () => {
    const many = Array.from({ length: 9 }, (_, at) => [`x${at}.json`, `x${at}:one`]);
    const world = { records: records(4), files: Object.fromEntries(many) };
    const lines = await plan(world);
    expect(lines[0]).toBe('wait c0 c1 c2 c3');
    expect(lines.slice(1, -1).every((line) => line.startsWith('put x'))).toBe(true);
    expect(lines.at(-1)).toBe(waitingFault);
  });

  test('go when somebody asked for it, all or one of them', async () => {
    const waiting = ['c0', 'c1', 'c2', 'c3'];
    const world = { records: records(4), waiting };
    expect(await plan({ ...world, confirmed: waiting })).toEqual([
      'wait',
      ...waiting.map((name) => `remove ${name}`),
    ]);
    expect(await plan({ ...world, confirmed: ['c2'] })).toEqual(['wait c0 c1 c3', 'remove c2', waitingFault]);
  });

  test('wait no more when their files are back', async () => {
    const waiting = ['c0', 'c1', 'c2', 'c3'];
    expect(await plan({ records: records(4), waiting, files: files(0, 4) })).toEqual(['wait']);
  });

  test('wait with those that cannot be read', async () => {
    const setAside = { s1: 's1.json', s2: 's2.json' };
    expect(await plan({ records: records(2), setAside })).toEqual(['wait c0 c1 s1 s2', waitingFault]);
    const waiting = ['c0', 's1'];
    const world = { records: records(9), files: files(1, 9), waiting, setAside: { s1: 's1.json' } };
    expect(await plan(world)).toEqual([waitingFault]);
  });
});
