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

describe('toml', () => {
  const FILE = `# top\r
bind = '0.0.0.0:25577'   # main\r
ratio = 1.0\r
\r
[servers] # all of them\t\r
  lobby.host = "a"   \r
  try = [ "lobby", # first\r
    "b c", ]\r
[a . "b.c"]\r
d = 1979-05-27T07:32:00Z\r
t = 07:32:00\r
in = { x = 1,  y.z = "ü" }\r
none = {}\r
[[list]]\r
port = 0x10\r
[[list]]\r
# end   \r
`;

  it('keeps comments, order, quotes, blanks and line ends', () => {
    expect(
      edit('toml', FILE, {
        bind: '0.0.0.0:7',
        ratio: 2,
        'servers.lobby.host': 'it\'s "b"\nü',
        'servers.try.1': 'c',
        'a.b\\.c.in.y.z': { filled: '7' },
        'a.b\\.c.in.x': { filled: '7' },
        'list.0.port': false,
      }),
    ).toBe(
      FILE.replace('25577', '7')
        .replace('1.0', '2.0')
        .replace('"a"', '"it\'s \\"b\\"\\nü"')
        .replace('"b c"', '"c"')
        .replace('"ü"', '"7"')
        .replace('x = 1', 'x = 7')
        .replace('0x10', 'false'),
    );
  });

  it('gets missing keys behind the last one of their table, and missing tables at the end', () => {
    expect(
      edit('toml', FILE, {
        top: 1,
        'servers.lobby.port': 2,
        'servers.x y': 'z',
        'a.b\\.c.in.y.w': true,
        'a.b\\.c.none.one': 1,
        'a.b\\.c.none.two': 2,
        'list.1.port': 3,
        'list.1.sub.x': 4,
        'proxies.velocity.enabled': { filled: 'true' },
        'proxies.velocity.secret': 's',
      }),
    ).toBe(
      `${FILE.replace('ratio = 1.0\r\n', 'ratio = 1.0\r\ntop = 1\r\n')
        .replace('"a"   \r\n', '"a"   \r\n  lobby.port = 2\r\n')
        .replace('"b c", ]\r\n', '"b c", ]\r\n  "x y" = "z"\r\n')
        .replace('"ü" }', '"ü", y.w = true }')
        .replace('{}', '{ one = 1, two = 2 }')
        .replace(
          '[[list]]\r\n# end',
          '[[list]]\r\nport = 3\r\nsub.x = 4\r\n# end',
        )}\r\n[proxies.velocity]\r\nenabled = true\r\nsecret = "s"\r\n`,
    );
  });

  it('is made where it is missing, with its keys above its tables', () => {
    expect(edit('toml', null, { 'a.b': { filled: '5' }, c: 'x' })).toBe('c = "x"\n[a]\nb = 5\n');
    expect(edit('toml', '# mine\n\n[a]\n', { c: 1 })).toBe('# mine\nc = 1\n\n[a]\n');
    expect(edit('toml', '# only a comment', { c: 1 })).toBe('# only a comment\nc = 1\n');
  });

  it.each([
    ['a = 1\nb = [', { a: 1 }, 'it is not TOML: line 2, column 6: '],
    ['a = 1\na = 2', { a: 1 }, 'it is not TOML: line 2'],
    ['[a]\nb = 1', { a: 1 }, 'a: the file has several values there'],
    ['a = 1', { 'a.b': 1 }, 'a.b: a single value stands above "b"'],
    ['a = [1]', { 'a.1': 1 }, 'the list there has 1 entries'],
    ['', { a: '\ud800' }, 'a: the value has half of a character'],
    [`a = ${'['.repeat(50_000)}${']'.repeat(50_000)}`, { a: 1 }, 'it is nested too deeply'],
  ])('refuses number %#', (text, set, message) => {
    expect(() => edit('toml', text, set)).toThrow(message);
  });

  it('reads a long file a few times, however many values are set', () => {
    const keys = Array.from({ length: 256 }, (_, place) => `s${place}`);
    const file = keys.map((key) => `[${key}]\n# c\nport = 1\nname = "x"\n`).join('');
    const begun = process.cpuUsage();
    const set = Object.fromEntries(keys.map((key) => [`${key}.port`, { filled: '7' }]));
    expect(edit('toml', file, set)).toBe(file.replaceAll('port = 1', 'port = 7'));
    expect(process.cpuUsage(begun).user / 1000).toBeLessThan(2500);
  });

  it('sets no prototype', () => {
    const file =
      '__proto__.y = 1\nconstructor.prototype.y = 1\n[a.__proto__]\ny = 1\n[[__proto__.list]]\ny = 1\n';
    expect(edit('toml', file, { '__proto__.x': 1 })).toBe(file.replace('\n', '\n__proto__.x = 1\n'));
    expect(Reflect.get({}, 'y')).toBeUndefined();
    expect(Reflect.get({}, 'x')).toBeUndefined();
  });
});

