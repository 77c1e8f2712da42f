/**
 * Other names of endpoints that existing plugins call: `stop` for `lifecycle?target=stop`, and `command` for `execute`.
 * The API contract does not list them.
 */

import { changeLifecycle } from '../../operations/instance-lifecycle.js';
import { defineRoute, type Route } from '../http/route.js';
import { executeRoute, visible } from './instances/instance-routes.js';
import { instanceParams, lifecycleMessage } from './instances/instance-schemas.js';

export const pluginRoutes: readonly Route[] = [
  defineRoute({
    method: 'POST',
    path: '/instances/:id/stop',
    scope: 'OPERATE',
    reach: 'instance',
    summary: 'Another name for lifecycle with target stop, for existing plugins. Any body is ignored.',
    errors: ['DRV_INSTANCE_UNKNOWN', 'DRV_STORE_WRITE_FAILED'],
    params: instanceParams,
    answers: { 200: { description: 'recorded', schema: lifecycleMessage } },
    handle: async ({ params }, needs) => {
      const { id } = visible(needs.view, params.id);
      return { message: await changeLifecycle(needs, id, 'stop'), instanceId: id, target: 'stop' };
    },
  }),
  executeRoute('/instances/:id/command', 'Another name for execute, for existing plugins.'),
];
