/** What a command of the client begins with: the master that it is for. */

import type { ApiConnection } from '../connection/connection.js';
import { HttpConnection, type HttpConnectionOptions } from '../connection/http-connection.js';
import { chooseTarget, type Surroundings, type TargetOptions } from './choose-target.js';

/**
 * Chooses the master as `choose-target.ts` says. Opens nothing yet: the first call does, and reads the key. Throws a
 * ClientError when no master is chosen.
 */
export async function openConnection(
  options: TargetOptions,
  surroundings: Surroundings,
  connection: HttpConnectionOptions,
): Promise<ApiConnection> {
  return new HttpConnection(await chooseTarget(options, surroundings), connection);
}
