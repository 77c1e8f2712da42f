/** The user that this process runs as. */
import { userInfo } from 'node:os';

export interface OwnUser {
  readonly uid: number;
  readonly gid: number;
  /**
   * The user's name; the uid in digits when the system knows no name, as in a container that was given a bare number.
   */
  readonly username: string;
}

export function ownUser(): OwnUser {
  try {
    const { uid, gid, username } = userInfo();
    return { uid, gid, username };
  } catch {
    const { uid, gid } = { uid: process.getuid?.() ?? -1, gid: process.getgid?.() ?? -1 };
    return { uid, gid, username: `${uid}` };
  }
}
