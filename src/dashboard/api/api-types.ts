/** The API's types, generated from manifests/openapi.json. `npm run openapi` writes them anew. */

export type AdoptLeftDirectoryData = Instance;

export interface AdoptLeftDirectoryPayload {
  /** the configuration of the new instance; default: that of the former instance, if its node knows it */
  configurationName?: string;
}

export interface ApiError {
  /** the fault, and what would be right */
  error: string;
}

export interface AuditEntry {
  /** method and route pattern such as `PUT /configurations/:name`, or `command` */
  action: string;
  /** where it came from; null: the terminal of the node */
  address: string | null;
  /** Unix milliseconds */
  at: number;
  /** label of the key, `session <id> of <label>`, `instance <id>`, `terminal`, or null: no valid key */
  key: string | null;
  /** of several masters: the one that has it in its file */
  master?: string;
  /** HTTP status, or `ok` / `failed` for a command */
  result: string;
  /** what it was about: an id, a name, a path, the command without its secrets */
  subject: string | null;
}

export interface Caller {
  /** the address of the caller */
  address: string;
  clusterName: string;
  /** patterns of the configurations in sight; null: all */
  configurations: string[] | null;
  /** the end if it is not used before, in Unix milliseconds; null: never */
  endsAt: number | null;
  /** the end in Unix milliseconds; null: never */
  expiresAt: number | null;
  /** addresses that may use it; null: any */
  from: string[] | null;
  /** label of the key */
  key: string;
  /** the node that answers */
  nodeId: string;
  scope: "PUBLIC" | "READ" | "PLAN" | "OPERATE" | "ALL";
  /** id of the session; null: the key itself */
  session: string | null;
  /** the version of Drover on that node */
  version: string;
}

export interface ChangeInstanceLifecycleData {
  instanceId: string;
  message: string;
  target: string;
}

export interface ChangePlan {
  /** in the order of the request; configurations that are removed come last */
  configurations: {
    action: "create" | "change" | "delete" | "unchanged";
    effects: {
      /**
       * new instances that replace no other instance
       * @format int64
       * @min 0
       */
      create: number;
      /**
       * instances that are left alone
       * @format int64
       * @min 0
       */
      keep: number;
      /**
       * instances that a new instance replaces
       * @format int64
       * @min 0
       */
      replace: number;
      /**
       * instances that are restarted in place
       * @format int64
       * @min 0
       */
      restart: number;
      /**
       * instances that are stopped or removed without a replacement
       * @format int64
       * @min 0
       */
      stop: number;
      /**
       * how many of the replaced, restarted or stopped instances first wait for their players to leave
       * @format int64
       * @min 0
       */
      waitForPlayers: number;
    };
    /** the fields that differ from the content in force; none for a new configuration */
    fields: {
      /** live: no restart; next-start: taken by a restart in place; replacement: by another instance */
      class: "live" | "next-start" | "replacement";
      /** as JSON; null: not there */
      from: string | null;
      /** such as `availablePorts.min` */
      path: string;
      /** as JSON; null: not there */
      to: string | null;
    }[];
    /** null: there is no such configuration */
    fileState: "same" | "different" | "broken" | "gone" | null;
    name: string;
    /** the revision in force, for `If-Match`; null: there is none */
    revision: string | null;
    /** the effects in words, for a person */
    why: string;
  }[];
  /** a hash of the writes and their effects; another hash shows that the state or the contents have changed */
  fingerprint: string;
  formatVersion: 1;
  shortages: {
    configurationName: string;
    /** the reason from placement */
    message: string;
    /**
     * how many of them fit on no node
     * @format int64
     */
    missing: number;
    /**
     * new instances that need a place
     * @format int64
     */
    wanted: number;
  }[];
  warnings: {
    /** the configuration; null: the note is about the whole plan */
    configurationName: string | null;
    field: string | null;
    message: string;
  }[];
}

export interface CheckConfigurationTextData {
  /** the faults that prevent saving, in the order of the text; `field` is empty for a fault of the JSON */
  problems: {
    column: number | null;
    /** path such as `availablePorts.mim` */
    field: string;
    /** from 1; null: it did not come from a file */
    line: number | null;
    /** what has no effect, and what was probably meant */
    message: string;
  }[];
  /** the parts of the text without effect */
  warnings: {
    column: number | null;
    /** path such as `availablePorts.mim` */
    field: string;
    /** from 1; null: it did not come from a file */
    line: number | null;
    /** what has no effect, and what was probably meant */
    message: string;
  }[];
}

export interface CheckConfigurationTextPayload {
  /** the JSON text of the file */
  text: string;
}

export interface ClusterNode {
  address: string;
  master: boolean;
  nodeId: string;
  /** the RAM and CPU that placement has given out */
  resources: {
    /**
     * 100 = one core
     * @format int64
     */
    usedCpu: number;
    /** @format int64 */
    usedRamMB: number;
  };
}

export interface ClusterNodeDetail {
  address: string;
  /** why the node does not enforce ramMB and cpu; null: it does */
  advisoryLimits: string | null;
  capacity: {
    /**
     * @format int64
     * @min 1
     */
    maxCpu: number;
    /**
     * @format int64
     * @min 1
     */
    maxRamMB: number;
  };
  /** `returning`: the node said that it will be back; `lost`: its beats are missing */
  condition: "connected" | "returning" | "lost";
  /** Unix milliseconds */
  conditionSince: number;
  /** true: the node gets no new instances */
  cordoned: boolean;
  /** the progress of a drain; null: there is none */
  drain: DrainProgress | null;
  /** the instances on the node, oldest first */
  instances: Instance[];
  /** the last beat, in Unix milliseconds by the clock of the master; null: none since the master started */
  lastBeat: number | null;
  master: boolean;
  nodeId: string;
  /** the RAM and CPU that placement has given out */
  resources: {
    /**
     * 100 = one core
     * @format int64
     */
    usedCpu: number;
    /** @format int64 */
    usedRamMB: number;
  };
  runtimes: RuntimeOffer[];
  /** the usage of all instances on the node; null: it was not measured */
  usage: {
    /** 100 = one core */
    cpuPercent: number;
    /** @format int64 */
    memoryMB: number;
    /** @format int64 */
    processes: number;
  } | null;
  version: string;
}

export interface ClusterNodeExplanation {
  /** what the operator can do; null: nothing needs doing */
  advice: string | null;
  condition: "connected" | "returning" | "lost";
  /** @format int64 */
  conditionForMs: number;
  /** it gets no new instances */
  cordoned: boolean;
  /** null: its instances are not being moved away */
  drain: DrainProgress | null;
  /** those that are not well come first */
  instances: {
    configurationName: string;
    instanceId: string;
    isSettled: boolean;
    state: string;
    /** to be read after the id */
    verdict: string;
  }[];
  /** @format int64 */
  instancesTotal: number;
  /** desired and actual agree */
  isSettled: boolean;
  /** @format int64 */
  maxCpu: number;
  /** @format int64 */
  maxRamMB: number;
  /** what happens next by itself; null: nothing */
  next: string | null;
  nodeId: string;
  /** what else is worth knowing */
  notes: string[];
  /** since its last beat; null: none since the master started */
  silentMs: number | null;
  /**
   * 100 = one core
   * @format int64
   */
  usedCpu: number;
  /**
   * what placement has given out
   * @format int64
   */
  usedRamMB: number;
  /** one sentence: what is the matter */
  verdict: string;
}

