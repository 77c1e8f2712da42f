/** `apply`, `diff`, `validate` and `delete -f` of the client, over a real master with real files. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ApiConnection } from '../../../src/client/connection/connection.js';
import { ClientError, EXIT } from '../../../src/command-tree/runs/client-error.js';
import { connectionTo, type InProcessOptions, runInProcess } from '../../support/client/in-process.js';
import { TemporaryHome } from '../../support/client/temporary-home.js';
import { OperationsWorld } from '../../support/control-plane/operations-world.js';

const SMALL = { runtime: 'process', command: 'run', ramMB: 100, minimumServiceCount: 0 };

let world: OperationsWorld;
let home: TemporaryHome;
beforeAll(async () => {
  world = await OperationsWorld.create();
});
afterAll(() => world.stop());
beforeEach(() => {
  home = new TemporaryHome();
});
afterEach(async () => {
  home.remove();
  for (const name of await names()) await world.call(`DELETE /configurations/${name}`);
});

async function names(): Promise<string[]> {
  const { json } = await world.call('GET /configurations');
  return (json as { name: string }[]).map(({ name }) => name);
}

const drover = (line: string, options: InProcessOptions = {}) =>
  runInProcess(line.split(' '), { connection: connectionTo(world.url, world.token), ...options });
const write = (file: string, content: unknown): string =>
  home.write(file, typeof content === 'string' ? content : JSON.stringify(content, null, 2));
const onMaster = (file: string): unknown =>
  JSON.parse(readFileSync(join(world.commands.root, 'configurations', file), 'utf8'));

/** The connection, which calls `before` ahead of each request. */
function watched(before: (asked: string) => Promise<void>): ApiConnection {
  const connection = connectionTo(world.url, world.token);
  return {
    name: connection.name,
    url: connection.url,
    mayAskPerson: false,
    request: async (method, path, ...more) => {
      await before(`${method} ${path}`);
      return connection.request(method, path, ...more);
    },
    stream: (...call) => connection.stream(...call),
    openSocket: (path) => connection.openSocket(path),
  };
}

