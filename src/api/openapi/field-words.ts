/**
 * The descriptions of fields whose schemas have none: names that mean the same wherever they stand. `Owner.field` is for
 * one component or operation. `describeFields` puts them into the document; a test finds a field that has no words.
 */

const CONFIGURATION: Readonly<Record<string, string>> = {
  allInGroups: 'groups whose templates are all installed, those of storages too',
  allOf: 'templates that are all installed',
  availablePorts: 'the ports to choose one from for each instance; absent: an instance has no port',
  canary: 'how many instances are replaced first; 0: none',
  command: 'the command line that starts the process, run by `/bin/sh -c` in the working directory',
  cpu: 'CPU that an instance gets; 100 = one core',
  environmentVariables: 'variables of the environment; `%VARIABLE%` is replaced in values',
  fileModifications: 'files in which `%VARIABLE%` is replaced after templates were installed',
  hostAddress: 'the address that clients connect to; absent: that of the node',
  httpGet: 'ready once a GET is answered with 2xx or 3xx',
  instanceGroups: 'groups that the configuration belongs to',
  intervalSeconds: 'the time between two tries of a port or a GET',
  logLine: 'ready once a line of the output contains this text; `*` stands for any characters',
  max: 'the last port',
  maxSurge: 'how many instances above the present number may exist at a time, as a number or a percentage',
  maxUnavailable: 'how many of the present instances may be missing at a time, as a number or a percentage',
  maximumServiceCount: 'the most instances; absent: no limit',
  min: 'the first port',
  minReadySeconds: 'how long an instance must be ready to count as good',
  minimumServiceCount: 'how many instances are kept running',
  'Configuration.name': 'the name; the path of a PUT, or the name of the file, stands for it',
  'Configuration.nodes': 'ids of the nodes that may hold its instances; empty: any node',
  'Configuration.placement':
    'which fitting node is chosen: the one with the fewest instances, or the fullest; absent: `spread`',
  'Configuration.ramMB': 'RAM in MB that an instance gets',
  'Configuration.runtime': 'key of the runtime, such as `screen`, `tmux`, `process` or `docker`',
  'Configuration.static': 'true: the working directory stays between starts',
  onDelete: 'what becomes of its instances when the configuration is deleted; absent: `keep`',
  onFailure: 'what a failed rollout does: it stops, or it also goes back',
  onTemplatePasteOverridePresentFiles: 'true: templates replace files that a static instance has already',
  oneInGroups: 'groups of each of which one template is drawn, those of storages too',
  oneOf: 'templates of which one is drawn for each instance',
  path: 'the path with its query',
  playersSeconds: 'how long a rollout waits for players; 0: for ever',
  priority: 'the order of installation: lower first; of two files with one path the higher wins',
  progressSeconds: 'how long a rollout may go without a new good instance before it fails',
  promote: 'what follows on good canaries: all others at once, or after `rollout promote`',
  properties: 'further variables for `%VARIABLE%`, and settings of a runtime',
  readiness: 'when an instance counts as ready; absent: as soon as its process is up',
  restartPolicy: 'when a process that ended by itself is started again; absent: `always`',
  runAs: 'the user that instances run as; absent: that of the node',
  stopCommand: 'the line that is written to standard input when a stop begins',
  stopSignal: 'the signal of a stop; absent: `SIGTERM`',
  stopTimeoutSeconds: 'the time from the beginning of a stop to SIGKILL; absent: 10',
  stopTo:
    'which processes get the signal of a stop: the program and then the rest, or all at once; absent: `main`',
  strategy:
    'how a changed content reaches running instances: not at all, step by step, or only when they are unused',
  surplus: 'what becomes of instances beyond a lowered minimum; absent: `keep`',
  tcpPort: 'ready once this TCP port accepts a connection',
  templateInstallationConfig: 'the templates to install before a start',
  timeoutSeconds: 'after this time the instance is reported as not ready; it is not stopped',
  'Configuration.update': 'how a changed content reaches running instances; absent: not at all',
  'Configuration.players': 'whether instances with players are left alone until they leave',
  'Configuration.templates': 'true: a changed template counts as a changed content',
  'TemplateReference.storage': 'key of the storage; `local`: templates/ of the master',
};