export interface ClusterStatus {
  /** null: the API has no TLS */
  apiCertificate: {
    /** Unix milliseconds */
    endsAt: number;
    /** SHA-256 of the authority's certificate (`cluster`), or of the certificate itself (`files`) */
    fingerprint: string;
    /** host names and IP addresses that it is for */
    names: string[];
    /** what is wrong with it; null: nothing */
    problem: string | null;
    /** who signed it: the cluster's own authority, or others */
    source: "cluster" | "files";
  } | null;
  /** configurations with fewer instances ONLINE than their minimum */
  belowMinimum: {
    /** @format int64 */
    minimum: number;
    name: string;
    /** @format int64 */
    online: number;
    why: string;
  }[];
  brokenFiles: ConfigurationFileError[];
  clusterName: string;
  /**
   * how many configurations are in force
   * @format int64
   */
  configurations: number;
  drains: {
    drain: DrainProgress;
    nodeId: string;
  }[];
  /** how many instances are in each state */
  instances: Partial<Record<string, number>>;
  /** the master that leads; null: no master leads now */
  leader: {
    /**
     * the number of the term; 0: the cluster has one master
     * @format int64
     */
    epoch: number;
    nodeId: string;
    /** the beginning of the term, in Unix milliseconds by the leader's clock */
    since: number;
  } | null;
  /** the nodes whose masters are up */
  masters: string[];
  /** how many nodes are in each condition */
  nodes: Partial<Record<string, number>>;
  /** configurations that are gone but still have instances */
  removed: {
    /**
     * how many of its instances are left
     * @format int64
     */
    instances: number;
    /** name of a configuration that is gone */
    name: string;
  }[];
  /** stored records that cannot be read: the records and their instances stay as they are */
  unreadableRecords: {
    /** the key in the store, such as `instances/ab12cd` */
    key: string;
    /** the fault of the record */
    problem: string;
  }[];
}

export interface CompareConfigurationContentData {
  /** unchanged: this content is in force, and the file has it */
  change: "created" | "changed" | "unchanged";
  /** the differences from the content in force to the new content */
  differences: {
    /** as JSON; null: not there */
    after: string | null;
    /** as JSON; null: not there */
    before: string | null;
    /** path such as `availablePorts.min` */
    field: string;
  }[];
  /** null: there is no such configuration */
  fileState: "same" | "different" | "broken" | "gone" | null;
  name: string;
  /** the revision in force; null: there is none */
  revision: string | null;
  /** the parts of the new content without effect */
  warnings: {
    column: number | null;
    /** path such as `availablePorts.mim` */
    field: string;
    /** from 1; null: it did not come from a file */
    line: number | null;
    /** what has no effect, and what was probably meant */
    message: string;
  }[];
}

export type CompareConfigurationData = ConfigurationDiff;

export interface ComparePastConfigurationsData {
  configurationName: string;
  /** the differences from the older content to the newer one */
  differences: {
    /** as JSON; null: not there */
    after: string | null;
    /** as JSON; null: not there */
    before: string | null;
    /** path such as `availablePorts.min` */
    field: string;
  }[];
  /**
   * number of the older content
   * @format int64
   */
  from: number;
  /**
   * number of the newer content
   * @format int64
   */
  to: number;
}

export interface CompleteCommandData {
  /** the words that may replace it, 50 at most; a single candidate ends with a space */
  candidates: string[];
  /** the last word of the line */
  word: string;
}

export interface Configuration {
  availablePorts?: PortRange;
  /**
   * @minLength 1
   * @maxLength 65536
   */
  command: string;
  /**
   * @min 0
   * @max 1000000
   * @default 100
   */
  cpu: number;
  /** @default {} */
  environmentVariables: Partial<Record<string, string>>;
  /**
   * @maxItems 1024
   * @default []
   */
  fileModifications: string[];
  /**
   * @minLength 1
   * @maxLength 253
   */
  hostAddress?: string;
  /**
   * @maxItems 256
   * @default []
   */
  instanceGroups: string[];
  /**
   * @min 0
   * @max 100000
   */
  maximumServiceCount?: number;
  /**
   * @min 0
   * @max 100000
   * @default 1
   */
  minimumServiceCount: number;
  /** @pattern ^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$ */
  name: string;
  /**
   * @maxItems 4096
   * @default []
   */
  nodes: string[];
  onDelete?: "keep" | "stop";
  placement?: "spread" | "pack";
  /** @default {} */
  properties: Partial<Record<string, string>>;
  /**
   * @min 1
   * @max 16777216
   * @default 2048
   */
  ramMB: number;
  readiness?: {
    httpGet?: {
      /**
       * @maxLength 1024
       * @pattern ^\/[!-~]*$
       */
      path: string;
      /** @default "%PORT%" */
      port: number | "%PORT%";
    };
    /**
     * @min 0.1
     * @max 3600
     * @default 1
     */
    intervalSeconds: number;
    /**
     * @minLength 1
     * @maxLength 200
     * @pattern ^[^\x00-\x1f\x7f]*$
     */
    logLine?: string;
    tcpPort?: number | "%PORT%";
    /**
     * @min 1
     * @max 86400
     * @default 60
     */
    timeoutSeconds: number;
  };
  restartPolicy?: "always" | "on-failure" | "never";
  /** @pattern ^(?:[A-Za-z_][A-Za-z0-9_.-]{0,31}|[0-9]{1,10}:[0-9]{1,10})$ */
  runAs?: string;
  /**
   * @default "screen"
   * @pattern ^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$
   */
  runtime: string;
  /** @default false */
  static: boolean;
  /**
   * @minLength 1
   * @pattern ^[^\x00\n\r]*$
   */
  stopCommand?: string;
  stopSignal?:
    | "SIGTERM"
    | "SIGINT"
    | "SIGQUIT"
    | "SIGHUP"
    | "SIGUSR1"
    | "SIGUSR2"
    | "SIGWINCH"
    | "SIGKILL";
  /**
   * @min 0
   * @max 3600
   */
  stopTimeoutSeconds?: number;
  surplus?: "keep" | "remove";
  templateInstallationConfig: TemplateInstallation;
  update?: {
    /**
     * @min 0
     * @max 100000
     * @default 0
     */
    canary: number;
    /** @default 1 */
    maxSurge: number | string;
    /** @default 0 */
    maxUnavailable: number | string;
    /**
     * @min 0
     * @max 86400
     * @default 10
     */
    minReadySeconds: number;
    /** @default "pause" */
    onFailure: "pause" | "rollback";
    /** @default "wait" */
    players: "wait" | "ignore";
    /**
     * @min 0
     * @max 2592000
     * @default 0
     */
    playersSeconds: number;
    /**
     * @min 1
     * @max 86400
     * @default 600
     */
    progressSeconds: number;
    /** @default "auto" */
    promote: "auto" | "manual";
    /** @default "manual" */
    strategy: "manual" | "rolling" | "idle";
    /** @default false */
    templates: boolean;
  };
}

export interface ConfigurationDiff {
  configurationName: string;
  /**
   * how many instances have the content in force
   * @format int64
   */
  currentInstances: number;
  file: string;
  /** the differences from the content in force to the file */
  fileDifferences: {
    /** as JSON; null: not there */
    after: string | null;
    /** as JSON; null: not there */
    before: string | null;
    /** path such as `availablePorts.min` */
    field: string;
  }[];
  fileError: ConfigurationFileError | null;
  /** same: the file is in force; any other: the file is not in force, or not yet */
  fileState: "same" | "different" | "broken" | "gone";
  /** the content that is held back; null: none is */
  heldBack: {
    /** the reason */
    message: string | null;
    /** the revision that is in force instead: new instances are made from it */
    revision: string;
  } | null;
  /** the instances with other contents than the content in force, the oldest content first */
  olderInstances: {
    /** the differences from their content to the content in force; null: their content is not kept any more */
    differences:
      | {
          /** as JSON; null: not there */
          after: string | null;
          /** as JSON; null: not there */
          before: string | null;
          /** path such as `availablePorts.min` */
          field: string;
        }[]
      | null;
    instanceIds: string[];
    revision: string;
  }[];
  /** the revision of the last valid content of the file */
  revision: string;
}