describe('apply', () => {
  it('creates, changes and leaves alone, and says which', async () => {
    write('conf/lobby.json', { $schema: 'x', ...SMALL });
    const mail = write('conf/mail.json', { ...SMALL, properties: { a: '1' } });
    write('conf/readme.txt', 'no configuration');
    const conf = join(home.path, 'conf');
    expect(await drover(`apply -f ${conf}`)).toEqual({
      code: 0,
      out: 'lobby created\nmail created\n',
      err: [],
      questions: [],
    });
    expect(onMaster('lobby.json')).toEqual({ name: 'lobby', $schema: 'x', ...SMALL });
    write('conf/mail.json', { ...SMALL, ramMB: 200, properties: { a: '2' } });
    expect((await drover(`apply -f ${conf}`)).out).toBe(
      'lobby unchanged\nmail changed: properties.a, ramMB\n',
    );
    expect((await drover(`apply -f ${mail} -f ${conf}/lobby.json -o name`)).out).toBe('mail\nlobby\n');
    expect(JSON.parse((await drover(`apply -f ${mail} -o json`)).out)).toEqual([
      { name: 'mail', file: mail, result: 'unchanged', differences: [], heldBack: null, error: null },
    ]);
  });

  it('says what looks like a configuration in a directory and is not read', async () => {
    write('conf/lobby.json', SMALL);
    write('conf/mail.yaml', 'command: run');
    write('conf/more/bots.YAML', 'command: run');
    write('conf/pictures/readme.txt', 'nothing');
    const conf = join(home.path, 'conf');
    const passedOver = `passed over, because only *.json is read of a directory: ${conf}/mail.yaml, ${conf}/more/bots.YAML`;
    expect(await drover(`apply -f ${conf}`)).toMatchObject({
      code: 0,
      out: 'lobby created\n',
      err: [passedOver],
    });
    expect((await drover(`plan -f ${conf}`)).err).toEqual([passedOver]);
    expect((await runInProcess(['validate', '-f', conf])).out).toBe(
      `${passedOver}\n1 of 1 configuration is valid\n`,
    );
    write('yaml/mail.yaml', 'command: run');
    expect((await drover(`plan -f ${join(home.path, 'yaml')}`)).err).toEqual([
      expect.stringMatching(/yaml holds no configuration; passed over, .*mail\.yaml$/),
    ]);
  });

  it('reads subdirectories, and names their files by their paths', async () => {
    write('conf/eu/lobby.json', SMALL);
    write('conf/us/mail.json', { ...SMALL, cpu: 'x' });
    const conf = join(home.path, 'conf');
    const { err } = await drover(`apply -f ${conf}`);
    expect(err[0]).toContain(`${conf}/us/mail.json:`);
    write('conf/us/mail.json', SMALL);
    expect((await drover(`apply -f ${conf}`)).out).toBe('lobby created\nmail created\n');
  });

  it('resolves what files extend before it sends, and prints it', async () => {
    write('conf/base/lobby.json', { ramMB: 64 });
    const file = write('conf/eu/lobby.json', {
      extends: '../base/lobby.json',
      command: 'run',
      minimumServiceCount: 0,
    });
    const conf = join(home.path, 'conf');
    const whole = { name: 'lobby', ramMB: 64, command: 'run', minimumServiceCount: 0 };
    expect(JSON.parse((await runInProcess(['render', '-f', file])).out)).toEqual(whole);
    expect((await runInProcess(['validate', '-f', conf])).out).toBe('1 of 1 configuration is valid\n');
    expect((await runInProcess(['validate', '-f', join(conf, 'base/lobby.json')])).code).toBe(0);
    expect((await drover(`apply -f ${conf}`)).out).toBe('lobby created\n');
    expect(JSON.parse((await drover('render lobby')).out)).toEqual(whole);
    expect((await drover('render')).code).toBe(64);
  });

  it('takes several from standard input, as a list or one after another', async () => {
    const one = { name: 'one', ...SMALL };
    const two = { name: 'two', ...SMALL };
    expect((await drover('apply -f -', { input: JSON.stringify([one, two]) })).out).toBe(
      'one created\ntwo created\n',
    );
    const lines = `${JSON.stringify(two)}\n${JSON.stringify({ ...one, ramMB: 5 })}\n`;
    expect((await drover('apply -f -', { input: lines })).out).toBe('two unchanged\none changed: ramMB\n');
    expect(await drover('apply -f -', { input: ' ' })).toMatchObject({
      code: 1,
      err: ['stdin holds no configuration'],
    });
  });

  it('writes nothing when one of them is not valid, and needs no master to say so', async () => {
    write('conf/a.json', SMALL);
    write('conf/b.json', '{\n  "command": "run",\n  "ramMB": "much"\n}');
    const { code, out, err } = await runInProcess(['apply', '-f', join(home.path, 'conf')]);
    expect([code, out]).toEqual([1, '']);
    expect(err).toEqual([
      expect.stringMatching(/\/conf\/b\.json:3:12: ramMB: must be a whole number/),
      'nothing was written: 1 of 2 configurations is not valid',
    ]);
    expect(await names()).toEqual([]);
  });

  it('writes nothing when the master refuses one of them', async () => {
    const files = [write('a.json', SMALL), write('b.json', SMALL)];
    const connection = watched(async (asked) => {
      if (asked === 'POST /plan') throw new ClientError(EXIT.failed, 'b: no');
    });
    expect(await drover(`apply -f ${files.join(' ')}`, { connection })).toMatchObject({
      code: 1,
      out: '',
      err: ['b: no'],
    });
    expect(await names()).toEqual([]);
  });

  it('overwrites nothing that was changed meanwhile, and writes the others', async () => {
    const files = [write('a.json', SMALL), write('b.json', SMALL), write('c.json', SMALL)];
    await world.commands.configure('a', { ramMB: 1 });
    const connection = watched(async (asked) => {
      if (asked !== 'POST /configurations/batch') return;
      await world.commands.configure('a', { ramMB: 7 });
      await world.commands.configure('b', { ramMB: 7 });
    });
    const { code, out, err } = await drover(`apply -f ${files.join(' ')}`, { connection });
    expect([code, err]).toEqual([5, ['2 of 3 configurations were not written']]);
    expect(out.split('\n')).toEqual([
      expect.stringMatching(/^a not written: configuration "a" was changed meanwhile/),
      'b not written: configuration "b" was made meanwhile, or was there before',
      'c created',
      '',
    ]);
    expect(onMaster('a.json')).toMatchObject({ ramMB: 7 });
  });

  it('ends with the first other failure, and says what it did not try', async () => {
    // Each of them fills a request of its own.
    const large = { ...SMALL, $comment: 'x'.repeat(100_000) };
    const files = [write('a.json', large), write('b.json', large), write('c.json', large)];
    let batches = 0;
    const connection = watched(async (asked) => {
      if (asked !== 'POST /configurations/batch') return;
      batches++;
      if (batches === 2) throw new ClientError(EXIT.unreachable, 'cannot reach prod');
    });
    expect(await drover(`apply -f ${files.join(' ')}`, { connection })).toMatchObject({
      code: 7,
      out: 'a created\nb not written: cannot reach prod\nc not written: not tried\n',
      err: ['2 of 3 configurations were not written'],
    });
  });

  it('writes many with few requests, each only over what was compared, and says what became of each', async () => {
    const contents = Array.from({ length: 40 }, (_, index) => ({ name: `c${index}`, ...SMALL }));
    const asked: string[] = [];
    const connection = watched(async (line) => {
      asked.push(line);
      if (line !== 'POST /configurations/batch') return;
      await world.commands.configure('c7', { ramMB: 7 });
    });
    const { out, code, err } = await drover('apply -f -', { connection, input: JSON.stringify(contents) });
    expect(asked).toEqual(['POST /plan', 'POST /configurations/batch']);
    expect([code, err]).toEqual([5, ['1 of 40 configurations were not written']]);
    expect(out.split('\n').slice(6, 9)).toEqual([
      'c6 created',
      'c7 not written: configuration "c7" was made meanwhile, or was there before',
      'c8 created',
    ]);
    expect(asked).toEqual(['POST /plan', 'POST /configurations/batch']);
    expect(await names()).toHaveLength(40);
    const gone = await drover('apply -f - --prune --yes', { input: JSON.stringify(contents.slice(0, 20)) });
    expect([gone.code, (await names()).length]).toEqual([0, 20]);
  });

  it('leaves fields in "managed" to callers after their first value, in the plan, too', async () => {
    const lobby = { ...SMALL, maximumServiceCount: 9, managed: ['minimumServiceCount', 'cpu'], cpu: 5 };
    const file = write('lobby.json', { ...lobby, minimumServiceCount: 1 });
    expect((await drover(`apply -f ${file}`)).out).toBe('lobby created\n');
    expect((await drover('scale lobby 4')).code).toBe(0);
    for (const line of ['apply', 'diff', 'apply --dry-run'])
      expect((await drover(`${line} -f ${file}`)).out).not.toMatch(/\bchanged/);
    write('lobby.json', { ...lobby, minimumServiceCount: 2, ramMB: 120 });
    expect((await drover(`apply -f ${file}`)).out).toBe('lobby changed: ramMB\n');
    expect(onMaster('lobby.json')).toMatchObject({ minimumServiceCount: 4, ramMB: 120, cpu: 5 });
    // What the file forbids gives way, and a PUT is the word of a caller.
    write('lobby.json', { ...lobby, minimumServiceCount: 2, maximumServiceCount: 3, ramMB: 120 });
    expect((await drover(`apply -f ${file}`)).out).toBe(
      'lobby changed: maximumServiceCount, minimumServiceCount\n',
    );
    await world.call('PUT /configurations/lobby', { body: { ...lobby, minimumServiceCount: 7 } });
    expect(onMaster('lobby.json')).toMatchObject({ minimumServiceCount: 7 });
  });

  it('makes the changes of one batch in order, each for itself, also several of one configuration', async () => {
    const put = (name: string, ramMB: number, more: object = {}) => ({
      ...{ do: 'put', name, content: { ...SMALL, ramMB } },
      ...more,
    });
    const changes = [
      put('a', 1, { ifNoneMatch: '*' }),
      put('b', 1),
      put('a', 2, { ifNoneMatch: '*' }),
      put('a', 3),
      { do: 'remove', name: 'b' },
      { do: 'remove', name: 'nothing' },
      put('b', 4, { ifNoneMatch: '*' }),
      put('b', 5, { ifMatch: 'older' }),
    ];
    const { json } = await world.call('POST /configurations/batch', { body: { changes } });
    expect((json as { status: number }[]).map(({ status }) => status)).toEqual([
      204, 204, 412, 204, 204, 404, 204, 412,
    ]);
    expect([onMaster('a.json'), onMaster('b.json')]).toMatchObject([{ ramMB: 3 }, { ramMB: 4 }]);
  });

  it('heals a broken file of the master, and warns of what has no effect with its line', async () => {
    const file = write('lobby.json', '{\n  "command": "run",\n  "ramMb": 5\n}');
    const warning = `warning: ${file}:3:3: ramMb: unknown field, has no effect; did you mean "ramMB"?`;
    expect((await drover(`apply -f ${file}`)).err).toEqual([warning]);
    world.commands.writeFile('lobby.json', '{');
    expect((await drover(`diff -f ${file}`)).out).toBe(
      `lobby (${file}): changed\n  the master's file is broken, and is written anew\n`,
    );
    expect((await drover(`apply -f ${file}`)).out).toBe('lobby changed: its file is written anew\n');
    expect(onMaster('lobby.json')).toMatchObject({ ramMb: 5 });
  });

  it('writes nothing with --dry-run', async () => {
    const file = write('lobby.json', SMALL);
    expect((await drover(`apply -f ${file} --dry-run`)).out).toBe('lobby created (dry run)\n');
    expect(await names()).toEqual([]);
  });

  it.each([
    [64, 'apply', "required option '-f, --filename <files...>' not specified"],
    [1, 'apply -f nothing.json', 'nothing.json cannot be read: no such file or directory (ENOENT)'],
  ])('ends with %i: %s', async (code, line, message) => {
    expect(await drover(line)).toMatchObject({ code, out: '', err: [message] });
  });

  it('says that the master is older where it cannot compare', async () => {
    const file = write('lobby.json', SMALL);
    const connection = {
      ...watched(async () => undefined),
      request: async () => ({ status: 405, headers: {}, body: { error: 'not allowed' } }),
    };
    expect((await drover(`apply -f ${file}`, { connection })).err).toEqual([
      expect.stringContaining('older than this client'),
    ]);
  });
});

