/**
 * An example extension: a storage that takes templates from a folder, and one of everything else that an extension
 * can add. It needs no package. Its types are in a checkout of Drover, which an editor needs to check them; a package of
 * Drover has none. In your own extension write the path of your checkout.
 */
import { createHash } from 'node:crypto';
import { cp, lstat, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** @typedef {import('../../../src/extensions/extension.ts').StorageProvider} StorageProvider */

/** Checks what an operator wrote. @param {any} settings @returns {{ folder: string, greeting: string }} */
function check(settings) {
  const { folder, greeting = 'Welcome' } = settings ?? {};
  if (typeof folder !== 'string' || !folder.startsWith('/'))
    throw new Error('config.json: folder must be an absolute path');
  if (typeof greeting !== 'string') throw new Error('config.json: greeting must be a text');
  return { folder, greeting };
}

/** Templates lie in `<folder>/<group>/<name>/`. @param {string} folder @returns {StorageProvider} */
function folderStorage(folder) {
  return {
    /** Changes with the path, size or time of any file. */
    async version(group, name, signal) {
      const template = join(folder, group, name);
      const paths = await readdir(template, { recursive: true }).catch((error) => {
        if (error.code === 'ENOENT') return null;
        throw new Error(`the folder cannot be read (${error.code})`);
      });
      if (paths === null) return null;
      const hash = createHash('sha256');
      for (const path of paths.sort()) {
        signal.throwIfAborted();
        const { size, mtimeMs, mode } = await lstat(join(template, path));
        hash.update(JSON.stringify([path, size, mtimeMs, mode]));
      }
      return hash.digest('hex');
    },

    /** Drover checks what was copied: a link in it, for example, is refused. */
    async download(group, name, directory) {
      await cp(join(folder, group, name), directory, { recursive: true, verbatimSymlinks: true });
    },
  };
}

/** @type {import('../../../src/extensions/extension.ts').Extension} */
export default {
  name: 'Shared folder',

  async activate(context) {
    const { folder, greeting } = check(context.settings);
    if (!(await stat(folder)).isDirectory()) throw new Error(`${folder} is not a folder`);

    context.registerStorage('folder', folderStorage(folder));

    context.registerVariable('GREETING', ({ configurationName }) => `${greeting} to ${configurationName}`);

    /** @type {Map<string, number>} */
    const changes = new Map();
    context.on((event) => {
      if (event.type !== 'instance-state') return;
      const { configurationName, instanceId, to } = event;
      changes.set(configurationName, (changes.get(configurationName) ?? 0) + 1);
      if (to === 'OFFLINE') context.log.warn(`${instanceId} of ${configurationName} went down`);
    });

    context.registerCommand({
      name: 'changes',
      usage: '[configuration]',
      description: 'how often instances changed their state since the start',
      run([wanted], io) {
        for (const [name, count] of changes)
          if (wanted === undefined || wanted === name) io.print(`${name} ${count}`);
      },
    });
  },
};
