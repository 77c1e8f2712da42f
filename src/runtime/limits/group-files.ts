/**
 * Directories and small files of control groups. Reads are synchronous, because the kernel makes the text at once.
 * Changes are asynchronous, because the kernel may take its time; only the limits of an empty group are set
 * synchronously.
 */
import {
  closeSync,
  openSync,
  readdirSync,
  readSync,
  statSync,
  write as writeDescriptor,
  writeFileSync,
} from 'node:fs';
import { mkdir, readdir, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { readOpen } from '../../files/processes.js';
import { isMissing } from '../../files/system-error.js';
import { attempt } from '../../model/plain/attempt.js';
import type { Setting } from './hierarchy.js';

const writeBytes: (fd: number, bytes: Buffer) => Promise<unknown> = promisify(writeDescriptor);

const BLOCK_BYTES = 16 * 1024;
/** The most blocks read of a file, room for the pids of a million processes. The rest is cut off. */
const MOST_BLOCKS = 512;

export class GroupFiles {
  /** The read buffer, kept because hundreds of groups are read every few seconds. */
  readonly #buffer = Buffer.allocUnsafeSlow(BLOCK_BYTES);

  /** The text of a control file; undefined: the file does not exist, or cannot be read. */
  text(directory: string, name: string): string | undefined {
    return readOpen(join(directory, name), (fd) => this.#readAll(fd));
  }

  /** The number that a control file holds. */
  number(directory: string, name: string): number | undefined {
    return toNumber(this.text(directory, name));
  }

  /** The number after `key` in a file of lines `<key> <number>`. */
  field(directory: string, name: string, key: string): number | undefined {
    const text = this.text(directory, name) ?? '';
    const isFirst = text.startsWith(`${key} `);
    const before = isFirst ? 0 : text.indexOf(`\n${key} `) + 1;
    if (before === 0 && !isFirst) return undefined;
    const end = text.indexOf('\n', before);
    return toNumber(text.slice(before + key.length + 1, end < 0 ? text.length : end));
  }

  /**
   * The pids in the group itself; undefined: no such group, or it cannot be read. Leaves out processes outside of this
   * pid namespace, which the kernel writes as 0.
   */
  pids(directory: string): number[] | undefined {
    return this.text(directory, 'cgroup.procs')
      ?.split('\n')
      .map(Number)
      .filter((pid) => pid > 0);
  }

  /** The pids in the group and in all groups below it, which a program may have made. */
  allPids(directory: string): number[] {
    return [directory, ...this.#groupsBelow(directory)].flatMap((group) => this.pids(group) ?? []);
  }

  /** True when the directory is a group without processes and without groups below it. */
  isEmpty(directory: string): boolean {
    return this.text(directory, 'cgroup.procs')?.trim() === '' && this.#groupsBelow(directory).length === 0;
  }

  /** Makes a group. False: the group existed already. Throws the kernel's answer. */
  async make(directory: string): Promise<boolean> {
    return (await mkdir(directory, { recursive: true })) !== undefined;
  }

  /** Writes a control file. Throws the kernel's answer. */
  async write(directory: string, name: string, value: string | number): Promise<void> {
    // r+, because control files exist already. Open and close are synchronous: a start waits for each trip to the
    // thread pool, and only the write may be slow.
    const fd = openSync(join(directory, name), 'r+');
    try {
      await writeBytes(fd, Buffer.from(String(value)));
    } finally {
      closeSync(fd);
    }
  }

  /**
   * Writes a limit of a group without processes synchronously, in some 20 microseconds: the kernel has no memory to
   * reclaim. A start waits for it, and a trip to the thread pool takes half a millisecond. Throws the kernel's answer.
   */
  set({ directory, name, value }: Setting): void {
    writeFileSync(join(directory, name), String(value), { flag: 'r+' });
  }

  /** Removes a group and the empty groups below it, which a program may have made. False: see `remove`. */
  async removeTree(directory: string): Promise<boolean> {
    for (const group of this.#groupsBelow(directory).reverse()) await this.remove(group);
    return await this.remove(directory);
  }

  /** Removes an empty group. False: the group has members, or may not be removed. */
  async remove(directory: string): Promise<boolean> {
    return rmdir(directory).then(() => true, isMissing);
  }

  /** The names of the groups directly in a group. */
  async groupsIn(directory: string): Promise<string[]> {
    const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  }

  /** All groups below a group, each before the groups in it. */
  #groupsBelow(directory: string): string[] {
    return attempt(() => {
      // A directory has two links of its own (its name and `.`), and the `..` of each group in it is another link.
      if (statSync(directory).nlink <= 2) return [];
      return readdirSync(directory, { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .map(({ name }) => join(directory, name))
        .flatMap((group) => [group, ...this.#groupsBelow(group)]);
    }, []);
  }

  #readAll(fd: number): string {
    let text = '';
    for (let block = 0; block < MOST_BLOCKS; block++) {
      const length = readSync(fd, this.#buffer);
      if (length === 0) break;
      text += this.#buffer.toString('latin1', 0, length);
    }
    return text;
  }
}

function toNumber(text: string | undefined): number | undefined {
  const trimmed = text?.trim() ?? '';
  const value = Number(trimmed);
  return trimmed === '' || !Number.isFinite(value) ? undefined : value;
}
