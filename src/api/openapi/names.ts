/** Names and groups the operations of the API's description. Client generators turn the names into method names. */

/** The names by method and path, as the router has them. A new route gets its name here. */
const OPERATION_IDS: Readonly<Record<string, string>> = {
  'GET /ping': 'ping',
  'GET /metrics': 'getMetrics',
  'GET /openapi.json': 'getDescription',
  'GET /node': 'getNode',
  'GET /node/config': 'getNodeConfiguration',
  'POST /node/reload': 'reloadNode',
  'POST /node/stop': 'stopNode',
  'GET /cluster/nodes': 'listClusterNodes',
  'GET /cluster/nodes/:id': 'getClusterNode',
  'POST /cluster/nodes/:id': 'executeOnClusterNode',
  'DELETE /cluster/nodes/:id': 'forgetClusterNode',
  'PUT /cluster/nodes/:id/cordon': 'cordonClusterNode',
  'DELETE /cluster/nodes/:id/cordon': 'uncordonClusterNode',
  'PUT /cluster/nodes/:id/drain': 'drainClusterNode',
  'GET /cluster/nodes/:id/why': 'explainClusterNode',
  'GET /cluster/status': 'getClusterStatus',
  'GET /cluster/configurations': 'listConfigurationSummaries',
  'GET /cluster/removed-configurations': 'listRemovedConfigurations',
  'GET /cluster/left-directories': 'listLeftDirectories',
  'POST /cluster/left-directories/:id/adopt': 'adoptLeftDirectory',
  'GET /cluster/tokens': 'listJoinTokens',
  'POST /cluster/tokens': 'createJoinToken',
  'DELETE /cluster/tokens/:id': 'revokeJoinToken',
  'GET /instances': 'listInstances',
  'POST /instances': 'createInstance',
  'GET /instances/:id': 'getInstance',
  'GET /instances/:id/details': 'getInstanceDetails',
  'DELETE /instances/:id': 'deleteInstance',
  'GET /instances/:id/logs': 'getInstanceLogs',
  'GET /instances/:id/logs/search': 'searchInstanceLog',
  'GET /instances/:id/live-log': 'followInstanceLog',
  'GET /instances/:id/attach': 'attachToInstance',
  'GET /instances/:id/runs': 'getInstanceRuns',
  'GET /instances/:id/usage': 'getInstanceUsage',
  'GET /usage': 'getUsage',
  'GET /instances/:id/why': 'explainInstance',
  'PUT /instances/:id/state': 'reportInstanceState',
  'PATCH /instances/:id/lifecycle': 'changeInstanceLifecycle',
  'POST /instances/:id/update': 'updateInstance',
  'POST /instances/:id/execute': 'executeOnInstance',
  'POST /instances/:id/signal': 'signalInstance',
  'POST /instances/:id/stop': 'stopInstance',
  'POST /instances/:id/command': 'sendInstanceCommand',
  'GET /configurations': 'listConfigurations',
  'GET /configurations/:name': 'getConfiguration',
  'PUT /configurations/:name': 'putConfiguration',
  'POST /configurations/batch': 'changeConfigurations',
  'DELETE /configurations/:name': 'deleteConfiguration',
  'POST /configurations/:name/run': 'runJob',
  'POST /configurations/:name/check': 'checkConfigurationText',
  'GET /configurations/:name/why': 'explainConfiguration',
  'GET /configurations/:name/diff': 'compareConfiguration',
  'POST /plan': 'planChanges',
  'GET /configurations/:name/file': 'getConfigurationFile',
  'GET /configurations/:name/broken-file': 'getBrokenConfigurationFile',
  'GET /configurations/:name/history': 'getConfigurationHistory',
  'GET /configurations/:name/history/diff': 'comparePastConfigurations',
  'POST /configurations/:name/rollback': 'rollBackConfiguration',
  'POST /configurations/:name/rollback/file': 'writeBackConfiguration',
  'POST /configurations/:name/restart': 'restartConfiguration',
  'GET /rollouts': 'listRollouts',
  'GET /rollouts/:name': 'getRollout',
  'POST /rollouts/:name/pause': 'pauseRollout',
  'POST /rollouts/:name/resume': 'resumeRollout',
  'POST /rollouts/:name/promote': 'promoteRollout',
  'POST /rollouts/:name/retry': 'retryRollout',
  'GET /schedules': 'listSchedules',
  'POST /configurations/:name/schedules/:schedule/:action': 'askSchedule',
  'GET /schemas/configuration.json': 'getConfigurationSchema',
  'GET /configuration-overrides': 'listConfigurationOverrides',
  'POST /configurations/:name/reset': 'resetConfiguration',
  'GET /configuration-files': 'listConfigurationFiles',
  'GET /configuration-files/commits/:commit': 'getCommitProgress',
  'GET /configuration-files/directory': 'getConfigurationDirectory',
  'GET /configuration-files/errors': 'listConfigurationFileErrors',
  'GET /configuration-files/warnings': 'listConfigurationFileWarnings',
  'POST /configuration-files/reload': 'reloadConfigurationFiles',
  'GET /templates': 'listTemplates',
  'GET /templates/:group/:name': 'getTemplate',
  'GET /templates/:group/:name/users': 'listTemplateUsers',
  'GET /templates/:group/:name/files': 'listTemplateFiles',
  'GET /templates/:group/:name/files/*': 'readTemplateFile',
  'POST /templates/:group/:name/files/*': 'createTemplateFile',
  'PATCH /templates/:group/:name/files/*': 'replaceTemplateFile',
  'DELETE /templates/:group/:name/files/*': 'deleteTemplateFile',
  'POST /templates/:group/:name/export': 'exportTemplate',
  'POST /templates/:group/:name/import': 'importTemplate',
  'POST /templates/:group/:name/sync': 'syncTemplate',
  'POST /templates/sync': 'syncTemplates',
  'GET /templates/sync': 'getTemplateSync',
  'GET /commands': 'listCommands',
  'GET /commands/completion': 'completeCommand',
  'POST /commands/execute': 'executeCommand',
  'GET /console': 'openConsole',
  'GET /watch': 'watchState',
  'GET /keys': 'listKeys',
  'POST /keys': 'createKey',
  'DELETE /keys/:label': 'deleteKey',
  'GET /whoami': 'getCaller',
  'GET /sessions': 'listSessions',
  'POST /sessions': 'createSession',
  'DELETE /sessions/:id': 'endSession',
  'POST /sessions/codes': 'createSignInCode',
  'POST /sessions/redeem': 'redeemSignInCode',
  'GET /extensions': 'listExtensions',
  'GET /extensions/commands': 'listExtensionCommands',
  'POST /extensions/commands/:command': 'runExtensionCommand',
  'GET /audit': 'listAuditEntries',
  'GET /discovery/prometheus': 'getPrometheusTargets',
  'GET /discovery/traefik': 'getTraefikConfiguration',
  'GET /discovery/haproxy': 'getHaproxyBackends',
  'GET /discovery/addresses/:name': 'listAddresses',
  'GET /events': 'listEvents',
  'GET /exits': 'listExits',
  'GET /webhooks': 'listWebhooks',
  'POST /webhooks/:name/test': 'testWebhook',
};

