/** Builds the master's controllers and says which change wakes which of them. Called by the composition root only. */
import type { BeatBook } from '../../src/channel/master/beat-book.js';
import type { ConfigurationSource } from '../../src/configuration-files/source.js';
import type { Decisions } from '../../src/explain/decisions.js';
import type { Clock } from '../../src/loop/clock.js';
import { Controller, type ControllerOptions } from '../../src/loop/controller.js';
import type { Part } from '../../src/loop/lifecycle.js';
import type { Reconciler } from '../../src/loop/reconciler.js';
import { type InstanceRecord, isAtRest } from '../../src/model/instance.js';
import type { InstanceWriter } from '../../src/store/instance-writes.js';
import { instanceKey, revisionKey } from '../../src/store/keys.js';
import type { MasterState } from '../../src/store/master-state.js';
import type { Logger } from '../../src/telemetry/logger.js';
import type { Metrics } from '../../src/telemetry/metrics.js';
import { ConfigurationFollower } from './configurations/follower.js';
import { Configurations } from './configurations/reconciler.js';
import { Drains } from './drain/reconciler.js';
import { Heartbeat } from './heartbeat/reconciler.js';
import { InstanceCleanup } from './instance-cleanup/reconciler.js';
import { MinimumService } from './minimum-service/reconciler.js';
import { Placement, type PlacementOptions } from './placement/reconciler.js';

/** Unplaced instances are looked at again this long after something came free, however much came free. */
const WAKE_PENDING_MS = 50;
/**
 * A configuration's instances are counted once for all that changed within this time. It grows with their number
 * (10,000 instances: 200 ms), so that counting stays a small share of the work.
 */
const COUNT_AGAIN_MS = 20;
const COUNTED_PER_MS = 50;
/** Placements whose writes may be under way together: they share one commit. */
const PLACEMENTS_AT_ONCE = 512;

export interface MasterControllersOptions {
  readonly state: MasterState;
  readonly writer: InstanceWriter;
  readonly beats: BeatBook;
  readonly nodeTimeoutMs: number;
  readonly configurationSource: ConfigurationSource;
  readonly placement: Pick<PlacementOptions, 'ledger' | 'busyPorts' | 'chooseTemplates' | 'hostAddressOf'>;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
}

export interface MasterControllers extends Part {
  /** Starts and stops apart from the others: they begin when the records follow the files. */
  readonly configurationFollower: ConfigurationFollower;
  readonly minimumService: MinimumService;
  readonly drains: Drains;
  /** What the controllers know now, for `why`. */
  readonly decisions: Decisions;
  /** Templates appeared: what waits for one is looked at again. */
  wakePending(): void;
  /** Looks at everything again now, as the resync does over time. */
  resyncNow(): void;
  /** Resolves when no controller has anything due or running. */
  whenIdle(): Promise<void>;
}

