/**
 * Exports and imports whole templates as zips. An export is made while the client reads it. An imported zip is stored
 * in `data/`, unpacked beside the templates, and then laid over the template's files in one step, or not at all.
 */
import { randomBytes } from 'node:crypto';
import { chmod, mkdir, open, rename, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { ignoreMissing, isMissing, toWriteError } from '../../files/system-error.js';
import { whileOpen } from '../../files/while-open.js';
import { type DroverError, templateUnknown } from '../../model/errors.js';
import { linkTree } from '../tree/copy-tree.js';
import { DirectoryPath, kindAt, linkInTheWay } from '../tree/directory-path.js';
import { checkTemplateName, filePlace } from '../tree/file-path.js';
import { writeContent } from '../tree/file-stream.js';
import { removeTree } from '../tree/remove-tree.js';
import { syncTree } from '../tree/sync-tree.js';
import { readSteadily, type TreeEntry, type TreeLimits, walkTree } from '../tree/tree.js';
import { unknownFile } from './files.js';
import { invalid } from './invalid-archive.js';
import type { TemplateDirectory } from './template-directory.js';

const IMPORT = 'import~';

interface TemplateArchivesOptions {
  readonly directory: TemplateDirectory;
  /** A private directory for uploads. It is emptied at the start. */
  readonly uploads: string;
  /** The limit for the zip itself. */
  readonly maxUploadBytes: number;
  readonly limits: TreeLimits;
}

export interface ImportedTree {
  readonly files: number;
  readonly bytes: number;
}

export class TemplateArchives {
  readonly #options: TemplateArchivesOptions;
  readonly #stopped = new AbortController();

  constructor(options: TemplateArchivesOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    await removeTree(this.#options.uploads);
    await mkdir(this.#options.uploads, { mode: 0o700 });
  }

  /** Ends the running imports with an error. */
  stop(): void {
    this.#stopped.abort();
  }

  /** All entries of the template, in order. Throws DRV_TEMPLATE_UNKNOWN, DRV_TEMPLATE_UNSAFE, DRV_PATH_UNSAFE. */
  async list(group: string, name: string): Promise<readonly TreeEntry[]> {
    checkTemplateName(group, name);
    const parent = await this.#options.directory.open([group], { make: false });
    if (!(parent instanceof DirectoryPath)) throw unknownTemplate(group, name);
    const read = async (): Promise<readonly TreeEntry[]> => {
      const kind = await kindAt(parent.last, name);
      if (kind === 'link') throw linkInTheWay(name);
      if (kind !== 'directory') throw unknownTemplate(group, name);
      const place = { root: parent.last.entry(name), label: `template ${group}/${name}` };
      return await readSteadily(() => walkTree(place, this.#stopped.signal));
    };
    return await whileOpen(parent, read).catch((error: unknown) => {
      throw isMissing(error) ? unknownTemplate(group, name) : error;
    });
  }

  /** See `LocalTemplates.exportArchive`. */
  async export(group: string, name: string, path: string | undefined): Promise<Readable> {
    const place = path === undefined ? undefined : filePlace(group, name, path);
    const entries = (await this.list(group, name)).filter(
      (entry) => path === undefined || entry.path === path || entry.path.startsWith(`${path}/`),
    );
    if (place !== undefined && entries.length === 0) throw unknownFile(place);
    const { packZip } = await import('./pack-zip.js');
    return packZip(
      { root: this.#options.directory.pathOf(group, name), label: `template ${group}/${name}` },
      entries,
    );
  }

  /** See `LocalTemplates.importArchive`. */
  async import(group: string, name: string, content: Readable): Promise<ImportedTree> {
    checkTemplateName(group, name);
    const { uploads, limits, directory, maxUploadBytes } = this.#options;
    const { unpackZip } = await import('./unpack-zip.js');
    const zip = join(uploads, `${randomBytes(8).toString('hex')}.zip`);
    try {
      // The whole zip is stored first: the zip's directory stands at its end, so no entry is known before that.
      await whileOpen(open(zip, 'wx', 0o600), (file) => writeContent(file, content, maxUploadBytes));
      return await directory.withStaging(async (staging) => {
        const unpacked = staging.entry(IMPORT + randomBytes(8).toString('hex'));
        try {
          await mkdir(unpacked);
          const { signal } = this.#stopped;
          const total = await unpackZip(zip, unpacked, limits, signal);
          await this.#putOver(group, name, unpacked);
          return total;
        } finally {
          await removeTree(unpacked);
        }
      });
    } catch (error) {
      throw toWriteError(error, `template ${group}/${name}`);
    } finally {
      await unlink(zip).catch(ignoreMissing);
    }
  }

  async #putOver(group: string, name: string, unpacked: string): Promise<void> {
    const { signal } = this.#stopped;
    const label = `template ${group}/${name}`;
    const entries = await walkTree({ root: unpacked, label }, signal);
    await syncTree(unpacked, entries, signal);
    await this.#options.directory.replace(group, name, async (next, current) => {
      if (current === undefined) {
        await rename(unpacked, next);
        return;
      }
      await linkTree(current, next);
      // Only this code writes in `next`, so these entries stay true while the files are moved.
      const present = new Map((await walkTree({ root: next, label }, signal)).map((old) => [old.path, old]));
      for (const entry of entries) await moveOver(entry, present.get(entry.path), unpacked, next);
    });
  }
}

/**
 * Moves an entry of an imported zip to its place in the template, over `old`, the entry that is there now. A
 * file that was executable stays executable. Throws DRV_ARCHIVE_INVALID when one of the two is a file and the
 * other a directory.
 */
async function moveOver(
  { path, kind, executable }: TreeEntry,
  old: TreeEntry | undefined,
  from: string,
  to: string,
): Promise<void> {
  if (old !== undefined && old.kind !== kind)
    throw invalid(`${path} is a ${kind} in it and a ${old.kind} in the template`);
  if (kind === 'directory') {
    if (old === undefined) await mkdir(`${to}/${path}`);
    return;
  }
  if (old?.executable === true && !executable) await chmod(`${from}/${path}`, 0o755);
  await rename(`${from}/${path}`, `${to}/${path}`);
}

function unknownTemplate(group: string, name: string): DroverError {
  return templateUnknown(`there is no template ${group}/${name}: "template list" shows all`);
}
