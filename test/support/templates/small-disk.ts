/** A private small file system (tmpfs) that a test fills and frees. Needs root and the right to mount. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemCodeOf } from '../../../src/files/system-error.js';

export class SmallDisk {
  readonly path = mkdtempSync(join(tmpdir(), 'drover-disk-'));

  /** `size` as mount takes it, such as `24m`. Throws when mounting is not allowed. */
  constructor(size: string) {
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size},mode=755`, 'drover-test', this.path], {
        stdio: 'ignore',
      });
    } catch (error) {
      rmSync(this.path, { recursive: true });
      throw error;
    }
  }

  /** True when this user may mount a file system here. */
  static readonly isPossible = ((): boolean => {
    try {
      new SmallDisk('64k').close();
      return true;
    } catch {
      return false;
    }
  })();

  /** Leaves `bytes` free; less when a program fills the disk meanwhile. */
  fill(bytes: number): void {
    const { bavail, bsize } = statfsSync(this.path);
    try {
      writeFileSync(join(this.path, 'ballast'), Buffer.alloc(Math.max(0, bavail * bsize - bytes)));
    } catch (error) {
      if (systemCodeOf(error) !== 'ENOSPC') throw error;
    }
  }

  /** Frees the space that `fill` took. */
  free(): void {
    rmSync(join(this.path, 'ballast'));
  }

  /** Makes the disk read-only, or writable again. No file in it may be open for writing. */
  remount(mode: 'ro' | 'rw'): void {
    execFileSync('mount', ['-o', `remount,${mode}`, this.path], { stdio: 'pipe' });
  }

  /** Unmounts the disk. No file in it may be open any more. */
  close(): void {
    execFileSync('umount', [this.path], { stdio: 'pipe' });
    rmSync(this.path, { recursive: true });
  }
}
