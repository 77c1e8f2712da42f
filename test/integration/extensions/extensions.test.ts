/** Extensions from files on disk: what they add, and that nothing they do wrong reaches beyond themselves. */
import { chmodSync, chownSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { COMMAND_PATHS } from '../../../src/command-tree/commands.js';
import { messageOf } from '../../../src/model/errors.js';
import { FakeClock } from '../../support/fake-clock.js';
import { ExtensionWorld } from '../../support/templates/extension-world.js';
import { forever } from '../../support/templates/template-trees.js';
import { until } from '../../support/until.js';

let world: ExtensionWorld;

beforeEach(() => {
  world = new ExtensionWorld();
});

afterEach(() => world.stop());

/** Ids with their states and what is wrong, without Drover's own that nobody configured. */
function states(): string[] {
  return (world.registry?.list() ?? [])
    .filter(({ state }) => state !== 'inactive')
    .map(({ id, state, error }) => (error === null ? `${id} ${state}` : `${id} ${state}: ${error}`));
}

describe('the registry of extensions', () => {
  it('loads an ES module and holds everything that it adds', async () => {
    world.write('all/package.json', {
      version: '1.2.3',
      description: 'from the package',
      exports: './main.mjs',
    });
    world.write(
      'all/main.mjs',
      `export default {
        name: 'Everything',
        activate(context) {
          context.registerStorage('main', { version: async () => '1', download: async () => {} });
          context.registerVariable('GREETING', ({ instanceId }) => 'hello ' + instanceId);
          context.registerCommand({ name: 'greet', usage: '<name>', description: 'says hello',
            run: ([name], io) => io.print('hello ' + name + ' from ' + context.nodeId) });
          context.on(() => {});
          context.log.info('ready with ' + JSON.stringify(context.settings));
        },
      };`,
    );
    world.write('all/config.json', { colour: 'red' });
    const registry = await world.start();
    expect(world.status('all')).toEqual({
      id: 'all',
      name: 'Everything',
      version: '1.2.3',
      description: 'from the package',
      state: 'active',
      error: null,
      adds: ['storage main', 'variable %GREETING%', 'command greet', 'event listener'],
    });
    expect(world.log).toContain('info: extension all: ready with {"colour":"red"}');
    expect(registry.storages.keys()).toEqual(['main']);
    expect(await registry.storages.get('main')?.version('a', 'b', forever)).toBe('1');
    const instance = { instanceId: 'abc123', configurationName: 'lobby', port: null };
    expect([...registry.variables(instance)]).toEqual([['GREETING', 'hello abc123']]);
    const printed: string[] = [];
    const [command] = registry.commands();
    expect(command).toMatchObject({ name: 'greet', usage: '<name>', description: 'says hello' });
    await command?.run(['Ada'], { print: (line) => printed.push(line), signal: forever });
    expect(printed).toEqual(['hello Ada from node-a']);
  });

  it.each([
    ['index.js', 'export default { activate() {} };'],
    ['index.mjs', 'export default { activate() {} };'],
    ['index.js', 'module.exports = { activate() {} };'],
    ['index.js', 'export default new (class { #x = 1; activate() { this.#x++; } })();'],
  ])('loads %s: %s', async (file, text) => {
    world.write(`one/${file}`, text);
    await world.start();
    expect(states()).toEqual(['one active']);
  });

  it.each<[string, Record<string, string>, string]>([
    ['has no module', { 'x/notes.txt': '' }, 'there is no index.js, no index.mjs and no package.json'],
    [
      'names a file that is not there',
      { 'x/package.json': '{"main":"lib/a.js"}' },
      'lib/a.js, which is not a file',
    ],
    ['names a file outside', { 'x/package.json': '{"main":"../../y.js"}' }, 'outside of the folder'],
    ['throws while it is loaded', { 'x/index.js': "throw new Error('bad day');" }, 'bad day'],
    ['has no default export', { 'x/index.js': 'export const a = 1;' }, 'no default export that is an object'],
    ['has no activate', { 'x/index.js': 'export default { name: "x" };' }, 'no valid activate'],
    [
      'has a wrong deactivate',
      { 'x/index.js': 'export default { activate() {}, deactivate: 1 };' },
      'no valid deactivate',
    ],
    [
      'has settings that are not JSON',
      { 'x/index.js': 'export default { activate() {} };', 'x/config.json': '{' },
      'config.json:1:2: not valid JSON',
    ],
    [
      'imports what is not there',
      { 'x/index.js': "import '../none.js'; export default { activate() {} };" },
      'none.js',
    ],
  ])('reports one that %s, and loads the others', async (_what, files, message) => {
    for (const [path, text] of Object.entries(files)) world.write(path, text);
    world.extension('y', '');
    await world.start();
    expect(states()).toEqual([expect.stringContaining(`x failed: `), 'y active']);
    expect(world.status('x')?.error).toContain(message);
    expect(world.log).toContain(`error: extension x is not used: ${world.status('x')?.error}`);
  });

  it.each([
    [
      'a message that throws',
      "Object.defineProperty(new Error(), 'message', { get() { throw new Error('no'); } })",
    ],
    [
      'a code that throws',
      "Object.defineProperty(new Error(), 'code', { get() { throw new Error('no'); } })",
    ],
    ['no text at all', 'Object.create(null)'],
    [
      'a Proxy of traps',
      "new Proxy({}, { get() { throw new Error('no'); }, getPrototypeOf() { throw 1; } })",
    ],
  ])('reports one that throws %s', async (_what, thrown) => {
    world.write('x/index.js', `throw ${thrown};`);
    world.extension(
      'y',
      `context.registerCommand({ name: 'do', description: '', run() { throw ${thrown}; } });`,
    );
    const registry = await world.start();
    // The loader of Node may read what is thrown, and pass on what that throws.
    const text = /^(an error whose text cannot be read|no)?$/;
    expect(states()).toEqual([expect.stringMatching('x failed: '), 'y active']);
    expect(world.status('x')?.error).toMatch(text);
    const io = { print: () => undefined, signal: new AbortController().signal };
    const error: unknown = await registry
      .commands()[0]
      ?.run([], io)
      ?.catch((said: unknown) => said);
    expect(messageOf(error)).toMatch(text);
  });

  it('refuses the words of every command of Drover', async () => {
    for (const path of COMMAND_PATHS) {
      const [word = ''] = path.split(' ');
      world.extension(word, `context.registerCommand({ name: '${word}', description: '', run() {} });`);
    }
    await world.start();
    for (const { id, error } of world.registry?.list() ?? [])
      if (id !== 'http' && id !== 's3') expect(error).toBe(`command "${id}" is one of Drover's own`);
  });

  it('reports a syntax error', async () => {
    world.write('x/index.mjs', 'export default {{{');
    await world.start();
    expect(states()).toEqual([expect.stringMatching(/^x failed: ./)]);
  });

  it('takes back everything that one had added before it failed', async () => {
    world.extension('a', "context.registerVariable('V', () => 'a'); throw new Error('no licence');");
    world.extension('b', "context.registerVariable('V', () => 'b');");
    const registry = await world.start();
    expect(states()).toEqual(['a failed: no licence', 'b active']);
    const instance = { instanceId: 'abc123', configurationName: 'lobby', port: null };
    expect([...registry.variables(instance)]).toEqual([['V', 'b']]);
  });

  it('does not wait for one that hangs, and refuses what it registers later', async () => {
    const begun: string[] = [];
    Reflect.set(globalThis, 'droverTestBegun', begun);
    world.extension(
      'slow',
      `globalThis.droverTestLate = new Promise((resolve) => context.signal.addEventListener('abort', () => {
        try { context.registerVariable('LATE', () => ''); resolve('registered'); } catch (error) { resolve(error.message); }
      }));
      globalThis.droverTestBegun.push('slow');
      await new Promise(() => {});`,
    );
    world.write(
      'wait/index.js',
      `globalThis.droverTestBegun.push('wait');
      await new Promise((resolve) => (globalThis.droverTestGo = resolve));
      export default { activate() { globalThis.droverTestBegun.push('too late'); } };`,
    );
    const clock = new FakeClock();
    const starting = world.start({ clock });
    await until(() => expect(begun).toEqual(['slow']));
    await clock.advance(10_000);
    await until(() => expect(begun).toEqual(['slow', 'wait']));
    await clock.advance(10_000);
    await starting;
    expect(states()).toEqual([
      'slow failed: it did not start within 10 s',
      'wait failed: it did not start within 10 s',
    ]);
    expect(await Reflect.get(globalThis, 'droverTestLate')).toBe(
      'register... and on may be called until activate has ended, not later',
    );
    Reflect.get(globalThis, 'droverTestGo')();
    await clock.settle();
    expect(begun).toEqual(['slow', 'wait']);
  });

  it.each([
    ["context.registerVariable('PORT', () => '')", 'variable "PORT" is one of Drover\'s own'],
    ["context.registerVariable('A B', () => '')", 'variable "A B" is no name that a variable can have'],
    ["context.registerVariable('A')", 'variable A has no function for its value'],
    [
      "context.registerCommand({ name: 'stop', description: '', run() {} })",
      'command "stop" is one of Drover\'s own',
    ],
    ["context.registerCommand({ name: 'A', description: '', run() {} })", 'command "A" is not one word'],
    ["context.registerCommand({ name: 'a' })", 'a command needs name, description and run()'],
    [
      "context.registerStorage('local', { version() {}, download() {} })",
      'storage "local" is the master\'s own',
    ],
    ["context.registerStorage('../x', { version() {}, download() {} })", 'storage "../x" is no valid name'],
    ["context.registerStorage('x', { version() {} })", 'storage x lacks version() or download()'],
    ["context.registerRuntime({ key: 'x', start() {} })", 'a runtime lacks probe, adopt, list'],
    ['context.on(1)', 'on() needs a function'],
    ["context.openInstanceLog('../../x')", '../../x is no instance id'],
  ])('refuses %s', async (code, message) => {
    world.extension('x', code);
    await world.start();
    expect(states()).toEqual([expect.stringContaining(`x failed: ${message}`)]);
  });

  it.each([
    ['storage "k"', "context.registerStorage('k', { version() {}, download() {} })"],
    ['command "k"', "context.registerCommand({ name: 'k', description: '', run() {} })"],
    ['variable "k"', "context.registerVariable('k', () => '')"],
  ])('gives %s to the first that asks', async (what, code) => {
    world.extension('a', code);
    world.extension('b', code);
    await world.start();
    expect(states()).toEqual(['a active', `b failed: ${what} is taken by extension a`]);
  });

  it('keeps an id of its own', async () => {
    world.extension('s3', '');
    world.write('s3/config.json', { storages: {} });
    await world.start();
    expect(states()).toEqual([
      's3 active',
      "s3 failed: s3 is one of Drover's own; put this module into a folder of another name",
    ]);
  });

  it('refuses a name that no extension can have, and leaves files and hidden folders alone', async () => {
    world.extension('bad name', '');
    world.extension('.hidden', 'throw 1');
    world.write('README.md', 'mine');
    await world.start();
    expect(states()).toEqual([expect.stringMatching(/^bad name failed: the folder's name must start with/)]);
  });

  it("shows Drover's own while nobody has configured them", async () => {
    await world.start();
    expect(world.registry?.list().map(({ id, state, adds }) => ({ id, state, adds }))).toEqual([
      { id: 'http', state: 'inactive', adds: [] },
      { id: 's3', state: 'inactive', adds: [] },
    ]);
  });

  it('ends them with the node, bounded in time, and whatever they throw', async () => {
    world.extension(
      'a',
      'context.signal.addEventListener("abort", () => context.log.info("aborted"));',
      'deactivate() { throw new Error("not now"); }',
    );
    world.extension('b', 'this.log = context.log;', 'deactivate() { this.log.info("ended"); }');
    const registry = await world.start();
    await registry.stop();
    await registry.stop();
    expect(world.log.slice(-3).toSorted()).toEqual([
      'error: extension a: not now',
      'info: extension a: aborted',
      'info: extension b: ended',
    ]);
  });
});

describe('the files of extensions', () => {
  it('may be reached through a link', async () => {
    mkdirSync(join(world.root, 'elsewhere'));
    world.write('../elsewhere/index.js', 'export default { activate() {} };');
    symlinkSync(join(world.root, 'elsewhere'), join(world.directory, 'linked'));
    symlinkSync(join(world.root, 'none'), join(world.directory, 'broken'));
    await world.start();
    expect(states()).toEqual([
      expect.stringContaining('broken failed: the folder cannot be read'),
      'linked active',
    ]);
  });

  it('are refused when every user can write them', async () => {
    world.extension('a', '');
    world.extension('b', '');
    chmodSync(join(world.directory, 'a'), 0o777);
    chmodSync(join(world.directory, 'b/index.js'), 0o666);
    await world.start();
    expect(states()).toEqual([
      'a failed: the folder can be written by every user; run chmod o-w on it',
      'b failed: index.js can be written by every user; run chmod o-w on it',
    ]);
  });

  it('are all refused when every user can put one there', async () => {
    world.extension('a', '');
    world.write('s3/config.json', { storages: {} });
    chmodSync(world.directory, 0o777);
    await world.start();
    expect(states()).toEqual([]);
    expect(world.log).toEqual([
      'error: no extension is used: extensions/ can be written by every user; run chmod o-w on it',
    ]);
  });

  it.runIf(process.getuid?.() === 0)('are refused when they belong to another user', async () => {
    world.extension('a', '');
    chownSync(join(world.directory, 'a/index.js'), 65_534, 65_534);
    await world.start();
    expect(states()).toEqual([expect.stringContaining('a failed: index.js belongs to user 65534')]);
  });

  it('hold secrets only where nobody else reads them', async () => {
    world.extension('a', '');
    world.extension('b', '');
    world.extension('c', '');
    world.write('a/config.json', { hook: { token: 'tok-1234' } }, 0o644);
    world.write('b/config.json', { hook: { token: 'tok-1234' } }, 0o600);
    world.write('c/config.json', { hook: { colour: 'red' } }, 0o644);
    await world.start();
    expect(states()).toEqual([
      'a failed: config.json holds a secret (hook.token) and has mode 644: other users can read it; run chmod 600 on it',
      'b active',
      'c active',
    ]);
  });

  it('never show their secrets in the log, in errors or in the list', async () => {
    const settings = {
      password: 'hunter22',
      url: 'https://ada:pass-word@host.test/x?signature=sig-12345',
      nested: [{ apiKey: 'key-9876' }],
    };
    world.write('a/config.json', settings);
    world.extension(
      'a',
      `const all = JSON.stringify(context.settings);
      context.log.warn('log ' + all);
      context.registerVariable('V', () => { throw new Error('variable ' + all); });
      context.registerCommand({ name: 'c', description: '', run: () => { throw new Error('command ' + all); } });
      context.registerStorage('s', { version: () => { throw new Error('storage ' + all); }, download() {} });`,
    );
    world.write('b/config.json', settings);
    world.extension('b', 'throw new Error(JSON.stringify(context.settings));');
    const registry = await world.start();
    registry.variables({ instanceId: 'abc123', configurationName: 'lobby', port: 1 });
    const said = [world.rawLog, JSON.stringify(registry.list())];
    const io = { print: () => {}, signal: forever };
    said.push(await Promise.resolve(registry.commands()[0]?.run([], io)).then(String, String));
    said.push(
      await Promise.resolve(registry.storages.get('s')?.version('a', 'b', forever)).then(String, String),
    );
    expect(said.slice(2)).toEqual([
      expect.stringMatching(/^Error: command \{/),
      expect.stringMatching(/^Error: storage \{/),
    ]);
    for (const text of said)
      for (const secret of ['hunter22', 'pass-word', 'sig-12345', 'key-9876'])
        expect(text).not.toContain(secret);
    expect(world.status('b')?.error).toContain('***');
  });

  it('never say where things lie on the machine: what they throw reaches clients of the API', async () => {
    world.extension(
      'a',
      `const { readFile } = await import('node:fs/promises');
      const read = () => readFile(context.dataDirectory + '/none.txt');
      context.registerCommand({ name: 'c', description: '', run: read });
      context.registerRuntime({ key: 'r', probe: read, ...Object.fromEntries(
        'start adopt list signal isAlive isGroupGone write acknowledge onExit onLost release'
          .split(' ').map((name) => [name, read])) });`,
    );
    world.extension('b', "await (await import('node:fs/promises')).stat('/etc/b.conf.d/none.conf');");
    const registry = await world.start();
    expect(world.status('b')?.error).toBe("ENOENT: no such file or directory, stat 'none.conf'");
    const io = { print: () => {}, signal: forever };
    await expect(registry.commands()[0]?.run([], io)).rejects.toThrow(/open 'none\.txt'$/);
    const [runtime] = registry.runtimes();
    expect(await runtime?.probe()).toMatchObject({ reason: expect.stringMatching(/open 'none\.txt'$/) });
    await expect(runtime?.adopt()).rejects.toThrow(/open 'none\.txt'$/);
  });
});

describe('what extensions add', () => {
  it('is left out where a variable has no value, and the log says so once', async () => {
    world.extension(
      'a',
      `context.registerVariable('GOOD', () => 'x');
      context.registerVariable('THROWS', () => { throw new Error('no idea'); });
      context.registerVariable('NUMBER', () => 5);`,
    );
    const registry = await world.start();
    const instance = { instanceId: 'abc123', configurationName: 'lobby', port: null };
    for (let round = 0; round < 3; round++)
      expect([...registry.variables(instance)]).toEqual([['GOOD', 'x']]);
    expect(world.log.filter((line) => line.startsWith('warn'))).toEqual([
      'warn: %THROWS% of an extension has no value for abc123 and stays as it is: no idea',
      expect.stringContaining(
        'warn: %NUMBER% of an extension has no value for abc123 and stays as it is: the value',
      ),
    ]);
  });

  it('may be the output of an instance', async () => {
    world.extension(
      'a',
      `const log = context.openInstanceLog('abc123');
      log.write(Buffer.from('hello\\nworld\\n'));
      log.close();`,
    );
    await world.start();
    expect(states()).toEqual(['a active']);
    expect(readFileSync(join(world.instanceLogs, 'abc123', '000000000001.log'), 'utf8')).toBe(
      'hello\nworld\n',
    );
  });

  it('is kept in a directory of its own', async () => {
    world.extension('a', "(await import('node:fs')).writeFileSync(context.dataDirectory + '/seen', '1');");
    await world.start();
    await until(() => expect(readFileSync(join(world.root, 'data/a/seen'), 'utf8')).toBe('1'));
  });
});
