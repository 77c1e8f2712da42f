/** Checks by their modes whether a user may pass through the directories above a working directory. */
import { stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import type { UserIds } from '../../model/names.js';

/**
 * A warning for the operator; null: the user may pass. A blocked program starts all the same and can use relative
 * paths; only absolute paths of its directory fail.
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
