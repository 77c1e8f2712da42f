/** The example extension, as it is shipped. */
import { cpSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { followEvents } from '../../../src/extensions/node-events.js';
import { instanceRecord, instanceStatus } from '../../support/api/api-world.js';
import { REPOSITORY } from '../../support/repository-root.js';
import { ExtensionWorld } from '../../support/templates/extension-world.js';
import { forever, readTree, writeTree } from '../../support/templates/template-trees.js';
import { until } from '../../support/until.js';

const EXAMPLE = join(REPOSITORY, 'manifests/extensions/shared-folder');

let world: ExtensionWorld;
let folder: string;

beforeEach(() => {
  world = new ExtensionWorld();
  folder = join(world.root, 'share');
  cpSync(EXAMPLE, join(world.directory, 'shared-folder'), { recursive: true });
  writeTree(join(folder, 'world/lobby'), { 'a.txt': 'one', '*run.sh': '#!/bin/sh' });
});

afterEach(() => world.stop());

describe('the example extension', () => {
  it('is active with the settings of its README, and adds what that says', async () => {
    world.write('shared-folder/config.json', { folder, greeting: 'Welcome' });
    await world.start();
    expect(world.status('shared-folder')).toMatchObject({
      name: 'Shared folder',
      version: '1.0.0',
      state: 'active',
      error: null,
      adds: ['storage folder', 'variable %GREETING%', 'command changes', 'event listener'],
    });
  });

  it('gives templates of the folder, with another version when a file changes', async () => {
    world.write('shared-folder/config.json', { folder });
    const provider = (await world.start()).storages.get('folder');
    const version = async (): Promise<string | null | undefined> =>
      provider?.version('world', 'lobby', forever);
    const first = await version();
    expect(first).toMatch(/^[0-9a-f]{64}$/);
    expect(await version()).toBe(first);
    expect(await provider?.version('world', 'none', forever)).toBeNull();
    writeTree(join(folder, 'world/lobby'), { 'b.txt': 'two' });
    expect(await version()).not.toBe(first);
    const copy = join(world.root, 'copy');
    await provider?.download('world', 'lobby', copy, forever);
    expect(await readTree(copy)).toEqual({ 'a.txt': 'one', 'b.txt': 'two', '*run.sh': '#!/bin/sh' });
    // Whatever a link leads to is not taken along; who checks the tree refuses it.
    symlinkSync('/etc/hostname', join(folder, 'world/lobby/link'));
    const linked = join(world.root, 'linked');
    await provider?.download('world', 'lobby', linked, forever);
    expect(await readTree(linked)).toMatchObject({ link: '-> /etc/hostname' });
  });

  it('counts state changes for its command, and its variable greets', async () => {
    world.write('shared-folder/config.json', { folder, greeting: 'Hello' });
    const registry = await world.start();
    const instance = { instanceId: 'abc123', configurationName: 'lobby', port: 1 };
    expect(registry.variables(instance).get('GREETING')).toBe('Hello to lobby');
    const silent = { onChange: () => () => undefined };
    let change: Parameters<Parameters<typeof followEvents>[0]['instances']['onChange']>[0] | undefined;
    registry.follow(
      {
        configurations: silent,
        nodes: silent,
        instances: {
          onChange: (listener) => {
            change = listener;
            return () => undefined;
          },
        },
      },
      () => true,
    );
    const before = { value: instanceRecord({ id: 'abc123', configurationName: 'lobby' }), revision: 1 };
    const after = { value: { ...before.value, status: instanceStatus('OFFLINE') }, revision: 2 };
    change?.('abc123', after, before);
    await until(() =>
      expect(world.log).toContain('warn: extension shared-folder: abc123 of lobby went down'),
    );
    const printed: string[] = [];
    await registry.commands()[0]?.run([], { print: (line) => printed.push(line), signal: forever });
    expect(printed).toEqual(['lobby 1']);
  });

  it.each([
    [undefined, 'config.json: folder must be an absolute path'],
    [{ folder: 'relative' }, 'config.json: folder must be an absolute path'],
    [{ folder: '/', greeting: 5 }, 'config.json: greeting must be a text'],
  ])('says what is wrong with the settings %j', async (settings, message) => {
    if (settings !== undefined) world.write('shared-folder/config.json', settings);
    await world.start();
    expect(world.status('shared-folder')).toMatchObject({ state: 'failed', error: message });
  });
});
