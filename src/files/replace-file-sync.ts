/**
 * Replaces a small file without waiting for the disk, for state that only has to survive the end of this process. It is
 * separate from `replace-file.ts`, so that the owner processes load nothing else.
 */
import { renameSync, rmSync, writeFileSync } from 'node:fs';

/**
 * Replaces the file; it has mode 0600 from its first byte. A reader, or a crash of this process at any moment, sees
 * the old text or the new one. A crash may leave `<path>.new`, which the next call replaces. Only one process may
 * write a path. Throws the system's error.
 */
export function replaceFileSync(path: string, text: string): void {
  const temporary = `${path}.new`;
  rmSync(temporary, { force: true });
  writeFileSync(temporary, text, { mode: 0o600, flag: 'wx' });
  renameSync(temporary, path);
}
