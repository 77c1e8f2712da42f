/**
 * One master and its wrappers in one process, for tests and benchmarks of their decisions. Controllers, channel and
 * stores are real. The runtimes are fakes, and the installation only records.
 */

import { pino } from 'pino';
import type { Services } from '../../../src/channel/protocol/calls.js';
import { createInProcessPair, type Transport } from '../../../src/channel/protocol/transport.js';
import { NO_LOG } from '../../../src/channel/services/log-ranges.js';
import { generateClusterKey, sealingWith } from '../../../src/channel/trust/cluster-key.js';
import { SoleLeadership } from '../../../src/leadership/sole-leadership.js';
import type { Clock } from '../../../src/loop/clock.js';
import { Master, type MasterOptions } from '../../../src/master.js';
import type { TemplateSource } from '../../../src/master-term.js';
import {
  type ConfigurationInput,
  configurationSchema,
  hashConfiguration,
} from '../../../src/model/configuration.js';
import type { InstanceRecord } from '../../../src/model/instance.js';
import type { NodeCapacity } from '../../../src/model/node.js';
import type { Installation } from '../../../src/runtime/installation/local-installation.js';
import type { ResourceLimits } from '../../../src/runtime/limits/resource-limits.js';
import type { Runtime } from '../../../src/runtime/runtime.js';
import { configurationKey, revisionKey } from '../../../src/store/keys.js';
import type { Store } from '../../../src/store/store.js';
import type { Logger } from '../../../src/telemetry/logger.js';
import { Metrics } from '../../../src/telemetry/metrics.js';
import { Wrapper, type WrapperOptions } from '../../../src/wrapper.js';
import { MemoryStore } from '../store/memory-store.js';
import { FakeRuntime } from './fake-runtime.js';

const SEALING = sealingWith(generateClusterKey());

const HUGE: NodeCapacity = { maxRamMB: 1_000_000_000, maxCpu: 1_000_000_000 };

interface ControlPlaneOptions {
  readonly clock: Clock;
  readonly masterStore?: Store;
  /** Default: no files, so that `putConfiguration` is the only writer. */
  readonly isInForce?: MasterOptions['isInForce'];
  readonly logger?: Logger;
  readonly groups?: ReadonlyMap<string, readonly string[]>;
  /** The templates. Default: those of `groups`, each with a content that never changes. */
  readonly templates?: TemplateSource;
  /** The runtimes of extensions, on every node. */
  readonly moreRuntimes?: readonly Runtime[];
  /** Real runtimes in place of the fake, on every node. */
  readonly realRuntimes?: readonly Runtime[];
  readonly limits?: ResourceLimits;
  /** Changes the nodes' installations, for example to make them slow or fail. */
  readonly adaptInstallation?: (installation: Installation, nodeId: string) => Installation;
  /** Makes the look whether a port is free take longer. */
  readonly beforePortCheck?: () => Promise<void>;
  /** Puts a node's connections behind another transport, such as a gate. */
  readonly adaptTransport?: (transport: Transport, nodeId: string) => Transport;
  /** Connects a node to the master. Default: within the process. */
  readonly connect?: (nodeId: string, signal: AbortSignal) => Promise<Transport>;
  /** The services that nodes answer beside the ordinary ones. */
  readonly servicesOf?: (nodeId: string) => Services;
  /** The masters that a node knows, when there are several. */
  readonly mastersOf?: (nodeId: string) => WrapperOptions['masters'];
  readonly revokeNode?: NonNullable<MasterOptions['revokeNode']>;
  /** Ends a node that the master refuses for good. Default: the node goes on. */
  readonly endRefused?: (nodeId: string, reason: string) => void;
  /** The metrics of the master. Default: an instance of its own. */
  readonly metrics?: Metrics;
  /** True when the master looks at everything again over time. Default true. */
  readonly isResynced?: boolean;
  /** Makes the ids of instances. Default: random ids. */
  readonly newInstanceId?: () => string;
  /**
   * The metrics that all nodes share. If each of hundreds of nodes watched the process, that would be a load of its
   * own.
   */
  readonly nodeMetrics?: Metrics;
  /** The address of a node. Default: all nodes are on this machine, and share its ports. */
  readonly addressOf?: (nodeId: string) => string;
  /** Default: 6 s. */
  readonly nodeTimeoutMs?: number;
}

