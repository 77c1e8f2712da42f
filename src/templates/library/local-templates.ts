/** Everything that the API and commands can do to the master's templates: files and archives over one directory. */
import type { Readable } from 'node:stream';
import type { Part } from '../../loop/lifecycle.js';
import type { Logger } from '../../telemetry/logger.js';
import { DirectoryPath } from '../tree/directory-path.js';
import { checkTemplateName } from '../tree/file-path.js';
import { TREE_LIMITS, type TreeLimits } from '../tree/tree.js';
import { type ImportedTree, TemplateArchives } from './archives.js';
import { type ExpectedRevision, type FileState, LibraryFiles } from './files.js';
import type { TemplateLibrary } from './library.js';
import { TemplateDirectory } from './template-directory.js';

const MIB = 1024 * 1024;

interface LocalTemplatesOptions {
  /** `templates/` of the master. */
  readonly directory: string;
  /** A private directory for uploads. It is emptied at the start. */
  readonly uploads: string;
  /** The reader of the same directory. */
  readonly library: TemplateLibrary;
  readonly maxUploadMB: number;
  readonly logger: Logger;
  /** Called before each write. Throws when the template may not be written. Default: each may. */
  readonly beforeWrite?: (group: string, name: string) => Promise<void>;
  /**
   * Called after each write, before the client gets its answer. Resolves with a note for the answer, if there is one.
   */
  readonly afterWrite?: (group: string, name: string) => Promise<string | undefined>;
  /** Default: see docs/templates.md. */
  readonly archiveLimits?: Partial<TreeLimits>;
}

/** A note for the client, beside the answer that the write is done. */
export interface Noted {
  readonly note?: string;
}

/** Everything that routes do with the files of templates. */
export class LocalTemplates implements Part {
  /** The directory, for callers that replace whole trees. */
  readonly directory: TemplateDirectory;
  /** The reader of the same directory: names, digests and changes. */
  readonly library: TemplateLibrary;
  readonly #files: LibraryFiles;
  readonly #archives: TemplateArchives;
  readonly #options: LocalTemplatesOptions;

  constructor(options: LocalTemplatesOptions) {
    const { directory, uploads, library, maxUploadMB, logger, archiveLimits } = options;
    this.#options = options;
    const maxUploadBytes = maxUploadMB * MIB;
    this.library = library;
    this.directory = new TemplateDirectory({
      directory,
      logger,
      onWritten: (group, name) => library.noteWrite(group, name),
    });
    this.#files = new LibraryFiles(this.directory, maxUploadBytes);
    this.#archives = new TemplateArchives({
      directory: this.directory,
      uploads,
      maxUploadBytes,
      limits: { ...TREE_LIMITS, ...archiveLimits },
    });
  }

  /** Finishes or undoes exchanges that a killed process left. Call it before the library starts. */
  async start(): Promise<void> {
    await this.directory.start();
    await this.#archives.start();
  }

  async stop(): Promise<void> {
    this.#archives.stop();
    await this.directory.stop();
  }

  async details(group: string, name: string): Promise<{ readonly path: string; readonly exists: boolean }> {
    checkTemplateName(group, name);
    const found = await this.directory.open([group, name], { make: false });
    const exists = found instanceof DirectoryPath;
    if (exists) await found.close();
    return { path: `templates/${group}/${name}`, exists };
  }

  async listFiles(group: string, name: string): Promise<readonly string[]> {
    const entries = await this.#archives.list(group, name);
    return entries.filter(({ kind }) => kind === 'file').map(({ path }) => path);
  }

  openFile(group: string, name: string, path: string): Promise<FileState & { readonly content: Readable }> {
    return this.#files.open(group, name, path);
  }

  createFile(group: string, name: string, path: string, content: Readable): Promise<FileState & Noted> {
    return this.written(group, name, () => this.#files.create(group, name, path, content));
  }

  replaceFile(
    group: string,
    name: string,
    path: string,
    content: Readable,
    isExpected?: ExpectedRevision,
  ): Promise<FileState & Noted> {
    return this.written(group, name, () => this.#files.replace(group, name, path, content, isExpected));
  }

  removeFile(group: string, name: string, path: string, isExpected?: ExpectedRevision): Promise<Noted> {
    const remove = () => this.#files.remove(group, name, path, isExpected).then(() => ({}));
    return this.written(group, name, remove);
  }

  /**
   * Exports the template as a zip. `path`: only that file, or that directory with its contents. Paths in the zip are
   * those in the template.
   */
  exportArchive(group: string, name: string, path?: string): Promise<Readable> {
    return this.#archives.export(group, name, path);
  }

  importArchive(group: string, name: string, content: Readable): Promise<ImportedTree & Noted> {
    return this.written(group, name, () => this.#archives.import(group, name, content));
  }

  /** Makes a write that may be made, and adds the note of `afterWrite` to its answer. */
  async written<T extends object>(group: string, name: string, write: () => Promise<T>): Promise<T & Noted> {
    await this.#options.beforeWrite?.(group, name);
    const answer = await write();
    const note = await this.#options.afterWrite?.(group, name);
    return note === undefined ? answer : { ...answer, note };
  }
}
