/** All routes under `/api` but the one that describes them, and what they need of the master. */
import type { KeyNeeds } from '../../operations/api-keys.js';
import type { JoinTokenNeeds } from '../../operations/join-tokens.js';
import type { LeftDirectoryNeeds } from '../../operations/left-directories.js';
import type { NodeOperationNeeds } from '../../operations/node-operations.js';
import type { ChangePlanNeeds } from '../../operations/plan/change-plan.js';
import type { ConfigurationRollbackNeeds } from '../../operations/rollouts/configuration-rollback.js';
import type { SessionNeeds, WhoamiNeeds } from '../../operations/sessions.js';
import type { Route } from '../http/route.js';
import { type AuditNeeds, auditRoutes } from './audit-routes.js';
import { type ClusterNeeds, clusterRoutes } from './cluster-routes.js';
import { type CommandNeeds, commandRoutes } from './command-routes.js';
import { type ConfigurationFileNeeds, configurationFileRoutes } from './configuration-file-routes.js';
import { configurationHistoryRoutes } from './configuration-history-routes.js';
import { type ConfigurationNeeds, configurationRoutes } from './configuration-routes.js';
import { type ExtensionNeeds, extensionRoutes } from './extension-routes.js';
import { type InstanceNeeds, instanceRoutes } from './instances/instance-routes.js';
import type { InstanceView } from './instances/instance-view.js';
import { leftDirectoryRoutes } from './instances/left-directory-routes.js';
import { joinTokenRoutes } from './join-token-routes.js';
import { keyRoutes } from './key-routes.js';
import { nodeOperationRoutes } from './node-operation-routes.js';
import { type NodeNeeds, nodeRoutes } from './node-routes.js';
import { planRoutes } from './plan-route.js';
import { pluginRoutes } from './plugin-routes.js';
import { type RolloutNeeds, rolloutRoutes } from './rollout-routes.js';
import { sessionRoutes } from './session-routes.js';
import { type TemplateNeeds, templateRoutes } from './template-routes.js';
import { type WhyNeeds, whyRoutes } from './why-routes.js';

export type RouteNeeds = AuditNeeds &
  ChangePlanNeeds &
  ClusterNeeds &
  CommandNeeds &
  ConfigurationFileNeeds &
  ConfigurationNeeds &
  ConfigurationRollbackNeeds &
  ExtensionNeeds &
  InstanceNeeds &
  JoinTokenNeeds &
  LeftDirectoryNeeds &
  KeyNeeds &
  NodeNeeds &
  NodeOperationNeeds &
  RolloutNeeds &
  SessionNeeds &
  TemplateNeeds &
  WhoamiNeeds &
  WhyNeeds;

export interface ApiRoutesOptions {
  readonly dependencies: RouteNeeds;
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
