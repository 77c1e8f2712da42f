/** Which file a configuration's name belongs to, and which records change: plans as readable text. */
import { describe, expect, test } from 'vitest';
import {
  type ConfigurationFacts,
  decide,
  plan as planSteps,
  type RecordChange,
} from '../../../controllers/master/configurations/plan.js';
import type { Reading } from '../../../src/configuration-files/directory.js';
import { parseConfigurationFile } from '../../../src/configuration-files/parse.js';
import { SettledFiles } from '../../../src/configuration-files/settled-files.js';
import type { ConfigurationRecord } from '../../../src/model/configuration.js';
import type { Mirrored } from '../../../src/store/mirror.js';

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
  /** Names of the records that wait to be removed, and of what somebody asked to remove. */
  readonly waiting?: string[];
  readonly confirmed?: string[];
  readonly refusal?: string;
  readonly told?: ConfigurationFacts['told'];
}

function factsOf({
  files = {},
  records = {},
  setAside = {},
  suspects = [],
  isRead = true,
  waiting = [],
  confirmed = [],
  refusal,
  told = [],
}: World) {
  return {
    nodeId: 'n1',
    isRead,
    files: readings(files),
    suspects: new Set(suspects),
    directoryFault: undefined,
    records: new Map(
      Object.entries(records).map(([name, text]) => [name, recordFrom(text, waiting.includes(name))]),
    ),
    setAside: new Map(Object.entries(setAside).map(([name, file]) => [name, { revision: 9, file }])),
    confirmed: new Set(confirmed),
    refusal,
    told,
  };
}

/** What the records are told, then all faults as they are reported. */
function plan(world: World): string[] {
  const { changes, faults } = decide(factsOf(world));
  const lines = changes.map((change) => {
    if (change.do !== 'put') return `${change.do} ${change.name}`;
    const how = change.isNewContent ? change.parsed.configuration.command : 'same';
    return `put ${change.name} ${how} from ${change.file} over ${change.expectedRevision}`;
  });
  return [...lines, ...faults.map((fault) => `error ${fault.file} ${fault.field ?? 'syntax'}`)];
}

function recordFrom(text: string, removalWaits = false): Mirrored<ConfigurationRecord> {
  const [file = '', content = '', node = 'n1'] = text.split(' ');
  const from = reading(file, content);
  if (from.kind !== 'valid') throw new Error('a record holds a valid configuration');
  const { configuration, hash } = from.parsed;
  const value = {
    configuration,
    hash,
    sourceFile: file,
    ...(node !== '-' && { sourceNode: node }),
    ...(removalWaits && { removalWaits }),
  };
  return { value, revision: 7 };
}

describe('the plan', () => {
  test.each([
    ['is written anew by its file', { 'a.json': 'x:one' }, 'a.json', ['put x one from a.json over 9']],
    ['is written anew by another file', { 'b.json': 'x:one' }, null, ['put x one from b.json over 9']],
    ['stays while its file is broken', { 'a.json': '!' }, 'a.json', ['error a.json syntax']],
    ['goes with its file', {}, 'a.json', ['remove x']],
    ['stays when another source may have brought it', {}, null, []],
  ])('a record that is set aside %s', (_name, files: Record<string, string>, file, expected) => {
    expect(plan({ files, setAside: { x: file } })).toEqual(expected);
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
      ['put y one from a.json over 0', 'put x two from b.json over 7'],
    ],
    [
      'exchanges two names',
      { 'a.json': 'y:one', 'b.json': 'x:two' },
      { x: 'a.json x:one', y: 'b.json y:two' },
      ['put y one from a.json over 7', 'put x two from b.json over 7'],
    ],
  ])('%s', (_title, files, records, expected) => {
    expect(plan({ files, records })).toEqual(expected);
  });

  test('calls no name taken by a file that is just being renamed', () => {
    const files = { 'a.json': 'x:one', 'b.json': 'x:one' };
    const records = { x: 'a.json x:one' };
    expect(plan({ files, records, suspects: ['a.json'] })).toEqual([]);
    expect(plan({ files, records })).toEqual(['error b.json name']);
  });
});