export function buildMasterControllers(options: MasterControllersOptions): MasterControllers {
  const { state, writer, beats, clock, metrics, logger } = options;
  const { instances, configurations, nodes, revisions, store } = state;
  const follower = buildFollower(options);
  const minimumService = new MinimumService({ ...state, writer, clock, logger });
  const enforcer = build(options, minimumService, { keys: () => ids(configurations.entries()) });
  const places = new Placement({
    records: state.instanceRecords,
    revisions,
    nodes,
    metrics,
    logger,
    clock,
    ...options.placement,
  });
  const placement = build(options, places, {
    keys: () => ids(instances.entries()),
    concurrency: PLACEMENTS_AT_ONCE,
  });
  const nodeWatch = new Heartbeat({
    nodes: state.nodeRecords,
    records: state.instanceRecords,
    instancesByNode: state.instancesByNode,
    beats,
    timeoutMs: options.nodeTimeoutMs,
    clock,
    logger,
  });
  const heartbeat = build(options, nodeWatch, { keys: () => ids(nodes.entries()) });
  const cleanup = build(options, new InstanceCleanup({ ...state, store, logger }), {
    keys: () => [...ids(instances.entries()).map(instanceKey), ...ids(revisions.entries()).map(revisionKey)],
  });
  const drains = new Drains({
    ...state,
    placementOfNext: (configuration) => places.viewOfNext(configuration),
    writer,
    clock,
    logger,
  });
  const drain = build(options, drains, { keys: () => ids(nodes.entries()) });
  const controllers = [enforcer, placement, heartbeat, drain, cleanup];

  const pending = new Set<string>();
  /** Nodes that are being emptied: their instances wait for places, too. */
  const draining = new Set<string>();
  const wakePending = (): void => {
    for (const id of pending) placement.enqueue(id, { afterMs: WAKE_PENDING_MS });
    for (const nodeId of draining) drain.enqueue(nodeId, { afterMs: WAKE_PENDING_MS });
  };
  const countAgainMs = (name: string): number =>
    Math.max(COUNT_AGAIN_MS, state.instancesByConfiguration.get(name).size / COUNTED_PER_MS);
  const onInstance = (
    id: string,
    after: InstanceRecord | undefined,
    before: InstanceRecord | undefined,
  ): void => {
    const record = after ?? before;
    if (record !== undefined && mayChangeCount(before, after))
      enforcer.enqueue(record.configurationName, { afterMs: countAgainMs(record.configurationName) });
    if (after === undefined) cleanup.enqueue(revisionKey(before?.revision ?? ''));
    else if (after.desired.goal === 'remove') cleanup.enqueue(instanceKey(id));
    if (after?.desired.goal === 'run' && (after.placement === null || after.status.reason === 'port-busy')) {
      pending.add(id);
      placement.specChanged(id);
    } else pending.delete(id);
    const nodeId = after?.placement?.nodeId ?? '';
    // Whoever is wanted on a lost node only now was not there when that was marked.
    if (becomesWanted(before, after) && nodes.get(nodeId)?.value.condition === 'lost')
      heartbeat.enqueue(nodeId);
    if (releases(before, after)) wakePending();
    if (record !== undefined) for (const nodeId of drains.concerned(record)) drain.enqueue(nodeId);
  };
  instances.onChange((id, after, before) => onInstance(id, after?.value, before?.value));
  configurations.onChange((name, after, before) => {
    follower.wake();
    enforcer.specChanged(name);
    if (before !== undefined && before.value.hash !== after?.value.hash)
      cleanup.enqueue(revisionKey(before.value.hash));
    for (const nodeId of draining) drain.enqueue(nodeId);
  });
  revisions.onChange((hash) => {
    for (const id of state.instancesByRevision.get(hash)) placement.specChanged(id);
  });
  nodes.onChange((nodeId, after, before) => {
    heartbeat.specChanged(nodeId);
    if (after?.value.drain === undefined) draining.delete(nodeId);
    else draining.add(nodeId);
    drain.specChanged(nodeId);
    wakePending();
    if (after?.value.condition !== before?.value.condition)
      for (const [name] of configurations.entries()) enforcer.enqueue(name);
  });
  beats.onContactChange((nodeId) => heartbeat.specChanged(nodeId));

  const resyncNow = (): void => {
    follower.wake();
    for (const [id, { value }] of instances.entries()) {
      onInstance(id, value, undefined);
      placement.enqueue(id);
      cleanup.enqueue(instanceKey(id));
    }
    for (const [name] of configurations.entries()) enforcer.enqueue(name);
    for (const [nodeId] of nodes.entries()) {
      heartbeat.enqueue(nodeId);
      drain.enqueue(nodeId);
    }
    for (const [hash] of revisions.entries()) cleanup.enqueue(revisionKey(hash));
  };

  return {
    configurationFollower: follower,
    minimumService,
    drains,
    decisions: {
      placementOf: (id) => places.viewOf(id),
      placementOfNext: (configuration) => places.viewOfNext(configuration),
      serviceOf: (name) => minimumService.viewOf(name),
      contactOf: (nodeId) => nodeWatch.viewOf(nodeId),
      moveOf: (id) => drains.moveOf(id),
    },
    wakePending,
    resyncNow,
    start: async () => {
      resyncNow();
      // Which nodes are there comes first: else placement would judge by what was so when the last master ended.
      heartbeat.start();
      await heartbeat.whenIdle();
      for (const controller of controllers) controller.start();
    },
    stop: async () => {
      await Promise.all(controllers.map((controller) => controller.stop()));
    },
    whenIdle: async () => {
      await Promise.all([follower, ...controllers].map((controller) => controller.whenIdle()));
    },
  };
}

/** Wakes: the files' part calls `follow` when the files changed; a record changed, whoever wrote it. */
function buildFollower(options: MasterControllersOptions): ConfigurationFollower {
  const { state, configurationSource: source, logger } = options;
  const { configurations, store } = state;
  const reconciler = new Configurations({ source, configurations, store, logger });
  const controller = build(options, reconciler, { keys: () => [source.nodeId] });
  return new ConfigurationFollower(reconciler, controller, source.nodeId);
}

function build<Facts, Step>(
  { clock, random, metrics, logger }: MasterControllersOptions,
  reconciler: Reconciler<Facts, Step>,
  { keys, concurrency }: { keys: () => Iterable<string>; concurrency?: number },
): Controller<Facts, Step> {
  const options: ControllerOptions<Facts, Step> = {
    reconciler,
    clock,
    random,
    trace: metrics.trace,
    resync: { keys },
    onError: (key, error, retryInMs) =>
      logger.error({ err: error, key, retryInMs }, `${reconciler.name} failed for ${key}; trying again`),
    ...(concurrency !== undefined && { concurrency }),
  };
  const controller = new Controller(options);
  metrics.addQueue(reconciler.name, () => controller.gauge());
  return controller;
}

/** Whether the enforcer may count one more or one less. */
function mayChangeCount(before: InstanceRecord | undefined, after: InstanceRecord | undefined): boolean {
  return (
    before === undefined ||
    after === undefined ||
    before.desired.goal !== after.desired.goal ||
    before.status.state !== after.status.state
  );
}

function becomesWanted(before: InstanceRecord | undefined, after: InstanceRecord | undefined): boolean {
  if (after?.desired.goal !== 'run' || after.placement === null) return false;
  return before?.desired.goal !== 'run' || before.placement?.nodeId !== after.placement.nodeId;
}

/** Something that another instance may wait for came free: RAM, CPU or a port. */
function releases(before: InstanceRecord | undefined, after: InstanceRecord | undefined): boolean {
  if (before?.placement == null) return false;
  return (
    after === undefined ||
    after.placement?.port !== before.placement.port ||
    after.placement.nodeId !== before.placement.nodeId ||
    (isAtRest(after) && !isAtRest(before))
  );
}

function ids(entries: Iterable<[string, unknown]>): string[] {
  return [...entries].map(([id]) => id);
}
