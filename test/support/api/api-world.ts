/** An API server over real mirrors on a memory store. Its writers and node streams only record the calls. */
import { once } from 'node:events';
import { pino } from 'pino';
import { KeyWriter } from '../../../src/access/key-writer.js';
import { SessionWriter } from '../../../src/access/session-writer.js';
import {
  creationOfKept,
  generateToken,
  hashToken,
  InstanceTokens,
  maskToken,
} from '../../../src/access/tokens.js';
import { DashboardFiles } from '../../../src/api/dashboard/dashboard-files.js';
import type { ApiDependencies } from '../../../src/api/dependencies.js';
import type { CommandRunner } from '../../../src/api/http/command-runner.js';
import { ApiServer, type ApiServerOptions } from '../../../src/api/server.js';
import { UsageBook } from '../../../src/channel/master/usage-book.js';
import { type InstanceStreams, logNodeOf } from '../../../src/channel/services/instance-streams.js';
import type { InstanceTerminals } from '../../../src/channel/services/instance-terminals.js';
import { NO_LOG } from '../../../src/channel/services/log-ranges.js';
import type { ApiCertificate } from '../../../src/channel/trust/api-certificate.js';
import { generateClusterKey, sealingWith } from '../../../src/channel/trust/cluster-key.js';
import { JoinTokens } from '../../../src/channel/trust/join-tokens.js';
import { validateConfiguration } from '../../../src/configuration-files/parse.js';
import { Explainer } from '../../../src/explain/explainer.js';
import type { ExtensionCommand, ExtensionStatus } from '../../../src/extensions/extension.js';
import { SoleLeadership } from '../../../src/leadership/sole-leadership.js';
import type { LogBatch } from '../../../src/logs/log-batch.js';
import { KeyedTurns } from '../../../src/loop/keyed-turns.js';
import { apiKeyRecordSchema, type Grant, withoutLimits } from '../../../src/model/access/api-key.js';
import type { KeyScope } from '../../../src/model/access/key-scopes.js';
import { sessionRecordSchema } from '../../../src/model/access/session.js';
import type { AuditEntry, AuditTrail } from '../../../src/model/audit.js';
import {
  type ConfigurationFileError,
  type ConfigurationFileWarning,
  type ConfigurationInput,
  type ConfigurationRecord,
  type ConfigurationWarning,
  configurationRecordSchema,
  configurationSchema,
  hashConfiguration,
} from '../../../src/model/configuration.js';
import { configurationOverridesSchema } from '../../../src/model/configuration-overrides.js';
import { DroverError } from '../../../src/model/errors.js';
import { eventRecordSchema } from '../../../src/model/event.js';
import { exitRecordSchema } from '../../../src/model/exit-record.js';
import { secretRecordSchema } from '../../../src/model/fields/secret.js';
import {
  type InstanceRecord,
  instanceOf,
  instanceRecordSchema,
  statusOf,
} from '../../../src/model/instance.js';
import { wordOf } from '../../../src/model/instance-word.js';
import {
  type NodeConfiguration,
  type NodeRecord,
  nodeConfigurationSchema,
  nodeRecordSchema,
} from '../../../src/model/node.js';
import type { DrainProgress } from '../../../src/model/node-drain.js';
import { type RolloutRecord, rolloutRecordSchema } from '../../../src/model/rollout.js';
import type { InstanceUsage } from '../../../src/model/run/instance-usage.js';
import { timetableSchema } from '../../../src/model/schedule.js';
import type { Forecaster } from '../../../src/operations/plan/forecast.js';
import type { Reads } from '../../../src/operations/reads.js';
import type { StateReport } from '../../../src/state/instance-changes.js';
import { InstanceCounts } from '../../../src/state/instance-counts.js';
import { NodeWriter } from '../../../src/state/node-writes.js';
import { RolloutWriter } from '../../../src/state/rollout-writes.js';
import { Secrets } from '../../../src/state/secrets.js';
import {
  apiKeyKey,
  configurationKey,
  instanceKey,
  nodeKey,
  PREFIX,
  rolloutKey,
  timetableKey,
} from '../../../src/store/keys.js';
import { Mirror } from '../../../src/store/mirror.js';
import { Metrics } from '../../../src/telemetry/metrics.js';
import { testAuthority } from '../cluster/cluster-files.js';
import { NO_FILES, placementView } from '../control-plane/explain-facts.js';
import { FakeClock } from '../fake-clock.js';
import { MemoryStore } from '../store/memory-store.js';
import { quietLogger } from '../templates/template-trees.js';
import { TemplateWorld } from '../templates/template-world.js';
import { AnswerWatch } from './answer-watch.js';