const PLACES: Readonly<Record<string, string>> = {
  address: 'the address of the node',
  capacity: 'what placement may give out on the node',
  clusterName: 'the name of the cluster',
  'ClusterNodeExplanation.condition': 'the condition of the node',
  condition: 'the condition of the node as the master sees it',
  conditionForMs: 'how long the node has been in that condition',
  drain: 'the progress of the drain',
  drains: 'the drains that are under way',
  eventLoopDelayMs: 'how late a turn of the event loop of the daemon came',
  cpus: 'how many processors the daemon may use',
  instanceLogs: 'how much of the output of each instance is kept',
  joinToken: 'the token with which the node joins; never shown',
  'forgetNode.joinToken': 'the token that the node joined with',
  kind: 'where the state is kept',
  logLevel: 'the least severity that the log takes',
  master: 'true: the node has a master',
  masterAddress: 'the address of the master to join',
  masterApiPort: 'the port of the API of that master',
  masterPort: 'the cluster port of that master',
  maxCpu: 'the CPU that placement may give out; 100 = one core',
  maxRamMB: 'the RAM in MB that placement may give out',
  maxUploadMB: 'the largest upload in MB',
  memoryFreeMB: 'free memory of the machine in MB',
  memoryMB: 'memory that the instances use in MB',
  memoryTotalMB: 'memory of the machine in MB',
  node: 'the node that holds the instance; null: none',
  nodeId: 'the id of the node',
  nodeTimeoutMs: 'how long a node may be silent before it counts as lost',
  processHeapUsedMB: 'JavaScript memory of the daemon in MB',
  processRssMB: 'memory of the daemon in MB',
  processes: 'how many processes it has',
  runtimes: 'the runtimes that the node knows',
  segmentMB: 'the size of one file of a log in MB',
  segments: 'how many files of a log are kept',
  status: 'always `ok` while the node serves',
  systemStats: 'load and memory of the daemon and its machine',
  usedRamMB: 'the RAM in MB that placement has given out',
  version: 'the version of Drover on the node',
};

const INSTANCES: Readonly<Record<string, string>> = {
  agoMs: 'how long ago the run ended',
  allocatedRamMB: 'the RAM in MB that the instance was given',
  'Instance.id': 'the id of the instance',
  code: 'the exit code; null: a signal ended it',
  'redeemSignInCode.code': 'the code of the sign-in link',
  configurationName: 'the name of the configuration',
  configurationRevision: 'the revision of the content that the instance was made from',
  exitCode: 'the exit code of the last run; null: none ended, or a signal ended it',
  exitSignal: 'the signal that ended the last run; null: none did',
  failuresInARow: 'how many failures came in a row',
  first: 'the number of the first line',
  instanceId: 'the id of the instance',
  instanceIds: 'the ids of the instances',
  last: 'the number of the last line',
  lines: 'the lines, the oldest first',
  'listAuditEntries.limit': 'how many entries, 1 to 1000',
  maxPlayers: 'the most players, as the app said; null: it has not said',
  memoryBytes: 'memory in bytes',
  'InstanceUsage.players': 'the number of players at each sample; null: not known',
  players: 'the number of players, as the app said; null: it has not said',
  port: 'the port',
  processPid: 'the process; null: nothing runs, or it runs in a container',
  restarts: 'how often it was started again after an exit',
  run: 'the number of the run',
  runtime: 'the key of the runtime',
  signal: 'the signal that ended it; null: an exit code did',
  static: 'true: its working directory stays between starts',
  target: 'what is asked for: start, stop or restart',
  text: 'the text of the line',
  totalLines: 'how many lines are kept in all',
  tps: 'ticks per second, as the app said; null: it has not said',
  upForMs: 'how long the process has been up; null: none is',
  'Instance.message': 'the reason in words and numbers; null: nothing to say',
  'Instance.reason': 'why it does not run or not yet, as a code; null: nothing stands in the way',
  'Instance.state': 'the state',
  'reportInstanceState.state': 'the state to record',
};

