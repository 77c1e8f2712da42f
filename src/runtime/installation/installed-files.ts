/**
 * The files that Drover installed in the working directories of static instances: a hash of each, by which a later
 * install tells files that the instance has not changed. Kept outside of the directories, because instances may write there.
 */
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { mkdir, open, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { replaceFile } from '../../files/replace-file.js';
import { ignoreMissing } from '../../files/system-error.js';
import { whileOpen } from '../../files/while-open.js';
import { isInstanceId } from '../../model/names.js';

/** O_NONBLOCK so that a pipe in a file's place cannot make us wait. */
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const CHUNK_BYTES = 256 * 1024;
const ENDING = '.json';

/** The head of the record: its first line, which most installs need alone. */
const headSchema = z.object({
  /** A hash of everything that decides the content of the files: templates and variables. */
  basis: z.string(),
  /** The files that the instance keeps although the templates have another content, with the hash of that content. */
  kept: z.record(z.string(), z.string()),
});
const filesSchema = z.record(z.string(), z.string());

export type InstalledHead = z.output<typeof headSchema>;
/** The hash of each file as it was installed, by path. */
export type InstalledHashes = Readonly<Record<string, string>>;

export class InstalledFiles {
  readonly #directory: string;

  /** `directory` holds one record per instance; it is made when needed. */
  constructor(directory: string) {
    this.#directory = directory;
  }

  /** The record of an instance; undefined: there is none, or it cannot be read. */
  async read(
    id: string,
  ): Promise<{ readonly head: InstalledHead; readonly files: () => InstalledHashes } | undefined> {
    try {
      const text = await readFile(this.#pathOf(id), 'utf8');
      const end = text.indexOf('\n');
      const head = headSchema.parse(JSON.parse(text.slice(0, end)));
      return { head, files: () => filesSchema.parse(JSON.parse(text.slice(end + 1))) };
    } catch {
      return undefined;
    }
  }

  async write(id: string, head: InstalledHead, files: InstalledHashes): Promise<void> {
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    await replaceFile(this.#pathOf(id), `${JSON.stringify(head)}\n${JSON.stringify(files)}`);
  }

  /** Removes the record. After a failure the next start removes it. */
  async remove(id: string): Promise<void> {
    await rm(this.#pathOf(id), { force: true }).catch(() => undefined);
  }

  /** Removes the records of instances that have no directory. */
  async removeOthers(isThere: (id: string) => boolean): Promise<void> {
    const names = (await readdir(this.#directory).catch(ignoreMissing)) ?? [];
    for (const name of names)
      if (!isThere(name.slice(0, -ENDING.length))) await rm(join(this.#directory, name));
  }

  #pathOf(id: string): string {
    if (!isInstanceId(id)) throw new Error(`${id} is no instance id`);
    return join(this.#directory, `${id}${ENDING}`);
  }
}

/** A hash of a file's content and of its right to be executed. Never follows a link at `path`. */
export async function hashOfFile(path: string, signal: AbortSignal): Promise<string> {
  return await whileOpen(open(path, READ), async (file) => {
    const { mode } = await file.stat();
    const hash = createHash('sha256').update((mode & 0o100) === 0 ? '-' : 'x');
    const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
    for (;;) {
      signal.throwIfAborted();
      const { bytesRead } = await file.read(buffer, 0, buffer.length);
      if (bytesRead === 0) return hash.digest('base64url');
      hash.update(buffer.subarray(0, bytesRead));
    }
  });
}

/** A hash of a list of texts. */
export function hashOfTexts(texts: unknown): string {
  return createHash('sha256').update(JSON.stringify(texts)).digest('base64url');
}
