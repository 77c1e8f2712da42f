/** Edits that masters send each other are judged again, and files of records say what the records say. */
import { describe, expect, it } from 'vitest';
import { contentOfRecord } from '../../../src/configuration-files/local-files.js';
import { validateConfiguration } from '../../../src/configuration-files/parse.js';
import {
  decodeEdits,
  encodeEdits,
  inTransactions,
  type RecordEdit,
  transactionOf,
} from '../../../src/configuration-files/record-edits.js';
import { configurationHistorySchema } from '../../../src/model/configuration-history.js';
import { MAX_OPERATIONS } from '../../../src/store/store.js';
import { decodeTemplateEdits, templateOperations } from '../../../src/templates/view/template-edits.js';

const originOf = (name: string) => ({
  file: `${name}.json`,
  key: 'deploy',
  commit: 'a1'.repeat(20),
  isDirty: true,
});
const put = (name: string, content: object = {}, expectedRevision = 0): RecordEdit => ({
  do: 'put',
  name,
  source: {
    origin: originOf(name),
    rollback: 'players fall',
  },
  parsed: validateConfiguration(name, { command: 'run', ...content }),
  expectedRevision,
});

const history = configurationHistorySchema.parse({
  contents: [
    {
      number: 4,
      revision: 'old',
      at: 1,
      file: 'a.json',
      node: 'm',
      key: null,
      commit: null,
      isDirty: null,
    },
  ],
});
const until = async (): Promise<void> => undefined;
/** A leader that has histories of some configurations, each at revision 5. */
function leaderWith(...names: readonly string[]) {
  return {
    store: { barrier: async () => 9 },
    clock: { now: () => 2 },
    configurations: { get: () => undefined, until },
    histories: {
      get: (name: string) => (names.includes(name) ? { value: history, revision: 5 } : undefined),
      setAside: new Map(),
      until,
    },
    overrides: { get: () => undefined, setAside: new Map(), until },
    rollouts: { get: () => undefined, until },
    timetables: { get: () => undefined, until },
    logger: { info: () => undefined },
  };
}

