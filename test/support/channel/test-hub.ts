/** The master's end of the channel over a state, with templates and tokens that never change. */
import { pino } from 'pino';
import { BeatBook } from '../../../src/channel/master/beat-book.js';
import { ExitIntake } from '../../../src/channel/master/exit-intake.js';
import { Hub, type HubOptions } from '../../../src/channel/master/hub.js';
import { StatusIntake } from '../../../src/channel/master/status-intake.js';
import { UsageBook } from '../../../src/channel/master/usage-book.js';
import type { MasterState } from '../../../src/state/master-state.js';
import { Metrics } from '../../../src/telemetry/metrics.js';
import type { FakeClock } from '../fake-clock.js';

export const MASTER = { nodeId: 'master', address: '10.0.0.1', port: 6000, apiPort: 7000 };

/** Secrets of a state that has none. */
export const NO_SECRETS = { versionsFor: () => undefined, open: async () => undefined };

const silent = pino({ level: 'silent' });

/** A hub that is not started. */
export function hubOver(state: MasterState, clock: FakeClock, options: Partial<HubOptions> = {}): Hub {
  return new Hub({
    clusterName: 'test',
    master: MASTER,
    nodes: state.nodeRecords,
    sources: {
      ...state,
      line: state.line,
      templateDigest: async () => null,
      templateNews: () => undefined,
      issueInstanceToken: () => 'token',
      secrets: NO_SECRETS,
    },
    intake: intakeOver(state, clock),
    beats: new BeatBook(clock),
    usage: new UsageBook(),
    services: {},
    logger: silent,
    clock,
    ...options,
  });
}

export function intakeOver(
  state: MasterState,
  clock: FakeClock,
  options: Partial<ConstructorParameters<typeof StatusIntake>[0]> = {},
  lastLinesOf: (id: string, at: number) => Promise<readonly string[]> = async () => [],
): StatusIntake {
  const { instanceRecords: records, revisions } = state;
  const { metrics = new Metrics() } = options;
  const now = (): number => clock.now();
  return new StatusIntake({
    records,
    revisions,
    exits: new ExitIntake({ ...state, lastLinesOf, metrics, now }),
    metrics,
    logger: silent,
    now,
    onBusyPort: () => undefined,
    ...options,
  });
}