export interface ConfigurationExplanation {
  /**
   * instances that count towards the minimum
   * @format int64
   */
  actual: number;
  /** what the operator can do; null: nothing needs doing */
  advice: string | null;
  configurationName: string;
  files: {
    column: number | null;
    error: string | null;
    field: string | null;
    /** false: the content in force is older than the file, or of another file; without an error it is held back */
    isInForce: boolean;
    line: number | null;
    name: string;
  }[];
  instances: {
    instanceId: string;
    isSettled: boolean;
    state: string;
    /** to be read after the id */
    verdict: string;
  }[];
  /** @format int64 */
  instancesTotal: number;
  /** false: there is only a broken file, or instances that are left of it */
  isInForce: boolean;
  /** desired and actual agree */
  isSettled: boolean;
  maximum: number | null;
  minimum: number | null;
  /** what happens next by itself; null: nothing */
  next: string | null;
  /** the delay while new instances do not stay; null: none */
  nextCreationInMs: number | null;
  /** where one more instance would fit */
  nodes: {
    /** short code of the first condition that failed (`ram`, `port`, ...); null: it fits */
    failed: string | null;
    fits: boolean;
    /** in numbers: `needs 2048 MB of RAM, 512 MB of 4096 MB free` */
    message: string;
    nodeId: string;
  }[];
  /** @format int64 */
  nodesTotal: number;
  /** what else is worth knowing */
  notes: string[];
  /**
   * instances that should run and are ONLINE
   * @format int64
   */
  online: number;
  /** of nodes without a free port */
  portHolders: {
    configurationName: string | null;
    /** since a program that is not ours was found there */
    foundAgoMs: number | null;
    /** null: a program that is not ours */
    instanceId: string | null;
    /** another node than nodeId: it has the same host address */
    instanceNodeId: string | null;
    nodeId: string;
    /** @format int64 */
    port: number;
    /** of a program that is not ours: tcp or udp */
    protocol: string | null;
  }[];
  /** @format int64 */
  portHoldersTotal: number;
  portRange: {
    /** @format int64 */
    max: number;
    /** @format int64 */
    min: number;
  } | null;
  /** one sentence: what is the matter */
  verdict: string;
}

export interface ConfigurationFileError {
  column: number | null;
  /** path such as `availablePorts.min`; null: a syntax error */
  field: string | null;
  /** name of the file; of the directory, where no file can be read; `templates/<group>/<name>`: a template in conflict */
  file: string;
  /** from 1; null: the fault has no place in the text (unreadable file, name taken) */
  line: number | null;
  /** what is wrong and what would be right */
  message: string;
  /** name that the file gives its configuration, where that can be read */
  name?: string;
  /** the node whose file it is, where that is not the one that leads */
  node?: string;
}

export interface ConfigurationInput {
  availablePorts?: PortRange;
  /**
   * @minLength 1
   * @maxLength 65536
   */
  command: string;
  /**
   * @min 0
   * @max 1000000
   * @default 100
   */
  cpu?: number;
  /** @default {} */
  environmentVariables?: Partial<Record<string, string>>;
  /**
   * @maxItems 1024
   * @default []
   */
  fileModifications?: string[];
  /**
   * @minLength 1
   * @maxLength 253
   */
  hostAddress?: string;
  /**
   * @maxItems 256
   * @default []
   */
  instanceGroups?: string[];
  /**
   * @min 0
   * @max 100000
   */
  maximumServiceCount?: number;
  /**
   * @min 0
   * @max 100000
   * @default 1
   */
  minimumServiceCount?: number;
  /** @pattern ^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$ */
  name: string;
  /**
   * @maxItems 4096
   * @default []
   */
  nodes?: string[];
  onDelete?: "keep" | "stop";
  placement?: "spread" | "pack";
  /** @default {} */
  properties?: Partial<Record<string, string>>;
  /**
   * @min 1
   * @max 16777216
   * @default 2048
   */
  ramMB?: number;
  readiness?: {
    httpGet?: {
      /**
       * @maxLength 1024
       * @pattern ^\/[!-~]*$
       */
      path: string;
      /** @default "%PORT%" */
      port?: number | "%PORT%";
    };
    /**
     * @min 0.1
     * @max 3600
     * @default 1
     */
    intervalSeconds?: number;
    /**
     * @minLength 1
     * @maxLength 200
     * @pattern ^[^\x00-\x1f\x7f]*$
     */
    logLine?: string;
    tcpPort?: number | "%PORT%";
    /**
     * @min 1
     * @max 86400
     * @default 60
     */
    timeoutSeconds?: number;
  };
  restartPolicy?: "always" | "on-failure" | "never";
  /** @pattern ^(?:[A-Za-z_][A-Za-z0-9_.-]{0,31}|[0-9]{1,10}:[0-9]{1,10})$ */
  runAs?: string;
  /**
   * @default "screen"
   * @pattern ^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$
   */
  runtime?: string;
  /** @default false */
  static?: boolean;
  /**
   * @minLength 1
   * @pattern ^[^\x00\n\r]*$
   */
  stopCommand?: string;
  stopSignal?:
    | "SIGTERM"
    | "SIGINT"
    | "SIGQUIT"
    | "SIGHUP"
    | "SIGUSR1"
    | "SIGUSR2"
    | "SIGWINCH"
    | "SIGKILL";
  /**
   * @min 0
   * @max 3600
   */
  stopTimeoutSeconds?: number;
  surplus?: "keep" | "remove";
  /** @default {} */
  templateInstallationConfig?: TemplateInstallationInput;
  update?: {
    /**
     * @min 0
     * @max 100000
     * @default 0
     */
    canary?: number;
    /** @default 1 */
    maxSurge?: number | string;
    /** @default 0 */
    maxUnavailable?: number | string;
    /**
     * @min 0
     * @max 86400
     * @default 10
     */
    minReadySeconds?: number;
    /** @default "pause" */
    onFailure?: "pause" | "rollback";
    /** @default "wait" */
    players?: "wait" | "ignore";
    /**
     * @min 0
     * @max 2592000
     * @default 0
     */
    playersSeconds?: number;
    /**
     * @min 1
     * @max 86400
     * @default 600
     */
    progressSeconds?: number;
    /** @default "auto" */
    promote?: "auto" | "manual";
    /** @default "manual" */
    strategy?: "manual" | "rolling" | "idle";
    /** @default false */
    templates?: boolean;
  };
}

export interface ConfigurationReload {
  /** names of configurations, in order */
  added: string[];
  brokenFiles: ConfigurationFileError[];
  /** names of configurations, in order */
  changed: string[];
  /**
   * how many configurations are in force now
   * @format int64
   */
  configurations: number;
  /** names of configurations, in order */
  removed: string[];
  /** configurations that have lost their file but stay in force, because the removal of so many must be confirmed */
  waiting: string[];
  warnings: {
    column: number | null;
    /** path such as `availablePorts.mim` */
    field: string;
    /** name of the file */
    file: string;
    /** from 1; null: it did not come from a file */
    line: number | null;
    /** what has no effect, and what was probably meant */
    message: string;
    /** of its configuration */
    name: string;
  }[];
}

export interface ConfigurationSummary {
  /**
   * 100 = one core
   * @format int64
   */
  cpu: number;
  file: string;
  /** in-force: instances are made from what it says; pending: not yet, or it is gone and what it said is still in force; broken: it cannot be read, what it said before is in force; shadowed: another file has its name; held-back: a rollout of what it says failed; conflict: it was changed here and elsewhere */
  fileState:
    | "in-force"
    | "pending"
    | "broken"
    | "shadowed"
    | "held-back"
    | "conflict";
  /**
   * instances that ended and that their restart policy does not start again
   * @format int64
   */
  finished: number;
  /**
   * all instances
   * @format int64
   */
  instances: number;
  /** true: the content in force is older than the file */
  isFileBroken: boolean;
  /** @format int64 */
  minimum: number;
  name: string;
  /**
   * instances that are ONLINE
   * @format int64
   */
  online: number;
  /**
   * instances that were made from an older content
   * @format int64
   */
  outdated: number;
  /** the range of ports, such as 8080-8099; null: the configuration asks for no port */
  ports: string | null;
  /** @format int64 */
  ramMB: number;
  runtime: string;
  /** the parts of the file without effect, and the warnings of the last installs of its instances */
  warnings: string[];
}

