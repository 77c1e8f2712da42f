/**
 * The command tree over a real master with one wrapper and real configuration files, in one process: tests see what a
 * line prints and does. Templates and extensions are simple fakes.
 */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { type Access, KeyAccess } from '../../../src/access/access.js';
import { KeyWriter } from '../../../src/access/key-writer.js';
import { SessionWriter } from '../../../src/access/session-writer.js';
import { DashboardFiles } from '../../../src/api/dashboard/dashboard-files.js';
import type { ApiDependencies } from '../../../src/api/dependencies.js';
import type { CommandSession } from '../../../src/api/http/command-runner.js';
import { ApiServer } from '../../../src/api/server.js';
import { askForLeftDirectories } from '../../../src/channel/services/left-directories.js';
import { type LogPart, NO_LOG } from '../../../src/channel/services/log-ranges.js';
import { askForUsage } from '../../../src/channel/services/usage-day.js';
import { JoinTokens } from '../../../src/channel/trust/join-tokens.js';
import type { ConfigurationFiles } from '../../../src/configuration-files/configuration-files.js';
import { Commands } from '../../../src/console/commands.js';
import { buildSoleFiles } from '../../../src/daemon/sole-files.js';
import type { ExtensionCommand, ExtensionStatus } from '../../../src/extensions/extension.js';
import { SoleLeadership } from '../../../src/leadership/sole-leadership.js';
import type { LogRange } from '../../../src/logs/log-range.js';
import type { Clock } from '../../../src/loop/clock.js';
import { SystemClock } from '../../../src/loop/system-clock.js';
import { withoutLimits } from '../../../src/model/access/api-key.js';
import type { AuditEntry } from '../../../src/model/audit.js';
import type { ConfigurationInput } from '../../../src/model/configuration.js';
import { DroverError } from '../../../src/model/errors.js';
import type { InstanceRecord } from '../../../src/model/instance.js';
import { nodeConfigurationSchema } from '../../../src/model/node.js';
import type { ConfigurationWrites } from '../../../src/model/plain/configuration-writes.js';
import { sumOfUsage } from '../../../src/model/run/instance-usage.js';
import { matcherOf } from '../../../src/templates/sync/pattern.js';
import { SyncRun } from '../../../src/templates/sync/sync-run.js';
import { testAuthority } from '../cluster/cluster-files.js';
import { TemplateWorld } from '../templates/template-world.js';
import { until } from '../until.js';
import { ControlPlane, type TestNode } from './control-plane.js';
import { given } from './given.js';

export class CommandWorld {
  readonly root = mkdtempSync(join(tmpdir(), 'drover-commands-'));
  readonly clock = new SystemClock();
  readonly plane: ControlPlane;
  readonly files: ConfigurationFiles;
  readonly commands: Commands;
  readonly audit: Omit<AuditEntry, 'at'>[] = [];
  /** The text of the daemon's log. */
  readonly log: string[] = [];
  /** The signals that were sent, as `<id> <signal> <to>`. */
  readonly signals: string[] = [];
  readonly stdin: { readonly id: string; readonly text: string }[] = [];
  /** The lines that `instance logs` finds. */
  lines: string[] = [];
  /** The part of a log that the node answers with. */
  range: LogRange = NO_LOG;
  readonly parts: LogPart[] = [];
  readonly groups = new Map<string, readonly string[]>();
  /** A token with which a forgotten node could join again. */
  usableToken: string | undefined;
  /** The downloads, as `<group>/<name> from <storage>`. */
  readonly downloads: string[] = [];
  readonly synced: string[] = [];
  readonly #tester: Access;
  /** False: syncs never end. */
  doNodesAnswer = true;
  #latest: SyncRun | undefined;
  readonly extensions: ExtensionStatus[] = [];
  readonly extensionCommands: ExtensionCommand[] = [];
  stops = 0;
  /** The parts of the master that the commands run on. */
  readonly dependencies: Omit<ApiDependencies, 'commands'>;
  readonly api: ApiServer;
  readonly #joinTokens: JoinTokens;
  /** The files of templates. Which templates there are is in `groups`. */
  readonly #templates: TemplateWorld;
  #node: TestNode | undefined;