interface WrittenConfiguration {
  readonly name: string;
  readonly input: unknown;
}

/** The beat book of the master, with beats that tests set. */
class FakeBeats {
  readonly #beats = new Map<string, number>();
  tick = 0;

  lastBeatAt(nodeId: string): number | undefined {
    return this.#beats.get(nodeId);
  }

  beat(nodeId: string, at: number): void {
    this.#beats.set(nodeId, at);
    this.tick++;
  }
}

/** The audit trail in memory. */
class RecordedAudit implements AuditTrail {
  readonly entries: AuditEntry[] = [];
  readonly #clock: FakeClock;

  constructor(clock: FakeClock) {
    this.#clock = clock;
  }

  record(entry: Omit<AuditEntry, 'at'>): void {
    this.entries.push({ at: this.#clock.now(), ...entry });
  }

  last(count: number): readonly AuditEntry[] {
    return this.entries.slice(-count);
  }
}

/** A path without a file: these tests write no admin key. */
const SEALING = sealingWith(generateClusterKey());
const NO_FILE = '/nonexistent/admin.key';

export class ApiWorld {
  readonly store = new MemoryStore();
  readonly clock = new FakeClock();
  readonly beats = new FakeBeats();
  readonly usageBook = new UsageBook();
  readonly instances = new Mirror({
    store: this.store,
    prefix: PREFIX.instances,
    decode: (value) => instanceOf(instanceRecordSchema.parse(value)),
  });
  readonly configurations = new Mirror({
    store: this.store,
    prefix: PREFIX.configurations,
    decode: (value) => configurationRecordSchema.parse(value),
  });
  readonly keys = new Mirror({
    store: this.store,
    prefix: PREFIX.keys,
    decode: (value) => apiKeyRecordSchema.parse(value),
  });
  readonly sessions = new Mirror({
    store: this.store,
    prefix: PREFIX.sessions,
    decode: (value) => sessionRecordSchema.parse(value),
  });
  readonly keyWrites = new KeyWriter({
    store: this.store,
    keys: this.keys,
    clock: this.clock,
    adminKeyPath: NO_FILE,
    logger: quietLogger,
  });
  readonly sessionWrites = new SessionWriter({
    store: this.store,
    keys: this.keys,
    sessions: this.sessions,
    clock: this.clock,
  });
  readonly overrides = new Mirror({
    store: this.store,
    prefix: PREFIX.overrides,
    decode: (value) => configurationOverridesSchema.parse(value),
  });
  readonly rollouts = new Mirror({
    store: this.store,
    prefix: PREFIX.rollouts,
    decode: (value) => rolloutRecordSchema.parse(value),
  });
  readonly timetables = new Mirror({
    store: this.store,
    prefix: PREFIX.timetables,
    decode: (value) => timetableSchema.parse(value),
  });
  readonly timetableRecords = {
    store: this.store,
    mirror: this.timetables,
    keyOf: timetableKey,
    turns: new KeyedTurns(),
  };
  readonly events = new Mirror({
    store: this.store,
    prefix: PREFIX.events,
    decode: (value) => eventRecordSchema.parse(value),
  });
  readonly exits = new Mirror({
    store: this.store,
    prefix: PREFIX.exits,
    decode: (value) => exitRecordSchema.parse(value),
  });
  readonly programSecrets = new Mirror({
    store: this.store,
    prefix: PREFIX.programSecrets,
    decode: (value) => secretRecordSchema.parse(value),
  });
  readonly #revisions = new Mirror({
    store: this.store,
    prefix: PREFIX.revisions,
    decode: (value) => configurationSchema.parse(value),
  });
  readonly #nodes = new Mirror({
    store: this.store,
    prefix: PREFIX.nodes,
    decode: (value) => nodeRecordSchema.parse(value),
  });
  readonly #instanceRevisions = new InstanceCounts(this.instances, ({ revision }) => revision);
  readonly #instanceWords = new InstanceCounts(this.instances, wordOf);
  readonly #exitsByInstance = this.exits.lookup(({ instance }) => [instance]);
  readonly #instancesByConfiguration = this.instances.lookup(({ configurationName }) => [configurationName]);
  readonly tokens = new InstanceTokens(Buffer.alloc(32, 7), creationOfKept(this.instances));
  readonly audit = new RecordedAudit(this.clock);
  /** Metrics without the figures of a master's state; a test may add some. */
  readonly metrics = new Metrics();
  /** The real explainer. Its controllers decide nothing, and its nodes do not answer. */
  readonly explainer = new Explainer({
    instances: this.instances,
    configurations: this.configurations,
    nodes: this.#nodes,
    overrides: this.overrides,
    rollouts: this.rollouts,
    exits: this.exits,
    timetableRecords: this.timetableRecords,
    instancesByConfiguration: this.#instancesByConfiguration,
    instancesByNode: this.instances.lookup(({ placement }) => (placement === null ? [] : [placement.nodeId])),
    histories: { get: () => undefined },
    files: NO_FILES,
    decisions: {
      placementOf: () => undefined,
      placementOfNext: () => placementView(),
      serviceOf: () => undefined,
      leavingOf: () => ({ going: 0, waiting: 0 }),
      contactOf: () => undefined,
      moveOf: () => undefined,
    },
    usedOf: (nodeId) => this.#usedOf(nodeId),
    drainOf: () => undefined,
    askNode: async ({ nodeId }) => {
      throw new DroverError('DRV_NODE_DISCONNECTED', `node ${nodeId} is not connected`);
    },
    clock: this.clock,
  });
  /** Forecasts nothing, because there are no controllers. A test may replace it. */
  forecast: Forecaster['forecast'] = async () => ({ services: new Map(), shortages: [], unjudged: 0 });
  /** Prints the line that it would run. A test may replace it. */
  runCommand: CommandRunner['run'] = async (line, { write }) => {
    write(`would run: ${line}\n`);
    return { isOk: true };
  };
  /** Refuses, because there is no node. A test may replace it. */
  attach: InstanceTerminals['attach'] = async ({ placement }) => {
    throw new DroverError('DRV_NODE_DISCONNECTED', `node ${placement?.nodeId} is not connected`);
  };
  /** The parsed lines of the log. */
  readonly log: Record<string, unknown>[] = [];
  /** The usage of nodes, by node. */
  readonly usages = new Map<string, InstanceUsage>();
  /** The drains of nodes, by node. */
  readonly drains = new Map<string, DrainProgress>();
  /** The answer of a node about the usage of the last day; a test may replace it. */
  usageOver: Reads['usageOver'] = async () => [];
  /** The usage of instances, by instance. */
  readonly instanceUsages = new Map<string, InstanceUsage>();
  readonly fileErrors: ConfigurationFileError[] = [];
  /** Tells the readers of `fileErrors` that these have changed. */
  tellFiles: () => void = () => undefined;
  readonly fileWarnings: ConfigurationFileWarning[] = [];
  /** The configuration files that are not as their commit has them. */
  readonly offCommit = new Set<string>();
  /** The warnings in the answer to each PUT of a configuration. */
  readonly bodyWarnings: ConfigurationWarning[] = [];
  readonly extensions: ExtensionStatus[] = [];
  readonly extensionCommands: ExtensionCommand[] = [];
  /** How often a request ended the daemon. */
  stops = 0;
  readonly reports: { id: string; report: StateReport }[] = [];
  readonly lifecycles: { id: string; target: string }[] = [];
  readonly written: WrittenConfiguration[] = [];
  /** The signals that were sent, as `<id> <signal> <to>`. */
  readonly signals: string[] = [];
  readonly stdin: { id: string; bytes: Buffer }[] = [];
  logs = { lines: ['one', 'two'], totalLines: 2 };
  /** The logs on the nodes: `logs`, and a live log without lines. A test may replace them. */
  nodeLogs: Pick<InstanceStreams, 'readLogs' | 'followLogs' | 'readLogRange' | 'readLogTimes'> = {
    readLogs: async (record, lines) =>
      logNodeOf(record) === undefined
        ? { lines: [], totalLines: 0 }
        : { ...this.logs, lines: this.logs.lines.slice(-lines) },
    readLogRange: async () => NO_LOG,
    readLogTimes: async () => [],
    followLogs: (_record, _position, signal) => this.#followKept(signal),
  };
  /** Finds nothing. A test may replace it. */
  searchLog: InstanceStreams['searchLog'] = async () => ({ lines: [], next: null });
  /** Every lifecycle write awaits it, so that a test can hold a write. */
  hold: () => Promise<void> = async () => {};
  isReady = true;
  hasKeys = true;
  admin = '';
  readonly server: ApiServer;
  readonly templates: TemplateWorld;
  /** Checks every answer against the API's description. `stop` throws when one was wrong. */
  readonly answers = new AnswerWatch(() => this.server.address?.port);

  constructor(
    options: {
      limits?: ApiServerOptions['limits'];
      configuration?: Partial<NodeConfiguration>;
      /** The certificate of the API. Default: no TLS. */
      certificate?: ApiCertificate;
      /** The directory of a built dashboard. Default: the build has none. */
      dashboard?: string;
      /** How requests reach the leader. Default: this is the only master. */
      forwarding?: NonNullable<ApiServerOptions['forwarding']>;
    } = {},
  ) {
    const configuration = {
      ...nodeConfigurationSchema.parse({ nodeId: 'n1', clusterName: 'test' }),
      apiPort: 0,
      ...options.configuration,
    };
    this.templates = new TemplateWorld({ clock: this.clock, maxUploadMB: configuration.maxUploadMB });
    this.server = new ApiServer({
      dependencies: this.#dependencies(configuration, options),
      ...(options.limits !== undefined && { limits: options.limits }),
      ...(options.forwarding !== undefined && { forwarding: options.forwarding }),
    });
  }

  /** Loads the mirrors and makes an ALL key. The server does not listen yet. */
  async start(): Promise<this> {
    await Promise.all(this.#mirrors().map((mirror) => mirror.start()));
    await this.templates.start();
    this.admin = await this.addKey('boss', 'ALL');
    this.answers.start();
    return this;
  }

  async stop(): Promise<void> {
    await this.server.stop();
    await this.templates.stop();
    await Promise.all(this.#mirrors().map((mirror) => mirror.stop()));
    await this.store.close();
    this.answers.stop();
  }

  /** The base URL of the listening server. */
  get url(): string {
    return `http://127.0.0.1:${this.server.address?.port ?? 0}/api`;
  }

  /** Sends a request with the admin key and a JSON body. */
  call(method: string, path: string, body?: unknown, token = this.admin): Promise<Response> {
    return fetch(this.url + path, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  }

  async addKey(label: string, scope: KeyScope, limits: Partial<Grant> = {}): Promise<string> {
    const token = generateToken();
    const record = {
      label,
      hash: hashToken(token),
      mask: maskToken(token),
      createdAt: this.clock.now(),
      grant: { ...withoutLimits(scope), ...limits },
    };
    await this.keys.until(await this.store.transact([{ do: 'put', key: apiKeyKey(label), value: record }]));
    return token;
  }

  /** Copies a key of another API to this one. */
  async copyKey(from: ApiWorld, label: string): Promise<void> {
    const value = from.keys.get(label)?.value;
    await this.keys.until(await this.store.transact([{ do: 'put', key: apiKeyKey(label), value }]));
  }

  async removeKey(label: string): Promise<void> {
    await this.keys.until(await this.store.transact([{ do: 'remove', key: apiKeyKey(label) }]));
  }

  /** Adds a node that is connected, unless `fields` say otherwise. */
  async addNode(nodeId: string, fields: Partial<NodeRecord> = {}): Promise<void> {
    const value: NodeRecord = {
      nodeId,
      address: '10.0.0.9',
      master: false,
      capacity: { maxRamMB: 4096, maxCpu: 400 },
      runtimes: [{ key: 'process', available: true, version: '1', reason: null }],
      cordoned: false,
      condition: 'connected',
      conditionSince: 0,
      version: '0.0.0-test',
      ...fields,
    };
    await this.#nodes.until(await this.store.transact([{ do: 'put', key: nodeKey(nodeId), value }]));
  }

  async addConfiguration(name: string, fields: Partial<ConfigurationInput> = {}): Promise<void> {
    const input = { name, runtime: 'process', command: 'sleep 1', ...fields };
    const configuration = configurationSchema.parse(input);
    const value: ConfigurationRecord = {
      configuration,
      sourceFile: `${name}.json`,
      sourceNode: 'alpha',
      hash: hashConfiguration(configuration),
    };
    const revision = await this.store.transact([{ do: 'put', key: configurationKey(name), value }]);
    await this.configurations.until(revision);
  }

  async putInstance(record: InstanceRecord): Promise<InstanceRecord> {
    const revision = await this.store.transact([{ do: 'put', key: instanceKey(record.id), value: record }]);
    await this.instances.until(revision);
    return record;
  }

  async putRollout(record: RolloutRecord): Promise<void> {
    const written = await this.store.transact([{ do: 'put', key: rolloutKey(record.name), value: record }]);
    await this.rollouts.until(written);
  }

  async dropInstance(id: string): Promise<void> {
    await this.instances.until(await this.store.transact([{ do: 'remove', key: instanceKey(id) }]));
  }

  #rolloutWrites(): RolloutWriter {
    const { store, configurations, timetables, rollouts: mirror, clock } = this;
    const rolloutRecords = { store, mirror, keyOf: rolloutKey, turns: new KeyedTurns() };
    return new RolloutWriter({
      configurations,
      timetables,
      revisions: this.#revisions,
      rolloutRecords,
      clock,
    });
  }

  #mirrors(): Pick<Mirror<unknown>, 'start' | 'stop'>[] {
    const { instances, configurations, keys, sessions, overrides, rollouts, events, exits } = this;
    const records = [instances, configurations, keys, sessions, overrides, rollouts, events, exits];
    return [...records, this.programSecrets, this.timetables, this.#revisions, this.#nodes];
  }

  #dependencies(
    configuration: NodeConfiguration,
    {
      certificate: apiCertificate,
      dashboard = NO_FILE,
    }: { certificate?: ApiCertificate; dashboard?: string },
  ): ApiDependencies {
    return {
      apiCertificate,
      dashboard: new DashboardFiles({ directory: dashboard, isOn: configuration.dashboard }),
      configuration,
      version: '0.0.0-test',
      events: this.events,
      exits: this.exits,
      exitsByInstance: this.#exitsByInstance,
      programSecrets: this.programSecrets,
      webhooks: () => [],
      instances: this.instances,
      instanceRevisions: this.#instanceRevisions,
      instanceWords: this.#instanceWords,
      instancesByConfiguration: this.#instancesByConfiguration,
      unreadable: () => [],
      configurations: this.configurations,
      nodes: this.#nodes,
      keys: this.keys,
      sessions: this.sessions,
      isReady: () => this.isReady,
      hasKeys: () => this.hasKeys,
      leadership: new SoleLeadership({ nodeId: 'alpha', clusterAddress: 'alpha:6000', since: 0 }),
      led: () => ({
        notices: {
          test: async (name) => {
            if (name !== 'ops')
              throw new DroverError('DRV_WEBHOOK_UNKNOWN', 'the leader has no such webhook');
          },
        },
        creations: {
          create: async (configurationName) => {
            if (this.configurations.get(configurationName) === undefined)
              throw new DroverError('DRV_CONFIGURATION_UNKNOWN', 'there is no such configuration');
            return this.putInstance(instanceRecord({ id: 'new001', configurationName }));
          },
          adopt: async () => {
            throw new DroverError('DRV_ADOPTION_REFUSED', 'there is no placement');
          },
        },
        updates: { update: async () => 'current', updateWhenEmpty: async () => undefined },
        forecaster: { forecast: (contents) => this.forecast(contents) },
      }),
      instanceWrites: this.#instanceWrites(),
      revisions: this.#revisions,
      histories: { get: () => undefined },
      overrides: this.overrides,
      rollouts: this.rollouts,
      rolloutWrites: this.#rolloutWrites(),
      timetableRecords: this.timetableRecords,
      configurationFiles: {
        put: async (name, input) => {
          this.written.push({ name, input });
          return { ...validateConfiguration(name, input), warnings: this.bodyWarnings };
        },
        write: async (name, { content }) => {
          this.written.push({ name, input: content });
        },
        remove: async (name) => {
          if (this.configurations.get(name) === undefined) {
            throw new DroverError('DRV_CONFIGURATION_UNKNOWN', `there is no configuration "${name}"`);
          }
        },
        errors: () => this.fileErrors,
        ownErrors: () => this.fileErrors,
        onLook: (listener) => {
          this.tellFiles = listener;
          return () => undefined;
        },
        waiting: () => new Set(),
        conflicts: () => [],
        readings: () => new Map(),
        inGit: NO_FILES.inGit,
        isOffCommit: (file) => this.offCommit.has(file),
        place: () => ({ nodeId: 'n1', directory: '/nowhere', writes: 'file', isClone: false }),
        warnings: () => this.fileWarnings,
        reset: async (name, field) => {
          this.written.push({ name, input: { reset: field } });
        },
        reload: async () => this.addConfiguration('reloaded'),
        inspect: async () => undefined,
        textOfBroken: async () => undefined,
      },
      nodeWrites: this.#nodeWrites(),
      secrets: new Secrets({
        ...this,
        revisions: this.#revisions,
        logger: pino({ level: 'silent' }),
        sealing: async () => SEALING,
      }),
      keyWrites: this.keyWrites,
      sessionWrites: this.sessionWrites,
      joinTokens: new JoinTokens({
        store: this.store,
        authority: testAuthority(this.clock),
        clock: this.clock,
      }),
      extensions: { list: () => this.extensions, commands: () => this.extensionCommands },
      stopDaemon: () => {
        this.stops++;
      },
      clock: this.clock,
      usageOf: (id) => this.instanceUsages.get(id),
      streams: {
        readLogs: (record, lines) => this.nodeLogs.readLogs(record, lines),
        readLogRange: (record, part) => this.nodeLogs.readLogRange(record, part),
        searchLog: (record, query) => this.searchLog(record, query),
        readLogTimes: (record, from, to) => this.nodeLogs.readLogTimes(record, from, to),
        followLogs: (record, position, signal) => this.nodeLogs.followLogs(record, position, signal),
        sendSignal: async ({ id }, signal, to) => void this.signals.push(`${id} ${signal} ${to}`),
        writeStdin: async ({ id }, bytes) => {
          this.stdin.push({ id, bytes });
        },
      },
      terminals: { attach: (record, size, signal) => this.attach(record, size, signal) },
      templates: this.templates.local,
      templateDigest: (group, name) => this.templates.library.digest(group, name),
      templateSync: this.templates.sync,
      beats: this.beats,
      leftOn: async () => [],
      usageOver: (nodeId, question, signal) => this.usageOver(nodeId, question, signal),
      usedOf: (nodeId) => this.#usedOf(nodeId),
      drainOf: (nodeId) => this.drains.get(nodeId),
      serviceOf: () => undefined,
      usages: this.usageBook,
      usageOfNode: (nodeId) => this.usages.get(nodeId),
      audit: this.audit,
      explainer: this.explainer,
      commands: {
        run: (line, session) => this.runCommand(line, session),
        list: () => [],
        complete: async () => [[], ''],
      },
      verifyInstanceToken: (token) => this.tokens.verify(token),
      metrics: this.metrics,
      logger: pino({ level: 'debug' }, { write: (line) => this.log.push(JSON.parse(line)) }),
    };
  }

  #nodeWrites(): NodeWriter {
    return new NodeWriter({
      store: this.store,
      nodes: this.#nodes,
      nodeRecords: { store: this.store, mirror: this.#nodes, keyOf: nodeKey, turns: new KeyedTurns() },
      instances: this.instances,
      instanceRecords: {
        store: this.store,
        mirror: this.instances,
        keyOf: instanceKey,
        turns: new KeyedTurns(),
      },
      ownNodeId: 'n1',
      isConnected: (id) => this.#nodes.get(id)?.value.condition === 'connected',
      shutOut: async () => undefined,
      clock: this.clock,
    });
  }

  async *#followKept(signal: AbortSignal): AsyncGenerator<LogBatch> {
    yield { kind: 'lines', firstLine: 1, lines: this.logs.lines };
    if (!signal.aborted) await once(signal, 'abort');
  }

  #usedOf(nodeId: string): ReturnType<ApiDependencies['usedOf']> {
    const held = [...this.instances.entries()]
      .map(([, { value }]) => value)
      .filter(({ placement }) => placement?.nodeId === nodeId);
    return {
      ramMB: held.reduce((sum, { ramMB }) => sum + ramMB, 0),
      cpu: held.reduce((sum, { cpu }) => sum + cpu, 0),
    };
  }

  #instanceWrites(): ApiDependencies['instanceWrites'] {
    const require = (id: string): InstanceRecord => {
      const record = this.instances.get(id)?.value;
      if (record === undefined) throw new DroverError('DRV_INSTANCE_UNKNOWN', `there is no instance "${id}"`);
      return record;
    };
    return {
      setLifecycle: async (id, target) => {
        await this.hold();
        require(id);
        this.lifecycles.push({ id, target });
      },
      reportState: async (id, report) => {
        this.reports.push({ id, report });
        const record = require(id);
        const { state, lastHeartbeat = this.clock.now() } = report;
        return this.putInstance({ ...record, status: { ...record.status, state, lastHeartbeat } });
      },
      isAway: () => false,
      remove: async (id) => {
        const record = require(id);
        await this.putInstance({ ...record, desired: { ...record.desired, goal: 'remove' } });
      },
    };
  }
}

/** A record of a placed, ONLINE instance, unless `fields` say otherwise. */
export function instanceRecord(fields: Partial<InstanceRecord> & { readonly id: string }): InstanceRecord {
  return instanceOf(
    instanceRecordSchema.parse({
      configurationName: 'hello',
      revision: 'r1',
      runtime: 'process',
      static: false,
      ramMB: 64,
      cpu: 10,
      createdAt: 1000,
      madeBy: 'client',
      desired: { goal: 'run', restartToken: 0 },
      placement: { nodeId: 'n1', port: 25_565, hostAddress: '127.0.0.1', templates: [] },
      home: null,
      status: instanceStatus('ONLINE'),
      ...fields,
    }),
  );
}

export function instanceStatus(state: InstanceRecord['status']['state']): InstanceRecord['status'] {
  return statusOf({
    state,
    reason: null,
    message: null,
    pid: state === 'ONLINE' ? 4242 : null,
    restarts: 0,
    exitCode: null,
    exitSignal: null,
    lastHeartbeat: 2000,
    players: null,
    maxPlayers: null,
    tps: null,
    gone: false,
    hasBeenReady: true,
  });
}
