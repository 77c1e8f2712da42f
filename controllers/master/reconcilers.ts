/**
 * Builds the master's reconcilers over its state, and the parts that they share. `register.ts` calls it and runs
 * them; it builds the configurations controller itself.
 */

import type { BeatBook } from '../../src/channel/master/beat-book.js';
import type { Webhooks } from '../../src/configuration-files/read-webhooks.js';
import type { ConfigurationRecord } from '../../src/model/configuration.js';
import type { PlannedContent } from '../../src/operations/plan/forecast.js';
import type { InstanceWriter } from '../../src/state/instance-writes.js';
import type { MasterState } from '../../src/state/master-state.js';
import { RolloutWriter } from '../../src/state/rollout-writes.js';
import type { Ambient } from '../../src/telemetry/ambient.js';
import type { Metrics } from '../../src/telemetry/metrics.js';
import { InstanceUpdates } from './content/instance-updates.js';
import { Contents } from './content/reconciler.js';
import { InstanceCreations } from './creation/instance-creations.js';
import { Drains } from './drain/reconciler.js';
import { forecast } from './forecast/forecaster.js';
import { Heartbeat } from './heartbeat/reconciler.js';
import { InstanceCleanup } from './instance-cleanup/reconciler.js';
import { MinimumService } from './minimum-service/reconciler.js';
import { Notices, type NoticesOptions } from './notice/reconciler.js';
import { Placement, type PlacementOptions } from './placement/reconciler.js';
import { unmetWaits } from './placement/waits.js';
import { Mover } from './replacement/mover.js';
import { Replacements } from './replacement/reconciler.js';
import { Victims } from './replacement/victims.js';
import { Rollouts } from './rollout/reconciler.js';
import { Schedules, type SchedulesOptions } from './schedule/reconciler.js';
import { Waiting } from './waiting/reconciler.js';
import type { WakeFacts } from './wake/wake.js';

export interface ReconcilersOptions extends Ambient {
  readonly state: MasterState;
  readonly writer: InstanceWriter;
  /**
   * Tells whether the file of a configuration is still what its record was made from. If not, the record is
   * about to change or be removed, and only clients may create instances of it. Absent: always true.
   */
  readonly isInForce?: (configuration: ConfigurationRecord) => Promise<boolean>;
  /** Makes an id, which may be taken. Default: a random one. */
  readonly newInstanceId?: (() => string) | undefined;
  readonly beats: BeatBook;
  readonly nodeTimeoutMs: number;
  readonly placement: Pick<
    PlacementOptions,
    'ledger' | 'busyPorts' | 'changes' | 'chooseTemplates' | 'hostAddressOf'
  >;
  /** The digest of a template now; null: it cannot be read. */
  readonly templateDigest: (group: string, name: string, storage: string) => Promise<string | null>;
  /** See `Rollouts`. */
  readonly lastLinesOf?: (id: string) => Promise<readonly string[]>;
  /** Default: there are no webhooks. */
  readonly readWebhooks?: (() => Promise<Webhooks>) | undefined;
  /** Sends a notice. Default: over the network. */
  readonly send?: NoticesOptions['send'];
  readonly sendLine: SchedulesOptions['sendLine'];
  readonly metrics: Metrics;
  /** Aborts when this master no longer leads: nothing here follows the state from then on. Default: never. */
  readonly ending?: AbortSignal | undefined;
}

export type Reconcilers = ReturnType<typeof buildReconcilers>;

interface ReconcilerWakes {
  readonly awaitingPlace: WakeFacts['awaitingPlace'];
  /** See `PlacementOptions`. */
  readonly onPlaceFreed: () => void;
  /** Asks placement to look at an instance. */
  readonly lookAtPlace: (id: string) => void;
  /** See `NoticesOptions`. */
  readonly lookAtWebhook: (name: string) => void;
  /** See `WaitingOptions`. */
  readonly isPlaceRetried: (id: string) => boolean;
}

/**
 * Builds the reconcilers. `forecaster`, `creations` and `updates` in the answer are no reconcilers: other
 * parts and clients call them.
 */
export function buildReconcilers(options: ReconcilersOptions, wakes: ReconcilerWakes) {
  const { state, writer, beats, nodeTimeoutMs, metrics, clock, logger, ending } = options;
  const placement = new Placement({
    ...state,
    ...options.placement,
    waitsOf: (configuration) => unmetWaits(configuration, state),
    beats,
    onPlaceFreed: wakes.onPlaceFreed,
    metrics,
    clock,
    logger,
    ending,
  });
  const { newInstanceId, isInForce } = options;
  const creations = new InstanceCreations({
    ...state,
    placement,
    clock,
    ...(isInForce !== undefined && { isInForce }),
    ...(newInstanceId !== undefined && { newInstanceId }),
  });
  const updates = new InstanceUpdates({ ...state, placement });
  const minimumService = new MinimumService({ ...state, writer, creations, clock, logger, ending });
  const victims = new Victims({
    ...state,
    outlookOf: (hash, configuration) => placement.places.outlookOf(hash, configuration),
    delayOf: (name) => minimumService.delayOf(name),
  });
  const mover = new Mover({
    ...state,
    creations,
    writer,
    onCreated: (name, id) => minimumService.noteCreated(name, id),
    logger,
  });
  const drains = new Drains({ ...state, victims, mover, clock, logger });
  const rollouts = new Rollouts({
    ...state,
    victims,
    mover,
    writer,
    updates,
    endingOf: (name) => minimumService.endingOf(name),
    lastLinesOf: options.lastLinesOf,
    templateDigest: options.templateDigest,
    clock,
    logger,
  });
  const rolloutWriter = new RolloutWriter({ ...state, clock });
  const forecastSources = {
    ...state,
    ...options.placement,
    beats,
    minimumService,
    foretellRollout: rollouts.foretell.bind(rollouts),
    clock,
  };
  return {
    minimumService,
    placement,
    waiting: new Waiting({
      places: placement.places,
      awaitingPlace: wakes.awaitingPlace,
      isRetried: wakes.isPlaceRetried,
      onLook: wakes.lookAtPlace,
      clock,
    }),
    heartbeat: new Heartbeat({ ...state, beats, timeoutMs: nodeTimeoutMs, clock, logger }),
    drains,
    forecaster: { forecast: (contents: readonly PlannedContent[]) => forecast(forecastSources, contents) },
    replacements: new Replacements({
      ...state,
      victims,
      mover,
      // Ask every controller that moves instances.
      isMoving: (record) => drains.isMoving(record) || rollouts.isMoving(record),
    }),
    instanceCleanup: new InstanceCleanup({
      ...state,
      spareOf: (name) => minimumService.spareOf(name),
      writer,
      clock,
      logger,
    }),
    creations,
    updates,
    notices: new Notices({
      ...options,
      ...state,
      lookAtWebhook: wakes.lookAtWebhook,
      readWebhooks: options.readWebhooks ?? (async () => new Map()),
    }),
    contents: new Contents({ ...state, updates, logger }),
    rollouts,
    schedules: new Schedules({ ...options, ...state, creations, rolloutWriter }),
  };
}
