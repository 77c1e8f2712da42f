/**
 * `/cluster/left-directories`: the directories of static instances that are gone, and the way to make an instance of a
 * directory again.
 */

import { z } from 'zod';
import { instanceInfoSchema, toInstanceInfo } from '../../../model/instance.js';
import { leftDirectoriesSchema } from '../../../model/run/left-directory.js';
import { unknownConfiguration } from '../../../model/unknown.js';
import {
  adoptBodySchema,
  adoptDirectory,
  listLeft,
  type SeesLeft,
} from '../../../operations/left-directories.js';
import { accessOf, seesConfiguration } from '../../gate/auth.js';
import { defineRoute, type Route } from '../../http/route.js';

type Request = Parameters<typeof seesConfiguration>[0];

const directoryParams = z.object({ id: z.string().describe('name of the directory') });

export const leftDirectoryRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/cluster/left-directories',
    scope: 'READ',
    reach: 'filtered',
    summary: 'Directories of static instances that are gone, on all nodes.',
    answers: {
      200: { description: 'directories, and the nodes that did not answer', schema: leftDirectoriesSchema },
    },
    handle: ({ request }, needs) => listLeft(needs, seenBy(request)),
  }),
  defineRoute({
    method: 'POST',
    path: '/cluster/left-directories/:id/adopt',
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
    body: adoptBodySchema,
    answers: { 201: { description: 'the instance', schema: instanceInfoSchema } },
    handle: async ({ params: { id }, body: { configurationName }, request }, needs, reply) => {
      if (configurationName !== undefined && !seesConfiguration(request, configurationName))
        throw unknownConfiguration(configurationName);
      const record = await adoptDirectory(needs, { id, configurationName, sees: seenBy(request) });
      request.subject = `${record.id} of ${record.configurationName}`;
      reply.code(201);
      return toInstanceInfo(record, record.status.lastHeartbeat);
    },
  }),
];

/**
 * Tells which directories the caller sees. A directory of an unknown configuration may be anybody's, so only a key for
 * all configurations sees it.
 */
function seenBy(request: Request): SeesLeft {
  return (name) =>
    name === null ? accessOf(request)?.configurations == null : seesConfiguration(request, name);
}
