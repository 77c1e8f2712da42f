/** Refuses secrets that other users could read or could have planted. */
import { lstat, stat } from 'node:fs/promises';
import { fileReason } from '../configuration-files/file-reason.js';
import { ownUser } from '../files/own-user.js';
import { isMissing } from '../files/system-error.js';
import { type DroverError, unusableRoot } from '../model/errors.js';

/**
 * Checks `path`; a missing path is fine. Throws DRV_NODE_ROOT_UNUSABLE, with the command that corrects it, when `path`
 * belongs to another user or grants more than `mode`. A link must belong to this user too.
 */
export async function refuseIfOpen(path: string, mode: 0o600 | 0o700): Promise<void> {
  const { uid, username } = ownUser();
  for (const look of [lstat, stat]) {
    const status = await look(path).catch((error: unknown) => {
      if (!isMissing(error)) throw refusal(path, fileReason(error));
    });
    if (status === undefined) return;
    if (status.uid !== uid)
      throw refusal(
        path,
        `belongs to user ${status.uid}, not to ${username}; run: chown -R ${username} '${path}'`,
      );
    const actual = status.mode & 0o777;
    if (!status.isSymbolicLink() && (actual & ~mode) !== 0)
      throw refusal(
        path,
        `has mode ${actual.toString(8)} and is open to other users; run: chmod ${mode.toString(8)} '${path}'`,
      );
  }
}

function refusal(path: string, problem: string): DroverError {
  return unusableRoot(`${path} ${problem}`);
}
