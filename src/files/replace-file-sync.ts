/**
 * Replaces a small file at once, for state that only has to survive the end of this process: it does not wait for the
 * disk. Apart from `replace-file.ts`, so that the owner processes load nothing else.
 */
import { renameSync, rmSync, writeFileSync } from 'node:fs';

/**
 * A reader, or a crash at any moment, sees the old text or the new one. The file has mode 0600 from its first byte. A
 * crash may leave `<path>.new`, which the next call replaces. Only one process may write a path. Throws the system's error.
 */
export function replaceFileSync(path: string, text: string): void {
  const temporary = `${path}.new`;
  rmSync(temporary, { force: true });
  writeFileSync(temporary, text, { mode: 0o600, flag: 'wx' });
  renameSync(temporary, path);
}