export interface CordonClusterNodeData {
  message: string;
  nodeId: string;
}

export type CreateInstanceData = Instance;

export interface CreateInstancePayload {
  /** name of an existing configuration */
  configurationName: string;
}

export interface CreateJoinTokenData {
  /** true: the token makes masters */
  asMaster: boolean;
  clusterName: string;
  /** Unix milliseconds; null: never */
  expiresAt: number | null;
  /** id of the token, which is not secret */
  id: string;
  /** address and cluster port of the master, for `drover join <token> --master` */
  master: string;
  /** how many nodes may join with the token; null: any number */
  maxUses: number | null;
  /** the token, shown only here */
  token: string;
}

export interface CreateJoinTokenPayload {
  /**
   * true: the token makes only masters, which get all secrets of the cluster
   * @default false
   */
  asMaster?: boolean;
  /**
   * the life of the token in seconds; null: it never expires
   * @default 86400
   */
  expiresInSeconds?: number | null;
  /**
   * the purpose of the token
   * @default null
   */
  label?: string | null;
  /**
   * how many nodes may join with the token; null: any number
   * @default null
   */
  maxUses?: number | null;
}

export interface CreateKeyData {
  /** patterns of the configurations in sight; null: all */
  configurations: string[] | null;
  /** Unix milliseconds; null: never */
  expiresAt: number | null;
  /** addresses that may use it; null: any */
  from: string[] | null;
  label: string;
  scope: "PUBLIC" | "READ" | "PLAN" | "OPERATE" | "ALL";
  /** the token, shown only here */
  token: string;
}

export interface CreateKeyPayload {
  /**
   * the configurations that the key sees, as names or patterns such as `lobby*`; null: all
   * @default null
   */
  configurations?: string[] | null;
  /**
   * the end of the key: a time from now such as `30d`, a date or an instant, or `never`
   * @default "never"
   */
  expires?: string;
  /**
   * the addresses that may use the key, or ranges such as `10.0.0.0/8`; null: any
   * @default null
   */
  from?: string[] | null;
  /**
   * the name of the key
   * @pattern ^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$
   */
  label: string;
  scope: "PUBLIC" | "READ" | "PLAN" | "OPERATE" | "ALL";
}

export interface CreateSessionData {
  /** patterns of the configurations in sight; null: all */
  configurations: string[] | null;
  /** the end if the session is not used before, in Unix milliseconds */
  endsAt: number;
  /** the latest end, in Unix milliseconds */
  expiresAt: number;
  /** addresses that may use it; null: any */
  from: string[] | null;
  /** id of the session, which is not secret */
  id: string;
  /** label of its key */
  key: string;
  scope: "PUBLIC" | "READ" | "PLAN" | "OPERATE" | "ALL";
  /** the token, shown only here; it is accepted wherever a key is */
  token: string;
}

export interface CreateSessionPayload {
  /**
   * the latest end, such as `8h`; null: after 7 days, or with its key
   * @default null
   */
  expires?: string | null;
  /**
   * the scope, at most that of the key; null: the same
   * @default null
   */
  scope?: "READ" | "PLAN" | "OPERATE" | "ALL" | null;
}

export interface CreateSignInCodeData {
  /** for the address of the dashboard: `/ui/#code=...` */
  code: string;
  /** the end of the code, in Unix milliseconds */
  expiresAt: number;
}

export interface CreateTemplateFileData {
  /**
   * size of the file
   * @format int64
   * @min 0
   */
  bytes: number;
  group: string;
  /** what was done, for a person */
  message: string;
  name: string;
  /** path relative to the template */
  path: string;
}

/** @format binary */
export type CreateTemplateFilePayload = File;

export type DeleteConfigurationData = any;

export interface DeleteInstanceData {
  instanceId: string;
  message: string;
}

export interface DeleteKeyData {
  label: string;
  message: string;
}

export interface DeleteTemplateFileData {
  group: string;
  /** what was done, for a person */
  message: string;
  name: string;
  /** path relative to the template */
  path: string;
}

export interface DrainClusterNodeData {
  /** the drain; null: it was ended meanwhile */
  drain: DrainProgress | null;
  nodeId: string;
}

export interface DrainClusterNodePayload {
  /**
   * how many seconds to wait for players; 0: no wait
   * @min 0
   * @max 2592000
   * @default 600
   */
  deadlineSeconds?: number;
}

export interface DrainProgress {
  /** Unix milliseconds; until then players are waited for */
  deadline: number;
  /** nothing is left to be moved or stopped */
  isDrained: boolean;
  /**
   * instances that are still to be moved or stopped
   * @format int64
   */
  left: number;
  /** until the deadline; 0: it is over */
  remainingMs: number;
  /** Unix milliseconds */
  since: number;
  /** what the drain waits for, and what stays, for a person */
  waitingFor: string[];
}

export interface EndSessionData {
  id: string;
  message: string;
}

export interface ExecuteCommandData {
  /** the command as it was sent */
  command: string;
  /** the output of the command, without colours, 4 MiB at most; a failure is a line `error: ...`, or `{"error": ...}` with `-o json` */
  output: string;
}

export interface ExecuteCommandPayload {
  /** one command as it would be typed, such as `instance list -o json` */
  command: string;
}

export interface ExecuteOnClusterNodePayload {
  /** a console command */
  command: string;
}

export interface ExecuteOnInstanceData {
  command: string;
  instanceId: string;
  message: string;
}

export interface ExecuteOnInstancePayload {
  /** the text for standard input; a newline is added if it lacks one */
  command: string;
}

export type ExplainClusterNodeData = ClusterNodeExplanation;

export type ExplainConfigurationData = ConfigurationExplanation;

export type ExplainInstanceData = InstanceExplanation;

/** @format binary */
export type ExportTemplateData = File;

export interface Extension {
  /** for people: `storage main`, `command greet` */
  adds: string[];
  description: string | null;
  /** why it failed; of an active one, what went wrong last */
  error: string | null;
  id: string;
  name: string;
  /** inactive: one of Drover's own that nobody configured */
  state: "active" | "failed" | "inactive";
  version: string | null;
}

export interface ForgetClusterNodeData {
  /** ids of the instances whose records were removed with the node */
  instances: string[];
  /** the token that the node joined with; absent: it could not be used any more */
  joinToken?: {
    id: string;
    /** false: the node can join with the token again */
    isRevoked: boolean;
  };
  nodeId: string;
  /** ids of the static instances among them, whose files stay on the disk of the node */
  statics: string[];
}

export type GetCallerData = Caller;

export type GetClusterNodeData = ClusterNodeDetail;

export type GetClusterStatusData = ClusterStatus;

export type GetConfigurationData = Configuration;

export interface GetConfigurationFileData {
  /** the content of the file, with unknown fields and without defaults; if the file is not in force, the content in force */
  content: Partial<Record<string, any>>;
  file: string;
  /** same: the file is in force; any other: the file is not in force, or not yet */
  fileState: "same" | "different" | "broken" | "gone";
  name: string;
  /** the revision in force: in quotes, the value for `If-Match` */
  revision: string;
}

export type GetConfigurationHistoryData = PastContent[];

export type GetConfigurationSchemaData = Partial<Record<string, any>>;

export interface GetDescriptionData {
  openapi: string;
  [key: string]: any;
}

export type GetInstanceData = Instance;

export type GetInstanceDetailsData = InstanceDetails;

export interface GetInstanceLogsData {
  /**
   * the number of lines[0]; this field and the following ones are present only when since, until, timestamps or previous is given
   * @format int64
   */
  firstLine?: number;
  instanceId: string;
  lines: string[];
  /** the first and the last line of the part; last is below first when the part is empty */
  range?: {
    /** @format int64 */
    first: number;
    /** @format int64 */
    last: number;
  };
  /** with timestamps: for each line the second (UTC) in which it was finished, or null */
  times?: (string | null)[];
  /** @format int64 */
  totalLines: number;
  /**
   * how many kept lines have no known time, so that a time cannot select them
   * @format int64
   */
  untimedLines?: number;
}

