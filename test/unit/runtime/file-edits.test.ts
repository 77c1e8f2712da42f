/** Edits of settings files, format by format: what is set, and that everything else keeps its bytes. */
import { describe, expect, it } from 'vitest';
import { editContent, type ValueEdit } from '../../../src/runtime/installation/file-edits/file-edit.js';

type Format = Parameters<typeof editContent>[0]['format'];
type Values = Readonly<Record<string, ValueEdit['value'] | { readonly filled: string }>>;

function editBytes(format: Format, content: Buffer | null, set: Values): Buffer | null {
  const edits = Object.entries(set).map(([key, value]) =>
    typeof value === 'object'
      ? { key, value: value.filled, isFilled: true }
      : { key, value, isFilled: false },
  );
  const edited = editContent({ content, format, edits });
  return edited === null ? null : Buffer.from(edited);
}

/** The text after the edit. A second edit must find nothing to do. */
function edit(format: Format, text: string | null, set: Values): string {
  const before = text === null ? null : Buffer.from(text);
  const after = editBytes(format, before, set) ?? before;
  expect(editBytes(format, after, set), 'a second edit changes something').toBeNull();
  return String(after);
}

describe('properties', () => {
  const FILE =
    '#Minecraft server\r\n! old\r\nserver-port=25565\r\nmotd = A \\u00a7 server\r\nquery.port:1\r\nempty\r\n';

  it('keep comments, order, separators and line ends', () => {
    expect(edit('properties', FILE, { 'server-port': 25570, 'query.port': '7', empty: 'x' })).toBe(
      FILE.replace('25565', '25570').replace('port:1', 'port:7').replace('empty', 'empty=x'),
    );
  });

  it('leave a value alone that means the same', () => {
    expect(edit('properties', FILE, { motd: 'A § server' })).toBe(FILE);
  });

  it('get a missing key at the end, also behind a last line without an end', () => {
    expect(edit('properties', 'a=1', { 'b c': ' two\\ \n#é' })).toBe('a=1\nb\\ c=\\ two\\\\ \\n#\\u00e9\n');
    expect(edit('properties', null, { a: true })).toBe('a=true\n');
  });

  it('take a line that goes on in the next one as one, and set a key wherever it stands', () => {
    expect(edit('properties', 'a=1,\\\n   2\n# a=\\\na : x\n', { a: 'new' })).toBe(
      'a=new\n# a=\\\na : new\n',
    );
  });

  it('take such a line as one with CRLF, and where the file ends in it', () => {
    expect(edit('properties', 'a=1,\\\r\n  2\r\nb=3\r\n', { a: 'new' })).toBe('a=new\r\nb=3\r\n');
    expect(edit('properties', 'a=1\nb=C\\:\\\\x\\', { a: 2 })).toBe('a=2\nb=C\\:\\\\x\\');
  });

  it.each(['b=1\\', 'b=1\\\n', 'b=1\\\r\n'])(
    'get a missing key behind %j, which would go on in it',
    (text) => {
      const end = text.endsWith('\r\n') ? '\r\n' : '\n';
      expect(edit('properties', text, { a: 2 })).toBe(`b=1\\${end}${end}a=2${end}`);
    },
  );

  it('keep bytes that are not UTF-8', () => {
    const file = Buffer.from('motd=Grüße\nport=1\n', 'latin1');
    expect(editBytes('properties', file, { port: 2 })).toEqual(Buffer.from('motd=Grüße\nport=2\n', 'latin1'));
  });
});

