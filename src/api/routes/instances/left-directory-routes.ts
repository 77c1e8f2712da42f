/**
 * `/cluster/left-directories`: the directories of static instances that are gone, and the way to make an instance of a
 * directory again.
 */

import { z } from 'zod';
import { DroverError } from '../../../model/errors.js';
import { instanceInfoSchema, toInstanceInfo } from '../../../model/instance.js';
import { isInstanceId } from '../../../model/names.js';
import { publicMessage } from '../../../model/public-message.js';
import {
  type LeftDirectories,
  type LeftDirectory,
  leftDirectoriesSchema,
} from '../../../model/run/left-directory.js';
import { unknownConfiguration } from '../../../model/unknown.js';
import type { RouteNeeds } from '../../dependencies.js';
import { accessOf, seesConfiguration } from '../../gate/auth.js';
import { defineRoute, jsonAnswer, type Route } from '../../http/route.js';

type Request = Parameters<typeof seesConfiguration>[0];

/** The limit for the answer of a node. Counting large directories takes seconds. */
const MOST_MS = 20_000;

const adoptBody = z.object({
  configurationName: z
    .string()
    .optional()
    .describe(
      'the configuration of the new instance; default: that of the former instance, if its node knows it',
    ),
});

const directoryParams = z.object({ id: z.string().describe('name of the directory') });

export const leftDirectoryRoutes: readonly Route[] = [
  defineRoute('GET', '/cluster/left-directories', {
    scope: 'READ',
    reach: 'filtered',
    summary: 'Directories of static instances that are gone, on all nodes.',
    answers: jsonAnswer('directories, and the nodes that did not answer', leftDirectoriesSchema),
    handle: ({ request }, needs) => ask(needs, request),
  }),
  defineRoute('POST', '/cluster/left-directories/:id/adopt', {
    scope: 'OPERATE',
    reach: 'filtered',
    summary:
      'Makes an instance of such a directory again: same id, same node, with the files of the directory.',
    errors: [
      'DRV_DIRECTORY_UNKNOWN',
      'DRV_ADOPTION_REFUSED',
      'DRV_CONFIGURATION_UNKNOWN',
      'DRV_STORE_WRITE_FAILED',
    ],
    params: directoryParams,
    body: adoptBody,
    answers: { 201: { description: 'the instance', schema: instanceInfoSchema } },
    handle: async ({ params: { id }, body: { configurationName: wanted }, request }, needs, reply) => {
      if (wanted !== undefined && !seesConfiguration(request, wanted)) throw unknownConfiguration(wanted);
      const { nodeId, configurationName, port, ports } = await find(needs, id, request);
      const name = wanted ?? configurationName;
      if (name === null)
        throw new DroverError(
          'DRV_ADOPTION_REFUSED',
          `node ${nodeId} does not know which configuration directory ${id} belonged to: name it`,
        );
      const record = await needs.led().creations.adopt(name, { id, home: { nodeId, port, ports } });
      request.subject = `${record.id} of ${record.configurationName}`;
      reply.code(201);
      return toInstanceInfo(record);
    },
  }),
];

/**
 * True when the caller sees a directory of this configuration. When the configuration is unknown (null), the
 * directory may belong to any, so only a key for all configurations sees it.
 */
function sees(request: Request, name: string | null): boolean {
  return name === null ? accessOf(request)?.configurations == null : seesConfiguration(request, name);
}

/** The directory to adopt. Throws DRV_DIRECTORY_UNKNOWN, or DRV_ADOPTION_REFUSED with the reason. */
async function find(needs: RouteNeeds, id: string, request: Request): Promise<LeftDirectory> {
  if (!isInstanceId(id)) throw unknownDirectory('of that name', []);
  const record = needs.instances.get(id)?.value;
  if (record !== undefined && sees(request, record.configurationName))
    throw new DroverError(
      'DRV_ADOPTION_REFUSED',
      record.desired.goal === 'remove'
        ? `instance ${id} is being removed: its directory can be adopted when it is gone`
        : `directory ${id} is in use: it belongs to an instance of ${record.configurationName}`,
    );
  const { directories, silent } = await ask(needs, request, id);
  const [found, ...others] = directories;
  if (found === undefined) throw unknownDirectory(id, silent);
  if (others.length > 0)
    throw new DroverError(
      'DRV_ADOPTION_REFUSED',
      `several nodes have a directory ${id}: ${[found, ...others].map(({ nodeId }) => nodeId).join(', ')}. Move all but one away`,
    );
  return found;
}

/**
 * Asks the nodes for the directories that the caller sees; with `id` for that directory alone. Leaves out the
 * directory of an instance that has a record: the instance may wait for its place, or its node may not know yet that
 * it gets the instance.
 */
async function ask(
  { instances, nodes, leftOn }: RouteNeeds,
  request: Request,
  id?: string,
): Promise<LeftDirectories> {
  const directories: LeftDirectory[] = [];
  const silent: { nodeId: string; why: string }[] = [];
  const nodeIds = [...nodes.entries()].map(([nodeId]) => nodeId).toSorted();
  const answers = await Promise.allSettled(
    nodeIds.map(async (nodeId) =>
      (await leftOn(nodeId, id, AbortSignal.timeout(MOST_MS))).map((left) => ({ nodeId, ...left })),
    ),
  );
  for (const [index, answer] of answers.entries())
    if (answer.status === 'rejected')
      silent.push({ nodeId: nodeIds[index] ?? '', why: publicMessage(answer.reason) });
    else directories.push(...answer.value);
  const isLeft = ({ id, configurationName }: LeftDirectory): boolean =>
    instances.get(id) === undefined && !instances.setAside.has(id) && sees(request, configurationName);
  return { directories: directories.filter(isLeft), silent };
}

function unknownDirectory(id: string, silent: LeftDirectories['silent']): DroverError {
  const away = silent.map(({ nodeId, why }) => `; node ${nodeId} did not answer: ${why}`);
  return new DroverError(
    'DRV_DIRECTORY_UNKNOWN',
    `no node has a directory ${id} that a static instance left: "instance list --left" shows all${away.join('')}`,
  );
}