const CHANGES: Readonly<Record<string, string>> = {
  action: 'what becomes of the configuration',
  brokenFiles: 'the files that are not in force as they stand',
  by: 'who asked for it',
  cause: 'what began the rollout',
  column: 'the column in the line, from 1; null: not known',
  configurations: 'whole configurations, each with its name',
  counts: 'how many instances are how far',
  effects: 'how many instances are created, replaced, restarted, stopped and kept',
  endedAt: 'the end in Unix milliseconds; null: it goes on',
  error: 'the fault; null: none',
  field: 'the path of the field; null: the text as a whole',
  file: 'the name of the file',
  fileError: 'the fault of the file; null: none',
  formatVersion: 'raised when the answer must be read in another way',
  from: 'the revision before; null: none',
  isPromoted: 'true: the canaries were promoted',
  line: 'the line, from 1; null: not known',
  maximum: 'the most instances; null: no limit',
  minimum: 'how many instances are asked for',
  online: 'how many of them are ONLINE and work',
  paused: 'who paused the rollout and when; null: nobody',
  at: 'the time in Unix milliseconds',
  was: 'the state before the pause',
  reason: 'the reason as a code; null: none',
  revision: 'the hash that names the content',
  shortages: 'new instances that fit nowhere',
  since: 'the beginning in Unix milliseconds',
  to: 'the revision that is rolled out',
  warnings: 'what has no effect',
  why: 'the reason, for a person',
};

const OTHERS: Readonly<Record<string, string>> = {
  'Extension.id': 'the name of its folder, or of what comes with Drover',
  'Extension.name': 'its name for a person',
  'Extension.version': 'its version; null: it has none',
  'Rollout.message': 'the reason in words; null: nothing to say',
  'RuntimeOffer.key': 'the key of the runtime',
  'RuntimeOffer.reason': 'why it cannot be used, for a person; null: it can',
  'RuntimeOffer.version': 'the version of what it runs with; null: not known',
  'TemplateReference.name': 'the name of the template in its group',
  about: 'what it does, for a person',
  available: 'true: instances can use it',
  bytes: 'the bytes of all files together',
  description: 'what it is for; null: it does not say',
  durationMs: 'how long it took',
  exists: 'true: the template is there',
  failed: 'how many could not be fetched',
  fetched: 'how many were fetched',
  files: 'the files',
  'syncTemplate.files': 'how many files the template has',
  fits: 'true: the node could take it',
  flags: 'the spelling of the option',
  group: 'the group of the template',
  id: 'the id',
  instances: 'the instances',
  'listConfigurationFiles.instances': 'how many instances have its content, and an older one',
  instancesTotal: 'how many instances there are in all',
  isExpired: 'true: it is no longer good',
  isOver: 'true: all nodes are done',
  isSettled: 'true: nothing is amiss, and nothing is under way',
  key: 'the key',
  label: 'the label; null: none',
  message: 'what was done, or what is the matter, for a person',
  name: 'the name',
  nodes: 'how it stands on each node',
  nodesTotal: 'how many nodes there are in all',
  openapi: 'the version of OpenAPI',
  options: 'the options of the command',
  pattern: 'the pattern of the templates that are meant',
  pid: 'the process id of the daemon',
  portHoldersTotal: 'how many ports of the range are held',
  portRange: 'the range of ports; null: none is asked for, or none is held',
  ramMB: 'RAM in MB',
  scope: 'what the key allows',
  state: 'the state',
  storage: 'the key of the storage',
  templates: 'the templates',
};

const WORDS: Readonly<Record<string, string>> = {
  ...CONFIGURATION,
  ...PLACES,
  ...INSTANCES,
  ...CHANGES,
  ...OTHERS,
};

/** Components whose fields have the words of another one. */
const OWNERS: Readonly<Record<string, string>> = {
  ConfigurationInput: 'Configuration',
  InstanceDetails: 'Instance',
  InstanceExplanation: 'Instance',
  TemplateReferenceInput: 'TemplateReference',
};

type Part = Record<string, unknown>;

/** Gives every field and parameter of the document a description, where the tables have one. Returns the document. */
export function describeFields(document: unknown): unknown {
  const { components, paths } = partOf(document);
  for (const [name, schema] of Object.entries(partOf(partOf(components).schemas))) describeIn(schema, name);
  for (const item of Object.values(partOf(paths)))
    for (const operation of Object.values(partOf(item))) {
      const owner = String(partOf(operation).operationId);
      for (const parameter of listOf(partOf(operation).parameters))
        addWords(partOf(parameter), owner, String(partOf(parameter).name));
      describeIn(operation, owner);
    }
  return document;
}

/** Describes the fields of all schemas below a value. */
function describeIn(value: unknown, owner: string): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [field, schema] of Object.entries(partOf(partOf(value).properties)))
    addWords(partOf(schema), owner, field);
  for (const inner of Object.values(value)) describeIn(inner, owner);
}

function addWords(target: Part, owner: string, field: string): void {
  target.description ??= WORDS[`${OWNERS[owner] ?? owner}.${field}`] ?? WORDS[field];
}

function partOf(value: unknown): Part {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Part) : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
