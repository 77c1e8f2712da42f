/**
 * Reads, creates, replaces and removes single files of templates. Each change is made whole or not at all, and never
 * through a link (see `directory-path.ts`). An upload is first written beside the templates, so that no reader of a
 * template sees half a file.
 */
import { createHash, randomBytes } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { type FileHandle, link, lstat, open, rename, unlink } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { ignoreMissing, systemCodeOf, toWriteError } from '../../files/system-error.js';
import { whileOpen } from '../../files/while-open.js';
import { DroverError, templateUnsafe } from '../../model/errors.js';
import { DirectoryPath, kindAt, linkInTheWay } from '../tree/directory-path.js';
import { type FilePlace, filePlace } from '../tree/file-path.js';
import { FileContent, writeContent } from '../tree/file-stream.js';
import { kindOf, type OpenDirectory } from '../tree/open-directory.js';
import { looksLikeProgram } from '../tree/program-file.js';
import type { TemplateDirectory } from './template-directory.js';

/** O_NONBLOCK: without it, a pipe put in a file's place could make us wait for ever. */
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
/** The error codes of link(2) on a file system without hard links. */
const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);
const UPLOAD = 'upload~';
const EXECUTABLE = 0o111;
const REVISION_CHARS = 16;
/**
 * The two upper levels of a path: the group and the template. Removing a file never removes these
 * directories, but it removes directories below them that become empty.
 */
const TEMPLATE_LEVELS = 2;

/** A file as it stands now. */
export interface FileState {
  readonly bytes: number;
  /** Changes with each change of the file, also with a change that an operator makes on disk. */
  readonly revision: string;
}

/** Answers true for a revision that the caller may replace or remove. */
export type ExpectedRevision = (revision: string) => boolean;

/** A complete upload on disk, under a name of its own. */
interface Upload {
  readonly path: string;
  readonly file: FileHandle;
}

export class LibraryFiles {
  readonly #directory: TemplateDirectory;
  readonly #maxFileBytes: number;

  constructor(directory: TemplateDirectory, maxFileBytes: number) {
    this.#directory = directory;
    this.#maxFileBytes = maxFileBytes;
  }

  /** See `LocalTemplates.openFile`. The caller reads or destroys the content. */
  async open(group: string, name: string, path: string): Promise<FileState & { readonly content: Readable }> {
    const place = filePlace(group, name, path);
    const file = await this.#inParent(place, async ({ last }) => {
      await statFile(last, place);
      return open(last.entry(place.base), READ).catch(describeReadError(place));
    });
    try {
      const stat = await file.stat();
      if (!stat.isFile()) throw unknownFile(place);
      return { ...stateOf(stat), content: new FileContent(file, stat.size) };
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** See `LocalTemplates.createFile`. Makes missing directories, the template's own included. */
  async create(group: string, name: string, path: string, content: Readable): Promise<FileState> {
    const place = filePlace(group, name, path);
    await this.#refuseExisting(place);
    return this.#upload(place, content, (upload) =>
      whileOpen(this.#parentOf(place, true), async (parent) => {
        try {
          await moveIntoFree(upload.path, parent.last, place);
          await parent.sync();
        } catch (error) {
          await parent.undo();
          throw error;
        }
      }),
    );
  }

  /** See `LocalTemplates.replaceFile`. The new file has the mode of the old one, and a program is executable. Throws DRV_TEMPLATE_FILE_CHANGED. */
  async replace(
    group: string,
    name: string,
    path: string,
    content: Readable,
    isExpected: ExpectedRevision = () => true,
  ): Promise<FileState> {
    const place = filePlace(group, name, path);
    await this.#inParent(place, ({ last }) => statExpected(last, place, isExpected));
    return this.#upload(place, content, (upload) =>
      this.#inParent(place, async (parent) => {
        const { mode } = await statExpected(parent.last, place, isExpected);
        await upload.file.chmod((mode & 0o777) | ((await upload.file.stat()).mode & EXECUTABLE));
        await upload.file.sync();
        await rename(upload.path, parent.last.entry(place.base));
        await parent.sync();
      }),
    );
  }

  /**
   * See `LocalTemplates.removeFile`. Also removes directories that it leaves empty, except the template's own. Throws
   * DRV_TEMPLATE_FILE_CHANGED.
   */
  async remove(
    group: string,
    name: string,
    path: string,
    isExpected: ExpectedRevision = () => true,
  ): Promise<void> {
    const place = filePlace(group, name, path);
    try {
      await this.#directory.write(group, name, () =>
        this.#inParent(place, async (parent) => {
          await statExpected(parent.last, place, isExpected);
          await unlink(parent.last.entry(place.base));
          await parent.last.sync();
          await parent.prune(TEMPLATE_LEVELS);
        }),
      );
    } catch (error) {
      throw toWriteError(error, place.label);
    }
  }

  async #refuseExisting(place: FilePlace): Promise<void> {
    const { group, name, directories, base } = place;
    const parent = await this.#directory.open([group, name, ...directories], { make: false });
    if (parent === 'absent') return;
    if (parent === 'file') throw fileAsDirectory(place);
    const kind = await whileOpen(parent, ({ last }) => kindAt(last, base));
    if (kind === 'link') throw linkInTheWay(base);
    if (kind !== undefined) throw existingFile(place);
  }

  #inParent<T>(place: FilePlace, work: (parent: DirectoryPath) => Promise<T>): Promise<T> {
    return whileOpen(this.#parentOf(place, false), work);
  }

  async #parentOf(place: FilePlace, make: boolean): Promise<DirectoryPath> {
    const { group, name, directories } = place;
    const parent = await this.#directory.open([group, name, ...directories], { make });
    if (parent instanceof DirectoryPath) return parent;
    throw make ? fileAsDirectory(place) : unknownFile(place);
  }

  /**
   * Receives an upload, and then runs `commit` as the only writer of the template. `commit` moves the upload to its
   * place.
   */
  async #upload(
    { group, name, label }: FilePlace,
    content: Readable,
    commit: (upload: Upload) => Promise<void>,
  ): Promise<FileState> {
    try {
      return await this.#directory.withStaging(async (staging) => {
        const path = staging.entry(UPLOAD + randomBytes(8).toString('hex'));
        const file = await open(path, 'wx+', 0o644);
        try {
          await writeContent(file, content, this.#maxFileBytes);
          // An upload has no mode, and there is no other way to set it over the API.
          if (await looksLikeProgram(file)) await file.chmod(0o755);
          await file.sync();
          await this.#directory.write(group, name, () => commit({ path, file }));
          return stateOf(await file.stat());
        } finally {
          await file.close();
          await unlink(path).catch(ignoreMissing);
        }
      });
    } catch (error) {
      throw toWriteError(error, label);
    }
  }
}

