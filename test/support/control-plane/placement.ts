/** A placement controller beside that of the master. The test performs its steps itself. */
import { pino } from 'pino';
import { BusyPorts } from '../../../controllers/master/placement/busy-ports.js';
import { FleetChanges } from '../../../controllers/master/placement/fleet-changes.js';
import { PlacementLedger } from '../../../controllers/master/placement/ledger.js';
import { Placement } from '../../../controllers/master/placement/reconciler.js';
import type { Clock } from '../../../src/loop/clock.js';
import { Metrics } from '../../../src/telemetry/metrics.js';
import type { ControlPlane } from './control-plane.js';

export function placementOf({ master: { state, beats } }: ControlPlane, clock: Clock): Placement {
  const changes = new FleetChanges();
  return new Placement({
    ...state,
    ledger: new PlacementLedger(state.instances, changes),
    busyPorts: new BusyPorts(clock, changes),
    changes,
    beats,
    chooseTemplates: () => ({ templates: [], problems: [] }),
    hostAddressOf: (_configuration, node) => node.address,
    onPlaceFreed: () => {},
    metrics: new Metrics(),
    logger: pino({ level: 'silent' }),
    clock,
  });
}
