/** Connects the wrapper of a master's node to the leader, in this process or at another master's cluster port. */
import { doorOf } from '../channel/master/leader-tunnel.js';
import { createInProcessPair, type Transport } from '../channel/protocol/transport.js';
import type { Authority } from '../channel/trust/authority.js';
import type { Candidate } from '../leadership/candidate.js';
import type { Leader } from '../leadership/leadership.js';
import type { Master } from '../master.js';
import { channelClosed } from '../model/errors.js';
import type { Assembly } from './assembly.js';
import { silenceOf } from './start-cluster.js';
import type { MasterConnection } from './start-wrapper.js';

export function connectionTo(
  master: Pick<Master, 'accept'>,
  candidate: Candidate,
  authority: Authority,
  assembly: Assembly,
): MasterConnection {
  const { configuration, shared } = assembly;
  const door = { authority, silenceMs: silenceOf(configuration), clock: shared.clock };
  return {
    connect: (signal) =>
      connectToLeader({
        candidate,
        nodeId: configuration.nodeId,
        here: async () => inProcess(master),
        there: async (leader) => (await doorOf(door, leader)).channel(signal),
        signal,
      }),
  };
}

interface LeaderRoutes {
  readonly candidate: Pick<Candidate, 'isLeader' | 'leader' | 'onChange'>;
  /** The id of this node. */
  readonly nodeId: string;
  readonly here: () => Promise<Transport>;
  readonly there: (leader: Leader) => Promise<Transport>;
  readonly signal: AbortSignal;
}

/**
 * Connects to the leader as soon as a master leads. The connection ends when this master learns of a later leader.
 * Throws DRV_CHANNEL_CLOSED when `signal` aborts.
 */
export async function connectToLeader({ here, there, ...needs }: LeaderRoutes): Promise<Transport> {
  const leader = await untilLed(needs);
  if (leader === 'here') return here();
  const transport = await there(leader);
  leaveWithTerm(transport, leader, needs.candidate);
  return transport;
}

/**
 * Closes the connection when a later leader is known. A leader that is cut off from etcd does not know that its term is
 * over, and would keep this node connected.
 */
function leaveWithTerm(
  transport: Transport,
  { epoch }: Leader,
  candidate: Pick<Candidate, 'leader' | 'onChange'>,
): void {
  const look = (): void => {
    const leader = candidate.leader();
    if (leader !== null && leader.epoch > epoch) transport.close(`master ${leader.nodeId} leads now`);
    if (!transport.isOpen) unsubscribe();
  };
  const unsubscribe = candidate.onChange(look);
  look();
}

function inProcess(master: Pick<Master, 'accept'>): Transport {
  const [mine, its] = createInProcessPair();
  master.accept(its);
  return mine;
}

/** Waits until a master leads, if necessary through an election. */
async function untilLed({
  candidate,
  nodeId,
  signal,
}: Omit<LeaderRoutes, 'here' | 'there'>): Promise<Leader | 'here'> {
  const found = (): Leader | 'here' | undefined => {
    if (candidate.isLeader()) return 'here';
    const leader = candidate.leader();
    return leader === null || leader.nodeId === nodeId ? undefined : leader;
  };
  return new Promise((resolve, reject) => {
    const look = (): void => {
      const leader = found();
      if (leader === undefined && !signal.aborted) return;
      unsubscribe();
      signal.removeEventListener('abort', look);
      if (leader === undefined) reject(channelClosed('the node stops'));
      else resolve(leader);
    };
    const unsubscribe = candidate.onChange(look);
    signal.addEventListener('abort', look);
    look();
  });
}