describe('a source', () => {
  test.each([
    ['removes nothing that another brought', {}, { x: 'a.json x:one n2' }, []],
    ['removes what it brought itself', {}, { x: 'a.json x:one n1' }, ['remove x']],
    ['removes what 0.1.0 wrote without a node', {}, { x: 'a.json x:one -' }, ['remove x']],
    [
      'writes its name into what 0.1.0 wrote without one',
      { 'a.json': 'x:one' },
      { x: 'a.json x:one -' },
      ['put x same from a.json over 7'],
    ],
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
    expect(plan({ files, records })).toEqual(expected);
  });

  test('that was never read removes nothing', () => {
    expect(plan({ records: { x: 'a.json x:one n1' }, isRead: false })).toEqual([]);
  });
});

describe('many changes', () => {
  const files = Object.fromEntries(
    Array.from({ length: 120 }, (_, index) => [`${index}.json`, `c${index}:new`]),
  );
  const records = Object.fromEntries(
    Array.from({ length: 120 }, (_, index) => [`c${index + 60}`, `${index + 60}.json c${index + 60}:old`]),
  );

  test('writes long contents in transactions of their own: a store takes only so much at once', () => {
    const long = 'x'.repeat(60_000);
    const files = Object.fromEntries(Array.from({ length: 9 }, (_, n) => [`${n}.json`, `n${n}:${long}`]));
    const sizes = planSteps(factsOf({ files })).steps.map((step) =>
      step.do === 'write' ? step.changes.length : 0,
    );
    expect(sizes).toEqual([4, 4, 1]);
  });

  test('are written in transactions of at most 33, additions and edits before removals', () => {
    const { steps } = planSteps(factsOf({ files, records }));
    const batches = steps.map((step) => (step.do === 'write' ? step.changes.map((change) => change.do) : []));
    expect(batches.map((changes) => changes.length)).toEqual([33, 33, 33, 33, 33, 15]);
    const order = batches.flat();
    expect(order.indexOf('remove')).toBe(120);
    expect(order.lastIndexOf('put')).toBe(119);
  });

  test('may end after any transaction: the next round makes the rest, and then nothing', () => {
    const facts = factsOf({ files, records });
    for (let written = 0; written <= 6; written++) {
      const after = written === 0 ? facts : afterBatches(facts, written);
      const rest = afterBatches(after, Number.POSITIVE_INFINITY);
      expect([...rest.records.keys()].sort()).toEqual(
        Object.values(files)
          .map((text) => text.split(':')[0])
          .sort(),
      );
      expect(planSteps(rest).steps).toEqual([]);
    }
  });

  test('that exchange names may end in the middle, too', () => {
    const facts = factsOf({
      files: { 'a.json': 'y:one', 'b.json': 'x:two' },
      records: { x: 'a.json x:one', y: 'b.json y:two' },
    });
    const [first] = decide(facts).changes;
    const half = first === undefined ? facts : { ...facts, records: applied(facts.records, [first]) };
    expect(decide(half).changes).toHaveLength(1);
    expect(decide({ ...half, records: applied(half.records, decide(half).changes) }).changes).toEqual([]);
  });
});

/** The facts after the first `count` transactions of their plan. */
function afterBatches(facts: ConfigurationFacts, count: number): ConfigurationFacts {
  const writes = planSteps(facts).steps.filter((step) => step.do === 'write');
  const changes = writes.slice(0, count).flatMap((step) => step.changes);
  return { ...facts, records: applied(facts.records, changes) };
}

function applied(
  records: ConfigurationFacts['records'],
  changes: readonly RecordChange[],
): ConfigurationFacts['records'] {
  const next = new Map(records);
  for (const change of changes) {
    if (change.do === 'remove') next.delete(change.name);
    else if (change.do === 'withhold')
      next.set(change.name, { value: { ...change.record, removalWaits: true }, revision: 8 });
    else {
      const { configuration, hash } = change.parsed;
      const value = { configuration, hash, sourceFile: change.file, sourceNode: change.nodeId };
      next.set(change.name, { value, revision: 8 });
    }
  }
  return next;
}