describe('edits of configurations', () => {
  it('come to the leader as they were sent, and it adds them to the histories', async () => {
    const edits: RecordEdit[] = [
      put('a', { ramMB: 64, note: 'not known' }, 7),
      { do: 'remove', name: 'b', expectedRevision: 3 },
    ];
    const arrived = decodeEdits(JSON.parse(JSON.stringify(encodeEdits(edits))));
    expect(arrived).toMatchObject(edits.map((edit) => JSON.parse(JSON.stringify(edit))));
    const leader = leaderWith('a', 'b');
    const operations = await transactionOf(arrived, 'n', leader);
    expect(operations).toEqual(await transactionOf(edits, 'n', leader));
    expect(operations).toMatchObject([
      {
        do: 'update',
        key: 'configurations/a',
        value: { sourceNode: 'n', sourceFile: 'a.json' },
        expectedRevision: 7,
      },
      { do: 'put', value: { name: 'a', ramMB: 64 } },
      {
        do: 'update',
        key: 'history/a',
        value: {
          contents: [
            { number: 4, end: { outcome: 'rolled-back', reason: 'players fall', at: 2 } },
            { number: 5, at: 2, node: 'n', ...originOf('a') },
          ],
        },
        expectedRevision: 5,
      },
      { do: 'remove', key: 'configurations/b', expectedRevision: 3 },
      { do: 'remove', key: 'history/b', expectedRevision: 5 },
    ]);
  });

  it('begin a history where there is none', async () => {
    const remove: RecordEdit = { do: 'remove', name: 'b', expectedRevision: 3 };
    expect(
      (await transactionOf([put('a'), remove], 'n', leaderWith())).map((one) => [one.do, one.key]),
    ).toEqual([
      ['create', 'configurations/a'],
      ['put', expect.stringMatching(/^revisions\//)],
      ['create', 'history/a'],
      ['remove', 'configurations/b'],
    ]);
  });

  it('wait for the histories that earlier writes have left', async () => {
    let shown = 0;
    const leader = leaderWith('a');
    const histories = {
      ...leader.histories,
      get: (name: string) => (shown === 9 ? leader.histories.get(name) : undefined),
      until: async (revision: number) => {
        shown = revision;
      },
    };
    const operations = await transactionOf([put('a')], 'n', { ...leader, histories });
    expect(operations.at(-1)).toMatchObject({ do: 'update', key: 'history/a', expectedRevision: 5 });
  });

  const origin = { file: 'a.json', key: null, commit: null, isDirty: null };
  const source = { origin };
  const sent = { do: 'put', name: 'a', source, content: { command: 'x' }, expectedRevision: 0 };
  const from = (changed: object) => [{ ...sent, source: { origin: { ...origin, ...changed } } }];
  it('need no more than they must say', () => {
    expect(decodeEdits([sent])).toMatchObject([{ name: 'a', source: { origin, rollback: undefined } }]);
  });

  it.each<[what: string, question: unknown]>([
    ['nothing', undefined],
    ['no edits', []],
    ['no source', [{ ...sent, source: undefined }]],
    ['a file elsewhere', from({ file: '../a.json' })],
    ['a hidden file', from({ file: '.a.json' })],
    ['another kind of file', from({ file: 'a.txt' })],
    ['a commit that is none', from({ commit: 'HEAD' })],
    ['a key without end', from({ key: 'x'.repeat(501) })],
    ['a reason without end', [{ ...sent, source: { origin, rollback: 'x'.repeat(501) } }]],
    ['a name that is none', [{ ...sent, name: 'a/b' }]],
    ['a content that is not valid', [{ ...sent, content: { command: '' } }]],
    ['a content of another name', [{ ...sent, content: 7 }]],
    ['a revision that is none', [{ ...sent, expectedRevision: -1 }]],
    ['too many', Array(26).fill(sent)],
  ])('are refused: %s', (_what, question) => {
    expect(() => decodeEdits(question)).toThrow(
      expect.objectContaining({ code: expect.stringMatching(/INVALID/) }),
    );
  });

  it('go in transactions that etcd takes', async () => {
    const many = Array.from({ length: 80 }, (_, n) => put(`c${n}`));
    const transactions = inTransactions(many);
    expect(transactions.map((some) => some.length)).toEqual([25, 25, 25, 5]);
    const [first = []] = transactions;
    const operations = await transactionOf(first, 'n', leaderWith());
    expect(operations.length).toBeLessThanOrEqual(MAX_OPERATIONS);
    expect(decodeEdits(JSON.parse(JSON.stringify(encodeEdits(first))))).toHaveLength(25);
    const long = { environmentVariables: { TEXT: 'x'.repeat(30_000) } };
    const sizes = inTransactions(Array.from({ length: 20 }, (_, n) => put(`c${n}`, long))).map(
      (some) => some.length,
    );
    expect(Math.max(...sizes)).toBe(8);
    expect(inTransactions([])).toEqual([]);
  });
});

describe('the file of a record', () => {
  it('says what the record says, without defaults', () => {
    const { configuration, hash } = validateConfiguration('a', {
      command: 'run',
      cpu: 100,
      ramMB: 64,
      environmentVariables: { X: '1' },
    });
    const { content } = contentOfRecord(configuration, hash);
    expect(content).toEqual({
      name: 'a',
      command: 'run',
      ramMB: 64,
      environmentVariables: { X: '1' },
    });
    expect(validateConfiguration('a', content).hash).toBe(hash);
  });

  it('is not written when this version would read something else from it', () => {
    const { configuration } = validateConfiguration('a', { command: 'run' });
    expect(() => contentOfRecord(configuration, 'of another version')).toThrow(/another version/);
  });
});

describe('edits of templates', () => {
  const digest = 'a'.repeat(64);
  const edit = { do: 'put', name: 'g/t', digest, expectedRevision: 2 };

  it('are compare-and-sets', () => {
    const edits = decodeTemplateEdits([edit, { do: 'remove', name: 'g/u', expectedRevision: 4 }]);
    expect(templateOperations(edits, 'n')).toEqual([
      { do: 'update', key: 'templates/g/t', value: { digest, sourceNode: 'n' }, expectedRevision: 2 },
      { do: 'remove', key: 'templates/g/u', expectedRevision: 4 },
    ]);
  });

  it.each<unknown>(['g', 'g/t/x', '../t', 'g/..', '/t'])('are refused under the name %j', (name) => {
    expect(() => decodeTemplateEdits([{ ...edit, name }])).toThrow(/no edits of templates/);
  });
});
