/** What a daemon has beside its wrapper where it is a master, and in which order it starts and stops. */

import type { Master, MasterOptions } from '../../../src/master.js';
import type { TemplateSource } from '../../../src/master-term.js';
import type { Configuration } from '../../../src/model/configuration.js';
import type { Logger } from '../../../src/telemetry/logger.js';
import type { Metrics } from '../../../src/telemetry/metrics.js';
import type { Receiver } from '../receiver.js';
import type { Life } from './life.js';
import type { Machine } from './machine.js';
import type { SimulatedTemplates } from './templates.js';

export const CLUSTER = 'simulated';
export const NODE_TIMEOUT_MS = 6000;

export interface MasterRole {
  /** Undefined: its state is not open yet. */
  readonly master: Master | undefined;
  /** The API takes requests, and this master answers them itself. */
  readonly isReady: boolean;
  /** All before the wrapper starts. */
  begin(): Promise<void>;
  /** The wrapper runs. `untilFed` resolves when it has heard of its master, or has waited for that. */
  serve(untilFed: () => Promise<void>): Promise<void>;
  /** The configuration files changed: resolves when the store has what they say. */
  syncFiles(): Promise<void>;
  /** Called first of all: another master goes on where there is one. */
  handOver(): Promise<void>;
  /** Ctrl-C: called before the instances are ended. */
  interrupt(): Promise<void>;
  /** Called when the wrapper has stopped. */
  stop(): Promise<void>;
}

/** What every master's machine has beside that of every node. */
export interface MasterPlace {
  readonly machine: Machine;
  readonly life: Life;
  readonly templates: SimulatedTemplates;
  readonly files: ReadonlyMap<string, Configuration>;
  readonly receiver: Receiver;
  readonly newInstanceId: () => string;
  readonly metrics: Metrics;
  readonly logger: Logger;
}

type OwnOptions = 'leadership' | 'store' | 'isInForce' | 'revokeNode';

/** The options of a master that do not depend on where its state is. */
export function masterOptions({
  machine,
  life,
  templates,
  receiver,
  newInstanceId,
  metrics,
  logger,
}: MasterPlace): Omit<MasterOptions, OwnOptions> {
  const source: TemplateSource & { close(): void } = templates.source(life);
  life.onDeath(() => source.close());
  const isAway = life.random.fork('receiver');
  return {
    clusterName: CLUSTER,
    address: { nodeId: machine.nodeId, address: machine.address, port: 6000, apiPort: 7000 },
    nodeTimeoutMs: NODE_TIMEOUT_MS,
    readWebhooks: async () => receiver.webhooks,
    send: async (_hook, { id }) => receiver.take(id, isAway.chance(0.2)),
    templates: source,
    issueInstanceToken: (id) => `token-${id}`,
    hostAddressOf: (configuration, node) => configuration.hostAddress ?? node.address,
    metrics,
    clock: life.clock,
    random: life.random.fork('master').next,
    // A change that wakes too few would be hidden by it.
    isResynced: false,
    newInstanceId,
    logger,
  };
}
