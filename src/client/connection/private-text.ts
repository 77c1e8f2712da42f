/** Reads small files that hold keys. Refuses a file that another user could read, or has written. */
import { open } from 'node:fs/promises';
import { type ClientError, failedError } from '../../command-tree/runs/client-error.js';
import { ownUser } from '../../files/own-user.js';
import { readWhole } from '../../files/read-whole.js';
import { isMissing } from '../../files/system-error.js';
import { shellWord, systemReason } from '../../model/words.js';

/** Larger than any key or file of contexts. */
const MAX_BYTES = 1024 * 1024;
const ROOT_UID = 0;

/**
 * Returns the text of a file; undefined: the file does not exist. `what` begins the messages, such as `the key file`.
 * Throws a ClientError that includes the command to correct the file's mode.
 */
export async function readPrivateText(what: string, path: string): Promise<string | undefined> {
  const named = `${what} ${path}`;
  const file = await open(path, 'r').catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    throw systemFailure(`${named} cannot be read`, error);
  });
  if (file === undefined) return undefined;
  try {
    const status = await file.stat();
    if (!status.isFile() && !status.isFIFO()) throw failedError(`${named} is no file`);
    const { uid, username } = ownUser();
    if (status.uid !== uid && status.uid !== ROOT_UID && uid !== ROOT_UID)
      throw failedError(`${named} belongs to user ${status.uid}, not to ${username}`);
    const mode = status.mode & 0o777;
    if ((mode & 0o077) !== 0)
      throw failedError(
        `${named} has mode ${mode.toString(8)} and is open to other users; run: chmod 600 ${shellWord(path)}`,
      );
    const tooLong = (): ClientError => failedError(`${named} is larger than ${MAX_BYTES / 1024} KiB`);
    return String(await readWhole(file.createReadStream({ autoClose: false }), MAX_BYTES, tooLong));
  } finally {
    await file.close();
  }
}

/** Returns `permission denied (EACCES)`, without a path. */
export function reasonOf(error: unknown): string {
  return systemReason(error) ?? (error instanceof Error ? error.message : String(error));
}

/** Returns the error for a failed operation: `what`, such as `a.json cannot be read`, and the reason. */
export function systemFailure(what: string, cause: unknown): ClientError {
  return failedError(`${what}: ${reasonOf(cause)}`, { cause });
}