export interface GetInstanceRunsData {
  /** the run that is up; null: none is */
  current: {
    /** @format int64 */
    run: number;
    upForMs: number;
  } | null;
  instanceId: string;
  /** those that ended, the last one first; its node remembers 5 */
  runs: {
    /** @format int64 */
    agoMs: number;
    /** Unix milliseconds, by the node's clock */
    at: number;
    /** when its start was asked for, as `at`; absent: its node does not know */
    begunAt?: number;
    /** what neither code nor signal can tell */
    cause?: string;
    code: number | null;
    /** what it wrote last, oldest first, as plain text */
    lastLines: string[];
    /** why there are no lines; null: there are */
    linesNote: string | null;
    /** the most it was measured with, every 10 s; absent: it never was */
    mostMemoryBytes?: number;
    /**
     * which start of the instance, counted from 1
     * @format int64
     */
    run: number;
    signal: string | null;
    /** it ended in a stop or restart that was asked for */
    wasAsked: boolean;
  }[];
}

export interface GetInstanceUsageData {
  /** the time of each sample in Unix milliseconds, the oldest first */
  at: number[];
  /** a value for each sample; 100 = one core; null: it was not known. The other figures are lists of the same form */
  cpuPercent: (number | null)[];
  /** the time between two samples */
  everyMs: number;
  instanceId: string;
  memoryBytes: (number | null)[];
  players: (number | null)[];
}

export type GetMetricsData = string;

export type GetNodeConfigurationData = NodeConfiguration;

export interface GetNodeData {
  nodeId: string;
  systemStats: {
    /** @format int64 */
    cpus: number;
    eventLoopDelayMs: number;
    /** the load over 1, 5 and 15 minutes */
    loadAverage: number[];
    /** @format int64 */
    memoryFreeMB: number;
    /** @format int64 */
    memoryTotalMB: number;
    /** the version of Node.js */
    nodeVersion: string;
    /** @format int64 */
    pid: number;
    /** @format int64 */
    processHeapUsedMB: number;
    /** @format int64 */
    processRssMB: number;
    /**
     * how long the daemon runs
     * @format int64
     */
    uptimeSeconds: number;
    /** the version of Drover */
    version: string;
  };
  /** how long the daemon runs, for a person */
  uptime: string;
}

export type GetRolloutData = Rollout;

export interface GetTemplateData {
  exists: boolean;
  group: string;
  name: string;
  /** path relative to the node's root: templates/<group>/<name> */
  path: string;
}

export type GetTemplateSyncData = TemplateSync;

export interface ImportTemplateData {
  /**
   * the unpacked bytes of all files together
   * @format int64
   * @min 0
   */
  bytes: number;
  /**
   * files in the zip
   * @format int64
   * @min 0
   */
  files: number;
  group: string;
  /** what was done, for a person */
  message: string;
  name: string;
}

/** @format binary */
export type ImportTemplatePayload = File;

export interface Instance {
  /**
   * 100 = one core
   * @format int64
   */
  allocatedCpu: number;
  /**
   * absent until placed, when the configuration asks for no port, or once it has ended by itself
   * @format int64
   */
  allocatedPort?: number;
  /** @format int64 */
  allocatedRamMB: number;
  configurationName: string;
  configurationRevision: string;
  /**
   * Unix milliseconds
   * @format int64
   */
  createdAt: number;
  exitCode: number | null;
  exitSignal: string | null;
  /** absent until placed */
  hostAddress?: string;
  id: string;
  /**
   * Unix milliseconds
   * @format int64
   */
  lastHeartbeat: number;
  maxPlayers: number | null;
  message: string | null;
  /** a rollout replaces it once its players have left */
  outdated: boolean;
  players: number | null;
  /** null: nothing runs, or it runs in a container */
  processPid: number | null;
  reason: string | null;
  /** @format int64 */
  restarts: number;
  runtime: string;
  state: InstanceState;
  tps: number | null;
  /** what its last install found without effect, such as a file that is not there; null: nothing */
  warning: string | null;
  /** absent until placed */
  wrapperNodeId?: string;
}

export interface InstanceDetails {
  /**
   * 100 = one core
   * @format int64
   */
  allocatedCpu: number;
  /**
   * absent until placed, when the configuration asks for no port, or once it has ended by itself
   * @format int64
   */
  allocatedPort?: number;
  /** @format int64 */
  allocatedRamMB: number;
  configurationName: string;
  configurationRevision: string;
  /**
   * Unix milliseconds
   * @format int64
   */
  createdAt: number;
  /** run or stop */
  desired: string;
  exitCode: number | null;
  exitSignal: string | null;
  /** absent until placed */
  hostAddress?: string;
  id: string;
  /** true: the instance has the present content of its configuration; null: the configuration was removed */
  isRevisionCurrent: boolean | null;
  /**
   * Unix milliseconds
   * @format int64
   */
  lastHeartbeat: number;
  maxPlayers: number | null;
  message: string | null;
  /** a rollout replaces it once its players have left */
  outdated: boolean;
  players: number | null;
  /** null: nothing runs, or it runs in a container */
  processPid: number | null;
  reason: string | null;
  /** @format int64 */
  restarts: number;
  runtime: string;
  state: InstanceState;
  static: boolean;
  /** the templates that were chosen for the instance; empty until it is placed */
  templates: {
    group: string;
    name: string;
  }[];
  tps: number | null;
  /** the present usage; null: the node is away, or has not measured it yet */
  usage: {
    /** 100 = one core; null: it was measured only once so far */
    cpuPercent: number | null;
    /** processor time since the current start */
    cpuSeconds: number;
    memoryBytes: number;
    /** @format int64 */
    processes: number;
  } | null;
  /** what its last install found without effect, such as a file that is not there; null: nothing */
  warning: string | null;
  /** absent until placed */
  wrapperNodeId?: string;
}

export interface InstanceExplanation {
  /** state */
  actual: string;
  /** what the operator can do; null: nothing needs doing */
  advice: string | null;
  configurationName: string;
  configurationRevision: string;
  /** run or stop */
  desired: string;
  /** newest first */
  exits: {
    /** @format int64 */
    agoMs: number;
    /** Unix milliseconds, by the node's clock */
    at: number;
    /** when its start was asked for, as `at`; absent: its node does not know */
    begunAt?: number;
    /** what neither code nor signal can tell */
    cause?: string;
    code: number | null;
    /** what it wrote last, oldest first, as plain text */
    lastLines: string[];
    /** why there are no lines; null: there are */
    linesNote: string | null;
    /** the most it was measured with, every 10 s; absent: it never was */
    mostMemoryBytes?: number;
    /**
     * which start of the instance, counted from 1
     * @format int64
     */
    run: number;
    signal: string | null;
    /** it ended in a stop or restart that was asked for */
    wasAsked: boolean;
  }[];
  /** @format int64 */
  failuresInARow: number;
  instanceId: string;
  /** made from what the configuration says now; null: it was removed */
  isRevisionCurrent: boolean | null;
  /** desired and actual agree */
  isSettled: boolean;
  /** time until SIGKILL follows */
  killInMs: number | null;
  message: string | null;
  /** what happens next by itself; null: nothing */
  next: string | null;
  node: string | null;
  /** why the node could not be asked, so that this is what the master knows; null: it was asked */
  nodeAnswer: string | null;
  /** connected, returning or lost */
  nodeCondition: string | null;
  /** when it waits for a node or a port */
  nodes: {
    /** short code of the first condition that failed (`ram`, `port`, ...); null: it fits */
    failed: string | null;
    fits: boolean;
    /** in numbers: `needs 2048 MB of RAM, 512 MB of 4096 MB free` */
    message: string;
    nodeId: string;
  }[];
  /** @format int64 */
  nodesTotal: number;
  /** what else is worth knowing */
  notes: string[];
  port: number | null;
  /** when no port of its range is free */
  portHolders: {
    configurationName: string | null;
    /** since a program that is not ours was found there */
    foundAgoMs: number | null;
    /** null: a program that is not ours */
    instanceId: string | null;
    /** another node than nodeId: it has the same host address */
    instanceNodeId: string | null;
    nodeId: string;
    /** @format int64 */
    port: number;
    /** of a program that is not ours: tcp or udp */
    protocol: string | null;
  }[];
  /** @format int64 */
  portHoldersTotal: number;
  portRange: {
    /** @format int64 */
    max: number;
    /** @format int64 */
    min: number;
  } | null;
  processPid: number | null;
  reason: string | null;
  /** @format int64 */
  restarts: number;
  /** time to the next try; null: none is put off */
  retryInMs: number | null;
  /** last signal of a stop under way */
  stopSignal: string | null;
  upForMs: number | null;
  /** one sentence: what is the matter */
  verdict: string;
}

