/** `edit config`, over a real master, with programs in the place of an editor. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import type { ApiConnection } from '../../../src/client/connection/connection.js';
import { connectionTo, type InProcessRun, runInProcess } from '../../support/client/in-process.js';
import { TemporaryHome } from '../../support/client/temporary-home.js';
import { OperationsWorld } from '../../support/control-plane/operations-world.js';

let world: OperationsWorld;
let home: TemporaryHome;
beforeAll(async () => {
  world = await OperationsWorld.create();
});
afterAll(() => world.stop());
beforeEach(async () => {
  home = new TemporaryHome();
  world.commands.writeFile(
    'lobby.json',
    '{"$schema": "x", "command": "run", "ramMB": 100, "minimumServiceCount": 0}',
  );
  await world.commands.files.reload();
});
afterEach(() => home.remove());

/** An editor: a program of Node.js that has the path and the text, and writes what it returns. It notes what it saw. */
function editor(body: string): NodeJS.ProcessEnv {
  const script = home.write(
    'editor with blanks.cjs',
    `const fs = require('node:fs');
const path = process.argv.at(-1);
const text = fs.readFileSync(path, 'utf8');
fs.appendFileSync(${JSON.stringify(join(home.path, 'seen'))}, JSON.stringify({ path, text, mode: fs.statSync(path).mode & 0o777 }) + '\\n');
const edited = ((text) => { ${body} })(text);
if (edited !== undefined) fs.writeFileSync(path, edited);
`,
  );
  return { EDITOR: `"${process.execPath}" '${script}'`, VISUAL: '' };
}

/** What the editor was given each time. */
const seen = (): { path: string; text: string; mode: number }[] =>
  readFileSync(join(home.path, 'seen'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

const edit = (
  environment: NodeJS.ProcessEnv,
  name = 'lobby',
  connection?: ApiConnection,
): Promise<InProcessRun> =>
  runInProcess(['edit', 'config', name], {
    connection: connection ?? connectionTo(world.url, world.token),
    environment: { ...environment, TMPDIR: home.path },
  });

const onMaster = (): unknown =>
  JSON.parse(readFileSync(join(world.commands.root, 'configurations/lobby.json'), 'utf8'));

it('opens what the file says, alone for the person, and writes what changed', async () => {
  expect(await edit(editor("return text.replace('100', '200')"))).toEqual({
    code: 0,
    out: 'lobby changed\n',
    err: [],
    questions: [],
  });
  expect(onMaster()).toEqual({
    $schema: 'x',
    command: 'run',
    ramMB: 200,
    minimumServiceCount: 0,
  });
  const [{ path, text, mode } = { path: '', text: '', mode: 0 }] = seen();
  expect([text, mode]).toEqual([
    '{\n  "$schema": "x",\n  "command": "run",\n  "ramMB": 100,\n  "minimumServiceCount": 0\n}\n',
    0o600,
  ]);
  expect(path).toMatch(/\/lobby\.json$/);
  expect(existsSync(dirname(path))).toBe(false);
});

it.each([
  ['nothing was typed', 'return undefined'],
  ['only blanks were', "return text.replace('{', '{ ')"],
  ['all was taken away', "return ''"],
])('changes nothing when %s', async (_when, body) => {
  const { json: before } = await world.call('GET /configurations/lobby');
  expect(await edit(editor(body))).toMatchObject({ code: 0, out: 'lobby unchanged\n', err: [] });
  expect((await world.call('GET /configurations/lobby')).json).toEqual(before);
  expect(existsSync(dirname(seen()[0]?.path ?? ''))).toBe(false);
});

it('opens a text that is not valid again, with the reason and its line above it', async () => {
  const body = `if (!text.startsWith('//')) return text.replace('100', '"much"');
return text.replace('"ramMB": "much"', '"ramMB": 300');`;
  expect(await edit(editor(body))).toMatchObject({ code: 0, out: 'lobby changed\n', err: [] });
  expect(onMaster()).toMatchObject({ ramMB: 300 });
  expect(seen()[1]?.text.split('\n').slice(0, 3)).toEqual([
    expect.stringMatching(/^\/\/ not saved: lobby\.json:6:12: ramMB: must be a whole number from /),
    '// mend it and save; or close it as it is, to give up',
    '{',
  ]);
  expect(seen()[1]?.text.split('\n')[5]).toBe('  "ramMB": "much",');
});

it('gives up when the text is left as it was refused, and keeps it', async () => {
  const body = `return text.startsWith('//') ? undefined : text.replace('100', '0');`;
  const { code, out, err } = await edit(editor(body));
  expect([code, out]).toEqual([1, '']);
  const [, path = ''] =
    /^not saved: lobby\.json:4:12: ramMB: must be .*; your text is in (\S+)$/.exec(err.at(-1) ?? '') ?? [];
  expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ ramMB: 0 });
  expect(onMaster()).toMatchObject({ ramMB: 100 });
});

it('refuses what was changed meanwhile, and keeps the text', async () => {
  const connection = connectionTo(world.url, world.token);
  const watched: ApiConnection = {
    name: connection.name,
    url: connection.url,
    mayAskPerson: false,
    request: async (method, ...call) => {
      if (method === 'PUT') await world.commands.configure('lobby', { ramMB: 7 });
      return connection.request(method, ...call);
    },
    stream: (...call) => connection.stream(...call),
    openSocket: (path) => connection.openSocket(path),
  };
  const { code, err } = await edit(editor("return text.replace('100', '200')"), 'lobby', watched);
  const [, path = ''] =
    /was changed meanwhile: .*; your text is in (\S+); compare it with "drover diff -f \1"$/.exec(
      err[0] ?? '',
    ) ?? [];
  expect(code).toBe(5);
  expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ ramMB: 200 });
  expect(onMaster()).toMatchObject({ ramMB: 7 });
});

it('keeps the name, and makes no other configuration', async () => {
  const body = `return text.startsWith('//') ? undefined : text.replace('{', '{ "name": "other",');`;
  expect((await edit(editor(body))).err).toEqual([
    expect.stringMatching(/^not saved: lobby\.json: name: must stay "lobby"/),
  ]);
  expect((await world.call('GET /configurations/other')).status).toBe(404);
});

it('keeps what was typed when the editor fails after it', async () => {
  const { code, err } = await edit(
    editor("require('node:fs').writeFileSync(path, '{ half'); process.exit(3)"),
  );
  const [, path = ''] = / exited with code 3; your text is in (\S+)$/.exec(err[0] ?? '') ?? [];
  expect([code, readFileSync(path, 'utf8')]).toEqual([1, '{ half']);
});

it('says which variable names an editor that cannot be started, and leaves no file', async () => {
  expect(await edit({ VISUAL: '/nonexistent/editor --wait', EDITOR: 'true' })).toMatchObject({
    code: 1,
    err: [
      'the editor /nonexistent/editor cannot be started: no such file or directory (ENOENT) (VISUAL names it)',
    ],
  });
});

it('says when the file on the master is broken, and warns of what has no effect', async () => {
  world.commands.writeFile('lobby.json', '{');
  const { err } = await edit(editor(`return text.replace('"ramMB": 100', '"ramMB": 100, "ramMb": 5')`));
  expect(err).toEqual([
    'lobby.json of the master is broken: what is in force is shown, and takes its place',
    expect.stringMatching(/^warning: lobby\.json:\d+:\d+: ramMb: unknown field, has no effect/),
  ]);
});

it.each([['nothing'], ['../lobby']])('knows no configuration %s', async (name) => {
  expect((await edit(editor('return text'), name)).code).toBe(3);
});
