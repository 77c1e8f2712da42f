/** Writes the items that were judged new into the root. Overwrites nothing. */
import { mkdir, writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { pino } from 'pino';
import { fileReason } from '../../src/configuration-files/file-reason.js';
import { replaceFile } from '../../src/files/replace-file.js';
import { eachBounded, FILE_PARALLELISM } from '../../src/loop/each-bounded.js';
import { DroverError, unusableRoot } from '../../src/model/errors.js';
import { prepareRoot } from '../../src/node/root.js';
import { TemplateDirectory } from '../../src/templates/library/template-directory.js';
import { readContent } from '../../src/templates/tree/digest.js';
import { syncTree } from '../../src/templates/tree/sync-tree.js';
import { readSteadily, walkTree } from '../../src/templates/tree/tree.js';
import type { Writing } from './judge.js';
import { exists } from './target.js';

/** Templates first: a daemon that runs there starts instances as soon as it sees a configuration. */
const ORDER = ['template', 'file'] as const;

/**
 * Makes the root's directories as a start does, then writes the items. After an error the files written before it
 * stay, and the next import reports them as `same`. Throws DRV_NODE_ROOT_UNUSABLE, DRV_TEMPLATE_UNSAFE,
 * DRV_DISK_WRITE_FAILED.
 */
export async function writeAll(root: string, writings: readonly Writing[]): Promise<void> {
  const { templates } = await prepareRoot(root);
  const directory = new TemplateDirectory({
    directory: templates,
    // Log nothing: no template is replaced.
    logger: pino({ level: 'silent' }),
    onWritten: async () => undefined,
  });
  for (const kind of ORDER)
    for (const writing of writings) if (writing.kind === kind) await write(writing, directory);
}

async function write(writing: Writing, directory: TemplateDirectory): Promise<void> {
  switch (writing.kind) {
    case 'file':
      return writeNewFile(writing.path, writing.text);
    case 'template': {
      const { group, name, directory: from } = writing;
      return directory.replace(group, name, async (next, current) => {
        if (current !== undefined) throw appeared(`templates/${group}/${name}`);
        await copyTree(from, next);
      });
    }
  }
}

/** Writes a file that only this user may read, because environments in it may hold secrets. */
async function writeNewFile(path: string, text: string): Promise<void> {
  try {
    // The templates may have taken minutes since the import looked for the file.
    if (await exists(path)) throw appeared(basename(path));
    await replaceFile(path, text);
  } catch (error) {
    if (error instanceof DroverError) throw error;
    throw unusableRoot(`${path} cannot be written: ${fileReason(error)}`);
  }
}

/** Copies contents and modes, but not owners and times. `to` is on disk afterwards. */
async function copyTree(from: string, to: string): Promise<void> {
  const { signal } = new AbortController();
  const place = { root: from, label: from };
  const entries = await readSteadily(() => walkTree(place, signal));
  await mkdir(to);
  // Parents come before their children.
  for (const { kind, path } of entries) if (kind === 'directory') await mkdir(`${to}/${path}`);
  const files = entries.filter(({ kind }) => kind === 'file');
  await eachBounded(files, FILE_PARALLELISM, signal, (entry) =>
    writeFile(`${to}/${entry.path}`, readContent(place, entry, signal), {
      flag: 'wx',
      mode: Number(entry.stat.mode & 0o777n),
    }),
  );
  await syncTree(to, entries, signal);
}

function appeared(what: string): DroverError {
  return unusableRoot(
    `${what} came into the root meanwhile, and stays as it is: import again to see what differs`,
  );
}