describe('diff', () => {
  it('prints what would change, nothing where nothing would, and ends with 2 only when it was asked for', async () => {
    const [lobby, mail] = [write('lobby.json', SMALL), write('mail.json', SMALL)];
    await drover(`apply -f ${lobby}`);
    expect(await drover(`diff -f ${lobby} --detailed-exitcode`)).toMatchObject({ code: 0, out: '', err: [] });
    write('lobby.json', { ...SMALL, ramMB: 5 });
    const out = `lobby (${lobby}): changed\n  ramMB: 100 -> 5\nmail (${mail}): created\n`;
    expect(await drover(`diff -f ${lobby} ${mail}`)).toMatchObject({ code: 0, out, err: [] });
    expect(await drover(`diff -f ${lobby} ${mail} --detailed-exitcode`)).toMatchObject({
      code: 2,
      out,
      err: [],
    });
    expect(await drover(`diff -f ${lobby} -o json`)).toMatchObject({
      out: expect.stringContaining('"change":"changed"'),
    });
    expect(await names()).toEqual(['lobby']);
  });

  it('shows no values that look like secrets unless it is asked to, and neither does apply', async () => {
    const of = (token: string) => ({
      ...SMALL,
      environmentVariables: { TOKEN: token },
      properties: { a: token },
    });
    const file = write('lobby.json', of('hunter1'));
    await drover(`apply -f ${file}`);
    write('lobby.json', { ...of('hunter2'), environmentVariables: { TOKEN: 'hunter2', MORE: 'hunter3' } });
    const shown = ['environmentVariables.MORE: - -> "hunter3"', 'environmentVariables.TOKEN: *** -> ***'];
    const lines = [`lobby (${file}): changed`, ...shown, 'properties.a: "hunter1" -> "hunter2"'].join('\n  ');
    expect((await drover(`diff -f ${file}`)).out).toBe(`${lines}\n`);
    for (const line of [`diff -f ${file} -o json`, `apply --dry-run -f ${file} -o json`]) {
      expect((await drover(line)).out).toMatch(/TOKEN\W+before\W+\*\*\*\W+after\W+\*\*\*/);
      expect((await drover(`${line} --show-values`)).out).toMatch(/TOKEN\W+before\W+hunter1/);
    }
    const planner = await world.call('POST /keys', { body: { label: 'p', scope: 'PLAN' } });
    const connection = connectionTo(world.url, (planner.json as { token: string }).token);
    for (const line of [`diff -f ${file}`, `plan -f ${file} --show-values`])
      expect((await drover(line, { connection })).out).not.toContain('hunter');
  });

  it('is no change where it fails', async () => {
    const file = write('lobby.json', '{');
    expect((await drover(`diff -f ${file} --detailed-exitcode`)).code).toBe(1);
    const reader = await world.call('POST /keys', { body: { label: 'r', scope: 'READ' } });
    const { token } = reader.json as { token: string };
    const connection = connectionTo(world.url, token);
    write('lobby.json', SMALL);
    expect((await drover(`diff -f ${file} --detailed-exitcode`, { connection })).code).toBe(4);
  });
});

