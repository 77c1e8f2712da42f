/** `POST /instances/{id}/update`: gives an instance the content in force, in place. */

import {
  updateBodySchema,
  updatedInstanceSchema,
  updateInstance,
} from '../../../operations/instance-update.js';
import type { Reads } from '../../../operations/reads.js';
import type { Writes } from '../../../operations/writes.js';
import { defineRoute, type Route } from '../../http/route.js';
import { instanceParams } from './instance-schemas.js';

export function updateRoute(dependencies: Reads & Writes): Route {
  return defineRoute({
    method: 'POST',
    path: '/instances/:id/update',
    scope: 'OPERATE',
    reach: 'instance',
    summary:
      'Gives an instance the content in force, in place: same id, node and directory. A running instance is restarted.',
    errors: [
      'DRV_INSTANCE_UNKNOWN',
      'DRV_CONFIGURATION_UNKNOWN',
      'DRV_UPDATE_REFUSED',
      'DRV_STORE_WRITE_FAILED',
    ],
    params: instanceParams,
    body: updateBodySchema,
    answers: { 200: { description: 'recorded', schema: updatedInstanceSchema } },
    handle: ({ params, body }) => updateInstance(dependencies, params.id, body),
  });
}