describe('ini', () => {
  const FILE =
    '; top\r\n[/Script/Engine.GameSession]\r\nMaxPlayers=10 ; as sold\r\n\r\n[Server]\r\nName = "My ; server"\r\n# x\r\n';

  it('keeps comments, quotes, spaces and line ends', () => {
    expect(edit('ini', FILE, { '[/Script/Engine.GameSession]MaxPlayers': 20, '[server]name': 'Ours' })).toBe(
      FILE.replace('=10 ', '=20 ').replace('My ; server', 'Ours'),
    );
  });

  it('gets a missing key at the end of its section, and a missing section at the end', () => {
    expect(edit('ini', FILE, { '[/Script/Engine.GameSession]Port': 7777, '[New]a': 'b', top: '1' })).toBe(
      FILE.replace('as sold\r\n', 'as sold\r\nPort=7777\r\n').replace('; top\r\n', '; top\r\ntop=1\r\n') +
        '\r\n[New]\r\na=b\r\n',
    );
  });

  it('takes keys with brackets, and headings with a comment', () => {
    const file = '[S] ; of [x]\nPerLevel[0]=1\n';
    expect(edit('ini', file, { '[S]PerLevel[0]': 2, '[s]PerLevel[1]': 3 })).toBe(
      '[S] ; of [x]\nPerLevel[0]=2\nPerLevel[1]=3\n',
    );
  });

  it('puts a value in quotes that would read as another one without them', () => {
    expect(edit('ini', 'a=1 ; as sold\n', { a: 'x ; y', b: ' z ' })).toBe('a="x ; y" ; as sold\nb=" z "\n');
    expect(() => edit('ini', '', { a: 'x ; "y"' })).toThrow('a: ');
  });

  it('keeps UTF-16 and its mark', () => {
    const file = Buffer.from('\uFEFF[Server]\r\nPort=1\r\n', 'utf16le');
    expect(editBytes('ini', file, { '[Server]Port': 2 })).toEqual(
      Buffer.from('\uFEFF[Server]\r\nPort=2\r\n', 'utf16le'),
    );
  });

  it('refuses a value with a line break', () => {
    expect(() => edit('ini', '', { a: 'b\nc' })).toThrow('a: the value has a line break');
  });
});

describe('text', () => {
  it('replaces what follows the key at the beginning of a line, or adds the line', () => {
    expect(edit('text', '// port 1\r\n  port 2\r\nname x', { 'port ': 7, 'map ': 'de_dust' })).toBe(
      '// port 1\r\n  port 7\r\nname x\r\nmap de_dust\r\n',
    );
  });

  it('takes no notice of blanks before the key', () => {
    expect(edit('text', '\tport 1\n', { '  port ': 7, ' map ': 'x' })).toBe('\tport 7\nmap x\n');
  });
});

describe('json', () => {
  const FILE = '\uFEFF{\n\t"b": [ {"host":"x", "port" : 1} ],\n\t"a.b": "ü",  "n": null\n}';

  it('keeps its layout and its mark', () => {
    expect(edit('json', FILE, { 'b.0.port': { filled: '25570' }, 'a\\.b': 'y', n: false })).toBe(
      FILE.replace(': 1}', ': 25570}').replace('ü', 'y').replace('null', 'false'),
    );
  });

  it('gets missing keys, with their parents', () => {
    expect(edit('json', '{\n  "a": 1\n}\n', { 'b.c': 'x' })).toBe(
      '{\n  "a": 1,\n  "b": {\n    "c": "x"\n  }\n}\n',
    );
    expect(edit('json', null, { 'a.b': { filled: 'true' } })).toBe('{\n  "a": {\n    "b": true\n  }\n}\n');
  });

  it('has a text where the file has one, and numbers and words as they were given', () => {
    expect(edit('json', '{"a":"1","b":1}', { a: { filled: '2' }, b: '2', c: { filled: '007' } })).toBe(
      '{"a":"2","b":"2","c":"007"}',
    );
  });

  it.each([
    ['{"a":1,}', { a: 1 }, 'it is not JSON: line 1, column 7'],
    ['{"a":{"b":1}}', { a: 1 }, 'a: the file has several values there'],
    ['{"a":1}', { 'a.b': 1 }, 'a.b: a single value stands above "b"'],
    ['{"a":[1]}', { 'a.1': 1 }, 'the list there has 1 entries'],
    ['[1]', { a: 1 }, 'the list there has 1 entries'],
  ])('refuses %s with %j', (text, set, message) => {
    expect(() => edit('json', text, set)).toThrow(message);
  });

  it('sets no prototype', () => {
    expect(edit('json', '{}', { '__proto__.x': 1 })).toBe('{"__proto__": {"x":1}}');
    expect(Reflect.get({}, 'x')).toBeUndefined();
  });
});