describe('validate', () => {
  it('says where each fault is, and warns, without a master', async () => {
    write('conf/a.json', '{\n  "command": "run %PORT%"\n}');
    write('conf/b.json', '{ "command": "run", }');
    write('conf/c.json', { name: 'a', command: 'run' });
    const conf = join(home.path, 'conf');
    expect(await runInProcess(['validate', '-f', conf])).toMatchObject({
      code: 1,
      out:
        `${conf}/b.json:1:19: not valid JSON: no comma is allowed before "}"\n` +
        `${conf}/c.json: name: "a" is the name of another one in ${conf}/a.json\n` +
        `warning: ${conf}/a.json:2:14: command: %PORT% stays as it is: without availablePorts the instance has no port\n`,
      err: ['1 of 3 configurations are valid'],
    });
    const { out } = await runInProcess(['validate', '-f', conf, '-o', 'json']);
    expect(JSON.parse(out)).toMatchObject({
      valid: [{ name: 'a', file: `${conf}/a.json` }],
      errors: [{ line: 1, column: 19 }, { field: 'name' }],
      warnings: [{ name: 'a', line: 2, column: 14, field: 'command' }],
    });
  });

  it('refuses those that wait for themselves, over each other too', async () => {
    const waits = (name: string, configuration: string) =>
      write(`${name}.json`, { command: 'run', waitsFor: [{ configuration }] });
    const files = [waits('a', 'b'), waits('b', 'a'), waits('c', 'elsewhere')];
    expect(await runInProcess(['validate', ...files])).toMatchObject({
      code: 1,
      out: expect.stringMatching(
        /a\.json: waitsFor: goes in a circle: a -> b -> a.*\n.*b\.json: .*b -> a -> b/,
      ),
      err: ['1 of 3 configurations are valid'],
    });
  });

  it('takes unknown fields for errors with --strict, as plan and apply do, and files without -f', async () => {
    const good = write('good.json', { $schema: 'x', command: 'run' });
    const bad = write(
      'bad.json',
      '{\n  "command": "run %X%",\n  "minServiceCount": 1,\n  "availablePorts": {"min": 1, "max": 2, "mx": 3}\n}',
    );
    expect(await runInProcess(['validate', good, '--strict'])).toMatchObject({ code: 0 });
    expect(await runInProcess(['validate', good, bad])).toMatchObject({ code: 0 });
    const fault = expect.stringMatching(
      /bad\.json:3:3: minServiceCount: unknown field.*; availablePorts\.mx: unknown field/,
    );
    expect(await runInProcess(['validate', '--strict', good, '-f', bad])).toMatchObject({
      code: 1,
      out: fault,
    });
    expect(await drover(`apply --strict -f ${good} ${bad}`)).toMatchObject({
      code: 1,
      out: '',
      err: [fault, expect.stringMatching(/^nothing was/)],
    });
    // A plan shows the others, but not what would go with --prune: what the broken one says is not known.
    expect(await drover(`plan --strict -f ${good} ${bad}`)).toMatchObject({
      code: 1,
      out: expect.stringMatching(/^\+ good: create\n/),
      err: [fault, '1 file not valid, and not in the plan'],
    });
    expect(await drover(`plan --strict --prune -f ${good} ${bad}`)).toMatchObject({ code: 1, out: '' });
    expect(await names()).toEqual([]);
    expect((await runInProcess(['validate'])).code).toBe(64);
  });

  it('places faults of standard input at their line', async () => {
    const input =
      '{"name": "a", "command": "run"}\n\n{"name": "b", "command": "run",\n "ramMB": 0}\n{"command": "x"}';
    expect((await runInProcess(['validate', '-f', '-'], { input })).out).toBe(
      'stdin:4:11: ramMB: must be a whole number from 1 to 16777216, is 0\n' +
        'stdin:5:1: name: must be a text, is missing\n',
    );
    expect((await runInProcess(['validate', '-f', '-'], { input: '[{"name": "a"}, ]' })).out).toMatch(
      /^stdin:1:15: not valid JSON: no comma is allowed before "\]"\n/,
    );
  });

  it('takes a name from NAME.json only', async () => {
    const file = write('lobby.conf', { command: 'run' });
    expect((await runInProcess(['validate', '-f', file])).out).toMatch(/name: is missing/);
    expect(await runInProcess(['validate', '-f', write('lobby.json', { command: 'run' })])).toMatchObject({
      code: 0,
      out: '1 of 1 configuration is valid\n',
    });
  });
});