/** Moves by a hard link, which fails when a file came meanwhile; a rename would replace that file. */
async function moveIntoFree(upload: string, parent: OpenDirectory, place: FilePlace): Promise<void> {
  const target = parent.entry(place.base);
  try {
    await link(upload, target);
    await unlink(upload);
  } catch (error) {
    const code = systemCodeOf(error) ?? '';
    if (code !== 'EEXIST' && !NO_LINKS.has(code)) throw error;
    const kind = await kindAt(parent, place.base);
    if (kind === 'link') throw linkInTheWay(place.base);
    if (code === 'EEXIST' || kind !== undefined) throw existingFile(place);
    await rename(upload, target);
  }
}

/** Throws DRV_TEMPLATE_FILE_UNKNOWN for an entry that is no regular file, DRV_PATH_UNSAFE for a link. */
async function statFile(parent: OpenDirectory, place: FilePlace): Promise<Stats> {
  const stat = await lstat(parent.entry(place.base)).catch(describeReadError(place));
  const kind = kindOf(stat);
  if (kind === 'link') throw linkInTheWay(place.base);
  if (kind !== 'file') throw unknownFile(place);
  return stat;
}

async function statExpected(
  parent: OpenDirectory,
  place: FilePlace,
  isExpected: ExpectedRevision,
): Promise<Stats> {
  const stat = await statFile(parent, place);
  if (isExpected(stateOf(stat).revision)) return stat;
  throw new DroverError('DRV_TEMPLATE_FILE_CHANGED', `${place.label} was changed meanwhile: read it again`);
}

/**
 * The revision changes with every change of the file: a write by Drover gives the file another inode, and a
 * person's edit on disk gives it another time.
 */
function stateOf({ ino, size, mtimeMs }: Stats): FileState {
  const text = `${ino} ${size} ${mtimeMs}`;
  return { bytes: size, revision: createHash('sha256').update(text).digest('hex').slice(0, REVISION_CHARS) };
}

/** Turns a failed read into an error for a client: a file that vanished meanwhile is unknown, a new link is refused. */
function describeReadError(place: FilePlace): (error: unknown) => never {
  return (error) => {
    switch (systemCodeOf(error)) {
      case 'ENOENT':
      case 'ENXIO':
        throw unknownFile(place);
      case 'ELOOP':
        throw linkInTheWay(place.base);
      case 'EACCES':
        throw templateUnsafe(`${place.label} cannot be read: check its permissions`);
      default:
        throw error;
    }
  };
}

export function unknownFile({ group, name, label }: FilePlace): DroverError {
  return new DroverError(
    'DRV_TEMPLATE_FILE_UNKNOWN',
    `there is no ${label}: "drover cp ${group}/${name}: DIRECTORY" fetches all that is there`,
  );
}

function existingFile({ label }: FilePlace): DroverError {
  return new DroverError('DRV_TEMPLATE_FILE_EXISTS', `${label} exists already: PATCH replaces it`);
}

function fileAsDirectory({ label }: FilePlace): DroverError {
  return new DroverError(
    'DRV_TEMPLATE_FILE_EXISTS',
    `${label} cannot be made: a part of its path is a file, not a directory`,
  );
}
