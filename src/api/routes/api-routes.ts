/** All routes under `/api` except the route of the description, and what they need of the master. */
import type { ApiDependencies } from '../dependencies.js';
import type { Route } from '../http/route.js';
import { auditRoutes } from './audit-routes.js';
import { clusterRoutes } from './cluster-routes.js';
import { commandRoutes } from './command-routes.js';
import { configurationFileRoutes } from './configuration-file-routes.js';
import { configurationHistoryRoutes } from './configuration-history-routes.js';
import { configurationRoutes } from './configuration-routes.js';
import { extensionRoutes } from './extension-routes.js';
import { instanceRoutes } from './instances/instance-routes.js';
import type { InstanceView } from './instances/instance-view.js';
import { leftDirectoryRoutes } from './instances/left-directory-routes.js';
import { joinTokenRoutes } from './join-token-routes.js';
import { keyRoutes } from './key-routes.js';
import { nodeOperationRoutes } from './node-operation-routes.js';
import { nodeRoutes } from './node-routes.js';
import { planRoutes } from './plan-route.js';
import { pluginRoutes } from './plugin-routes.js';
import { rolloutRoutes } from './rollout-routes.js';
import { sessionRoutes } from './session-routes.js';
import { templateRoutes } from './template-routes.js';
import { whyRoutes } from './why-routes.js';

export interface ApiRoutesOptions {
  readonly dependencies: ApiDependencies;
  readonly view: InstanceView;
}

export function apiRoutes({ dependencies, view }: ApiRoutesOptions): Route[] {
  return [
    ...nodeRoutes(dependencies),
    ...instanceRoutes({ dependencies, view }),
    ...leftDirectoryRoutes(dependencies),
    ...configurationRoutes(dependencies),
    ...configurationHistoryRoutes(dependencies),
    ...rolloutRoutes(dependencies),
    ...configurationFileRoutes(dependencies),
    ...planRoutes(dependencies),
    ...clusterRoutes({ dependencies, view }),
    ...nodeOperationRoutes(dependencies),
    ...joinTokenRoutes(dependencies),
    ...pluginRoutes({ dependencies, view }),
    ...templateRoutes(dependencies),
    ...keyRoutes(dependencies),
    ...sessionRoutes(dependencies),
    ...extensionRoutes(dependencies),
    ...auditRoutes(dependencies),
    ...commandRoutes(dependencies),
    ...whyRoutes(dependencies),
  ];
}