interface Tag {
  readonly name: string;
  readonly description: string;
  /** The first segments of the paths with this tag. */
  readonly segments: readonly string[];
}

export const TAGS: readonly Tag[] = [
  {
    name: 'Node',
    description: 'The node that serves this API, and the API itself.',
    segments: ['ping', 'metrics', 'node', 'extensions', 'openapi.json'],
  },
  {
    name: 'Cluster',
    description:
      'The nodes that hold instances, the tokens with which they join, and the cluster as a whole.',
    segments: ['cluster', 'usage'],
  },
  { name: 'Instances', description: 'Processes made from configurations.', segments: ['instances'] },
  {
    name: 'Configurations',
    description: 'The contents that instances are made from, and how many instances should run.',
    segments: [
      'configurations',
      'configuration-files',
      'configuration-overrides',
      'plan',
      'schedules',
      'schemas',
    ],
  },
  {
    name: 'Rollouts',
    description: 'How changed configurations reach the instances that run.',
    segments: ['rollouts'],
  },
  {
    name: 'Templates',
    description: 'File trees that are copied into an instance before it starts.',
    segments: ['templates'],
  },
  {
    name: 'Commands',
    description: 'The command tree of the console, by request and by WebSocket.',
    segments: ['commands', 'console'],
  },
  {
    name: 'Watch',
    description: 'The state as it changes.',
    segments: ['watch', 'events', 'exits', 'webhooks'],
  },
  { name: 'Discovery', description: 'Addresses for proxies and monitoring.', segments: ['discovery'] },
  {
    name: 'Keys',
    description: 'The keys of this API, and the sessions of browsers and people.',
    segments: ['keys', 'sessions', 'whoami'],
  },
  { name: 'Audit', description: 'Who did what, from where, and how it ended.', segments: ['audit'] },
];

/** The name of an operation. Throws when the table above has no name for it. */
export function operationId(method: string, path: string): string {
  const id = OPERATION_IDS[`${method} ${path}`];
  if (id === undefined) throw new Error(`${method} ${path} has no operation id: name it in openapi/names.ts`);
  return id;
}

/** The tag of a path. Throws when no tag has the path's first segment. */
export function tagOf(path: string): string {
  const [, segment = ''] = path.split('/');
  const tag = TAGS.find(({ segments }) => segments.includes(segment));
  if (tag === undefined) throw new Error(`${path} belongs to no tag: add one in openapi/names.ts`);
  return tag.name;
}