describe('yaml', () => {
  const FILE = `# top
motd: "hi"  # note
listeners:
- host: 0.0.0.0:25577
  query_port: 25577   # q
  text: |
    abc
    def
empty:  # e
flow: {a: 1, b: [1,2]}
1: one
settings:
    deep: 'x'

# end
`;

  it('keeps comments, order, quotes and indentation', () => {
    expect(
      edit('yaml', FILE, {
        motd: 'a "b"\nü',
        'listeners.0.query_port': { filled: '7' },
        'listeners.0.text': 'one',
        empty: 'true',
        'flow.b.1': 3,
        '1': 'two',
        'settings.deep': "it's",
      }),
    ).toBe(
      FILE.replace('"hi"', '"a \\"b\\"\\nü"')
        .replace('25577   #', '7   #')
        .replace('|\n    abc\n    def', 'one')
        .replace('empty:  #', 'empty:  "true" #')
        .replace('[1,2]', '[1,3]')
        .replace('one\nsettings', 'two\nsettings')
        .replace("'x'", "'it''s'"),
    );
  });

  it('gets missing keys behind the last one of their map, with CRLF as it is', () => {
    expect(edit('yaml', FILE, { 'settings.new.key': 1, 'listeners.0.max': 5 })).toBe(
      FILE.replace("'x'\n", "'x'\n    new:\n      key: 1\n").replace('def\n', 'def\n  max: 5\n'),
    );
    expect(edit('yaml', 'a: 1\r\n# x\r\nb:\r\n  c: 2', { 'b.d': 3, a: 2 })).toBe(
      'a: 2\r\n# x\r\nb:\r\n  c: 2\r\n  d: 3\r\n',
    );
    expect(edit('yaml', null, { 'a.b': { filled: '5' } })).toBe('a:\n  b: 5\n');
    expect(edit('yaml', '# only a comment\n', { a: 'x: y' })).toBe('# only a comment\na: "x: y"\n');
  });

  it('writes a map in one line anew where it must, with the comments', () => {
    expect(edit('yaml', '# c\na: {b: 1} # d\n', { 'a.c': 'x, y' })).toBe('# c\na: { b: 1, c: "x, y" } # d\n');
  });

  it('keeps each digit of the other numbers in a map that it writes anew', () => {
    const file = 'id: 123456789012345678\nmode: 0644\nratio: 0.12345678901234567890\n';
    expect(edit('yaml', `${file}a: {}\n`, { 'a.b': 1 })).toBe(`${file}a: { b: 1 }\n`);
  });

  it('gets a key below one that has no value yet', () => {
    expect(edit('yaml', 'a: 1\nservers:\n# none yet\nb: 2\n', { 'servers.x.port': 5 })).toBe(
      'a: 1\nservers: { x: { port: 5 } }\n# none yet\nb: 2\n',
    );
  });

  it('reads a long file a few times, however many values are set', () => {
    const keys = Array.from({ length: 256 }, (_, place) => `s${place}`);
    const file = keys.map((key) => `${key}:\n  # c\n  port: 1\n  name: "x"\n`).join('');
    const begun = process.cpuUsage();
    const set = Object.fromEntries(keys.map((key) => [`${key}.port`, { filled: '7' }]));
    expect(edit('yaml', file, set)).toBe(file.replaceAll('port: 1', 'port: 7'));
    expect(process.cpuUsage(begun).user / 1000).toBeLessThan(2500);
  });

  it('refuses what is not YAML, and a value that another place shares', () => {
    expect(() => edit('yaml', 'a: [1', { a: 1 })).toThrow('it is not YAML');
    expect(() => edit('yaml', 'a: &x\n  b: 1\nc: *x\n', { 'c.b': 2 })).toThrow('cannot be changed');
    expect(() => edit('yaml', '--- 1\n--- 2\n', { a: 2 })).toThrow('it is not YAML');
  });
});