describe('delete -f', () => {
  it('asks, deletes what the files name, and says what is not there', async () => {
    const files = `${write('lobby.json', SMALL)} ${write('mail.json', SMALL)}`;
    await drover(`apply -f ${files}`);
    const no = await drover(`delete -f ${files}`, { says: 'n' });
    expect(no).toMatchObject({ code: 1, out: '', err: ['nothing was done'] });
    expect(no.questions).toEqual([
      expect.stringMatching(
        /^Cluster test \(prod, http.*\): configurations lobby, mail are deleted; instances stay, unless their onDelete is "stop"\. Go on\? /,
      ),
    ]);
    await world.call('DELETE /configurations/mail');
    expect(await drover(`delete -f ${files} --yes`)).toMatchObject({
      code: 3,
      out: 'lobby deleted\nmail is not there\n',
      err: ['1 of 2 configurations were not deleted'],
    });
    expect(await drover(`delete -f ${files} --yes --ignore-not-found`)).toMatchObject({ code: 0, err: [] });
    expect((await drover(`delete -f ${files}`)).code).toBe(64);
  });

  it('stands beside the kinds that can be deleted by name', async () => {
    await world.commands.configure('lobby');
    expect((await drover('delete config lobby -y -o json')).out).toBe(
      '{\n  "message": "configuration lobby is deleted; its instances stay, unless their onDelete is \\"stop\\"",\n  "name": "lobby"\n}\n',
    );
    expect((await drover('delete pod lobby')).err).toEqual([
      expect.stringMatching(/^there is no kind "pod" to delete: there are instance, config, /),
    ]);
    expect((await drover('delete')).code).toBe(64);
  });
});