describe('xml', () => {
  const FILE = `<?xml version="1.0"?>\r
<!DOCTYPE ServerSettings [ <!ENTITY x "a>b"> ]>\r
<!-- <property name="ServerPort" value="1"/> -->\r
<ServerSettings>\r
\t<property name="ServerPort"\t\tvalue="26900" /> <!-- the > port -->\r
\t<property value='a "b"' name='ServerName'></property>\r
\t<admins><!-- nobody -->\r
\t</admins>\r
\t<port>\r
\t\t26900\r
\t</port>\r
\t<note><![CDATA[<x>]]></note>\r
\t<user id="1"/><user id="2"/>\r
\t<empty />\r
\t<!-- end -->\r
</ServerSettings>\r
`;

  it('keeps comments, order, quotes, blanks and line ends', () => {
    expect(
      edit('xml', FILE, {
        'ServerSettings.property[name=ServerPort].@value': 7,
        "ServerSettings.property[@name='ServerName'].@value": 'it\'s <"ü">\n😀',
        'ServerSettings.port': '7',
        'ServerSettings.note': 'a]]>b & c',
        'ServerSettings.user.1.@id': { filled: '3' },
        'ServerSettings.empty': true,
      }),
    ).toBe(
      FILE.replace('"26900" />', '"7" />')
        .replace(`'a "b"'`, `'it&#39;s &#60;&#34;&#252;&#34;&#62;&#10;&#128512;'`)
        .replace('\r\n\t\t26900\r\n\t', '7')
        .replace('<![CDATA[<x>]]>', 'a]]&#62;b &#38; c')
        .replace('id="2"', 'id="3"')
        .replace('<empty />', '<empty>true</empty>'),
    );
  });

  it('gets missing attributes and elements, which stand in a line of their own', () => {
    expect(
      edit('xml', FILE, {
        'ServerSettings.@version': 2,
        'ServerSettings.property[name=ServerPort].@max': 2,
        'ServerSettings.property[name=New.One].@value': 'x',
        'ServerSettings.empty.a.b': 1,
        'ServerSettings.admins.user[id=7].@name': 'x',
        'ServerSettings.admins.user[id=8].@name': 'y',
      }),
    ).toBe(
      FILE.replace('<ServerSettings>', '<ServerSettings version="2">')
        .replace('"26900" />', '"26900" max="2" />')
        .replace('<empty />', '<empty><a><b>1</b></a></empty>')
        .replace('nobody -->', 'nobody -->\r\n\t  <user id="7" name="x"/>\r\n\t  <user id="8" name="y"/>')
        .replace('<!-- end -->', '<!-- end -->\r\n\t<property name="New.One" value="x"/>'),
    );
  });

  it('is made where it is missing', () => {
    expect(edit('xml', null, { 'a.b[n=1].@v': { filled: '5' }, 'a.b\\.c': 'x', 'a.a.a': '' })).toBe(
      '<?xml version="1.0"?>\n<a>\n  <b n="1" v="5"/>\n  <b.c>x</b.c>\n  <a><a/></a>\n</a>\n',
    );
    expect(edit('xml', '<a><b/></a>', { 'a.c': 'x', 'a.b.d': 1 })).toBe('<a><b><d>1</d></b><c>x</c></a>');
  });

  it.each([
    ['<a>', { a: 1 }, 'it is not XML: '],
    ['<a/>', { b: 1 }, 'b: there is no such b, and it is not added; the outermost element is a'],
    ['<a><b/></a>', { a: 1 }, 'a: the file has several values there'],
    ['<a>1</a>', { 'a.b': 1 }, 'a.b: a single value stands above "b"'],
    ['<a><b/><b/></a>', { 'a.b': 1 }, 'a.b: there are 2; name one of them'],
    ['<a><b/><b/></a>', { 'a.b.2.@c': 1 }, 'there is no such b'],
    ['<a>1<!-- c --></a>', { a: 2 }, 'cannot be changed without touching others'],
    ['<a/>', { a: '\0' }, 'a: the value has a character that XML cannot hold'],
    ['<a/>', { a: '\ud800' }, 'a: the value has half of a character'],
    ['<a/>', { 'a.@b.c': 1 }, 'a.@b.c: it is not a path such as'],
    ['<a/>', { '@b': 1 }, 'it is not a path'],
    ['<a/>', { 'a..b': 1 }, 'it is not a path'],
    ['<a/>', { 'a.b[c': 1 }, 'it is not a path'],
    ['<a/>', { 'a.b c': 1 }, 'it is not a path'],
    ['<a/>', { 'a.': 1 }, 'it is not a path'],
    ['', { 'b c': 1 }, 'it is not a path'],
  ])('refuses %s with %j', (text, set, message) => {
    expect(() => edit('xml', text, set)).toThrow(message);
  });

  it('expands no entity of a file, fetches none, and refuses what is nested too deeply', () => {
    const lol = Array.from({ length: 30 }, (_, n) => `<!ENTITY l${n + 1} "&l${n};&l${n};">`).join('');
    const bomb = `<!DOCTYPE a [<!ENTITY l0 "lol">${lol}]><a><b>1</b><c>&l30;</c></a>`;
    expect(() => edit('xml', bomb, { 'a.b': 2 })).toThrow("it is not XML: Named entity isn't defined: &l30;");
    const file = '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a><b>1</b><c>&x;</c></a>';
    expect(() => edit('xml', file, { 'a.b': 2 })).toThrow("it is not XML: Named entity isn't defined: &x;");
    const outside = '<!DOCTYPE a SYSTEM "http://127.0.0.1:1/a.dtd"><a><b>1</b></a>';
    expect(edit('xml', outside, { 'a.b': 2 })).toBe(outside.replace('1</b>', '2</b>'));
    expect(() => edit('xml', '<a>'.repeat(300_000), { a: 1 })).toThrow('it is nested too deeply');
  });

  it('keeps UTF-16 and bytes that are not UTF-8', () => {
    const text = '<?xml version="1.0"?>\r\n<a b="ü">1</a>';
    const file = Buffer.from(`\uFEFF${text}`, 'utf16le');
    expect(editBytes('xml', file, { a: 'é' })).toEqual(
      Buffer.from(`\uFEFF${text.replace('>1<', '>&#233;<')}`, 'utf16le'),
    );
    expect(editBytes('xml', Buffer.from(text, 'latin1'), { a: '€' })).toEqual(
      Buffer.from(text.replace('>1<', '>&#8364;<'), 'latin1'),
    );
  });

  it('edits a file of 1 MiB quickly', () => {
    const file = `<r>${'<p name="x" value="1"/>\n'.repeat(40_000)}<q>1</q></r>`;
    const begun = process.cpuUsage();
    expect(edit('xml', file, { 'r.q': 2, 'r.p.39999.@value': 3 })).toContain('value="3"/>\n<q>2</q></r>');
    expect(process.cpuUsage(begun).user / 1000).toBeLessThan(8000);
  });
});
