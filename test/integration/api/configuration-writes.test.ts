/** Conditional writes of configurations: a change that the writer has not seen is never overwritten. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { OperationsWorld } from '../../support/control-plane/operations-world.js';

let world: OperationsWorld;
beforeEach(async () => {
  world = await OperationsWorld.create();
});
afterEach(() => world.stop());

const CONTENT = { runtime: 'process', command: 'run', ramMB: 100, minimumServiceCount: 0 };

const put = async (name: string, headers: Readonly<Record<string, string>>, ramMB = 200) =>
  (await world.call(`PUT /configurations/${name}`, { body: { ...CONTENT, ramMB }, headers })).status;
const tagOf = async (name: string): Promise<string> =>
  (await world.call(`GET /configurations/${name}`)).headers.get('etag') ?? expect.fail('no ETag');
const ramOf = (file: string): unknown =>
  JSON.parse(readFileSync(join(world.commands.root, 'configurations', file), 'utf8')).ramMB;

it('writes with the ETag of what is in force, and refuses one of before', async () => {
  await world.commands.configure('lobby');
  const seen = await tagOf('lobby');
  expect(await put('lobby', { 'if-match': seen })).toBe(204);
  expect(await put('lobby', { 'if-match': seen }, 300)).toBe(412);
  expect(ramOf('lobby.json')).toBe(200);
  expect(await put('lobby', { 'if-match': `"0", ${await tagOf('lobby')}` }, 300)).toBe(204);
  expect(await put('lobby', { 'if-match': '*' }, 400)).toBe(204);
  expect(ramOf('lobby.json')).toBe(400);
});

it('writes with the ETag as a proxy has marked it when it packed the answer', async () => {
  await world.commands.configure('lobby');
  let ramMB = 300;
  for (const mark of [
    (tag: string) => `W/${tag}`,
    (tag: string) => tag.replace(/"$/, '-gzip"'),
    (tag: string) => `"0", W/${tag}`,
  ]) {
    const seen = mark(await tagOf('lobby'));
    expect([seen, await put('lobby', { 'if-match': seen }, ++ramMB)]).toEqual([seen, 204]);
    expect([seen, await put('lobby', { 'if-match': seen }, ++ramMB)]).toEqual([seen, 412]);
  }
});

it('refuses when the file has changed and Drover has not looked yet', async () => {
  await world.commands.configure('lobby');
  const seen = await tagOf('lobby');
  world.commands.writeFile('lobby.json', JSON.stringify({ ...CONTENT, ramMB: 555 }));
  expect(await put('lobby', { 'if-match': seen })).toBe(412);
  expect(ramOf('lobby.json')).toBe(555);
});

it('makes only what is not there, or replaces only what is', async () => {
  await world.commands.configure('lobby');
  expect(await put('lobby', { 'if-none-match': '*' })).toBe(412);
  world.commands.writeFile('mail.json', JSON.stringify({ ...CONTENT, ramMB: 555 }));
  expect(await put('mail', { 'if-none-match': '*' })).toBe(412);
  world.commands.writeFile('half.json', '{ "command": ');
  expect(await put('half', { 'if-none-match': '*' })).toBe(412);
  expect(await put('fresh', { 'if-none-match': '*' })).toBe(204);
  expect(await put('other', { 'if-match': '*' })).toBe(412);
  expect((await world.call('GET /configurations/other')).status).toBe(404);
});

it('removes only what the client has seen', async () => {
  await world.commands.configure('lobby');
  const seen = await tagOf('lobby');
  await put('lobby', {});
  const remove = (tag: string) =>
    world.call('DELETE /configurations/lobby', { headers: { 'if-match': tag } });
  const refused = await remove(seen);
  expect([refused.status, refused.json]).toEqual([
    412,
    {
      error: expect.stringMatching(
        /^configuration "lobby" was changed meanwhile: its revision is [0-9a-f]{32} now$/,
      ),
      code: 'DRV_CONFIGURATION_CHANGED',
    },
  ]);
  expect((await remove(await tagOf('lobby'))).status).toBe(204);
});

it.each([
  { 'if-match': 'abc' },
  { 'if-match': 'W/abc' },
  { 'if-match': 'w/"abc"' },
  { 'if-match': '"a" "b"' },
  { 'if-none-match': '"abc"' },
  { 'if-none-match': '*', 'if-match': '*' },
])('refuses what it would not heed: %j', async (headers) => {
  await world.commands.configure('lobby');
  expect(await put('lobby', headers)).toBe(400);
  expect(ramOf('lobby.json')).toBe(100);
});

it('shows the text of a broken file, and replaces exactly the text that was shown', async () => {
  const textOf = async (name: string) => {
    const { status, json, headers } = await world.call(`GET /configurations/${name}/broken-file`);
    return { status, json, tag: headers.get('etag') ?? '' };
  };
  await world.commands.configure('lobby');
  expect((await textOf('lobby')).status).toBe(404);
  const broken = '{\n  "command": "run",\n  "ramMB": "four"\n}';
  for (const [file, name] of [
    ['lobby.json', 'lobby'],
    ['new.json', 'new'],
    ['other.json', 'named'],
  ] as const) {
    const text = name === 'named' ? broken.replace('{', '{ "name": "named",') : broken;
    world.commands.writeFile(file, text);
    await world.commands.run('config reload');
    const shown = await textOf(name);
    expect(shown).toMatchObject({ status: 200, json: { file, text, error: { file, line: 3 } } });
    // Somebody else edits the file meanwhile: what nobody has seen stays.
    world.commands.writeFile(file, text.replace('four', 'five'));
    expect(await put(name, { 'if-match': shown.tag })).toBe(412);
    expect(ramOf(file)).toBe('five');
    expect(await put(name, { 'if-match': (await textOf(name)).tag })).toBe(204);
    expect(ramOf(file)).toBe(200);
    expect((await textOf(name)).status).toBe(404);
    expect(await put(name, { 'if-match': shown.tag })).toBe(412);
  }
});

it('refuses a write and a plan that close a circle of waits, and warns of a name that is not there', async () => {
  const waiting = (configuration: string) => ({ ...CONTENT, waitsFor: [{ configuration }] });
  const write = (name: string, other: string) =>
    world.call(`PUT /configurations/${name}`, { body: waiting(other) });
  const first = await write('app', 'db');
  expect([first.status, first.headers.get('warning')]).toEqual([
    204,
    expect.stringContaining('waitsFor.0.configuration: there is no configuration'),
  ]);
  expect((await write('db', 'store')).status).toBe(204);
  const closing = await write('store', 'app');
  expect([closing.status, closing.json]).toEqual([
    400,
    expect.objectContaining({ error: expect.stringContaining('store -> app -> db -> store') }),
  ]);
  expect((await write('me', 'me')).status).toBe(400);
  const changes = ['x', 'y'].map((name) => ({
    do: 'put',
    name,
    content: { name, ...waiting(name === 'x' ? 'y' : 'x') },
  }));
  const batch = await world.call('POST /configurations/batch', { body: { changes } });
  expect((batch.json as { status: number }[]).map(({ status }) => status)).toEqual([400, 400]);
  const plan = (name: string, other: string) =>
    world.call('POST /plan', { body: { configurations: [{ name, ...waiting(other) }] } });
  expect((await plan('store', 'app')).status).toBe(400);
  expect(((await plan('new', 'none')).json as { warnings: unknown }).warnings).toEqual([
    expect.objectContaining({ configurationName: 'new', field: 'waitsFor.0.configuration' }),
  ]);
});

it('plans a change of a frozen configuration with a warning that it is refused', async () => {
  expect((await world.call('PUT /configurations/lobby', { body: CONTENT })).status).toBe(204);
  const body = { reason: 'the cup' };
  expect((await world.call('POST /configurations/lobby/freeze', { body })).status).toBe(200);
  const plan = async (content: object) =>
    (await world.call('POST /plan', { body: { configurations: [{ name: 'lobby', ...content }] } })).json;
  expect(await plan({ ...CONTENT, ramMB: 77 })).toMatchObject({
    warnings: [
      { configurationName: 'lobby', message: expect.stringMatching(/^it is frozen by .*the cup; /) },
    ],
  });
  expect(await plan(CONTENT)).toMatchObject({ warnings: [] });
  expect((await world.call('PUT /configurations/lobby', { body: { ...CONTENT, ramMB: 77 } })).status).toBe(
    409,
  );
});

it('takes an unknown field below another with a warning, and keeps it in the file and in what an editor reads', async () => {
  const update = { strategy: 'rolling', maxSurg: 3 };
  const written = await world.call('PUT /configurations/lobby', { body: { ...CONTENT, update } });
  expect([written.status, written.headers.get('warning')]).toEqual([
    204,
    '299 - "update.maxSurg: unknown field, has no effect; did you mean \\"maxSurge\\"?"',
  ]);
  const file = join(world.commands.root, 'configurations/lobby.json');
  expect(JSON.parse(readFileSync(file, 'utf8')).update).toEqual(update);
  expect((await world.call('GET /configurations/lobby/file')).json).toMatchObject({ content: { update } });
  expect((await world.call('GET /configurations/lobby')).json).not.toHaveProperty('update.maxSurg');
});
