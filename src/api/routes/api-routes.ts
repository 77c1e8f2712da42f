/** All routes under `/api` except the route of the description, and what they need of the master. */
import type { ApiDependencies } from '../dependencies.js';
import type { Route } from '../http/route.js';
import { auditRoutes } from './audit-routes.js';
import { clusterRoutes } from './cluster-routes.js';
import { commandRoutes } from './command-routes.js';
import { configurationFileRoutes } from './configuration-file-routes.js';
import { configurationHistoryRoutes } from './configuration-history-routes.js';
import { configurationOverrideRoutes } from './configuration-override-routes.js';
import { configurationRoutes } from './configuration-routes.js';
import { discoveryRoutes } from './discovery-routes.js';
import { eventRoutes } from './event-routes.js';
import { extensionRoutes } from './extension-routes.js';
import { historyRoutes } from './history-routes.js';
import { instanceRoutes, pluginRoutes } from './instances/instance-routes.js';
import { leftDirectoryRoutes } from './instances/left-directory-routes.js';
import { joinTokenRoutes } from './join-token-routes.js';
import { keyRoutes } from './key-routes.js';
import { nodeOperationRoutes } from './node-operation-routes.js';
import { metricsRoute, nodeRoutes, pingRoute } from './node-routes.js';
import { planRoutes } from './plan-route.js';
import { rolloutRoutes } from './rollout-routes.js';
import { scheduleRoutes } from './schedule-routes.js';
import { secretRoutes } from './secret-routes.js';
import { sessionRoutes } from './session-routes.js';
import { signInRoutes } from './sign-in-routes.js';
import { templateRoutes } from './template-routes.js';
import { usageRoutes } from './usage-routes.js';
import { whyRoutes } from './why-routes.js';

export function apiRoutes(dependencies: ApiDependencies): readonly Route[] {
  return [
    pingRoute,
    metricsRoute(dependencies),
    ...nodeRoutes,
    ...instanceRoutes,
    ...leftDirectoryRoutes,
    ...configurationRoutes,
    ...configurationHistoryRoutes,
    ...rolloutRoutes,
    ...scheduleRoutes,
    ...configurationFileRoutes,
    ...configurationOverrideRoutes,
    ...planRoutes,
    ...clusterRoutes,
    ...nodeOperationRoutes,
    ...joinTokenRoutes,
    ...pluginRoutes,
    ...templateRoutes,
    ...keyRoutes,
    ...secretRoutes,
    ...sessionRoutes,
    ...extensionRoutes,
    ...auditRoutes,
    ...eventRoutes,
    ...discoveryRoutes,
    ...usageRoutes,
    ...commandRoutes,
    ...whyRoutes,
    ...historyRoutes,
    ...signInRoutes,
  ];
}