describe('scale', () => {
  it('sets the minimum and leaves the rest of the file as it is', async () => {
    world.commands.writeFile('lobby.json', '{"$schema": "x", "minimumServiceCount": 0, "command": "run"}');
    await world.commands.files.reload();
    expect((await drover('scale lobby 3')).out).toBe('lobby: minimumServiceCount 0 -> 3\n');
    expect(onMaster('lobby.json')).toEqual({ $schema: 'x', minimumServiceCount: 3, command: 'run' });
    expect((await drover('config scale lobby 0')).out).toBe(
      'lobby: minimumServiceCount 3 -> 0; instances above it stay until they are deleted ("config scale --remove" ends them)\n',
    );
    expect((await drover('scale nothing 3')).code).toBe(3);
    expect((await drover('scale lobby -- -1')).code).toBe(64);
  });

  it('is a conflict when the configuration is changed meanwhile', async () => {
    await world.commands.configure('lobby');
    const connection = watched(async (asked) => {
      if (asked.startsWith('PUT')) await world.commands.configure('lobby', { ramMB: 7 });
    });
    expect(await drover('scale lobby 3', { connection })).toMatchObject({ code: 5, out: '' });
    expect(onMaster('lobby.json')).toMatchObject({ ramMB: 7, minimumServiceCount: 0 });
  });
});