export type InstanceState = "CREATING" | "ONLINE" | "OFFLINE" | "STOPPED";

export interface JoinToken {
  /** true: the token makes masters */
  asMaster: boolean;
  /** Unix milliseconds */
  createdAt: number;
  /** Unix milliseconds; null: never */
  expiresAt: number | null;
  /** id of the token, which is not secret */
  id: string;
  isExpired: boolean;
  label: string | null;
  /** how many nodes may join with the token; null: any number */
  maxUses: number | null;
  /**
   * how many nodes have joined with the token
   * @format int64
   */
  uses: number;
}

export interface Key {
  /** patterns of the configurations in sight; null: all */
  configurations: string[] | null;
  /** Unix milliseconds */
  createdAt: number;
  /** Unix milliseconds; null: never */
  expiresAt: number | null;
  /** addresses that may use it; null: any */
  from: string[] | null;
  isExpired: boolean;
  label: string;
  /** Unix milliseconds, exact to a minute; null: never */
  lastUsedAt: number | null;
  /** address of the last use */
  lastUsedFrom: string | null;
  /** the beginning and the end of the token */
  mask: string;
  scope: "PUBLIC" | "READ" | "PLAN" | "OPERATE" | "ALL";
}

export type ListAuditEntriesData = AuditEntry[];

export type ListClusterNodesData = (ListedNode | ClusterNode)[];

export type ListCommandsData = {
  about: string;
  /** true: the command may destroy something, so ask a person first */
  destroys: boolean;
  options: {
    about: string;
    flags: string;
  }[];
  /** the words of the command, such as `instance create` */
  path: string;
  /** the words with the arguments */
  usage: string;
}[];

export type ListConfigurationFileErrorsData = ConfigurationFileError[];

export type ListConfigurationFileWarningsData = {
  column: number | null;
  /** path such as `availablePorts.mim` */
  field: string;
  /** name of the file */
  file: string;
  /** from 1; null: it did not come from a file */
  line: number | null;
  /** what has no effect, and what was probably meant */
  message: string;
  /** of its configuration */
  name: string;
}[];

export type ListConfigurationFilesData = {
  /** when its content came into force, in Unix milliseconds; null: it is not in force, or the time is not known */
  appliedAt: number | null;
  /** the commit of the git work tree around the directory; null: there is no such tree */
  commit: string | null;
  /** why it is not in force as it stands, and what would be right */
  error: {
    column: number | null;
    /** path such as `availablePorts.min`; null: a syntax error */
    field: string | null;
    /** from 1; null: the fault has no place in the text (unreadable file, name taken) */
    line: number | null;
    /** what is wrong and what would be right */
    message: string;
  } | null;
  file: string;
  instances: {
    /**
     * how many instances have the content in force
     * @format int64
     */
    current: number;
    /**
     * how many instances have an older content
     * @format int64
     */
    outdated: number;
  };
  /** true: the file differs from the commit; null: this is not known */
  isDirty: boolean | null;
  /** of its configuration; null: it gives none that can be read */
  name: string | null;
  /** id of the node whose file it is */
  node: string;
  /** it is gone with most others; what it said goes with `config reload --confirm` */
  removalWaits: boolean;
  /** of what is in force from this file; null: nothing is */
  revision: string | null;
  /** in-force: instances are made from what it says; pending: not yet, or it is gone and what it said is still in force; broken: it cannot be read, what it said before is in force; shadowed: another file has its name; held-back: a rollout of what it says failed; conflict: it was changed here and elsewhere */
  state:
    | "in-force"
    | "pending"
    | "broken"
    | "shadowed"
    | "held-back"
    | "conflict";
}[];

export type ListConfigurationSummariesData = ConfigurationSummary[];

export type ListConfigurationsData = Configuration[];

export type ListExtensionCommandsData = {
  description: string;
  name: string;
  /** the arguments of the command, for the help; may be empty */
  usage: string;
}[];

export type ListExtensionsData = Extension[];

export type ListInstancesData = Instance[];

export type ListJoinTokensData = JoinToken[];

export type ListKeysData = Key[];

export interface ListLeftDirectoriesData {
  /** the 1000 of each node that were left last */
  directories: {
    /** null: not known, as of directories that an earlier version left */
    configurationName: string | null;
    /**
     * of the instance that it belonged to, and the name of the directory
     * @pattern ^[a-z0-9]{6}$
     */
    id: string;
    /** Unix milliseconds; null: not known */
    leftAt: number | null;
    nodeId: string;
    /** of its last run; null: none, or not known */
    port: number | null;
    /** of its files; null: too many to count, or not readable */
    sizeBytes: number | null;
  }[];
  /** nodes that did not say what they have */
  silent: {
    nodeId: string;
    why: string;
  }[];
}

export type ListRemovedConfigurationsData = {
  /**
   * how many of its instances are left
   * @format int64
   */
  instances: number;
  /** name of a configuration that is gone */
  name: string;
}[];

export type ListRolloutsData = Rollout[];

export type ListSessionsData = Session[];

export interface ListTemplateFilesData {
  /** relative paths, in order */
  files: string[];
  group: string;
  name: string;
}

export type ListTemplateUsersData = string[];

export type ListTemplatesData = {
  group: string;
  templates: TemplateReference[];
}[];

export interface ListedNode {
  address: string;
  /** the time since its last sign of life; null: none since the master started */
  beatAgeMs: number | null;
  condition: "connected" | "returning" | "lost";
  /** true: the node gets no new instances */
  cordoned: boolean;
  /** the progress of a drain; null: there is none */
  drain: DrainProgress | null;
  /**
   * how many instances are placed on the node
   * @format int64
   */
  instances: number;
  master: boolean;
  /** @format int64 */
  maxCpu: number;
  /** @format int64 */
  maxRamMB: number;
  nodeId: string;
  /** all runtimes that the node knows */
  offers: RuntimeOffer[];
  /** keys of the runtimes that the node can use */
  runtimes: string[];
  /**
   * the CPU that placement has given out; 100 = one core
   * @format int64
   */
  usedCpu: number;
  /**
   * the RAM that placement has given out
   * @format int64
   */
  usedRamMB: number;
  version: string;
}

