import { chmodSync, lstatSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ContextFile, contextsPathOf } from '../../../src/client/contexts/context-file.js';
import { TemporaryHome } from '../../support/client/temporary-home.js';

let home: TemporaryHome;
beforeEach(() => {
  home = new TemporaryHome();
});
afterEach(() => home.remove());

const add = (file: ContextFile, name: string): Promise<void> =>
  file.change(({ current, contexts }) => ({
    current: current ?? name,
    contexts: new Map(contexts).set(name, { url: `http://${name}` }),
  }));

describe('the place of the contexts', () => {
  it.each([
    [{ HOME: '/h', XDG_CONFIG_HOME: '/x' }, '/x/drover/contexts.json'],
    [{ HOME: '/h' }, '/h/.config/drover/contexts.json'],
    [{ HOME: '/h', XDG_CONFIG_HOME: '' }, '/h/.config/drover/contexts.json'],
    [{ HOME: '/h', XDG_CONFIG_HOME: 'relative' }, '/h/.config/drover/contexts.json'],
    [{ HOME: '' }, undefined],
    [{}, undefined],
  ])('of %j is %s', (environment, path) => {
    expect(contextsPathOf(environment)).toBe(path);
  });

  it('is missed only when something is to be kept', async () => {
    const file = new ContextFile({});
    expect(await file.read()).toEqual({ current: null, contexts: new Map() });
    await expect(add(file, 'one')).rejects.toMatchObject({
      exitCode: 64,
      message: expect.stringContaining('set HOME or XDG_CONFIG_HOME'),
    });
  });
});

describe('the file of contexts', () => {
  it('is made for its user alone, whatever the umask', async () => {
    const before = process.umask(0);
    try {
      await add(new ContextFile(home.environment), 'one');
    } finally {
      process.umask(before);
    }
    expect(statSync(home.contextsPath).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(home.contextsPath)).mode & 0o777).toBe(0o700);
  });

  it.each([0o644, 0o640, 0o604, 0o660])(
    'is refused with mode %o, by readers and writers, and stays',
    async (mode) => {
      home.writeContexts({ contexts: { one: { url: 'http://one' } } });
      chmodSync(home.contextsPath, mode);
      const file = new ContextFile(home.environment);
      const refusal = {
        exitCode: 1,
        message: `the file of contexts ${home.contextsPath} has mode ${mode.toString(8)} and is open to other users; run: chmod 600 ${home.contextsPath}`,
      };
      await expect(file.read()).rejects.toMatchObject(refusal);
      await expect(add(file, 'two')).rejects.toMatchObject(refusal);
      expect(home.readContexts()).toEqual({ contexts: { one: { url: 'http://one' } } });
    },
  );

  it('keeps what it does not know', async () => {
    const one = { url: 'http://one', colour: 'red' };
    home.writeContexts({ format: 2, contexts: { one }, current: 'one' });
    await add(new ContextFile(home.environment), 'two');
    expect(home.readContexts()).toEqual({
      format: 2,
      current: 'one',
      contexts: { one, two: { url: 'http://two' } },
    });
  });

  it('loses nothing to writers at the same time', async () => {
    const names = Array.from({ length: 6 }, (_, index) => `c${index}`);
    await Promise.all(names.map((name) => add(new ContextFile(home.environment), name)));
    const { contexts } = await new ContextFile(home.environment).read();
    expect([...contexts.keys()].toSorted()).toEqual(names.toSorted());
    expect(readdirSync(dirname(home.contextsPath)).toSorted()).toEqual([
      'contexts.json',
      'contexts.json.lock',
    ]);
  });

  it('stays as it was when a change is refused', async () => {
    const file = new ContextFile(home.environment);
    await add(file, 'one');
    const before = home.readContexts();
    await expect(
      file.change(() => {
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
    expect(home.readContexts()).toEqual(before);
  });

  it('says in one line when its lock cannot be made', async () => {
    const file = new ContextFile(home.environment);
    await add(file, 'one');
    rmSync(`${file.path}.lock`);
    mkdirSync(`${file.path}.lock`);
    await expect(add(file, 'two')).rejects.toMatchObject({
      exitCode: 1,
      message: expect.stringContaining('contexts.json.lock cannot be written: '),
    });
  });

  it('may be a link, as keepers of configuration make them', async () => {
    home.write('kept/contexts.json', '{}');
    mkdirSync(dirname(home.contextsPath), { recursive: true });
    symlinkSync(join(home.path, 'kept/contexts.json'), home.contextsPath);
    await add(new ContextFile(home.environment), 'one');
    expect(lstatSync(home.contextsPath).isSymbolicLink()).toBe(true);
    expect(home.readContexts()).toMatchObject({ contexts: { one: { url: 'http://one' } } });
  });

  it('says where it is damaged without repeating any of it', async () => {
    home.write('.config/drover/contexts.json', '{\n "key": "drv_secretsecret",\n x\n}');
    const failure = await new ContextFile(home.environment).read().catch((error: unknown) => error);
    expect(String(failure)).toMatch(/is not valid JSON/);
    expect(String(failure)).not.toContain('drv_');
  });

  it.each(['[]', '7', '{"contexts": []}'])('says that %s is no file of contexts', async (text) => {
    home.write('.config/drover/contexts.json', text);
    await expect(new ContextFile(home.environment).read()).rejects.toMatchObject({ exitCode: 1 });
  });
});
