/**
 * Replaces a file so that a reader, or a crash at any moment, sees the old content or the new one and nothing between.
 */
import { randomBytes } from 'node:crypto';
import { type FileHandle, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Starts with a dot, so that nothing takes it for a configuration. */
const TEMPORARY_FILE = /^\.drover-[0-9a-f]{16}\.tmp$/;

export interface AtomicWrite {
  readonly directory: string;
  readonly file: string;
  readonly text: string;
  /** Mode of a new file; one that exists keeps its own. Default 0600: configurations may hold secrets. */
  readonly mode?: number;
}

/**
 * Resolves when the new content and its name are on disk. A symbolic link is replaced by a file, not followed.
 * Throws the system's error; then the old content stands and nothing is left over.
 */
export async function writeFileAtomically({
  directory,
  file,
  text,
  mode = 0o600,
}: AtomicWrite): Promise<void> {
  const target = join(directory, file);
  const temporary = join(directory, `.drover-${randomBytes(8).toString('hex')}.tmp`);
  const present = await stat(target).catch(() => undefined);
  const handle = await open(temporary, 'wx', mode);
  try {
    await writeDurably(handle, text, present?.isFile() === true ? present.mode & 0o777 : undefined);
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncDirectory(directory);
}

async function writeDurably(handle: FileHandle, text: string, mode: number | undefined): Promise<void> {
  try {
    if (mode !== undefined) await handle.chmod(mode);
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Makes created, renamed and removed names of `directory` durable. */
export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Removes what a crash in mid-write left in `directory`. Never call it while a write is under way. */
export async function removeUnfinishedWrites(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    if (TEMPORARY_FILE.test(name)) await rm(join(directory, name), { force: true });
  }
}
