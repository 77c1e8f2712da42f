/**
 * Runs the master's reconcilers, and carries out the wakes that the rules in `wake/` return for each change. A new
 * controller is added to `reconcilers.ts`, to `ControllerName`, to `registerAll`, and to the rules of the records
 * that it reads.
 */
import type { Decisions } from '../../src/explain/decisions.js';
import { Controller } from '../../src/loop/controller.js';
import type { Part } from '../../src/loop/lifecycle.js';
import type { Reconciler } from '../../src/loop/reconciler.js';
import { messageOf } from '../../src/model/errors.js';
import { configurationKey, instanceKey, PREFIX, revisionKey } from '../../src/store/keys.js';
import type { MirrorReader } from '../../src/store/mirror.js';
import { RepeatedLog } from '../../src/telemetry/repeated-log.js';
import { TreeUnsteady } from '../../src/templates/tree/tree.js';
import { viewOfLeaving } from './minimum-service/surplus.js';
import { ALL_WEBHOOKS } from './notice/reconciler.js';
import { buildReconcilers, type Reconcilers, type ReconcilersOptions } from './reconcilers.js';
import { ALL_THAT_WAITS } from './waiting/groups.js';
import { wakesOfInstance } from './wake/instance-wakes.js';
import {
  wakesOfConfiguration,
  wakesOfContact,
  wakesOfExit,
  wakesOfHistory,
  wakesOfNode,
  wakesOfRevision,
  wakesOfRollout,
  wakesOfTimetable,
} from './wake/record-wakes.js';
import { wakesOfNewPlace, wakesOfTemplates } from './wake/shared-wakes.js';
import { type Change, type ControllerName, type Wake, type WakeFacts, wakeFactsOf } from './wake/wake.js';

/** The wake when there may be an event to tell. */
const TELL: readonly Wake[] = [{ controller: 'notice', key: ALL_WEBHOOKS, when: 0 }];
/** How many record writes may be under way together, so that they share one commit. */
const WRITES_AT_ONCE = 512;

interface MasterControllersOptions extends ReconcilersOptions {
  readonly random: () => number;
  /**
   * True (the default): every key is looked at again within 5 minutes. False: a change that a wake rule misses stays
   * unseen.
   */
  readonly isResynced?: boolean;
}

export interface MasterControllers
  extends Part,
    Pick<
      Reconcilers,
      'minimumService' | 'drains' | 'rollouts' | 'forecaster' | 'creations' | 'updates' | 'notices'
    > {
  /** The controllers' present knowledge, for `why`. */
  readonly decisions: Decisions;
  /** Called when templates appeared, changed or went. Wakes everything that waits for a place or a template. */
  templatesChanged(): void;
  /** Looks at everything again now, as the resync does over time. */
  resyncNow(): void;
  /** Resolves when no controller has anything due or running. */
  whenIdle(): Promise<void>;
}

export function buildMasterControllers(options: MasterControllersOptions): MasterControllers {
  const facts = wakeFactsOf(options.state, options.ending);
  const reconcilers = buildReconcilers(options, {
    awaitingPlace: facts.awaitingPlace,
    onPlaceFreed: () => wake(wakesOfNewPlace(facts)),
    lookAtWebhook: (name) => {
      // A webhook whose record cannot be written waits: another look would send its notice once more.
      const { controller } = registered.notice;
      if (!controller.isFailing(name)) controller.enqueue(name);
    },
    lookAtPlace: (id) => registered.placement.controller.enqueue(id),
    isPlaceRetried: (id) => registered.placement.controller.isFailing(id),
  });
  const { minimumService, placement, heartbeat, drains } = reconcilers;
  const registered = registerAll(options, reconcilers, facts);
  const controllers = Object.values(registered).map(({ controller }) => controller);
  const wake = (wakes: Iterable<Wake>): void => {
    for (const { controller: name, key, when } of wakes) {
      const { controller } = registered[name];
      if (when === 'first') controller.specChanged(key);
      else controller.enqueue(key, { afterMs: when });
    }
  };
  followAll(options, facts, wake);
  const resyncNow = (): void => {
    for (const { controller, keys } of Object.values(registered))
      for (const key of keys()) controller.enqueue(key);
  };

  return {
    ...reconcilers,
    decisions: {
      placementOf: (id) => placement.places.viewOf(id),
      placementOfNext: (configuration) => placement.places.viewOfNext(configuration),
      serviceOf: (name) => minimumService.viewOf(name),
      leavingOf: (name) => viewOfLeaving(minimumService.leavers.factsOf(name)?.leaving ?? []),
      contactOf: (nodeId) => heartbeat.viewOf(nodeId),
      moveOf: (id) => drains.moveOf(id),
    },
    templatesChanged: () => wake(wakesOfTemplates(facts)),
    resyncNow,
    start: async () => {
      resyncNow();
      // Start the heartbeat controller first: otherwise placement would judge by the conditions that the last
      // master left.
      registered.heartbeat.controller.start();
      await registered.heartbeat.controller.whenIdle();
      placement.places.begin();
      for (const controller of controllers) controller.start();
    },
    stop: async () => {
      placement.places.end();
      await Promise.all(controllers.map((controller) => controller.stop()));
    },
    whenIdle: async () => {
      await Promise.all(controllers.map((controller) => controller.whenIdle()));
    },
  };
}