export interface NodeConfiguration {
  /**
   * address advertised to the cluster and to clients
   * @minLength 1
   * @default "127.0.0.1"
   */
  address: string;
  /**
   * more host names and IP addresses for the certificate of the cluster's own authority
   * @maxItems 64
   */
  apiNames?: string[];
  /**
   * REST port
   * @min 1
   * @max 65535
   * @default 7000
   */
  apiPort: number;
  /** TLS on apiPort: with a certificate of the cluster's own authority, or with files; default: none */
  apiTls?:
    | "cluster"
    | {
        /**
         * PEM file, followed by the certificates of its issuers
         * @minLength 1
         */
        certificate: string;
        /**
         * PEM file
         * @minLength 1
         */
        key: string;
      };
  /**
   * default: loopback when address is loopback, else all interfaces
   * @minLength 1
   */
  bindAddress?: string;
  /**
   * cluster name shared by all members
   * @default "drover"
   * @pattern ^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$
   */
  clusterName: string;
  /**
   * how many times placement gives out each core when maxCpu is not set
   * @min 0.001
   * @max 1000
   * @default 4
   */
  cpuOvercommit: number;
  /**
   * serve the dashboard at /ui/ of apiPort
   * @default true
   */
  dashboard: boolean;
  /**
   * verbose logging
   * @default false
   */
  debug: boolean;
  instanceLogs: {
    /**
     * @min 1
     * @max 1024
     * @default 8
     */
    segmentMB: number;
    /**
     * @min 2
     * @max 64
     * @default 4
     */
    segments: number;
  };
  /**
   * runs the API and owns authoritative state
   * @default true
   */
  isMasterNode: boolean;
  /** @minLength 1 */
  joinToken?: string;
  /** @default "info" */
  logLevel: "trace" | "debug" | "info" | "warn" | "error";
  /**
   * @minLength 1
   * @default "127.0.0.1"
   */
  masterAddress: string;
  /**
   * @min 1
   * @max 65535
   * @default 7000
   */
  masterApiPort: number;
  /**
   * @min 1
   * @max 65535
   * @default 6000
   */
  masterPort: number;
  /**
   * CPU units for instances, 100 = 1 core; default: all cores, cpuOvercommit times
   * @format int64
   * @min 1
   */
  maxCpu?: number;
  /**
   * RAM for instances in MB; default: 90 % of the machine
   * @format int64
   * @min 1
   */
  maxRamMB?: number;
  /**
   * @min 1
   * @max 1048576
   * @default 512
   */
  maxUploadMB: number;
  /**
   * answer /metrics to callers with an API key only
   * @default false
   */
  metricsNeedKey: boolean;
  /**
   * unique node identifier
   * @pattern ^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$
   */
  nodeId: string;
  /**
   * @min 4000
   * @max 3600000
   * @default 6000
   */
  nodeTimeoutMs: number;
  /**
   * cluster port
   * @min 1
   * @max 65535
   * @default 6000
   */
  port: number;
  /**
   * user of instances whose configuration names none; default: the one that Drover runs as
   * @pattern ^(?:[A-Za-z_][A-Za-z0-9_.-]{0,31}|[0-9]{1,10}:[0-9]{1,10})$
   */
  runAs?: string;
  /**
   * where a master keeps its state: a file of its own, or an etcd cluster
   * @default {"kind":"lmdb"}
   */
  store:
    | {
        kind: "lmdb";
      }
    | {
        /**
         * PEM file of the authority that signed the certificates of etcd
         * @minLength 1
         */
        ca?: string;
        /**
         * PEM file: the certificate that this master shows to etcd
         * @minLength 1
         */
        cert?: string;
        /**
         * the client URLs of the cluster's members
         * @maxItems 16
         * @minItems 1
         */
        endpoints: string[];
        /**
         * PEM file: the key of cert
         * @minLength 1
         */
        key?: string;
        kind: "etcd";
        /**
         * file with the password of user
         * @minLength 1
         */
        passwordFile?: string;
        /**
         * what all keys of this cluster begin with; default: /drover/<clusterName>
         * @pattern ^[!-~]{0,199}[!-.0-~]$
         */
        prefix?: string;
        /**
         * user of etcd; with passwordFile
         * @minLength 1
         */
        user?: string;
      };
}

export interface PastContent {
  /** when it came into force, Unix milliseconds; null: before a history was kept */
  at: number | null;
  /** of git, where the directory is a work tree; null: it is none, or not known */
  commit: string | null;
  /** when the content was replaced, in Unix milliseconds; null: it is the present content of the file */
  endedAt: number | null;
  /** under `configurations/` of its node */
  file: string;
  /**
   * how many instances have this content now
   * @format int64
   */
  instances: number;
  /** the file was not as that commit has it; null: there is no commit, or that cannot be known */
  isDirty: boolean | null;
  /** true: new instances are made from this content */
  isInForce: boolean;
  /** who wrote the file through the API or a command, as in the audit trail; null: an edit of the file */
  key: string | null;
  /** the node of the file; null: not known */
  node: string | null;
  /**
   * counts up with each content of the configuration
   * @format int64
   * @min 1
   */
  number: number;
  /** in-force: new instances are made from this content, and no rollout says more */
  outcome:
    | "in-force"
    | "rolling"
    | "rolled-out"
    | "failed"
    | "rolled-back"
    | "replaced";
  /** in words, of a failure or a rollback */
  reason: string | null;
  revision: string;
}

export type PauseRolloutData = Rollout;

export interface PingData {
  clusterName: string;
  /** the node whose master leads; null: no master leads now */
  leader: string | null;
  master: boolean;
  nodeId: string;
  status: "ok";
}

export type PlanChangesData = ChangePlan;

export interface PlanChangesPayload {
  configurations: ConfigurationInput[];
  /**
   * answer 409 unless this is still the plan
   * @maxLength 128
   */
  fingerprint?: string;
  /**
   * plan to remove all other configurations that the key sees, as `apply --prune` does
   * @default false
   */
  prune?: boolean;
  /**
   * show values of environmentVariables and properties, to a key with scope ALL
   * @default false
   */
  showValues?: boolean;
}

export interface PortRange {
  /**
   * @min 1
   * @max 65535
   */
  max: number;
  /**
   * @min 1
   * @max 65535
   */
  min: number;
}

export type PromoteRolloutData = Rollout;

export type PutConfigurationData = any;

export interface RateLimitError {
  /** the fault, and what would be right */
  error: string;
  message?: string;
  /**
   * how long to wait before the next call
   * @format int64
   * @min 0
   */
  retryAfterMs: number;
}

export type ReadTemplateFileData = string;

export interface RedeemSignInCodeData {
  /** patterns of the configurations in sight; null: all */
  configurations: string[] | null;
  /** the end if the session is not used before, in Unix milliseconds */
  endsAt: number;
  /** the latest end, in Unix milliseconds */
  expiresAt: number;
  /** addresses that may use it; null: any */
  from: string[] | null;
  /** id of the session, which is not secret */
  id: string;
  /** label of its key */
  key: string;
  scope: "PUBLIC" | "READ" | "PLAN" | "OPERATE" | "ALL";
  /** the token, shown only here; it is accepted wherever a key is */
  token: string;
}

export interface RedeemSignInCodePayload {
  /** @maxLength 100 */
  code: string;
}

export type ReloadConfigurationFilesData = ConfigurationReload;

export interface ReplaceTemplateFileData {
  /**
   * size of the file
   * @format int64
   * @min 0
   */
  bytes: number;
  group: string;
  /** what was done, for a person */
  message: string;
  name: string;
  /** path relative to the template */
  path: string;
}

export type ReplaceTemplateFilePayload = string;

export type ReportInstanceStateData = Instance;

export interface ReportInstanceStatePayload {
  /** Unix milliseconds; default: now */
  lastHeartbeat?: number | null;
  maxPlayers?: number | string;
  players?: number | string;
  state: InstanceState;
  tps?: number | string;
  [key: string]: any;
}

export type RestartConfigurationData = Rollout;

export type ResumeRolloutData = Rollout;

export type RetryRolloutData = Rollout;

export interface RevokeJoinTokenData {
  /** id of the token, which is not secret */
  id: string;
  message: string;
}

export type RollBackConfigurationData = Rollback;

export interface RollBackConfigurationPayload {
  /**
   * the reason, for the history and for later readers
   * @minLength 1
   * @maxLength 500
   */
  reason: string;
  /**
   * number of a content in the history; default: the last earlier content that did not fail
   * @format int64
   * @min 1
   */
  to?: number;
}

