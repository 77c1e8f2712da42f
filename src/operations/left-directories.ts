/**
 * The directories of static instances that are gone: lists them, and makes an instance of a directory again. The routes
 * use it.
 */

import { z } from 'zod';
import { DroverError } from '../model/errors.js';
import type { InstanceRecord } from '../model/instance.js';
import { isInstanceId } from '../model/names.js';
import { publicMessage } from '../model/public-message.js';
import type { LeftDirectories, LeftDirectory } from '../model/run/left-directory.js';
import type { Reads } from './reads.js';
import type { Writes } from './writes.js';

/** The limit for the answer of a node. Counting large directories takes seconds. */
const MOST_MS = 20_000;

export const adoptBodySchema = z.object({
  configurationName: z
    .string()
    .optional()
    .describe(
      'the configuration of the new instance; default: that of the former instance, if its node knows it',
    ),
});

/** True when the caller sees a configuration. `configurationName` null: the directory's configuration is unknown. */
export type SeesLeft = (configurationName: string | null) => boolean;

interface Adoption {
  readonly id: string;
  readonly configurationName: string | undefined;
  readonly sees: SeesLeft;
}

/** Lists the directories of all nodes, which are asked for them. */
export async function listLeft(needs: Reads & Writes, sees: SeesLeft): Promise<LeftDirectories> {
  const { directories, silent } = await ask(needs, undefined);
  return { directories: directories.filter(({ configurationName }) => sees(configurationName)), silent };
}

/**
 * Makes an instance for a directory that was left: same id, same node, the content in force. Throws
 * DRV_DIRECTORY_UNKNOWN, DRV_ADOPTION_REFUSED with the reason, and DRV_CONFIGURATION_UNKNOWN.
 */
export async function adoptDirectory(
  needs: Reads & Writes,
  { id, configurationName: wanted, sees }: Adoption,
): Promise<InstanceRecord> {
  const { nodeId, configurationName, port } = await find(needs, id, sees);
  const name = wanted ?? configurationName;
  if (name === null)
    throw new DroverError(
      'DRV_ADOPTION_REFUSED',
      `node ${nodeId} does not know which configuration directory ${id} belonged to: name it`,
    );
  return needs.creations.adopt(name, { id, home: { nodeId, port } });
}

async function find(needs: Reads & Writes, id: string, sees: SeesLeft): Promise<LeftDirectory> {
  if (!isInstanceId(id)) throw unknownDirectory('of that name', []);
  const record = needs.instances.get(id)?.value;
  if (record !== undefined && sees(record.configurationName))
    throw new DroverError(
      'DRV_ADOPTION_REFUSED',
      record.desired.goal === 'remove'
        ? `instance ${id} is being removed: its directory can be adopted when it is gone`
        : `directory ${id} is in use: it belongs to an instance of ${record.configurationName}`,
    );
  const { directories, silent } = await ask(needs, id);
  const [found, ...others] = directories.filter(({ configurationName }) => sees(configurationName));
  if (found === undefined) throw unknownDirectory(id, silent);
  if (others.length > 0)
    throw new DroverError(
      'DRV_ADOPTION_REFUSED',
      `several nodes have a directory ${id}: ${[found, ...others].map(({ nodeId }) => nodeId).join(', ')}. Move all but one away`,
    );
  return found;
}

/**
 * Asks the nodes. A directory whose instance has a record is not left: the instance may wait for its place, or its node
 * may not know yet that it is gone.
 */
async function ask(needs: Reads & Writes, id: string | undefined): Promise<LeftDirectories> {
  const { instances, nodes } = needs;
  const nodeIds = [...nodes.entries()].map(([nodeId]) => nodeId).toSorted();
  const directories: LeftDirectory[] = [];
  const silent: { nodeId: string; why: string }[] = [];
  const answers = await Promise.allSettled(
    nodeIds.map((nodeId) => needs.leftOn(nodeId, id, AbortSignal.timeout(MOST_MS))),
  );
  for (const [index, answer] of answers.entries()) {
    const nodeId = nodeIds[index] ?? '';
    if (answer.status === 'rejected') silent.push({ nodeId, why: publicMessage(answer.reason) });
    else
      for (const directory of answer.value)
        if (instances.get(directory.id) === undefined && !instances.setAside.has(directory.id))
          directories.push({ nodeId, ...directory });
  }
  return { directories, silent };
}

function unknownDirectory(id: string, silent: LeftDirectories['silent']): DroverError {
  const away = silent.map(({ nodeId, why }) => `; node ${nodeId} did not answer: ${why}`);
  return new DroverError(
    'DRV_DIRECTORY_UNKNOWN',
    `no node has a directory ${id} that a static instance left: GET /api/cluster/left-directories lists them${away.join('')}`,
  );
}
