/** Whether a user may pass through the directories above a working directory, as far as their modes say. */
import { stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import type { UserIds } from '../../model/names.js';

/**
 * A warning for the operator; null: the way is open. The program starts all the same, and relative paths work; a
 * program that uses the absolute path of its directory fails.
 */
export async function enterProblem(directory: string, { uid, gid }: UserIds): Promise<string | null> {
  for (let path = directory; ; path = dirname(path)) {
    const status = await stat(path);
    const bit = status.uid === uid ? 0o100 : status.gid === gid ? 0o010 : 0o001;
    if ((status.mode & bit) === 0)
      return `user ${uid}:${gid} of the instance may not enter the directory ${basename(path)} above its working directory; run chmod o+x on it`;
    if (path === dirname(path)) return null;
  }
}