export interface Rollback {
  name: string;
  revision: string;
  /** the rollout that holds the content of the file back; null: the older content was written into the file */
  rollout: Rollout | null;
  /**
   * number of the content that comes back
   * @format int64
   */
  to: number;
}

export interface Rollout {
  by: string | null;
  cause: "content" | "templates" | "restart" | "rollback" | "retry";
  configurationName: string;
  counts: {
    /**
     * of these: ready for minReadySeconds without a restart
     * @format int64
     * @min 0
     */
    good: number;
    /**
     * still to be replaced
     * @format int64
     * @min 0
     */
    outdated: number;
    /**
     * instances that are wanted
     * @format int64
     * @min 0
     */
    total: number;
    /**
     * of the content that the rollout brings
     * @format int64
     * @min 0
     */
    updated: number;
    /**
     * of these: waiting for their players to leave
     * @format int64
     * @min 0
     */
    waiting: number;
  };
  endedAt: number | null;
  from: string | null;
  /** the number of `from` in the history; null: the history does not have it, or not any more */
  fromNumber: number | null;
  /** true: the file has changed since, and another rollout brings the change next */
  isBehind: boolean;
  /** true: new instances are made from `from`, until the file changes or somebody retries */
  isHeldBack: boolean;
  isPromoted: boolean;
  message: string | null;
  paused: {
    at: number;
    by: string;
    was: "rolling" | "awaiting-promotion" | "rolling-back";
  } | null;
  reason:
    | "no-progress"
    | "not-placeable"
    | "loses-files"
    | "rollback"
    | "rollback-failed"
    | null;
  since: number;
  state:
    | "rolling"
    | "awaiting-promotion"
    | "paused"
    | "failed"
    | "rolling-back"
    | "rolled-back"
    | "complete";
  to: string;
  /** the number of `to` in the history */
  toNumber: number | null;
}

export interface RunExtensionCommandData {
  /** false: the command failed */
  isOk: boolean;
  /** the output of the command, 4 MiB at most; after a failure the last line is `error: ...` */
  output: string;
}

export interface RunExtensionCommandPayload {
  /**
   * the arguments of the command, passed on unchanged: nothing is split or unquoted
   * @default []
   */
  words?: string[];
}

export interface RuntimeOffer {
  available: boolean;
  /** @pattern ^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$ */
  key: string;
  reason: string | null;
  version: string | null;
}

export interface SearchInstanceLogData {
  instanceId: string;
  /** the newest first; fewer than `limit` when lines are very long */
  lines: {
    /**
     * number of the line
     * @format int64
     */
    line: number;
    text: string;
  }[];
  /** the `before` of the next call, because one call searches 16 MiB; null: all kept lines were searched */
  next: number | null;
}

export interface SendInstanceCommandData {
  command: string;
  instanceId: string;
  message: string;
}

export interface SendInstanceCommandPayload {
  /** the text for standard input; a newline is added if it lacks one */
  command: string;
}

export interface Session {
  /** patterns of the configurations in sight; null: all */
  configurations: string[] | null;
  /** Unix milliseconds */
  createdAt: number;
  /** the end if the session is not used before, in Unix milliseconds */
  endsAt: number;
  /** the latest end, in Unix milliseconds */
  expiresAt: number;
  /** addresses that may use it; null: any */
  from: string[] | null;
  /** id of the session, which is not secret */
  id: string;
  /** true: it is the session of this call */
  isCurrent: boolean;
  /** label of its key */
  key: string;
  /** Unix milliseconds, exact to a minute */
  lastUsedAt: number;
  /** address of the last use */
  lastUsedFrom: string;
  scope: "PUBLIC" | "READ" | "PLAN" | "OPERATE" | "ALL";
}

export interface StopInstanceData {
  instanceId: string;
  message: string;
  target: string;
}

export interface StopNodeData {
  message: string;
}

export interface SyncTemplateData {
  /**
   * @format int64
   * @min 0
   */
  bytes: number;
  /** digest of the content, which names the tree */
  digest: string;
  /**
   * @format int64
   * @min 0
   */
  files: number;
  group: string;
  /** what was done, for a person */
  message: string;
  name: string;
  storage: string;
}

export interface SyncTemplatePayload {
  /**
   * key of the storage provider
   * @pattern ^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$
   */
  storage: string;
}

export interface SyncTemplatesData {
  /** what was done, for a person */
  message: string;
  /** ids of the nodes that fetch the templates */
  nodes: string[];
  pattern: string;
  /** group/name of each template that matches */
  templates: string[];
}

export interface SyncTemplatesPayload {
  /**
   * group/name, group/* or *; default: *
   * @default "*"
   */
  pattern?: string;
}

export interface TemplateInstallation {
  /**
   * @maxItems 256
   * @default []
   */
  allInGroups: string[];
  /**
   * @maxItems 256
   * @default []
   */
  allOf: TemplateReference[];
  /** @default false */
  onTemplatePasteOverridePresentFiles: boolean;
  /**
   * @maxItems 256
   * @default []
   */
  oneInGroups: string[];
  /**
   * @maxItems 256
   * @default []
   */
  oneOf: TemplateReference[];
}

export interface TemplateInstallationInput {
  /**
   * @maxItems 256
   * @default []
   */
  allInGroups?: string[];
  /**
   * @maxItems 256
   * @default []
   */
  allOf?: TemplateReferenceInput[];
  /** @default false */
  onTemplatePasteOverridePresentFiles?: boolean;
  /**
   * @maxItems 256
   * @default []
   */
  oneInGroups?: string[];
  /**
   * @maxItems 256
   * @default []
   */
  oneOf?: TemplateReferenceInput[];
}

export interface TemplateReference {
  /** @pattern ^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$ */
  group: string;
  /** @pattern ^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$ */
  name: string;
  /**
   * @min -1000000
   * @max 1000000
   * @default 0
   */
  priority: number;
  /**
   * @default "local"
   * @pattern ^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$
   */
  storage: string;
}

export interface TemplateReferenceInput {
  /** @pattern ^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$ */
  group: string;
  /** @pattern ^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$ */
  name: string;
  /**
   * @min -1000000
   * @max 1000000
   * @default 0
   */
  priority?: number;
  /**
   * @default "local"
   * @pattern ^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$
   */
  storage?: string;
}

export interface TemplateSync {
  /** Unix milliseconds */
  at: number;
  isOver: boolean;
  /** templates that could not be sent, and why */
  leftOut: string[];
  nodes: {
    /** what came over the channel for them */
    bytes: number;
    durationMs: number;
    /** @format int64 */
    failed: number;
    /** @format int64 */
    fetched: number;
    /**
     * files that came; others it shared with trees that it had
     * @format int64
     */
    files: number;
    /**
     * trees that it had
     * @format int64
     */
    had: number;
    nodeId: string;
    /** why trees are not there; the first ten */
    problems: string[];
    /** `failed`: not all trees are there */
    state: "waiting" | "fetching" | "done" | "failed";
    /**
     * different trees that it should have
     * @format int64
     */
    trees: number;
  }[];
  pattern: string;
  /** group/name */
  templates: string[];
}

export interface UncordonClusterNodeData {
  message: string;
  nodeId: string;
}

export interface UpdateInstanceData {
  /** the revision that the instance takes, or has */
  configurationRevision: string;
  instanceId: string;
  message: string;
  /** restarted: it starts again with the new content; taken: its next start has the new content; current: it had the content already; waiting: its players must leave first */
  outcome: "restarted" | "taken" | "current" | "waiting";
}

export interface UpdateInstancePayload {
  /**
   * true: update the instance when its players have left, not now
   * @default false
   */
  waitForPlayers?: boolean;
}

export type WatchStateData = string;

export type WriteBackConfigurationData = Rollback;

export interface WriteBackConfigurationPayload {
  /**
   * the reason, for the history and for later readers
   * @minLength 1
   * @maxLength 500
   */
  reason: string;
  /**
   * number of a content in the history; default: the last earlier content that did not fail
   * @format int64
   * @min 1
   */
  to?: number;
}
