/**
 * All metrics of a daemon; only this file and gauges.ts know their names. A `Metrics` belongs to one daemon and has its
 * own registries, so that several daemons can live in one test process.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Outcome } from '../loop/reconciler.js';
import type { QueueGauge, TraceEvent } from '../loop/trace.js';
import type { Timetable } from '../model/schedule.js';
import { FastHistogram } from './fast-histogram.js';
import {
  addGauge,
  addLabelledGauge,
  addRolloutGauges,
  addScheduleGauge,
  type RolloutFigures,
} from './gauges.js';
import { type ShownUsage, type UsageMetric, usageExposition } from './usage-exposition.js';

const EVENT_LOOP_SAMPLE_MS = 100;
/**
 * How many configurations are counted in one turn of the event loop. Counting is cheap, unless a configuration has
 * thousands of lost or ended instances.
 */
const COUNTED_A_TURN = 100;
const SHORT_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];
const LEFT_OUT =
  '# without an API key, what names configurations, nodes and instances is left out: send "Authorization: Bearer <key>"\n';
const START_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** The metrics of each measured instance, a line for each. The lines disappear with the instance. */
export const USAGE_METRICS: readonly UsageMetric[] = [
  {
    name: 'drover_instance_cpu_seconds_total',
    help: 'Processor time of all processes of an instance since its current start.',
    type: 'counter',
    read: ({ cpuSeconds }) => cpuSeconds,
  },
  {
    name: 'drover_instance_memory_bytes',
    help: 'Memory of all processes of an instance.',
    type: 'gauge',
    read: ({ memoryBytes }) => memoryBytes,
  },
  {
    name: 'drover_instance_processes',
    help: 'Processes of an instance.',
    type: 'gauge',
    read: ({ processes }) => processes,
  },
];

/** The figures of a master, read at each scrape. */
export interface MetricSources {
  /** How many instances each configuration has in each state. */
  instances(): Iterable<{ configuration: string; state: string; count: number }>;
  /** The declared minimums. */
  minimums(): Iterable<{ configuration: string; minimum: number }>;
  /** How many instances count towards the minimum of a configuration now, without those that fail again and again. */
  actualOf(configuration: string): number;
  configurationFileErrors(): number;
  /** The state of each configuration's health. */
  health(): Iterable<{ readonly name: string; readonly health: { readonly state: string } }>;
  rollouts(): Iterable<RolloutFigures>;
  /** The timetable of each configuration. */
  timetables(): Iterable<readonly [string, Timetable]>;
  /** How many stored records of each kind cannot be read. */
  unreadableRecords(): ReadonlyMap<string, number>;
  /** The usage of instances, as their nodes measured it last. */
  usages(): Iterable<ShownUsage>;
}