/** Calls one wake rule for each source of change. */
function followAll(
  { state, beats, ending }: MasterControllersOptions,
  facts: WakeFacts,
  wake: (wakes: Iterable<Wake>) => void,
): void {
  const follow = <T>(mirror: MirrorReader<T>, wakesOf: (change: Change<T>) => Iterable<Wake>): void =>
    void mirror.onChange(
      (id, after, before) => wake(wakesOf({ id, before: before?.value, after: after?.value })),
      ending,
    );
  follow(state.instances, (change) => wakesOfInstance(change, facts));
  follow(state.configurations, (change) => wakesOfConfiguration(change, facts));
  follow(state.histories, (change) => wakesOfHistory(change));
  follow(state.revisions, (change) => wakesOfRevision(change, facts));
  follow(state.nodes, (change) => wakesOfNode(change, facts));
  follow(state.rollouts, (change) => wakesOfRollout(change, facts));
  follow(state.exits, wakesOfExit);
  follow(state.events, () => TELL);
  follow(state.notices, ({ id: key }) => [{ controller: 'notice', key, when: 0 }]);
  follow(state.timetables, (change) => wakesOfTimetable(change));
  beats.onContactChange((nodeId) => wake(wakesOfContact(nodeId)));
}

function registerAll(
  options: MasterControllersOptions,
  reconcilers: Reconcilers,
  { draining }: WakeFacts,
): Record<ControllerName, Registered> {
  const { state } = options;
  const { instances, configurations, revisions } = state;
  return {
    // Look at configurations that are gone, too: they may have left instances that must end.
    'minimum-service': register(
      options,
      reconcilers.minimumService,
      () => new Set([...ids(configurations), ...state.instancesByConfiguration.keys()]),
    ),
    placement: register(options, reconcilers.placement, () => ids(instances), WRITES_AT_ONCE),
    waiting: register(options, reconcilers.waiting, () => [ALL_THAT_WAITS]),
    heartbeat: register(options, reconcilers.heartbeat, () => ids(state.nodes)),
    drain: register(options, reconcilers.drains, () => draining.get(true)),
    replacement: register(options, reconcilers.replacements, () => state.replacements.keys()),
    'instance-cleanup': register(options, reconcilers.instanceCleanup, () => [
      ...ids(instances).map(instanceKey),
      ...[...state.endedByConfiguration.keys()].map(configurationKey),
      ...[...ids(revisions), ...revisions.setAside.keys()].map(revisionKey),
      PREFIX.exits,
    ]),
    rollout: register(options, reconcilers.rollouts, () => rolloutKeys(state)),
    notice: register(options, reconcilers.notices, () => [ALL_WEBHOOKS], WRITES_AT_ONCE),
    schedule: register(
      options,
      reconcilers.schedules,
      () => new Set([...ids(configurations), ...ids(state.timetables)]),
    ),
    content: register(options, reconcilers.contents, () => ids(instances), WRITES_AT_ONCE),
  };
}

/** A delay between tries that a template reaches after it kept changing for about 10 s. */
const UNSTEADY_MS = 5000;

/** A controller, and every key that it has to look at. */
interface Registered {
  readonly controller: Pick<
    Controller<unknown, unknown>,
    'enqueue' | 'specChanged' | 'isFailing' | 'start' | 'stop' | 'whenIdle'
  >;
  readonly keys: () => Iterable<string>;
}

function register<Facts, Step>(
  { clock, random, metrics, logger, isResynced = true }: MasterControllersOptions,
  reconciler: Reconciler<Facts, Step>,
  keys: Registered['keys'],
  concurrency?: number,
): Registered {
  // When the store takes no write, all keys fail alike: log that once.
  const failures = new RepeatedLog(logger, clock, 'error');
  const unsteady = new RepeatedLog(logger, clock);
  const controller = new Controller({
    reconciler,
    clock,
    random,
    trace: metrics.trace,
    ...(isResynced && { resync: { keys } }),
    onError: (key, error, retryInMs) => {
      const line = `${reconciler.name} failed for ${key}; trying again`;
      // A pull of a large template takes a while. Only a template that keeps changing is worth a line.
      if (!(error instanceof TreeUnsteady))
        failures.say(messageOf(error), line, { err: error, key, retryInMs });
      else if (retryInMs < UNSTEADY_MS) logger.debug({ key, retryInMs }, `${line}: ${error.message}`);
      else unsteady.say(error.message, `${line}: ${error.message}`, { key, retryInMs });
    },
    ...(concurrency !== undefined && { concurrency }),
  });
  metrics.addQueue(reconciler.name, () => controller.gauge());
  return { controller, keys };
}

/** Configurations with a rollout, or whose instances are to be replaced. */
function rolloutKeys({ rollouts, configurations }: MasterControllersOptions['state']): Set<string> {
  const keys = new Set(ids(rollouts));
  for (const [name, { value }] of configurations.entries())
    if (value.configuration.update !== undefined) keys.add(name);
  return keys;
}

function ids(mirror: MirrorReader<unknown>): string[] {
  return [...mirror.entries()].map(([id]) => id);
}
