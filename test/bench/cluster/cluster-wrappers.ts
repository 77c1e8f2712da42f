/** Wrappers of the cluster benchmark, each a member with a certificate: `<port> <token> <first> <count>`; fake runtimes. */
import { pino } from 'pino';
import { parseJoinToken } from '../../../src/channel/trust/join-token.js';
import { KnownMasters } from '../../../src/channel/wrapper/known-masters.js';
import { Membership } from '../../../src/channel/wrapper/membership.js';
import { eachBounded } from '../../../src/loop/each-bounded.js';
import { SystemClock } from '../../../src/loop/system-clock.js';
import { Metrics } from '../../../src/telemetry/metrics.js';
import { MemoryFile } from '../../support/cluster/cluster-files.js';
import { ControlPlane } from '../../support/control-plane/control-plane.js';
import { answerQuestions } from './cluster-child.js';
import { measuringLimits } from './cluster-limits.js';

/** Handshakes at once: more would only wait for the processor. */
const JOINING = 20;

const [port, token = '', first, count] = process.argv.slice(2);
const clock = new SystemClock();
const logger = pino({ level: 'silent' });
const memberships = new Map<string, Membership>();

const plane = new ControlPlane({
  clock,
  limits: measuringLimits(),
  nodeMetrics: new Metrics(),
  // Machines of their own: else 10,000 instances would share the ports of one.
  addressOf: (nodeId) => `${nodeId}.example.org`,
  connect: (nodeId, signal) => membershipOf(nodeId).connect(signal),
});

function membershipOf(nodeId: string): Membership {
  const known = memberships.get(nodeId);
  if (known !== undefined) return known;
  const membership = new Membership({
    nodeId,
    clusterName: 'test',
    masters: new KnownMasters({
      contact: { host: '127.0.0.1', port: Number(port) },
      file: new MemoryFile('data/cluster/masters.json'),
      logger,
    }),
    silenceMs: 6000,
    token: parseJoinToken(token),
    memberFile: new MemoryFile('data/cluster/member.json'),
    joiningFile: new MemoryFile('data/cluster/joining.json'),
    onJoined: async () => undefined,
    clock,
    logger,
  });
  memberships.set(nodeId, membership);
  return membership;
}

async function addNode(nodeId: string): Promise<void> {
  await membershipOf(nodeId).open();
  const { wrapper } = await plane.addNode(nodeId);
  await wrapper.whenFed;
}

/** Processes started since the beginning. */
function starts(): number {
  return [...plane.nodes.values()].reduce((sum, { runtime }) => sum + runtime.starts.length, 0);
}

answerQuestions({
  join: async () => {
    const ids = Array.from({ length: Number(count) }, (_, index) => `node-${Number(first) + index}`);
    await eachBounded(ids, JOINING, new AbortController().signal, addNode);
  },
  starts,
});