export class Metrics {
  /** Metrics without names of configurations, nodes or instances in their labels. Everybody may see them. */
  readonly registry = new Registry();
  /** Metrics whose labels name a configuration, a node or an instance: for callers with an API key. */
  readonly namingRegistry = new Registry();
  /** Restarts of instances after an exit, as reported by their nodes. */
  readonly restarts = new Counter({
    name: 'drover_instance_restarts_total',
    help: 'Restarts of instances after an exit, as reported by their nodes.',
    labelNames: ['configuration'],
    registers: [this.namingRegistry],
  });
  readonly exits = new Counter({
    name: 'drover_exits_total',
    help: 'Ends of instances that nobody asked for, by cause.',
    labelNames: ['configuration', 'cause'],
    registers: [this.namingRegistry],
  });
  readonly notices = new Counter({
    name: 'drover_notices_total',
    help: 'Tries to tell an event to a webhook, by outcome: delivered or failed.',
    labelNames: ['webhook', 'outcome'],
    registers: [this.namingRegistry],
  });
  readonly notReady = new Counter({
    name: 'drover_instance_not_ready_total',
    help: 'Runs of instances that were not ready within readiness.timeoutSeconds.',
    labelNames: ['configuration'],
    registers: [this.namingRegistry],
  });
  readonly notAlive = new Counter({
    name: 'drover_instance_not_alive_total',
    help: 'Runs of instances that were found not alive, as liveness says.',
    labelNames: ['configuration'],
    registers: [this.namingRegistry],
  });
  readonly placementFailures = new Counter({
    name: 'drover_placement_failures_total',
    help: 'Placement passes that found no node, once per reason a node was refused for.',
    labelNames: ['reason'],
    registers: [this.registry],
  });
  readonly startSeconds = new Histogram({
    name: 'drover_instance_start_duration_seconds',
    help: 'Time from the record of an instance to its first ONLINE.',
    buckets: START_SECONDS,
    registers: [this.registry],
  });
  readonly #storeWriteSeconds = new FastHistogram({
    name: 'drover_store_write_duration_seconds',
    help: 'Time until a store transaction is durable.',
    buckets: SHORT_SECONDS,
    registers: [this.registry],
  });
  readonly #roundSeconds = new FastHistogram({
    name: 'drover_reconcile_duration_seconds',
    help: 'Duration of reconcile rounds.',
    label: 'controller',
    buckets: SHORT_SECONDS,
    registers: [this.registry],
  });
  readonly #queues = new Map<string, () => QueueGauge>();
  /** How many rounds ended by controller and outcome. A scrape turns them into a counter. */
  readonly #rounds = new Map<string, Map<Outcome, number>>();
  #usages: () => Iterable<ShownUsage> = () => [];

  constructor() {
    // Finer sampling of the event loop's delay would be most of an idle daemon's work.
    collectDefaultMetrics({ register: this.registry, eventLoopMonitoringPrecision: EVENT_LOOP_SAMPLE_MS });
    const rounds = this.#rounds;
    new Counter({
      name: 'drover_reconcile_total',
      help: 'Reconcile rounds by controller and outcome.',
      labelNames: ['controller', 'outcome'],
      registers: [this.registry],
      collect() {
        this.reset();
        for (const [controller, outcomes] of rounds)
          for (const [outcome, count] of outcomes) this.inc({ controller, outcome }, count);
      },
    });
    const queues = this.#queues;
    const add = (name: string, help: string, figureOf: (gauge: QueueGauge) => number): void =>
      addLabelledGauge(this.registry, { name, help, labelNames: ['controller'] }, () =>
        [...queues].map(([controller, read]) => [{ controller }, figureOf(read())]),
      );
    add('drover_queue_depth', 'Keys that are due and wait.', ({ depth }) => depth);
    add(
      'drover_queue_longest_wait_seconds',
      'How long the oldest due key has waited.',
      ({ longestWaitMs }) => longestWaitMs / 1000,
    );
  }

  /** Receives the controllers' trace events. */
  readonly trace = (event: TraceEvent): void => {
    if (event.kind !== 'round') return;
    const { controller, outcome, durationMs } = event;
    const outcomes = this.#rounds.get(controller) ?? new Map<Outcome, number>();
    this.#rounds.set(controller, outcomes);
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    this.#roundSeconds.count(controller, durationMs / 1000);
  };

  /** Adds a controller's queue to the scrapes. */
  addQueue(controller: string, read: () => QueueGauge): void {
    this.#queues.set(controller, read);
  }

  observeStoreWrite(seconds: number): void {
    this.#storeWriteSeconds.count('', seconds);
  }

  /** Connects the figures that only a master has. Called once, when its state is loaded. */
  addSources(sources: MetricSources): void {
    this.#usages = () => sources.usages();
    const naming = this.namingRegistry;
    const instances = { name: 'drover_instances', help: 'Instances by configuration and state.' };
    addLabelledGauge(naming, { ...instances, labelNames: ['configuration', 'state'] }, function* () {
      for (const { configuration, state, count } of sources.instances())
        yield [{ configuration, state }, count];
    });
    const minimum = { name: 'drover_service_minimum', help: 'Declared minimumServiceCount.' };
    addLabelledGauge(naming, { ...minimum, labelNames: ['configuration'] }, function* () {
      for (const { configuration, minimum: count } of sources.minimums()) yield [{ configuration }, count];
    });
    new Gauge({
      name: 'drover_service_actual',
      help: 'Instances that count towards the declared minimum and do not fail again and again.',
      labelNames: ['configuration'],
      registers: [naming],
      async collect() {
        this.reset();
        let counted = 0;
        for (const { configuration } of sources.minimums()) {
          if (counted++ % COUNTED_A_TURN === 0) await nextTurn();
          this.set({ configuration }, sources.actualOf(configuration));
        }
      },
    });
    const healthGauge = {
      name: 'drover_configuration_health',
      help: '1 beside the state of a configuration, the worst that applies.',
    };
    addLabelledGauge(naming, { ...healthGauge, labelNames: ['configuration', 'state'] }, function* () {
      for (const { name: configuration, health } of sources.health())
        yield [{ configuration, state: health.state }, 1];
    });
    addRolloutGauges(naming, () => sources.rollouts());
    addScheduleGauge(naming, () => sources.timetables());
    const errors = 'Configuration files that are in error now.';
    addGauge(this.registry, 'drover_configuration_file_errors', errors, () =>
      sources.configurationFileErrors(),
    );
    const unreadable = {
      name: 'drover_unreadable_records',
      help: 'Stored records that cannot be read and are set aside, by kind.',
    };
    addLabelledGauge(this.registry, { ...unreadable, labelNames: ['kind'] }, () =>
      [...sources.unreadableRecords()].map(([kind, count]) => [{ kind }, count]),
    );
  }

  /** Adds the number of the API's open WebSockets. Called once. */
  addApiSockets(read: () => number): void {
    addGauge(this.registry, 'drover_api_sockets', 'WebSockets that are open or about to be.', read);
  }

  /** The exposition text of all metrics, in pieces, made in several turns of the event loop. */
  async exposition(): Promise<readonly Buffer[]> {
    const open = await this.registry.metrics();
    await nextTurn();
    const naming = await this.namingRegistry.metrics();
    await nextTurn();
    return [Buffer.from(`${open}\n${naming}`), ...(await usageExposition(USAGE_METRICS, this.#usages()))];
  }

  /** The exposition text without the names of configurations, nodes and instances. */
  async openExposition(): Promise<readonly Buffer[]> {
    return [Buffer.from(LEFT_OUT + (await this.registry.metrics()))];
  }
}