  /** `commandClock` measures the time limit of commands. Default: the real clock. `writes`: the setting of config.json. */
  constructor(commandClock?: Clock, writes?: ConfigurationWrites) {
    const logger = pino({ level: 'debug' }, { write: (line) => this.log.push(line) });
    const { clock, groups } = this;
    this.plane = new ControlPlane({
      clock,
      groups,
      logger,
      isInForce: (record) => this.files.isInForce(record),
      revokeNode: async () => this.usableToken,
    });
    this.files = buildSoleFiles({
      nodeId: 'master',
      paths: { configurations: join(this.root, 'configurations'), data: join(this.root, 'data') },
      writes,
      state: this.plane.master.state,
      store: this.plane.store,
      metrics: this.plane.metrics,
      clock,
      random: () => 0.5,
      logger,
    });
    this.#joinTokens = new JoinTokens({
      store: this.plane.store,
      authority: testAuthority(this.clock),
      clock: this.clock,
    });
    this.#tester = new KeyAccess({ label: 'tester', keyHash: '', grant: withoutLimits('ALL'), clock });
    this.#templates = new TemplateWorld({ clock, maxUploadMB: 1 });
    Object.assign(this.#templates.local.library, { groups: () => groups });
    this.dependencies = this.#dependencies(logger);
    this.commands = new Commands({
      ...this.dependencies,
      clock: commandClock ?? this.clock,
      ask: (caller, request) => this.api.ask(caller, request),
    });
    this.api = new ApiServer({ dependencies: { ...this.dependencies, commands: this.commands } });
  }

  static async create(commandClock?: Clock, writes?: ConfigurationWrites): Promise<CommandWorld> {
    const world = new CommandWorld(commandClock, writes);
    await mkdir(join(world.root, 'configurations'));
    await world.plane.start();
    await world.files.start();
    world.#node = await world.plane.addNode('alpha', { capacity: { maxRamMB: 1000, maxCpu: 400 } });
    return world;
  }

  async stop(): Promise<void> {
    await this.api.stop();
    await this.files.stop();
    await this.plane.stop();
    rmSync(this.root, { recursive: true, force: true });
  }

  get node(): TestNode {
    if (this.#node === undefined) throw new Error('create the world first');
    return this.#node;
  }

  /** Everything that the line printed. */
  async run(line: string, session: Partial<CommandSession> = {}): Promise<string> {
    const parts: string[] = [];
    await this.commands.run(line, {
      access: this.#tester,
      address: '127.0.0.1',
      signal: new AbortController().signal,
      write: (text) => parts.push(text),
      ...session,
    });
    return parts.join('');
  }

  /** The value that a line prints with `-o json`. Fails when the line prints more. */
  async json(line: string): Promise<unknown> {
    return JSON.parse(await this.run(`${line} -o json`));
  }

  /** Puts a configuration file in force. */
  async configure(name: string, fields: Partial<ConfigurationInput> = {}): Promise<void> {
    const small = { runtime: 'process', command: 'run', ramMB: 100, cpu: 10, minimumServiceCount: 0 };
    this.writeFile(`${name}.json`, JSON.stringify({ name, ...small, ...fields }));
    await this.files.reload();
  }

  writeFile(file: string, text: string): void {
    writeFileSync(join(this.root, 'configurations', file), text);
  }

  removeFile(file: string): void {
    rmSync(join(this.root, 'configurations', file));
  }

  /** Waits until exactly `count` instances of the configuration are there and ONLINE. */
  untilOnline(configuration: string, count: number): Promise<InstanceRecord[]> {
    return until(() => {
      const records = this.plane
        .records()
        .filter(
          ({ configurationName, desired }) => configurationName === configuration && desired.goal === 'run',
        );
      const states = records.map(({ status }) => status.state);
      if (states.length !== count || states.some((state) => state !== 'ONLINE'))
        throw new Error(`${configuration}: ${states.join(', ')}`);
      return records;
    });
  }

  /** The ids of the instances that are to run. */
  wanted(): string[] {
    return this.plane
      .records()
      .filter(({ desired }) => desired.goal === 'run')
      .map(({ id }) => id)
      .sort();
  }

  /** Reports players of an instance, as its program does. */
  async play(id: string, players: number): Promise<void> {
    await this.plane.master.writer.reportState(id, { state: 'ONLINE', players });
  }

  #dependencies(logger: pino.Logger): Omit<ApiDependencies, 'commands'> {
    const { clock } = this;
    const { master } = this.plane;
    const { state } = master;
    return given<Omit<ApiDependencies, 'commands'>>({
      configuration: nodeConfigurationSchema.parse({ nodeId: 'alpha', clusterName: 'test' }),
      version: '1.2.3',
      dashboard: new DashboardFiles({ directory: '/nonexistent', isOn: true }),
      isReady: () => true,
      hasKeys: () => true,
      verifyInstanceToken: () => undefined,
      metrics: this.plane.metrics,
      terminals: master.terminals,
      led: () => master.led().controllers,
      usages: master.usage,
      usageOfNode: (nodeId) => sumOfUsage(master.usage.ofNode(nodeId)),
      leadership: new SoleLeadership({ nodeId: 'alpha', clusterAddress: 'alpha:6000', since: 0 }),
      apiCertificate: undefined,
      unreadable: () => master.state.unreadable(),
      instances: state.instances,
      instanceRevisions: state.instanceRevisions,
      instanceWords: state.instanceWords,
      exitsByInstance: state.exitsByInstance,
      instancesByConfiguration: state.instancesByConfiguration,
      configurations: state.configurations,
      revisions: state.revisions,
      histories: state.histories,
      overrides: state.overrides,
      rollouts: state.rollouts,
      timetableRecords: state.timetableRecords,
      nodes: state.nodes,
      keys: state.keys,
      sessions: state.sessions,
      instanceWrites: master.writer,
      nodeWrites: master.nodeWriter,
      rolloutWrites: master.rolloutWriter,
      secrets: master.secrets,
      joinTokens: this.#joinTokens,
      configurationFiles: this.files,
      streams: {
        followLogs: (record, position, signal) => master.streams.followLogs(record, position, signal),
        searchLog: (record, query) => master.streams.searchLog(record, query),
        readLogTimes: (record, from, to) => master.streams.readLogTimes(record, from, to),
        readLogs: async (_record, count) => ({
          lines: this.lines.slice(-count),
          totalLines: this.lines.length,
        }),
        readLogRange: async (_record, part) => {
          this.parts.push(part);
          return this.range;
        },
        sendSignal: async ({ id }, signal, to) => void this.signals.push(`${id} ${signal} ${to}`),
        writeStdin: async ({ id }, bytes) => {
          this.stdin.push({ id, text: bytes.toString() });
        },
      },
      templates: this.#templates.local,
      templateDigest: async () => null,
      templateSync: {
        fromStorage: async (group, name, storage) => {
          if (storage !== 's3')
            throw new DroverError('DRV_STORAGE_UNKNOWN', `no storage is called "${storage}"`);
          this.downloads.push(`${group}/${name} from ${storage}`);
          const names = this.groups.get(group) ?? [];
          this.groups.set(group, [...new Set([...names, name])]);
          return { files: 3, bytes: 120, digest: 'd1' };
        },
        toCluster: async (pattern) => {
          const isMeant = matcherOf(pattern);
          this.synced.push(pattern);
          const all = [...this.groups].flatMap(([group, names]) => names.map((name) => ({ group, name })));
          const templates = all.filter(isMeant).map(({ group, name }) => `${group}/${name}`);
          const run = new SyncRun({ pattern, templates, nodes: ['alpha'] }, this.clock);
          run.begin('alpha', templates.length);
          for (const digest of templates)
            run.note('alpha', { digest, outcome: 'fetched', bytes: 120, files: 3, problem: null });
          if (this.doNodesAnswer) run.end('alpha');
          this.#latest = run;
          return run;
        },
        latestSync: () => this.#latest?.report(),
      },
      keyWrites: new KeyWriter({
        store: this.plane.store,
        keys: state.keys,
        clock: this.clock,
        adminKeyPath: join(this.root, 'admin.key'),
        logger,
      }),
      sessionWrites: new SessionWriter({
        store: this.plane.store,
        keys: state.keys,
        sessions: state.sessions,
        clock: this.clock,
      }),
      explainer: master.explainer(this.files),
      extensions: { list: () => this.extensions, commands: () => this.extensionCommands },
      beats: master.beats,
      events: state.events,
      exits: state.exits,
      webhooks: () => [],
      leftOn: async (nodeId, id, signal) => askForLeftDirectories(master.callsOf(nodeId), { id }, signal),
      usageOver: async (nodeId, question, signal) => askForUsage(master.callsOf(nodeId), question, signal),
      usedOf: (nodeId) => master.usedOf(nodeId),
      usageOf: (id) => master.usageOf(id),
      drainOf: (nodeId) => master.term?.controllers.drains.progressOf(nodeId),
      serviceOf: (name) => master.term?.controllers.decisions.serviceOf(name),
      audit: { record: (entry) => this.audit.push(entry), last: () => [] },
      clock,
      logger,
      stopDaemon: () => {
        this.stops++;
      },
    });
  }
}
