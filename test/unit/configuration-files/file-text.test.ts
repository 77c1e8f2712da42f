/** A write through the API edits the text of a file: what does not change keeps its bytes. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { spansOf, withoutMark } from '../../../src/configuration-files/json-position.js';
import { parseConfigurationFile } from '../../../src/configuration-files/parse.js';
import { editJsonText } from '../../../src/configuration-files/text-edit.js';
import { fieldOf } from '../../../src/model/json-object.js';
import { editedText } from '../../support/edited-text.js';

const RUNS = Number(process.env.DROVER_PROPERTY_RUNS ?? 300);

/** The text of `a.json` after a PUT of its content with these changes; undefined: a field that goes. */
function written(text: string, changes: object): string {
  const content = { ...JSON.parse(withoutMark(text)), ...changes };
  return editedText(text, JSON.parse(JSON.stringify(content)));
}

describe('a changed value is all that changes', () => {
  it.each([
    ['in a plain file', '{\n  "command": "x",\n  "cpu": 1\n}\n'],
    ['in one line', '{"command":"x","cpu":1}'],
    ['in one line with spaces', '{ "command" : "x" , "cpu" : 1 }\n'],
    ['with tabs', '{\n\t"command": "x",\n\t"cpu": 1\n}\n'],
    ['with CRLF', '{\r\n  "command": "x",\r\n  "cpu": 1\r\n}\r\n'],
    ['with a mark', '\uFEFF{\n "cpu": 1,\n "command": "x"}'],
    ['with $schema last', '{\n  "cpu": 1,\n  "command": "x",\n  "$schema": "../s.json"\n}'],
    ['with other numbers', '{ "cpu": 1, "ramMB": 1e3, "command": "\\u0078" }'],
    ['with unknown fields', '{ "cpu": 1, "owner": { "team": [1,  2] }, "command": "x" }'],
  ])('%s', (_, text) => {
    expect(written(text, { cpu: 7 })).toBe(text.replace(/("cpu"\s*:\s*)1/, '$17'));
  });

  it.each([
    ['{\n  "command": "x"\n}\n', '{\n  "command": "x",\n  "cpu": 7\n}\n'],
    ['{\r\n\t"command": "x"\r\n}', '{\r\n\t"command": "x",\r\n\t"cpu": 7\r\n}'],
    ['{"command":"x","static":true}', '{"command":"x","static":true,"cpu":7}'],
    ['{ "command": "x" }', '{ "command": "x", "cpu": 7 }'],
  ])('a new field is laid out as the others: %j', (text, expected) => {
    expect(written(text, { cpu: 7 })).toBe(expected);
  });

  it.each([
    ['{\n  "cpu": 1,\n  "command": "x"\n}\n', '{\n  "command": "x"\n}\n'],
    ['{\n  "command": "x",\n  "cpu": 1\n}\n', '{\n  "command": "x"\n}\n'],
    ['{"command":"x","cpu":1,"ramMB":5}', '{"command":"x","ramMB":5}'],
  ])('a field that goes takes its comma along: %j', (text, expected) => {
    expect(written(text, { cpu: undefined })).toBe(expected);
  });

  it('also inside of objects and lists', () => {
    const text =
      '{\n  "command": "x",\n  "availablePorts": { "min": 1, "max": 2 },\n  "nodes": [\n    "a", "b",\n    "c"\n  ]\n}\n';
    expect(written(text, { availablePorts: { min: 1, max: 9 }, nodes: ['a', 'b', 'n', 'c'] })).toBe(
      text.replace('"max": 2', '"max": 9').replace('"b",', '"b", "n",'),
    );
    expect(written(text, { nodes: ['b', 'c'] })).toBe(text.replace('"a", ', ''));
  });
});

describe('a whole content that is written', () => {
  const text =
    '{\n  "$schema": "s.json",\n  "command": "x",\n  "update": { "strategy": "rolling" },\n  "cpu": 100\n}\n';

  it('changes only what means something else: defaults, the name and $schema stay', () => {
    const { parsed } = parseConfigurationFile('a.json', text) as { parsed: { configuration: object } };
    const whole = { ...parsed.configuration, minimumServiceCount: 3 };
    expect(editedText(text, whole)).toBe(
      text.replace('"cpu": 100', '"cpu": 100,\n  "minimumServiceCount": 3'),
    );
  });

  it('is printed anew where the file is not valid', () => {
    expect(editedText('{ "command": ', { command: 'y' })).toBe('{\n  "name": "a",\n  "command": "y"\n}\n');
  });
});

const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.oneof(fc.integer(), fc.boolean(), fc.constant(null), fc.string({ maxLength: 5 })),
    fc.array(tie('value'), { maxLength: 4 }),
    tie('object'),
  ),
  object: fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd', 'e'), tie('value'), { noNullPrototype: true }),
})).object;
const layout = fc.record({
  unit: fc.constantFrom('', ' ', '  ', '\t'),
  lineEnd: fc.constantFrom('\n', '\r\n'),
  mark: fc.constantFrom('', '\uFEFF'),
});

it('edits any text to any value, and leaves the bytes of all that stays', () => {
  fc.assert(
    fc.property(json, json, layout, (own, wanted, { unit, lineEnd, mark }) => {
      const text = mark + JSON.stringify(own, null, unit).replaceAll('\n', lineEnd) + lineEnd;
      const next = editJsonText(text, own, wanted);
      expect(JSON.parse(withoutMark(next))).toEqual(wanted);
      expect(next.startsWith('\uFEFF')).toBe(mark !== '');
      if (lineEnd === '\r\n') expect(next).not.toMatch(/[^\r]\n/);
      const [before, after] = [withoutMark(text), withoutMark(next)];
      for (const [key, span] of spansOf(before).children) {
        const kept = spansOf(after).children.get(key);
        if (kept === undefined || JSON.stringify(fieldOf(own, key)) !== JSON.stringify(fieldOf(wanted, key)))
          continue;
        expect(after.slice(kept.keyStart, kept.end)).toBe(before.slice(span.keyStart, span.end));
      }
      if (JSON.stringify(own) === JSON.stringify(wanted)) expect(next).toBe(text);
    }),
    { numRuns: RUNS },
  );
});
