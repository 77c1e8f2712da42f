/** The cluster benchmark's baseline: the same master and `<count>` wrappers in one process, without sockets. `<directory> <count>` */
import { join } from 'node:path';
import { SystemClock } from '../../../src/loop/system-clock.js';
import { openStore } from '../../../src/store/lmdb/open.js';
import { Metrics } from '../../../src/telemetry/metrics.js';
import { Gate, GatedTransport } from '../../support/cluster/gated-transport.js';
import { ControlPlane } from '../../support/control-plane/control-plane.js';
import { answerQuestions } from './cluster-child.js';
import { measuringLimits } from './cluster-limits.js';
import { ClusterProbe } from './cluster-probe.js';

const [directory = '', count] = process.argv.slice(2);
const SILENT = 'node-0';
const gate = new Gate();
const plane = new ControlPlane({
  clock: new SystemClock(),
  masterStore: await openStore({ directory: join(directory, 'store') }),
  limits: measuringLimits(),
  nodeMetrics: new Metrics(),
  // Machines of their own: else 10,000 instances would share the ports of one.
  addressOf: (nodeId) => `${nodeId}.example.org`,
  adaptTransport: (transport, nodeId) =>
    nodeId === SILENT ? new GatedTransport(transport, gate) : transport,
});
await plane.start();
const probe = new ClusterProbe(plane);

answerQuestions({
  ...probe.answers(),
  join: async () => {
    for (let index = 0; index < Number(count); index++) {
      const { wrapper } = await plane.addNode(`node-${index}`);
      await wrapper.whenFed;
    }
  },
  silence: () => gate.shut(),
});
