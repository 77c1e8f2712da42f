/** Whatever text is set in a TOML or XML file: it is read back as it was, and all bytes around it stay. */
import { parseXml, XmlElement } from '@rgrove/parse-xml';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { valueAt } from '../../src/model/json-object.js';
import { editContent } from '../../src/runtime/installation/file-edits/file-edit.js';

const RUNS = Number(process.env.DROVER_PROPERTY_RUNS ?? 200);
const piece = fc.constantFrom(
  '"',
  "'",
  '\\',
  '\n',
  '\r\n',
  '\r',
  '\t',
  ']]>',
  '<![CDATA[',
  '&amp;',
  '<!--',
  '%',
  '\x7f',
  'ü',
  '😀',
  '"""',
);
const text = fc
  .array(fc.oneof(piece, fc.string({ unit: 'grapheme', maxLength: 5 })), { maxLength: 8 })
  .map((pieces) => pieces.join(''))
  .filter((value) => !/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|\p{Surrogate}/u.test(value));

function edit(format: 'toml' | 'xml', before: string, key: string, value: string): string {
  const edits = [{ key, value, isFilled: false }];
  const after = editContent({ content: Buffer.from(before), format, edits });
  if (after === null) return before;
  expect(editContent({ content: after, format, edits }), 'a second edit changes something').toBeNull();
  return Buffer.from(after).toString();
}

/** What stands between the two parts that an edit must keep. */
function between(edited: string, before: string, behind: string): string {
  expect(edited.startsWith(before) && edited.endsWith(behind)).toBe(true);
  return edited.slice(before.length, edited.length - behind.length);
}

it('keeps all bytes around a value of TOML, and holds any text', () => {
  const [before, behind] = ['# ü "a"\r\n[a] # c\t \r\n  k = ', '\t# end\r\n\r\n[b]\r\nx = [ 1,  2 ] \r\n'];
  fc.assert(
    fc.property(text, fc.constantFrom('"x"', "'x'", '"""x\ny"""', '1', '{ z = 1 }'), (value, own) => {
      if (own.startsWith('{')) {
        const written = between(
          edit('toml', before + own + behind, 'a.k.n', value),
          `${before}{ z = 1, n = `,
          ` }${behind}`,
        );
        expect(written.startsWith("'") ? written.slice(1, -1) : parse(written)).toBe(value);
        return;
      }
      const written = between(edit('toml', before + own + behind, 'a.k', value), before, behind);
      // A double-quoted text of YAML knows all escapes of TOML.
      if (written !== own)
        expect(written.startsWith("'") ? written.slice(1, -1) : parse(written)).toBe(value);
    }),
    { numRuns: RUNS },
  );
});

it('keeps all bytes around a text and an attribute of XML, and holds any text', () => {
  const [before, behind] = [
    '<?xml version="1.0"?>\r\n<a>\r\n<!-- > -->\t<p  n="1" v=',
    " />\r\n<q a='>'/></a>\r\n<!-- end -->",
  ];
  const root = (file: string) =>
    parseXml(file).root?.children.filter((one) => one instanceof XmlElement) ?? [];
  fc.assert(
    fc.property(
      text,
      fc.constantFrom('"', "'"),
      fc.constantFrom('x', '<![CDATA[<x>]]>', ''),
      (value, quote, own) => {
        const attribute = edit('xml', `${before}${quote}x${quote}${behind}`, 'a.p[n=1].@v', value);
        between(attribute, before + quote, quote + behind);
        expect(valueAt(root(attribute)[0]?.attributes, ['v'])).toBe(value);
        const [start, end] = ['<a>\r\n<!-- > -->\t<p>', '</p >\r\n<q a=">"/></a>'];
        const content = edit('xml', start + own + end, 'a.p', value);
        between(content, start, end);
        expect(root(content)[0]?.text).toBe(value);
      },
    ),
    { numRuns: RUNS },
  );
});
