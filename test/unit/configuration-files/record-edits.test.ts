/** Edits that masters send each other are judged again, and files of records say what the records say. */
import { describe, expect, it } from 'vitest';
import { validateConfiguration } from '../../../src/configuration-files/parse.js';
import { textOfRecord } from '../../../src/configuration-files/view/file-text.js';
import {
  decodeEdits,
  encodeEdits,
  inTransactions,
  operationsOf,
  type RecordEdit,
} from '../../../src/configuration-files/view/record-edits.js';
import { decodeTemplateEdits, templateOperations } from '../../../src/templates/view/template-edits.js';

const put = (name: string, content: object = {}, expectedRevision = 0): RecordEdit => ({
  do: 'put',
  name,
  file: `${name}.json`,
  parsed: validateConfiguration(name, { command: 'run', ...content }),
  expectedRevision,
});

describe('edits of configurations', () => {
  it('come to the leader as they were sent', () => {
    const edits: RecordEdit[] = [
      put('a', { ramMB: 64, note: 'not known' }, 7),
      { do: 'remove', name: 'b', expectedRevision: 3 },
    ];
    const arrived = decodeEdits(JSON.parse(JSON.stringify(encodeEdits(edits))));
    expect(operationsOf(arrived, 'n')).toEqual(operationsOf(edits, 'n'));
    expect(operationsOf(arrived, 'n')).toMatchObject([
      {
        do: 'update',
        key: 'configurations/a',
        value: { sourceNode: 'n', sourceFile: 'a.json' },
        expectedRevision: 7,
      },
      { do: 'put', value: { name: 'a', ramMB: 64 } },
      { do: 'remove', key: 'configurations/b', expectedRevision: 3 },
    ]);
  });

  const sent = { do: 'put', name: 'a', file: 'a.json', content: { command: 'x' }, expectedRevision: 0 };
  it.each<[what: string, question: unknown]>([
    ['nothing', undefined],
    ['no edits', []],
    ['a file elsewhere', [{ ...sent, file: '../a.json' }]],
    ['a hidden file', [{ ...sent, file: '.a.json' }]],
    ['another kind of file', [{ ...sent, file: 'a.txt' }]],
    ['a name that is none', [{ ...sent, name: 'a/b' }]],
    ['a content that is not valid', [{ ...sent, content: { command: '' } }]],
    ['a content of another name', [{ ...sent, content: 7 }]],
    ['a revision that is none', [{ ...sent, expectedRevision: -1 }]],
    ['too many', Array(60).fill(sent)],
  ])('are refused: %s', (_what, question) => {
    expect(() => decodeEdits(question)).toThrow(
      expect.objectContaining({ code: expect.stringMatching(/INVALID/) }),
    );
  });

  it('go in transactions that etcd takes', () => {
    const many = Array.from({ length: 120 }, (_, n) => put(`c${n}`));
    expect(inTransactions(many).map((some) => some.length)).toEqual([50, 50, 20]);
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
    const text = textOfRecord(configuration, hash);
    expect(JSON.parse(text)).toEqual({
      name: 'a',
      command: 'run',
      ramMB: 64,
      environmentVariables: { X: '1' },
    });
    expect(validateConfiguration('a', JSON.parse(text)).hash).toBe(hash);
  });

  it('is not written when this version would read something else from it', () => {
    const { configuration } = validateConfiguration('a', { command: 'run' });
    expect(() => textOfRecord(configuration, 'of another version')).toThrow(/another version/);
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