describe('the report of faults', () => {
  const reported = (world: World): string[] =>
    planSteps(factsOf(world)).steps.flatMap((step) =>
      step.do === 'report' ? [`report ${step.faults.map(({ file }) => file).join(' ')}`.trim()] : [step.do],
    );
  const told = decide(factsOf({ files: { 'a.json': '!' } })).faults;

  test('is made once, before anything is written', () => {
    expect(reported({ files: { 'a.json': '!', 'b.json': 'x:one' } })).toEqual(['report a.json', 'write']);
    expect(reported({ files: { 'a.json': '!' }, told })).toEqual([]);
  });

  test('is taken back when the fault is gone, but not while somebody is writing', () => {
    const records = { x: 'a.json x:one' };
    expect(reported({ files: { 'a.json': 'x:one' }, records, told })).toEqual(['report']);
    expect(reported({ files: { 'a.json': 'x:one' }, records, told, suspects: ['b.json'] })).toEqual([]);
  });

  test('tells of a store that refuses, as long as there is something to write', () => {
    const refusal = 'disk full';
    expect(reported({ files: { 'a.json': 'x:one' }, refusal })).toEqual(['report *.json', 'write']);
  });

  test('forgets what the store refused when there is nothing to write any more', () => {
    const refusal = 'disk full';
    expect(reported({ refusal })).toEqual(['forget-refusal']);
    expect(reported({})).toEqual([]);
  });
});

describe('settled files', () => {
  const settledAfter = (...looks: Record<string, string>[]): string[] => {
    const settled = new SettledFiles();
    for (const files of looks) settled.takeAll(readings(files), false);
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

  test('take a file that never holds still as it is after fifty looks', () => {
    const settled = new SettledFiles();
    for (let look = 1; look <= 50; look++) {
      expect(settled.files.size).toBe(0);
      const moving: Reading = { ...reading('a.json', '!'), signature: String(look) };
      settled.take(new Map([['a.json', moving]]), false);
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

  test('wait when they are more than half of all and more than three', () => {
    expect(plan({ records: records(4) })).toEqual([
      'withhold c0',
      'withhold c1',
      'withhold c2',
      'withhold c3',
      waitingFault,
    ]);
  });

  test.each([
    ['are three', { records: records(3) }, 3],
    ['are half of all', { records: records(8), files: files(4, 8) }, 4],
    ['were brought by another node', { records: { ...records(1), x: 'x.json x:one n2' } }, 1],
  ])('go when they %s', (_what, world, count) => {
    expect(plan(world)).toEqual(Array.from({ length: count }, (_, at) => `remove c${at}`));
  });

  test('wait on although others come, and one more of them goes by itself', () => {
    const waiting = ['c0', 'c1', 'c2', 'c3', 'c4', 'c5'];
    expect(plan({ records: records(30), files: files(7, 30), waiting })).toEqual(['remove c6', waitingFault]);
  });

  test('wait before others of new names come, so that these do not make them few', () => {
    const world = { records: records(4), files: { 'x.json': 'x:one', 'y.json': 'y:one' } };
    expect(plan(world).map((line) => line.split(' ').slice(0, 2).join(' '))).toEqual([
      'withhold c0',
      'withhold c1',
      'withhold c2',
      'withhold c3',
      'put x',
      'put y',
      'error *.json',
    ]);
  });

  test('go when somebody asked for it, all or one of them', () => {
    const waiting = ['c0', 'c1', 'c2', 'c3'];
    const world = { records: records(4), waiting };
    expect(plan({ ...world, confirmed: waiting })).toEqual(waiting.map((name) => `remove ${name}`));
    expect(plan({ ...world, confirmed: ['c2'] })).toEqual(['remove c2', waitingFault]);
  });

  test('wait no more when their files are back', () => {
    const waiting = ['c0', 'c1', 'c2', 'c3'];
    expect(plan({ records: records(4), waiting, files: files(0, 4) })).toEqual(
      waiting.map((name) => `put ${name} same from ${name}.json over 7`),
    );
  });

  test('wait with those that cannot be read', () => {
    expect(plan({ records: records(2), setAside: { s1: 's1.json', s2: 's2.json' } })).toEqual([
      'withhold c0',
      'withhold c1',
      waitingFault,
    ]);
    expect(
      plan({ records: records(9), files: files(1, 9), waiting: ['c0'], setAside: { s1: 's1.json' } }),
    ).toEqual([waitingFault]);
  });
});
