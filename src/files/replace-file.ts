/**
 * Replaces a file so that a reader, or a crash at any moment, sees the old content or the new one and nothing
 * between. Only this file and `replace-file-sync.ts` replace files. Callers rename whole directories themselves.
 */
import { randomBytes } from 'node:crypto';
import { open, readdir, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncPath } from './sync-path.js';
import { whileOpen } from './while-open.js';

/** The mode for this user only, because the content may hold secrets. */
const MODE = 0o600;
/** The mask that removes the rights of other users, because the next content may hold a secret. */
const NOT_OTHERS = 0o770;
/** Temporary names start with a dot, so that no reader of a directory takes them for files of its own. */
const TEMPORARY_FILE = /^\.drover-[0-9a-f]{16}\.tmp$/;

type Content = Parameters<typeof writeFile>[1];

interface ReplaceOptions {
  readonly keepMode?: boolean;
  readonly throughLink?: boolean;
}

/**
 * Resolves when the new content and its name are on disk. The file has mode 0600 from its first byte; with `keepMode`
 * an existing file keeps its mode, apart from the rights of others. A symbolic link is replaced by a file; with
 * `throughLink` the link stays, and the file that it points to is replaced. When calls overlap, the file has the
 * content of one call. Throws the system's error; then the old content stands and no temporary file is left.
 */
export async function replaceFile(
  name: string,
  content: Content,
  { keepMode = false, throughLink = false }: ReplaceOptions = {},
): Promise<void> {
  // A link that points to nothing is replaced.
  const path = throughLink ? await realpath(name).catch(() => name) : name;
  const directory = dirname(path);
  const temporary = join(directory, `.drover-${randomBytes(8).toString('hex')}.tmp`);
  const present = keepMode ? await stat(path).catch(() => undefined) : undefined;
  const file = await open(temporary, 'wx', MODE);
  try {
    await whileOpen(file, async () => {
      if (present?.isFile() === true) await file.chmod(present.mode & NOT_OTHERS);
      await writeFile(file, content);
      await file.sync();
    });
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncPath(directory);
}

/**
 * Removes temporary files that `replaceFile` left in `directory` at least `ageMs` ago, as far as it can. Pass an age
 * where another process may write just now. Default: 0.
 */
export async function removeUnfinishedWrites(directory: string, ageMs = 0): Promise<void> {
  for (const name of await readdir(directory).catch(() => [])) {
    if (!TEMPORARY_FILE.test(name)) continue;
    const file = join(directory, name);
    const status = await stat(file).catch(() => undefined);
    if (status !== undefined && Date.now() - status.mtimeMs >= ageMs)
      await rm(file, { force: true }).catch(() => undefined);
  }
}