/** After this long the events of all earlier changes are in the store. */
export const EVENTS_WRITTEN_MS = 1000;

export interface TestNode {
  readonly nodeId: string;
  readonly runtime: FakeRuntime;
  readonly store: Store;
  /** The ports that a foreign program holds. */
  readonly foreignPorts: Set<number>;
  /** The instances that were installed, in order. */
  readonly installs: string[];
  readonly removed: string[];
  wrapper: Wrapper;
}

export class ControlPlane {
  readonly store: Store;
  readonly nodes = new Map<string, TestNode>();
  readonly metrics: Metrics;
  master: Master;
  readonly #options: ControlPlaneOptions;
  readonly #logger: Logger;

  constructor(options: ControlPlaneOptions) {
    this.#options = options;
    this.metrics = options.metrics ?? new Metrics();
    this.#logger = options.logger ?? pino({ level: 'silent' });
    this.store = options.masterStore ?? new MemoryStore();
    this.master = this.#buildMaster();
  }

  async start(): Promise<void> {
    await this.master.start();
    this.master.beginTerm({ epoch: 0 });
    await this.master.led().controllers.start();
  }

  /** Stops the master and starts another one on its store. */
  async replaceMaster(): Promise<void> {
    await this.takeOver(async () => undefined);
  }

  /** As `replaceMaster`, with something that happens before the new master decides anything. */
  async takeOver(before: () => Promise<void>): Promise<void> {
    await this.master.stop();
    this.master = this.#buildMaster();
    await this.master.start();
    this.master.beginTerm({ epoch: 0 });
    await before();
    await this.master.led().controllers.start();
  }

  async stop(): Promise<void> {
    for (const { wrapper } of this.nodes.values()) await wrapper.stop();
    await this.master.stop();
    for (const { store } of this.nodes.values()) await store.close();
    await this.store.close();
  }

  async addNode(
    nodeId: string,
    { capacity = HUGE, nodeStore = new MemoryStore() }: { capacity?: NodeCapacity; nodeStore?: Store } = {},
  ): Promise<TestNode> {
    const node = {
      nodeId,
      runtime: new FakeRuntime(),
      store: nodeStore,
      foreignPorts: new Set<number>(),
      installs: [] as string[],
      removed: [] as string[],
    };
    const known: TestNode = { ...node, wrapper: this.#buildWrapper(node, capacity) };
    this.nodes.set(nodeId, known);
    await known.wrapper.start();
    return known;
  }

  /** Replaces a wrapper by another one on the same store and runtime, as after a restart of the daemon. */
  async replaceWrapper(node: TestNode): Promise<void> {
    await node.wrapper.stop();
    node.wrapper = this.#buildWrapper(node, HUGE);
    await node.wrapper.start();
  }

  /** Writes a configuration as the configuration files do. */
  async putConfiguration(input: ConfigurationInput): Promise<void> {
    const configuration = configurationSchema.parse(input);
    const hash = hashConfiguration(configuration);
    const value = { configuration, hash, sourceFile: `${configuration.name}.json`, sourceNode: 'alpha' };
    const revision = await this.store.transact([
      { do: 'put', key: revisionKey(hash), value: configuration },
      { do: 'put', key: configurationKey(configuration.name), value },
    ]);
    await this.master.state.configurations.until(revision);
    await this.master.state.revisions.until(revision);
  }

  async removeConfiguration(name: string): Promise<void> {
    await this.store.transact([{ do: 'remove', key: configurationKey(name) }]);
  }

  /** Resolves when no controller of the master or of any wrapper has work due or running. */
  async whenIdle(): Promise<void> {
    await this.master.term?.controllers.whenIdle();
    for (const { wrapper } of this.nodes.values()) await wrapper.whenIdle();
  }

  records(): InstanceRecord[] {
    return [...this.master.state.instances.entries()].map(([, { value }]) => value);
  }

  /** The instances as text, one line each: `<configuration> <state> <reason or -> <node or ->:<port or ->`. */
  describe(): string[] {
    return this.records()
      .map(({ configurationName, status, placement }) =>
        [
          configurationName,
          status.state,
          status.reason ?? '-',
          `${placement?.nodeId ?? '-'}:${placement?.port ?? '-'}`,
        ].join(' '),
      )
      .toSorted();
  }

  #buildMaster(): Master {
    const { clock, groups, isResynced, newInstanceId, isInForce } = this.#options;
    return new Master({
      clusterName: 'test',
      address: { nodeId: 'master', address: '127.0.0.1', port: 6000, apiPort: 7000 },
      leadership: new SoleLeadership({ nodeId: 'master', clusterAddress: '127.0.0.1:6000', since: 0 }),
      nodeTimeoutMs: this.#options.nodeTimeoutMs ?? 6000,
      store: this.store,
      sealing: async () => SEALING,
      ...(isInForce !== undefined && { isInForce }),
      templates: this.#options.templates ?? {
        groups: () => groups ?? new Map(),
        storages: () => [],
        digest: async (group, name) => (groups?.get(group)?.includes(name) === true ? 'a'.repeat(64) : null),
        news: () => undefined,
        openBundle: noTrees,
        parts: { manifest: noTrees, files: noTrees },
        onChange: () => () => undefined,
      },
      issueInstanceToken: (id) => `token-${id}`,
      ...(this.#options.revokeNode !== undefined && { revokeNode: this.#options.revokeNode }),
      hostAddressOf: (configuration, node) => configuration.hostAddress ?? node.address,
      metrics: this.metrics,
      clock,
      random: () => 0.5,
      ...(isResynced !== undefined && { isResynced }),
      ...(newInstanceId !== undefined && { newInstanceId }),
      logger: this.#logger,
    });
  }

