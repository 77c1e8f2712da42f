/**
 * The files of the dashboard as the build left them, with their compressed copies. The first request reads them, and
 * then they are served from memory, so that a build that replaces them on disk does not mix two versions.
 *
 * @fastify/static reads the disk at each request. It would save 80 lines here and load 26 packages at each start.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { extname, join, relative } from 'node:path';
import { isMissing } from '../../files/system-error.js';
import { DroverError, internalError } from '../../model/errors.js';

/** The content types by file ending. `vite.config.ts` compresses the text files among them. */
const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.woff2': 'font/woff2',
};
const ANY_TYPE = 'application/octet-stream';
const INDEX = 'index.html';
const HEAD_END = '</head>';
const ETAG_CHARS = 22;

/** The encodings in order of preference, the smallest first. */
export const ENCODINGS = [
  { name: 'br', ending: '.br' },
  { name: 'gzip', ending: '.gz' },
] as const;

/** A file's bytes in one encoding. */
interface FileForm {
  readonly bytes: Buffer;
  readonly etag: string;
}

export interface DashboardFile {
  readonly type: string;
  readonly plain: FileForm;
  /** The compressed copies that the build made, by content coding. */
  readonly encoded: ReadonlyMap<string, FileForm>;
}

/** The page for all addresses of the dashboard, in two parts. Each answer puts a new nonce between them. */
export interface DashboardPage {
  readonly head: string;
  readonly end: string;
}

interface DashboardContent {
  readonly page: DashboardPage;
  /** The files by path below `/ui/`, without the page. */
  readonly files: ReadonlyMap<string, DashboardFile>;
}

interface DashboardFilesOptions {
  /** The directory where the build puts the dashboard. */
  readonly directory: string;
  /** The field `dashboard` of config.json. */
  readonly isOn: boolean;
}

export class DashboardFiles {
  readonly #options: DashboardFilesOptions;
  #content: Promise<DashboardContent> | undefined;

  constructor(options: DashboardFilesOptions) {
    this.#options = options;
  }

  /**
   * Checks that there is a dashboard, without reading it. Throws DRV_DASHBOARD_OFF when it is turned off, or when this
   * build has none.
   */
  async require(): Promise<void> {
    const { directory, isOn } = this.#options;
    if (!isOn) throw off('the dashboard is turned off: "dashboard" is false in config.json');
    if (this.#content === undefined) await stat(join(directory, INDEX)).catch(missing);
  }

  /** The content, read at the first call. Throws like `require`. */
  async read(): Promise<DashboardContent> {
    await this.require();
    const { directory } = this.#options;
    this.#content ??= readContent(directory).catch((error: unknown) => {
      this.#content = undefined;
      throw error;
    });
    return this.#content;
  }
}

async function readContent(directory: string): Promise<DashboardContent> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(missing);
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(directory, join(entry.parentPath, entry.name)));
  const page = await readFile(join(directory, INDEX), 'utf8').catch(missing);
  const end = page.indexOf(HEAD_END);
  if (end < 0) throw internalError(`the dashboard's ${INDEX} has no ${HEAD_END}`);
  const all = new Set(paths);
  const files = new Map<string, DashboardFile>();
  for (const path of paths.filter((one) => one !== INDEX && !isTwin(one, all)))
    files.set(path, await readForms(directory, path, all));
  return { page: { head: page.slice(0, end), end: page.slice(end) }, files };
}

async function readForms(directory: string, path: string, all: ReadonlySet<string>): Promise<DashboardFile> {
  const encoded = new Map<string, FileForm>();
  for (const { name, ending } of ENCODINGS)
    if (all.has(path + ending)) encoded.set(name, formOf(await readFile(join(directory, path + ending))));
  const plain = formOf(await readFile(join(directory, path)));
  return { type: TYPES[extname(path)] ?? ANY_TYPE, plain, encoded };
}

function formOf(bytes: Buffer): FileForm {
  const digest = createHash('sha256').update(bytes).digest('base64url');
  return { bytes, etag: `"${digest.slice(0, ETAG_CHARS)}"` };
}

/** True for a compressed copy of another file. */
function isTwin(path: string, all: ReadonlySet<string>): boolean {
  return ENCODINGS.some(({ ending }) => path.endsWith(ending) && all.has(path.slice(0, -ending.length)));
}

function missing(error: unknown): never {
  if (!isMissing(error)) throw error;
  throw off('this build of Drover has no dashboard: npm run build makes it');
}

function off(message: string): DroverError {
  return new DroverError('DRV_DASHBOARD_OFF', message);
}