  #buildWrapper(node: Omit<TestNode, 'wrapper'>, capacity: NodeCapacity): Wrapper {
    const { endRefused } = this.#options;
    const masters = this.#options.mastersOf?.(node.nodeId);
    return new Wrapper({
      nodeId: node.nodeId,
      clusterName: 'test',
      address: this.#options.addressOf?.(node.nodeId) ?? '127.0.0.1',
      version: '0.0.0',
      capacity,
      runtimes: this.#options.realRuntimes ?? [node.runtime, ...(this.#options.moreRuntimes ?? [])],
      ...(this.#options.limits !== undefined && { limits: this.#options.limits }),
      installation:
        this.#options.adaptInstallation?.(fakeInstallation(node), node.nodeId) ?? fakeInstallation(node),
      checkPort: async (port, protocol) => {
        await this.#options.beforePortCheck?.();
        return node.foreignPorts.has(port)
          ? { free: false, protocol: protocol === 'udp' ? 'udp' : 'tcp' }
          : { free: true };
      },
      ...(this.#options.servicesOf !== undefined && { services: this.#options.servicesOf(node.nodeId) }),
      ...(masters !== undefined && { masters }),
      connect: async (signal) => {
        if (this.#options.connect !== undefined) return this.#options.connect(node.nodeId, signal);
        const [mine, its] = createInProcessPair();
        this.master.accept(its);
        return this.#options.adaptTransport?.(mine, node.nodeId) ?? mine;
      },
      ...(endRefused !== undefined && { endRefused: (reason) => endRefused(node.nodeId, reason) }),
      store: node.store,
      metrics: this.#options.nodeMetrics ?? new Metrics(),
      clock: this.#options.clock,
      random: () => 0.5,
      logger: this.#logger,
    });
  }
}

function fakeInstallation(node: Omit<TestNode, 'wrapper'>): Installation {
  return {
    isCached: () => true,
    fetch: async () => undefined,
    install: async ({ assignment }) => {
      node.installs.push(assignment.id);
      return [];
    },
    launchSpec: ({ assignment, configuration }, run) => ({
      instanceId: assignment.id,
      run,
      command: configuration.command,
      workingDirectory: '/',
      environment: {},
      ramMB: configuration.ramMB,
      cpu: configuration.cpu,
    }),
    remove: async (id) => {
      node.removed.push(id);
    },
    directories: async () => [...new Set(node.installs)].filter((id) => !node.removed.includes(id)),
    directorySizes: async (ids) => new Map(ids.map((id) => [id, 2048])),
    readLogs: async () => ({ lines: [], totalLines: 0 }),
    readLogRange: async () => NO_LOG,
    readLogTimes: async () => [],
    searchLog: async () => ({ lines: [], next: null }),
    followLogs: async function* () {},
    nextLogLine: async () => 1,
    logLineAt: async () => 1,
    readOutput: async () => ({ lines: [], isKept: true }),
  };
}

function noTrees(): never {
  throw new Error('no trees in this test');
}
